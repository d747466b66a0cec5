//! Servers of catalogs behind the driver's port.

use std::io::Write;

use operon_driver::CatalogServers;

use crate::{Address, Client, ClientOptions};

/// Asks whichever server it is told to.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// How a server is asked.
    pub options: ClientOptions,
}

impl CatalogServers for Servers {
    fn fetch(&self, address: &str, documents: &mut dyn Write) -> Result<(), String> {
        let address: Address = address.parse().map_err(|error| format!("{error}"))?;
        let client =
            Client::connect(&address, self.options.clone()).map_err(|error| error.to_string())?;
        client.fetch_catalog(documents).map(drop).map_err(|error| error.to_string())
    }
}
