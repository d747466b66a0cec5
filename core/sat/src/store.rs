//! The clauses of three and more literals, given and learnt, in one vector.
//!
//! A clause is a header of three words followed by its literals; the first two literals are watched. Which
//! clauses are worth keeping is decided elsewhere.

use crate::literal::Literal;
use crate::problem::place;

/// Points to the header of a clause in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClauseReference(u32);

#[derive(Debug, Default)]
pub(crate) struct ClauseStore {
    words: Vec<u32>,
    /// Clauses from here on are learnt.
    learnt_start: usize,
    /// Where the learnt clauses are, in the order of learning.
    pub(crate) learnt: Vec<ClauseReference>,
}

/// Words before the literals: the length, the quality, and where to go on looking for a literal to watch.
const HEADER: usize = 3;

/// Which word of the header says where to go on looking.
const RESUME: usize = 2;

/// The store stops growing here: references have 32 bits, and the longest clause must still fit. A
/// learnt clause beyond that ends the search as if the budget was spent.
const MAX_WORDS: usize = 0xB000_0000;

impl ClauseReference {
    /// Stands for the clauses of two literals, which live in the watch lists only.
    pub(crate) const BINARY: ClauseReference = ClauseReference(u32::MAX);
}

impl ClauseStore {
    pub(crate) fn with_capacity(words: usize) -> ClauseStore {
        ClauseStore { words: Vec::with_capacity(words), learnt_start: 0, learnt: Vec::new() }
    }

    /// Adds a clause of the problem; all of them come before the learnt ones.
    pub(crate) fn add_given(&mut self, literals: &[Literal]) -> ClauseReference {
        let reference = self.append(literals, 0);
        self.learnt_start = self.words.len();
        reference
    }

    /// Adds a learnt clause; a smaller quality number is better.
    pub(crate) fn add_learnt(&mut self, literals: &[Literal], quality: u32) -> ClauseReference {
        let reference = self.append(literals, quality);
        self.learnt.push(reference);
        reference
    }

    pub(crate) fn has_room(&self, literals: usize) -> bool {
        self.words.len() + literals + HEADER <= MAX_WORDS
    }

    /// Returns how much room the learnt clauses take.
    pub(crate) fn learnt_words(&self) -> usize {
        self.words.len() - self.learnt_start
    }

    pub(crate) fn length(&self, clause: ClauseReference) -> usize {
        self.words[clause.0 as usize] as usize
    }

    pub(crate) fn quality(&self, clause: ClauseReference) -> u32 {
        self.words[clause.0 as usize + 1]
    }

    pub(crate) fn literal(&self, clause: ClauseReference, position: usize) -> Literal {
        Literal(self.words[clause.0 as usize + HEADER + position])
    }

    pub(crate) fn swap(&mut self, clause: ClauseReference, left: usize, right: usize) {
        let start = clause.0 as usize + HEADER;
        self.words.swap(start + left, start + right);
    }

    /// Finds a literal that is not watched and satisfies the test; adds to `steps` what it took.
    ///
    /// The search goes on where the last one ended, and round: in a long clause whose literals become
    /// false one after another it would pass over all the earlier ones each time.
    pub(crate) fn find_unwatched(
        &mut self,
        clause: ClauseReference,
        test: impl Fn(Literal) -> bool,
        steps: &mut u64,
    ) -> Option<usize> {
        let start = clause.0 as usize + HEADER;
        let length = self.length(clause);
        let begin = (self.words[clause.0 as usize + RESUME] as usize).clamp(2, length);
        let literals = &self.words[start..start + length];
        let passes = |position: &usize| test(Literal(literals[*position]));
        let found = (begin..length).chain(2..begin).find(passes);
        let passed = match found {
            Some(position) if position >= begin => position - begin,
            Some(position) => length - begin + position,
            None => length,
        };
        *steps += passed as u64 / 4;
        if let Some(position) = found {
            self.words[clause.0 as usize + RESUME] = place(position);
        }
        found
    }

    /// Drops the learnt clauses that `keep` refuses and closes the gaps; returns how references change.
    pub(crate) fn forget(&mut self, keep: impl Fn(&ClauseStore, ClauseReference) -> bool) -> Moves {
        let kept: Vec<bool> = self.learnt.iter().map(|clause| keep(self, *clause)).collect();
        let mut old = self.words.split_off(self.learnt_start);
        let mut learnt = Vec::with_capacity(kept.len());
        for (clause, kept) in self.learnt.iter().zip(kept) {
            let start = clause.0 as usize - self.learnt_start;
            let end = start + HEADER + old[start] as usize;
            if kept {
                let reference = ClauseReference(place(self.words.len()));
                self.words.extend_from_slice(&old[start..end]);
                learnt.push(reference);
                old[start] = reference.0;
            } else {
                old[start] = ClauseReference::BINARY.0;
            }
        }
        self.learnt = learnt;
        Moves { learnt_start: self.learnt_start, old }
    }

    fn append(&mut self, literals: &[Literal], quality: u32) -> ClauseReference {
        let reference = ClauseReference(place(self.words.len()));
        self.words.push(place(literals.len()));
        self.words.push(quality);
        self.words.push(2);
        self.words.extend(literals.iter().map(|literal| literal.0));
        reference
    }
}

/// Says where clauses went when others were forgotten.
pub(crate) struct Moves {
    learnt_start: usize,
    old: Vec<u32>,
}

impl Moves {
    /// Returns the new reference, or `None` for a clause that is gone.
    pub(crate) fn new_place(&self, clause: ClauseReference) -> Option<ClauseReference> {
        if clause == ClauseReference::BINARY || (clause.0 as usize) < self.learnt_start {
            return Some(clause);
        }
        let target = ClauseReference(self.old[clause.0 as usize - self.learnt_start]);
        (target != ClauseReference::BINARY).then_some(target)
    }
}
