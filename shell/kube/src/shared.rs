//! What the callers and the tasks of a connection have in common.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use operon_object::Object;

use crate::{
    board::Board, discovery::Discovery, follow::brings_kinds, options::Options, request::Channel,
};

/// A connection to a cluster.
pub(crate) struct Shared {
    pub(crate) channel: Channel,
    pub(crate) discovery: Discovery,
    pub(crate) options: Options,
    /// Counts how often kinds may have come or gone.
    pub(crate) kinds_changed: tokio::sync::watch::Sender<u64>,
    /// Rings when something happened.
    pub(crate) news: Condvar,
    board: Mutex<Board>,
}

impl Shared {
    pub(crate) fn new(channel: Channel, options: Options, board: Board) -> Self {
        Self {
            channel,
            discovery: Discovery::default(),
            options,
            kinds_changed: tokio::sync::watch::Sender::new(0),
            news: Condvar::new(),
            board: Mutex::new(board),
        }
    }

    /// Returns what is followed. It is held only for a moment, never while something is waited for.
    pub(crate) fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for kinds again when an object changed that may bring or take some.
    pub(crate) fn notice_kinds(&self, object: &Object) {
        if brings_kinds(object) {
            self.discovery.doubt();
            self.kinds_changed.send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}
