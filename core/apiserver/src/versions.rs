//! Which version of each kind a server speaks to those who name none.
//!
//! Whoever stands before a server names kinds without versions; one of them has to be chosen. Nothing
//! is converted here.

use std::collections::BTreeMap;

use operon_object::{
    ApiKind, Kind,
    known::{self, known_kind},
};

use crate::{Commit, ServedKind, Server};

/// Holds the version of each kind that there is; to be made anew when a commit touches it.
#[derive(Debug)]
pub struct Versions {
    by_kind: BTreeMap<Kind, ApiKind>,
}

impl Versions {
    /// Chooses the version that Operon writes or, where it knows none, the one that is stored.
    pub fn of(server: &Server) -> Self {
        let mut by_kind: BTreeMap<Kind, (u8, ApiKind)> = BTreeMap::new();
        for served in server.kinds() {
            let rank = rank(&served);
            let chosen = by_kind
                .entry(served.kind.kind.clone())
                .or_insert_with(|| (rank, served.kind.clone()));
            if rank > chosen.0 {
                *chosen = (rank, served.kind);
            }
        }
        let chosen = by_kind.into_iter().map(|(kind, (_, version))| (kind, version));
        Self { by_kind: chosen.collect() }
    }

    /// Returns a kind in the version that is spoken, if the server has it.
    pub fn find(&self, kind: &Kind) -> Option<&ApiKind> {
        self.by_kind.get(kind)
    }

    /// Tells whether a commit may change what there is.
    pub fn is_touched_by(commit: &Commit) -> bool {
        commit.writes.iter().any(|(key, _)| key.kind == known::CUSTOM_RESOURCE_DEFINITION)
    }
}

/// The version that Operon itself writes is best, then the one that is stored.
fn rank(served: &ServedKind) -> u8 {
    let is_ours =
        known_kind(&served.kind.kind).is_some_and(|known| known.version == served.kind.version);
    if is_ours { 2 } else { u8::from(served.is_storage) }
}
