//! Where updates lead from each version of a channel, when each time the first that can be
//! installed is taken.
//!
//! Only the operator itself counts as installed: what it needs is taken anew with every update.

use std::collections::HashMap;

use operon_catalog::Channel;

use super::worker::Findings;
use super::{Install, MAX_UPDATE_PAIRS, Stuck, Surveyor, Update};
use crate::facts;
use crate::space::{Node, NodeId, SourceIndex, updates_of};

/// The updates of one channel, followed once from each version.
pub(super) struct Journeys<'s, 'u> {
    surveyor: &'s Surveyor<'u>,
    source: SourceIndex,
    channel: Channel<'u>,
    ends: HashMap<NodeId, End>,
    is_too_large: bool,
}

/// How a journey from a node ends.
#[derive(Clone)]
enum End {
    Head { steps: u32 },
    Stuck { at: NodeId, why: Stuck },
}

/// What happens next to an operator.
enum Next {
    Moves(NodeId),
    Stays(Stuck),
}

impl<'s, 'u> Journeys<'s, 'u> {
    pub(super) fn new(
        surveyor: &'s Surveyor<'u>,
        source: SourceIndex,
        channel: Channel<'u>,
        entries: usize,
    ) -> Self {
        let offered: usize = surveyor
            .space
            .sources
            .iter()
            .filter_map(|source| source.catalog.package(channel.package().name()))
            .filter_map(|package| package.channel(channel.name()))
            .map(|channel| channel.order().len())
            .sum();
        let is_too_large = entries.saturating_mul(offered) > MAX_UPDATE_PAIRS;
        Self { surveyor, source, channel, ends: HashMap::new(), is_too_large }
    }

    /// Returns where updates lead from a node.
    pub(super) fn update(&mut self, start: NodeId, findings: &mut Findings<'u>) -> Update {
        match self.end(start, findings) {
            End::Head { steps: 0 } => Update::Head,
            End::Head { steps } => Update::Reaches { steps },
            End::Stuck { at, why } => {
                let operator = facts::operator(&self.surveyor.space, at);
                Update::Stuck { at: operator.name, version: operator.version, why }
            }
        }
    }

    fn end(&mut self, start: NodeId, findings: &mut Findings<'u>) -> End {
        let mut path: Vec<NodeId> = Vec::new();
        let mut here = start;
        let mut end = loop {
            if let Some(end) = self.ends.get(&here) {
                break end.clone();
            }
            if self.is_head(here) {
                self.ends.insert(here, End::Head { steps: 0 });
                continue;
            }
            match self.next(here, findings) {
                Next::Moves(next) if next == here || path.contains(&next) => {
                    path.push(here);
                    break End::Stuck { at: here, why: Stuck::Circle };
                }
                Next::Moves(next) => {
                    path.push(here);
                    here = next;
                }
                Next::Stays(why) => {
                    self.ends.insert(here, End::Stuck { at: here, why });
                }
            }
        };
        for node in path.into_iter().rev() {
            if let End::Head { steps } = &mut end {
                *steps += 1;
            }
            self.ends.insert(node, end.clone());
        }
        self.ends.get(&start).cloned().unwrap_or(end)
    }

    /// Tells whether a node is the head of the channel, here or in another catalog.
    fn is_head(&self, node: NodeId) -> bool {
        let Node::Entry { source, entry, .. } = self.surveyor.space.nodes[node.index()] else {
            return false;
        };
        let entry = self.surveyor.space.sources[source.index()].catalog.entry_by_id(entry);
        let is_own = self.channel.head().is_some_and(|head| head.name() == entry.name());
        is_own || entry.channel().head().is_some_and(|head| head.id() == entry.id())
    }

    fn next(&self, here: NodeId, findings: &mut Findings<'u>) -> Next {
        if self.channel.head().is_none() {
            return Next::Stays(Stuck::NoHead);
        }
        if self.is_too_large {
            return Next::Stays(Stuck::Undecided);
        }
        let updates = updates_of(&self.surveyor.space, here, self.source, self.channel);
        let Some(&preferred) = updates.first() else { return Next::Stays(Stuck::NoUpdate) };
        // Upstream: one malformed bundle among those that are looked at stops everything.
        let mut looked_at = updates.iter().chain([&here]);
        if let Some(&stopped) =
            looked_at.find(|node| self.surveyor.spread.stopper(**node).is_some())
        {
            return Next::Stays(self.blocked(stopped, findings));
        }
        for &update in &updates {
            match findings.installs.get(&update) {
                Some(Install::Possible) => return Next::Moves(update),
                Some(Install::Undecided) | None => return Next::Stays(Stuck::Undecided),
                Some(Install::Impossible(_)) => {}
            }
        }
        Next::Stays(self.blocked(preferred, findings))
    }

    fn blocked(&self, update: NodeId, findings: &mut Findings<'u>) -> Stuck {
        let operator = facts::operator(&self.surveyor.space, update);
        match findings.installs.get(&update) {
            Some(&Install::Impossible(obstacle)) => {
                Stuck::Blocked { name: operator.name, version: operator.version, obstacle }
            }
            Some(Install::Possible | Install::Undecided) | None => Stuck::Undecided,
        }
    }
}
