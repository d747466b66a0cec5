//! Servers of catalogs behind the driver's port.

use std::io::Write;

use operon_driver::{CatalogServerError, CatalogServers};

use crate::{Address, Client, ClientError, ClientOptions};

/// Asks the servers of catalogs.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// How a server is asked.
    pub options: ClientOptions,
}

impl CatalogServers for Servers {
    fn fetch(&self, address: &str, documents: &mut dyn Write) -> Result<(), CatalogServerError> {
        let mut fetch = || -> Result<(), ClientError> {
            let address: Address = address.parse()?;
            let client = Client::connect(&address, self.options.clone())?;
            client.fetch_catalog(documents).map(drop)
        };
        fetch().map_err(|error| CatalogServerError {
            message: error.to_string(),
            summary: error.summary(),
            is_unreachable: error.is_unreachable(),
        })
    }
}
