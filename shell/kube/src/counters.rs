//! What was asked of the API server, counted for metrics.
//!
//! Only counts: nothing of what was asked or answered is kept.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
};

/// What is asked of an API server, in the words of its access rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// One object, or what the server says about itself.
    Get,
    /// A page of objects.
    List,
    /// A stream of changes.
    Watch,
    /// A new object.
    Create,
    /// An object replaced.
    Update,
    /// Fields applied.
    Patch,
    /// An object removed.
    Delete,
}

impl Verb {
    /// Tells whether it changes something.
    pub fn is_write(self) -> bool {
        match self {
            Self::Get | Self::List | Self::Watch => false,
            Self::Create | Self::Update | Self::Patch | Self::Delete => true,
        }
    }
}

/// Shows a verb as access rules write it, such as `patch`.
impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
        })
    }
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answered {
    /// The server answered with this code.
    Code(u16),
    /// There was no answer.
    Nothing,
}

/// What was counted since the cluster was connected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// The requests that were sent, by what was asked and what came of it.
    pub requests: BTreeMap<(Verb, Answered), u64>,
    /// How often a request was sent again.
    pub repeated: u64,
    /// How often a watch ended otherwise than in its time, and was begun again.
    pub watch_restarts: u64,
    /// How often a watch had to list again because its past was forgotten.
    pub relists: u64,
    /// How often so much happened that everything had to be listed again.
    pub overflows: u64,
    /// The objects that were passed over because they cannot be read, each time they were met.
    pub unreadable: u64,
    /// The writes that were not sent because the lease was not held.
    pub fenced: u64,
    /// The changes that wait to be asked for.
    pub queued: usize,
    /// The watches.
    pub watches: usize,
}

impl Counters {
    /// Counts the writes that were sent.
    pub fn writes(&self) -> u64 {
        let writes = self.requests.iter().filter(|((verb, _), _)| verb.is_write());
        writes.map(|(_, count)| count).sum()
    }
}

/// Counts, from many places at once.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counters: Mutex<Counters>,
}

impl Tally {
    pub(crate) fn note(&self, note: impl FnOnce(&mut Counters)) {
        note(&mut self.counters.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn note_request(&self, verb: Verb, answered: Answered) {
        self.note(|counters| *counters.requests.entry((verb, answered)).or_default() += 1);
    }

    pub(crate) fn read(&self) -> Counters {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
