//! Chance that is the same for every run of a seed.
//!
//! It is good enough to choose between a few things; nothing here is a secret.

/// A source of chance: splitmix64.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Begins a source; the same seed and purpose give the same sequence.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut random = Self { state: seed ^ purpose.rotate_left(32) };
        random.next();
        random
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a bound; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// Tells whether something of so many in a thousand happens.
    pub(crate) fn happens(&mut self, permille: u32) -> bool {
        self.next() % 1000 < u64::from(permille)
    }

    /// Picks one of several; nothing of none.
    pub(crate) fn pick<'t, T>(&mut self, things: &'t [T]) -> Option<&'t T> {
        let index = self.below(things.len());
        things.get(index)
    }

    /// Picks one of several by their weights.
    pub(crate) fn weighted<T: Copy>(&mut self, things: &[(usize, T)]) -> Option<T> {
        let mut rest = self.below(things.iter().map(|(weight, _)| weight).sum());
        for (weight, thing) in things {
            if rest < *weight {
                return Some(*thing);
            }
            rest -= weight;
        }
        None
    }
}
