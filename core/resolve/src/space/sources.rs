//! The catalogs that can be read, and in which order they are searched.

use std::cmp::Reverse;

use operon_catalog::{Bundle, BundleId, Catalog, EntryId};

use super::NodeId;
use crate::universe::{Content, Source, SourceName, Universe};

/// The number of a catalog that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SourceIndex(pub u32);

impl SourceIndex {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A catalog that can be read.
#[derive(Debug)]
pub(crate) struct ReadySource<'u> {
    pub(crate) name: &'u SourceName,
    pub(crate) catalog: &'u Catalog,
    /// For each channel entry its node; empty until the first is needed.
    entry_nodes: Vec<u32>,
}

const NO_NODE: u32 = u32::MAX;

impl ReadySource<'_> {
    pub(crate) fn node_of(&self, entry: EntryId) -> Option<NodeId> {
        self.entry_nodes
            .get(entry.0 as usize)
            .filter(|&&node| node != NO_NODE)
            .map(|&node| NodeId(node))
    }

    pub(super) fn set_node(&mut self, entry: EntryId, node: NodeId) {
        if self.entry_nodes.is_empty() {
            self.entry_nodes = vec![NO_NODE; self.catalog.counts().entries as usize];
        }
        self.entry_nodes[entry.0 as usize] = node.0;
    }

    pub(crate) fn bundle(&self, bundle: BundleId) -> Bundle<'_> {
        self.catalog.bundle_by_id(bundle)
    }
}

/// Returns the catalogs that can be read: higher priority first, then those of the namespace,
/// then by name. A catalog given twice counts once.
pub(super) fn ready_sources<'u>(universe: &'u Universe<'u>) -> Vec<ReadySource<'u>> {
    let mut sources: Vec<&Source<'u>> = universe.sources.iter().collect();
    sources.sort_by(|left, right| order_key(left, universe).cmp(&order_key(right, universe)));
    sources.dedup_by_key(|source| &source.name);
    sources
        .into_iter()
        .filter_map(|source| match source.content {
            Content::Ready(catalog) => {
                Some(ReadySource { name: &source.name, catalog, entry_nodes: Vec::new() })
            }
            Content::Unavailable(_) => None,
        })
        .collect()
}

fn order_key<'u>(
    source: &'u Source<'_>,
    universe: &Universe<'_>,
) -> (Reverse<i64>, bool, &'u str, &'u str) {
    let foreign = source.name.namespace != universe.namespace;
    (Reverse(source.priority), foreign, &source.name.name, &source.name.namespace)
}
