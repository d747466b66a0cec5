//! The whole of the visible catalogs as one space: every entry of every channel, and no requests.
//!
//! What is installed does not count here: the space says what could be, not what should be next.

use operon_catalog::{Channel, EntryId};
use operon_version::Version;

use super::build::Builder;
use super::installed::InstalledOperator;
use super::needs::NeedMemo;
use super::{Node, NodeId, SourceIndex, Space, options, sources};
use crate::semantics::{FailureScope, Semantics, UpdateSources};
use crate::universe::{Installed, InstalledProperties, Request, Universe};

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
    Builder { needs: NeedMemo::default(), fresh, exclusions: Vec::new() }
        .fill(&mut space)
        .expect("bug: only failures that stop a namespace end the building of a space");
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
        needs: Vec::new(),
        package: String::new(),
        request: None,
        held: false,
    };
    let mut found = options::updates(space, source, &[channel], &current);
    if space.semantics.updates == UpdateSources::AllVisible && space.sources.len() > 1 {
        let request = Request {
            package: channel.package().name().to_owned(),
            channel: channel.name().to_owned(),
            source: Some(space.sources[source.index()].name.clone()),
            ..Request::default()
        };
        found.extend(options::updates_elsewhere(space, &request, &current));
    }
    let nodes = found.into_iter();
    nodes.filter_map(|found| space.sources[found.source.index()].node_of(found.entry)).collect()
}
