//! A case: everything that one resolution of one namespace reads.

use std::collections::BTreeMap;

use operon_api::Manifests;
use operon_document::json::Node;
use operon_resolve::SourceName;

use crate::catalogs::CatalogDirectories;

/// The namespace whose catalogs are visible everywhere, unless the case says otherwise.
const DEFAULT_GLOBAL_NAMESPACE: &str = "olm";

/// Everything that one resolution of one namespace reads.
#[derive(Debug)]
pub(crate) struct Case {
    /// Copied into the answer; may be empty.
    pub(crate) id: String,
    pub(crate) settings: Settings,
    pub(crate) manifests: Manifests,
    pub(crate) catalogs: CatalogOrigin,
}

/// Settings of a case.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The namespace to resolve; empty for that of the only OperatorGroup.
    pub(crate) namespace: String,
    /// The namespace whose catalogs are visible everywhere.
    pub(crate) global_catalogs: String,
}

/// Location of the catalogs of a case.
#[derive(Debug)]
pub(crate) enum CatalogOrigin {
    /// In directories, opened on demand.
    Directories(CatalogDirectories),
    /// In memory, as documents by the names of their CatalogSources.
    Memory(BTreeMap<SourceName, Vec<u8>>),
}

impl Settings {
    /// Reads the settings common to both forms of a case.
    pub(crate) fn read(root: Option<Node<'_>>) -> Result<Self, String> {
        let text = |name: &str| match root.and_then(|root| root.get(name)) {
            None => Ok(None),
            Some(node) if node.is_null() => Ok(None),
            Some(node) => match node.as_str() {
                Some(text) => Ok(Some(text.into_owned())),
                None => Err(format!("`{name}` must be a string, not {}", node.kind().name())),
            },
        };
        let global = text("globalCatalogNamespace")?;
        Ok(Self {
            namespace: text("namespace")?.unwrap_or_default(),
            global_catalogs: global.unwrap_or_else(|| DEFAULT_GLOBAL_NAMESPACE.to_owned()),
        })
    }
}
