//! Breadth-first searches from many starts over the same updates, as sets of bits.
//!
//! A channel where every version updates every older one has an edge for each pair; with sets, a
//! search costs a word for sixty-four of them.

const WORD_BITS: usize = u64::BITS as usize;

/// The updates between places, ready to be searched.
pub(super) struct Reached {
    words: usize,
    /// For each place the set of its successors, `words` words each.
    edges: Vec<u64>,
}

impl Reached {
    pub(super) fn new(successors: &[Vec<usize>]) -> Self {
        let words = successors.len().div_ceil(WORD_BITS);
        let mut edges = vec![0; words * successors.len()];
        for (place, next) in successors.iter().enumerate() {
            insert_all(&mut edges[place * words..(place + 1) * words], next);
        }
        Self { words, edges }
    }

    /// Returns the places that can be reached and in how many updates, the nearest first. The start
    /// itself is 0 updates away.
    pub(super) fn search(&self, start: Option<usize>, first: &[usize]) -> Vec<(u32, u32)> {
        let mut seen = vec![0u64; self.words];
        let mut found: Vec<(u32, u32)> = Vec::new();
        if let Some(start) = start {
            insert_all(&mut seen, &[start]);
            found.push((start as u32, 0));
        }
        let mut first_step = vec![0u64; self.words];
        insert_all(&mut first_step, first);
        // What is found is also what is still to be searched from, in the order of hops.
        let mut searched = found.len();
        visit(&first_step, 1, &mut seen, &mut found);
        while let Some(&(place, hops)) = found.get(searched) {
            searched += 1;
            let place = place as usize;
            let next = &self.edges[place * self.words..(place + 1) * self.words];
            visit(next, hops + 1, &mut seen, &mut found);
        }
        found
    }
}

/// Notes the places of a set that were not seen before.
fn visit(set: &[u64], hops: u32, seen: &mut [u64], found: &mut Vec<(u32, u32)>) {
    for (index, (&word, seen)) in set.iter().zip(seen).enumerate() {
        let mut fresh = word & !*seen;
        *seen |= fresh;
        while fresh != 0 {
            let place = index * WORD_BITS + fresh.trailing_zeros() as usize;
            found.push((place as u32, hops));
            fresh &= fresh - 1;
        }
    }
}

fn insert_all(set: &mut [u64], places: &[usize]) {
    for &place in places {
        set[place / WORD_BITS] |= 1 << (place % WORD_BITS);
    }
}
