//! For each literal the clauses to look at when it becomes false.
//!
//! All lists share one vector, because a list of its own per literal would cost an allocation for each
//! of a million variables. A list that outgrows its room moves to the end. Nothing here knows values.

use crate::literal::Literal;
use crate::store::ClauseReference;

/// A clause in a watch list, with another of its literals.
///
/// While that literal holds, the clause need not be read at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) other: Literal,
    /// The clause, or [`ClauseReference::BINARY`] for a clause of two literals, which is nowhere else.
    pub(crate) clause: ClauseReference,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    length: u32,
    room: u32,
}

#[derive(Debug, Default)]
pub(crate) struct WatchLists {
    pool: Vec<Watch>,
    spans: Vec<Span>,
    /// Entries of the pool that no span covers any more.
    wasted: usize,
}

/// A moved list gets at least this room.
const SMALLEST_ROOM: u32 = 4;

/// The pool is repacked when more than half of it is wasted, but not for less than this.
const SMALLEST_WASTE: usize = 1 << 16;

impl WatchLists {
    /// Makes lists that hold exactly the given watches.
    pub(crate) fn build(literals: usize, watches: &[(Literal, Watch)]) -> WatchLists {
        let mut spans = vec![Span::default(); literals];
        for (literal, _) in watches {
            spans[literal.code()].room += 1;
        }
        let mut start = 0;
        for span in &mut spans {
            span.start = start;
            start += span.room;
        }
        let nothing = Watch { other: Literal(0), clause: ClauseReference::BINARY };
        let mut pool = vec![nothing; watches.len()];
        for (literal, watch) in watches {
            let span = &mut spans[literal.code()];
            pool[(span.start + span.length) as usize] = *watch;
            span.length += 1;
        }
        WatchLists { pool, spans, wasted: 0 }
    }

    /// Returns where the list of the literal lies in the pool: its first place and its length.
    pub(crate) fn bounds(&self, literal: Literal) -> (usize, usize) {
        let span = self.spans[literal.code()];
        (span.start as usize, span.length as usize)
    }

    pub(crate) fn at(&self, place: usize) -> Watch {
        self.pool[place]
    }

    pub(crate) fn put(&mut self, place: usize, watch: Watch) {
        self.pool[place] = watch;
    }

    /// Cuts the list of the literal to its first `length` entries.
    pub(crate) fn truncate(&mut self, literal: Literal, length: usize) {
        let span = &mut self.spans[literal.code()];
        span.length = span.length.min(u32::try_from(length).unwrap_or(u32::MAX));
    }

    /// Adds a watch; other lists keep their places in the pool.
    pub(crate) fn push(&mut self, literal: Literal, watch: Watch) {
        let mut span = self.spans[literal.code()];
        if span.length == span.room {
            let start = self.pool.len();
            let room = (span.room.saturating_mul(2)).max(SMALLEST_ROOM);
            self.pool.extend_from_within(span.start as usize..(span.start + span.length) as usize);
            self.pool.resize(start + room as usize, watch);
            self.wasted += span.room as usize;
            span.start = crate::problem::place(start);
            span.room = room;
        }
        self.pool[(span.start + span.length) as usize] = watch;
        span.length += 1;
        self.spans[literal.code()] = span;
    }

    /// Says whether so much is wasted that repacking pays.
    pub(crate) fn wants_repacking(&self) -> bool {
        self.wasted > SMALLEST_WASTE && self.wasted > self.pool.len() / 2
    }

    /// Moves all lists together, keeping their order and what `keep` makes of their entries.
    pub(crate) fn repack(&mut self, keep: impl Fn(Watch) -> Option<Watch>) {
        let mut pool = Vec::with_capacity(self.pool.len() - self.wasted);
        for span in &mut self.spans {
            let start = pool.len();
            let old = span.start as usize..(span.start + span.length) as usize;
            pool.extend(self.pool[old].iter().filter_map(|watch| keep(*watch)));
            let length = crate::problem::place(pool.len() - start);
            *span = Span { start: crate::problem::place(start), length, room: length };
        }
        self.pool = pool;
        self.wasted = 0;
    }
}
