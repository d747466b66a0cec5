//! The whole of the visible catalogs as one space: every entry of every channel, and no requests.
//!
//! What is installed does not count here: the space says what could be, not what should be next.

use std::sync::OnceLock;

use operon_catalog::{Channel, Entry, EntryId};
use operon_version::Version;

use super::build::Builder;
use super::installed::InstalledOperator;
use super::{Node, NodeId, SourceIndex, Space, options, sources};
use crate::budget::{Budget, Spent};
use crate::limits::Limits;
use crate::semantics::{FailureScope, Semantics, UpdateSources};
use crate::universe::{Installed, InstalledProperties, Request, Universe};

/// Steps for building the space of a small catalog: about a second of work.
const SURVEY_STEPS: u64 = 30_000_000;

/// Steps for each channel entry of a large catalog; published bundles take some hundred.
const SURVEY_STEPS_FOR_AN_ENTRY: u64 = 1_000;

/// Bytes for the space of a small catalog.
const SURVEY_BYTES: u64 = 192 * 1024 * 1024;

/// Bytes for each channel entry of a large catalog; published bundles take a few hundred.
const SURVEY_BYTES_FOR_AN_ENTRY: u64 = 4_000;

/// Steps for the needs of one operator: a rule that takes more leaves the others their share.
const MAX_STEPS_FOR_AN_OPERATOR: u64 = 8_000_000;

/// Builds the space of everything that the catalogs of a universe offer.
///
/// A malformed property forbids its bundle in both dialects; how far it reaches beyond that is for
/// the caller to say.
pub(crate) fn whole<'u>(universe: &'u Universe<'u>, semantics: Semantics) -> Space<'u> {
    let mut space = Space {
        universe,
        requests: Vec::new(),
        semantics: Semantics { failures: FailureScope::Part, ..semantics },
        sources: sources::ready_sources(universe),
        installed: Vec::new(),
        currents: Vec::new(),
        nodes: Vec::new(),
        rules: Vec::new(),
        formulas: Vec::new(),
        lists: Vec::new(),
        notices: Vec::new(),
        unfinished: Vec::new(),
    };
    let mut fresh = Vec::new();
    for index in 0..space.sources.len() {
        let catalog = space.sources[index].catalog;
        for number in 0..catalog.counts().entries {
            let entry = EntryId(number);
            if let Some(bundle) = catalog.entry_by_id(entry).bundle() {
                space.entry_node(SourceIndex(index as u32), entry, bundle.id(), &mut fresh);
            }
        }
    }
    let entries = fresh.len() as u64;
    let limits = Limits {
        steps: SURVEY_STEPS + entries * SURVEY_STEPS_FOR_AN_ENTRY,
        bytes: SURVEY_BYTES + entries * SURVEY_BYTES_FOR_AN_ENTRY,
        ..Limits::default()
    };
    let mut budget = Budget::new(&limits);
    let mut builder = Builder::new(fresh, &mut budget);
    let built = builder.fill_whole(&mut space, MAX_STEPS_FOR_AN_OPERATOR);
    if let Err(halt) = built {
        // Nothing can be said about any of them.
        let spent = halt.spent().unwrap_or(Spent::Steps);
        let expense = builder.expense(&space, spent);
        let nodes = (0..space.nodes.len() as u32).map(NodeId);
        space.unfinished = nodes.map(|node| (node, expense.clone())).collect();
    }
    space
}

/// Returns what an operator that was installed from an entry may be updated to when its request
/// follows the given channel, the preferred update first.
pub(crate) fn updates_of(
    space: &Space<'_>,
    node: NodeId,
    source: SourceIndex,
    channel: Channel<'_>,
) -> Vec<NodeId> {
    let Node::Entry { source: home, bundle, .. } = space.nodes[node.index()] else {
        return Vec::new();
    };
    let bundle = space.sources[home.index()].bundle(bundle);
    let installed = Installed {
        name: bundle.name().to_owned(),
        version: bundle.version().unwrap_or_else(|| Version::new(0, 0, 0)),
        replaces: String::new(),
        phase: String::new(),
        properties: InstalledProperties::Annotated(Vec::new()),
    };
    let current = InstalledOperator {
        installed: &installed,
        properties: Vec::new(),
        texts: Vec::new(),
        digest: OnceLock::new(),
        needs: Vec::new(),
        package: String::new(),
        request: None,
        held: false,
    };
    let mut entries: Vec<(SourceIndex, Entry<'_>)> = options::updates(space, &[channel], &current)
        .into_iter()
        .map(|entry| (source, entry))
        .collect();
    if space.semantics.updates == UpdateSources::AllVisible && space.sources.len() > 1 {
        let request = Request {
            package: channel.package().name().to_owned(),
            channel: channel.name().to_owned(),
            source: Some(space.sources[source.index()].name.clone()),
            ..Request::default()
        };
        for (source, updates) in options::updates_elsewhere(space, &request, &current) {
            entries.extend(updates.into_iter().map(|entry| (source, entry)));
        }
    }
    let nodes = entries.into_iter();
    nodes.filter_map(|(source, entry)| space.sources[source.index()].node_of(entry.id())).collect()
}
