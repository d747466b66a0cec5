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

use std::{io::Write, thread, time::Instant};

use self::collect::Collection;
use crate::{Address, Client, ClientError, ClientOptions, api};

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

/// The answers of a registry to the questions that a whole catalog takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The names of its packages.
    pub names: Vec<api::PackageName>,
    /// Its packages; those that were not listed by name are not asked for.
    pub packages: Vec<api::Package>,
    /// Its bundles, once for each channel.
    pub bundles: Vec<api::Bundle>,
}

impl Answers {
    /// Writes answers that have come already as catalog documents, with the checks and limits of
    /// [`Client::fetch_catalog`]; the address names the registry in errors.
    pub fn write(
        self,
        address: &Address,
        options: &ClientOptions,
        out: &mut dyn Write,
    ) -> Result<Fetched, ClientError> {
        let mut collection = Collection::new(address.to_string(), options)?;
        for name in &self.names {
            collection.add_package_name(name)?;
        }
        let names = collection.package_names();
        for (name, package) in names.iter().zip(self.packages) {
            collection.add_package(name, package)?;
        }
        for bundle in self.bundles {
            collection.add_bundle(bundle)?;
        }
        collection.write(out)
    }
}

impl Client {
    /// Fetches everything that the registry serves and writes it as catalog documents, one JSON
    /// object per line.
    ///
    /// What contradicts itself is refused with an error that names the address: a catalog is either
    /// fetched whole or not at all. On an error, what was written must not be used.
    pub fn fetch_catalog(&self, out: &mut dyn Write) -> Result<Fetched, ClientError> {
        let mut collection = Collection::new(self.address().to_string(), self.options())?;
        let give_up = Instant::now() + self.options().catalog_deadline;
        for name in self.list_packages()? {
            collection.add_package_name(&name?)?;
            self.check_time(give_up)?;
        }
        let names = collection.package_names();
        for (name, package) in names.iter().zip(self.get_packages(&names, give_up)?) {
            collection.add_package(name, package)?;
        }
        for bundle in self.list_bundles()? {
            collection.add_bundle(bundle?)?;
            self.check_time(give_up)?;
        }
        collection.write(out)
    }
}

impl Client {
    /// Fails when the whole catalog takes too long.
    fn check_time(&self, give_up: Instant) -> Result<(), ClientError> {
        if Instant::now() < give_up {
            return Ok(());
        }
        let (address, within) = (self.address().to_string(), self.options().catalog_deadline);
        Err(ClientError::TooSlow { address, call: "everything together", within })
    }

    /// Asks for packages, several at once: the API has no call for all of them, and over a network
    /// their round trips would take longer than everything else.
    fn get_packages(
        &self,
        names: &[String],
        give_up: Instant,
    ) -> Result<Vec<api::Package>, ClientError> {
        let share = names.len().div_ceil(PACKAGE_CALLS_AT_ONCE).max(1);
        let ask = |names: &[String]| -> Result<Vec<api::Package>, ClientError> {
            let get = |name: &String| {
                self.check_time(give_up)?;
                self.get_package(name)
            };
            names.iter().map(get).collect()
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
