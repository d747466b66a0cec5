//! How often things go wrong.

/// How often each fault happens, in a thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// The driver dies before a write.
    pub crash_before: u32,
    /// The driver dies after a write.
    pub crash_after: u32,
    /// A write is done and answered with an error.
    pub applied_but_error: u32,
    /// A write is not done and answered with an error.
    pub error_not_applied: u32,
    /// A write is refused because something changed meanwhile.
    pub conflict: u32,
    /// The cluster does not answer the next calls.
    pub outage: u32,
    /// A list is answered from the past.
    pub stale_list: u32,
    /// Some events come later.
    pub lag: u32,
    /// Several events of an object become one.
    pub coalesced: u32,
    /// Events of different kinds change places.
    pub reordered: u32,
    /// Events come twice.
    pub duplicated: u32,
    /// Events are lost, and later everything has to be listed.
    pub missed: u32,
    /// What happened is forgotten, and everything has to be listed.
    pub gone: u32,
    /// Another replica takes its turn in the middle of this one's.
    pub interlude: u32,
    /// A catalog cannot be read.
    pub unreadable: u32,
    /// The contents of a bundle are not there yet, or cannot be read.
    pub unpacking: u32,
}

impl Rates {
    /// Nothing goes wrong.
    pub const NONE: Self = Self {
        crash_before: 0,
        crash_after: 0,
        applied_but_error: 0,
        error_not_applied: 0,
        conflict: 0,
        outage: 0,
        stale_list: 0,
        lag: 0,
        coalesced: 0,
        reordered: 0,
        duplicated: 0,
        missed: 0,
        gone: 0,
        interlude: 0,
        unreadable: 0,
        unpacking: 0,
    };

    /// A storm.
    pub const STORM: Self = Self {
        crash_before: 6,
        crash_after: 10,
        applied_but_error: 20,
        error_not_applied: 20,
        conflict: 20,
        outage: 3,
        stale_list: 400,
        lag: 350,
        coalesced: 150,
        reordered: 200,
        duplicated: 100,
        missed: 30,
        gone: 15,
        interlude: 40,
        unreadable: 15,
        unpacking: 200,
    };
}
