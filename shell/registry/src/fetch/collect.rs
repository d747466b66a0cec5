//! Collecting what a registry sends, and refusing what contradicts itself.
//!
//! Whether the updates make sense is not asked here: that is decided when the catalog is opened.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use prost::Message;

use super::{
    Fetched,
    documents::{Documents, bundle_document},
    spool::{Spool, Spooled},
};
use crate::{ClientError, ClientOptions, api};

/// What was received so far.
pub(super) struct Collection<'c> {
    /// Names the registry in errors.
    address: String,
    options: &'c ClientOptions,
    packages: BTreeMap<String, Option<PackageParts>>,
    spool: Spool,
    entries: usize,
    bytes: u64,
}

/// A package and what belongs to it.
pub(super) struct PackageParts {
    pub(super) package: api::Package,
    /// The entries of each channel that the package names.
    pub(super) channels: BTreeMap<String, BTreeMap<String, EntryParts>>,
    pub(super) bundles: BTreeMap<String, BundleParts>,
}

/// A bundle in a channel.
pub(super) struct EntryParts {
    pub(super) replaces: String,
    pub(super) skips: Vec<String>,
    pub(super) skip_range: String,
}

/// A bundle.
pub(super) struct BundleParts {
    pub(super) document: Spooled,
    pub(super) deprecation: Option<String>,
    /// The hash of all that must be the same in each channel.
    hash: blake3::Hash,
}

/// All that a registry serves.
pub(super) struct Collected {
    pub(super) packages: BTreeMap<String, PackageParts>,
    pub(super) spool: Spool,
}

impl<'c> Collection<'c> {
    pub(super) fn new(address: String, options: &'c ClientOptions) -> Result<Self, ClientError> {
        let unwritable = |error: io::Error| ClientError::Write {
            address: address.clone(),
            reason: format!("no temporary file can be made: {error}"),
        };
        let spool = Spool::new().map_err(unwritable)?;
        Ok(Self { address, options, packages: BTreeMap::new(), spool, entries: 0, bytes: 0 })
    }

    fn unsound(&self, defect: String) -> ClientError {
        ClientError::Unsound { address: self.address.clone(), defect }
    }

    /// Counts a message; refuses what would never end.
    fn count(&mut self, message: &impl Message) -> Result<(), ClientError> {
        self.entries += 1;
        self.bytes += message.encoded_len() as u64;
        let options = self.options;
        let limit = if self.entries > options.max_bundles {
            format!("{} packages and bundles", options.max_bundles)
        } else if self.bytes > options.max_catalog_bytes {
            format!("{} bytes", options.max_catalog_bytes)
        } else {
            return Ok(());
        };
        Err(ClientError::TooMuch { address: self.address.clone(), limit })
    }

    pub(super) fn add_package_name(
        &mut self,
        announced: &api::PackageName,
    ) -> Result<(), ClientError> {
        self.count(announced)?;
        let name = &announced.name;
        if name.is_empty() {
            return Err(self.unsound("it lists a package without a name".to_owned()));
        }
        match self.packages.insert(name.clone(), None) {
            None => Ok(()),
            Some(_) => Err(self.unsound(format!("it lists package {name:?} twice"))),
        }
    }

    pub(super) fn package_names(&self) -> Vec<String> {
        self.packages.keys().cloned().collect()
    }

    pub(super) fn add_package(
        &mut self,
        asked: &str,
        package: api::Package,
    ) -> Result<(), ClientError> {
        self.count(&package)?;
        if package.name != asked {
            let name = &package.name;
            return Err(self.unsound(format!("asked for package {asked:?}, it sends {name:?}")));
        }
        let mut channels = BTreeMap::new();
        for channel in &package.channels {
            if channels.insert(channel.name.clone(), BTreeMap::new()).is_some() {
                let name = &channel.name;
                return Err(self.unsound(format!("package {asked:?} has channel {name:?} twice")));
            }
        }
        let parts = PackageParts { package, channels, bundles: BTreeMap::new() };
        self.packages.insert(asked.to_owned(), Some(parts));
        Ok(())
    }

    pub(super) fn add_bundle(&mut self, mut bundle: api::Bundle) -> Result<(), ClientError> {
        self.count(&bundle)?;
        let title = format!(
            "bundle {:?} in channel {:?} of package {:?}",
            bundle.csv_name, bundle.channel_name, bundle.package_name
        );
        let known = match self.packages.get_mut(&bundle.package_name) {
            Some(Some(parts)) => parts.channels.get_mut(&bundle.channel_name),
            Some(None) | None => None,
        };
        let Some(entries) = known else {
            return Err(self.unsound(format!("it sends {title}, which its packages do not name")));
        };
        let entry = EntryParts {
            replaces: std::mem::take(&mut bundle.replaces),
            skips: std::mem::take(&mut bundle.skips),
            skip_range: std::mem::take(&mut bundle.skip_range),
        };
        if bundle.csv_name.is_empty() || entries.insert(bundle.csv_name.clone(), entry).is_some() {
            return Err(self.unsound(format!("it sends {title} twice, or without a name")));
        }
        bundle.channel_name.clear();
        self.keep_bundle(&bundle).map_err(|defect| self.unsound(format!("{title}: {defect}")))
    }

    /// Keeps the document of a bundle when it comes for the first time, and compares it after that.
    fn keep_bundle(&mut self, bundle: &api::Bundle) -> Result<(), String> {
        let hash = blake3::hash(&bundle.encode_to_vec());
        let Some(Some(parts)) = self.packages.get_mut(&bundle.package_name) else {
            return Err("its package is not known".to_owned());
        };
        match parts.bundles.get(&bundle.csv_name) {
            Some(known) if known.hash == hash => Ok(()),
            Some(_) => Err("it is not the same as in another channel".to_owned()),
            None => {
                let document = bundle_document(bundle)?;
                let document = self.spool.add(&document).map_err(|error| error.to_string())?;
                let deprecation = bundle.deprecation.as_ref().map(|text| text.message.clone());
                let kept = BundleParts { document, deprecation, hash };
                parts.bundles.insert(bundle.csv_name.clone(), kept);
                Ok(())
            }
        }
    }

    /// Checks that everything that was announced has come, and writes it as documents.
    pub(super) fn write(self, out: &mut dyn Write) -> Result<Fetched, ClientError> {
        let address = self.address.clone();
        let mut out = Hashed { out, hasher: blake3::Hasher::new() };
        let written = Documents::new(self.finish()?).write(&mut out);
        let (packages, bundles) =
            written.map_err(|error| ClientError::Write { address, reason: error.to_string() })?;
        Ok(Fetched { digest: out.hasher.finalize().to_hex().to_string(), packages, bundles })
    }

    fn finish(self) -> Result<Collected, ClientError> {
        let mut packages = BTreeMap::new();
        for (name, parts) in &self.packages {
            let Some(parts) = parts else { continue };
            let channels: BTreeSet<&str> = parts.channels.keys().map(String::as_str).collect();
            let default = parts.package.default_channel_name.as_str();
            if !channels.contains(default) {
                let defect = format!("package {name:?} has no channel {default:?}, its default");
                return Err(self.unsound(defect));
            }
            for channel in &parts.package.channels {
                let entries = parts.channels.get(&channel.name);
                if !entries.is_some_and(|entries| entries.contains_key(&channel.csv_name)) {
                    let (channel, head) = (&channel.name, &channel.csv_name);
                    return Err(self.unsound(format!(
                        "channel {channel:?} of package {name:?} is said to begin with {head:?}, \
                         which is not among the bundles it sends"
                    )));
                }
            }
        }
        for (name, parts) in self.packages {
            if let Some(parts) = parts {
                packages.insert(name, parts);
            }
        }
        Ok(Collected { packages, spool: self.spool })
    }
}

/// Hashes what it passes on.
struct Hashed<'o> {
    out: &'o mut dyn Write,
    hasher: blake3::Hasher,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
