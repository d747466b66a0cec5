//! A whole catalog over the API, written down as catalog documents.
//!
//! Flow: the names of packages, each package, then the stream of all bundles; bundles are kept in a
//! temporary file until all have come, and are written in the order of their names. Guarantees: the
//! same content gives the same bytes in whatever order a registry sends it; opening them gives the
//! packages, channels, updates, properties and deprecations that were served. Not carried by the API and
//! therefore lost: icons and descriptions of packages, `olm.csv.metadata`, related images, and documents
//! of other schemas.

mod collect;
mod documents;
mod spool;

use std::{
    io::{self, Write},
    thread,
};

use self::{collect::Collection, documents::Documents};
use crate::{Client, ClientError, api};

/// How many packages are asked for at once.
const PACKAGE_CALLS_AT_ONCE: usize = 8;

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The BLAKE3 hash of the bytes that were written, in hexadecimal digits.
    pub digest: String,
    /// How many packages there are.
    pub packages: usize,
    /// How many bundles there are, each counted once.
    pub bundles: usize,
}

impl Client {
    /// Fetches everything that the registry serves and writes it as catalog documents, one JSON
    /// object per line.
    ///
    /// What contradicts itself is refused with an error that names the address: a catalog is either
    /// fetched whole or not at all. On an error, what was written must not be used.
    pub fn fetch_catalog(&self, out: &mut dyn Write) -> Result<Fetched, ClientError> {
        let mut collection = Collection::new(self)?;
        for name in self.list_packages()? {
            collection.add_package_name(&name?)?;
        }
        let names = collection.package_names();
        for (name, package) in names.iter().zip(self.get_packages(&names)?) {
            collection.add_package(name, package)?;
        }
        for bundle in self.list_bundles()? {
            collection.add_bundle(bundle?)?;
        }
        let mut out = Hashed { out, hasher: blake3::Hasher::new() };
        let (packages, bundles) =
            Documents::new(collection.finish()?).write(&mut out).map_err(|error| {
                ClientError::Write {
                    address: self.address().to_string(),
                    reason: error.to_string(),
                }
            })?;
        Ok(Fetched { digest: out.hasher.finalize().to_hex().to_string(), packages, bundles })
    }
}

impl Client {
    /// Asks for packages, several at once: the API has no call for all of them, and over a network
    /// their round trips would take longer than everything else.
    fn get_packages(&self, names: &[String]) -> Result<Vec<api::Package>, ClientError> {
        let share = names.len().div_ceil(PACKAGE_CALLS_AT_ONCE).max(1);
        let ask = |names: &[String]| -> Result<Vec<api::Package>, ClientError> {
            names.iter().map(|name| self.get_package(name)).collect()
        };
        thread::scope(|scope| {
            let asking: Vec<_> =
                names.chunks(share).map(|names| scope.spawn(move || ask(names))).collect();
            let mut packages = Vec::with_capacity(names.len());
            for answer in asking {
                packages.extend(answer.join().expect("bug: asking for a package does not panic")?);
            }
            Ok(packages)
        })
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
