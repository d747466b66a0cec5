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

    /// Returns the places that can be reached and in how many updates, in the order of places. The
    /// start itself is 0 updates away.
    pub(super) fn search(&self, start: Option<usize>, first: &[usize]) -> Vec<(u32, u32)> {
        let mut seen = vec![0u64; self.words];
        let mut found: Vec<(u32, u32)> = Vec::new();
        if let Some(start) = start {
            insert_all(&mut seen, &[start]);
            found.push((start as u32, 0));
        }
        let mut frontier = vec![0u64; self.words];
        insert_all(&mut frontier, first);
        let mut hops = 0;
        loop {
            hops += 1;
            for (frontier, seen) in frontier.iter_mut().zip(&mut seen) {
                *frontier &= !*seen;
                *seen |= *frontier;
            }
            let places: Vec<usize> = members(&frontier).collect();
            if places.is_empty() {
                break;
            }
            frontier.fill(0);
            for place in places {
                found.push((place as u32, hops));
                let next = &self.edges[place * self.words..(place + 1) * self.words];
                for (frontier, next) in frontier.iter_mut().zip(next) {
                    *frontier |= next;
                }
            }
        }
        found.sort_unstable();
        found
    }
}

fn insert_all(set: &mut [u64], places: &[usize]) {
    for &place in places {
        set[place / WORD_BITS] |= 1 << (place % WORD_BITS);
    }
}

fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(index, &word)| {
        (0..WORD_BITS)
            .filter(move |bit| word >> bit & 1 == 1)
            .map(move |bit| index * WORD_BITS + bit)
    })
}
