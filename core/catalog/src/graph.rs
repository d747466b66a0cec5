//! The upgrade graph of one channel: head, order, successors, reachability.
//!
//! Every function takes the entries as plain values, so the same code answers for a stored
//! catalog, a catalog that is being checked, and a test. skipRange plays no part in the head or the
//! order, only in which updates exist.

mod chain;
mod order;
mod reach;

pub use self::{
    chain::{Chain, ChainDefect, chain},
    order::{OrderError, order},
    reach::{MAX_SEARCH_EDGES, Reach, Rules, Upgrades},
};

use operon_version::{Version, VersionRange};

/// One entry of a channel, as the graph sees it.
#[derive(Debug, Clone)]
pub struct GraphEntry<'a> {
    /// The entry's name, which is its bundle's name.
    pub name: &'a str,
    /// The name it replaces; empty when there is none.
    pub replaces: &'a str,
    /// The names it skips.
    pub skips: Vec<&'a str>,
    /// The installed versions it can replace directly; an unreadable range counts as none.
    pub skip_range: Option<VersionRange>,
    /// The version of its bundle; `None` when it has no bundle or no readable version.
    pub version: Option<Version>,
    /// Whether the catalog advises against it.
    pub deprecated: bool,
}

impl GraphEntry<'_> {
    /// Tells whether this entry is an update of an operator installed as `name` at `version`.
    pub fn updates(&self, name: &str, version: Option<&Version>) -> bool {
        self.replaces == name
            || self.skips.contains(&name)
            || match (&self.skip_range, version) {
                (Some(range), Some(version)) => range.contains(version),
                (Some(_) | None, _) => false,
            }
    }
}
