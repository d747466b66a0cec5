//! A case: everything that one resolution of one namespace looks at.

use std::collections::BTreeMap;

use operon_api::Manifests;
use operon_document::json::Node;
use operon_resolve::SourceName;

use super::catalogs::CatalogDirectories;

/// The namespace whose catalogs are visible everywhere, unless the case says otherwise.
const DEFAULT_GLOBAL_NAMESPACE: &str = "olm";

/// Everything that one resolution of one namespace looks at.
#[derive(Debug)]
pub(super) struct Case {
    /// What answers are known by; may be empty.
    pub(super) id: String,
    pub(super) settings: Settings,
    pub(super) manifests: Manifests,
    pub(super) catalogs: CatalogOrigin,
}

/// The small settings of a case.
#[derive(Debug)]
pub(super) struct Settings {
    /// The namespace to resolve; empty for that of the only OperatorGroup.
    pub(super) namespace: String,
    /// The namespace whose catalogs are visible everywhere.
    pub(super) global_catalogs: String,
}

/// Where the catalogs of a case are.
#[derive(Debug)]
pub(super) enum CatalogOrigin {
    /// In directories, to be opened when they are needed.
    Directories(CatalogDirectories),
    /// In memory, as texts, by the names of their CatalogSources.
    Memory(BTreeMap<SourceName, Vec<u8>>),
}

impl Settings {
    /// Reads the settings that both forms of a case have.
    pub(super) fn read(root: Option<Node<'_>>) -> Result<Self, String> {
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
