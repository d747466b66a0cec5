//! What a server serves: a catalog, and a way to its documents.
//!
//! How a catalog is opened and where its files lie is the business of whoever implements [`Content`].

use operon_catalog::{Catalog, Place};

/// A catalog to serve.
pub trait Content: Send + Sync {
    /// Returns the catalog.
    fn catalog(&self) -> &Catalog;

    /// Reads the document at a place of the catalog again, as JSON text; may block. An error is a
    /// sentence that names the file.
    fn document(&self, place: Place) -> Result<String, String>;
}

/// A package that is not served because something in it is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The package's name.
    pub package: String,
    /// What is wrong with it, as one sentence without a full stop.
    pub reason: String,
}
