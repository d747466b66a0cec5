//! A small generator of random numbers: SplitMix64, the same on every machine and for ever.
//!
//! Good enough to vary texts and sizes; not for anything that must not be guessed.

/// The step between states: the golden ratio in 64 bits.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Starts the stream with this number of a seed; streams do not depend on each other.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut start = Self { state: seed };
        let origin = start.next();
        let mut random = Self { state: origin ^ stream.wrapping_mul(STEP) };
        random.next();
        random
    }

    /// Returns the next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a limit; zero when the limit is zero.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// Returns a number from 0 up to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Tells whether something happens that happens so many times in a hundred.
    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// Picks a word of a list that is not empty.
    pub(crate) fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_repeatable_and_independent() {
        let draw = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.next(), random.next()]
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
        // The reference sequence of SplitMix64 from state 0.
        let mut reference = Random { state: 0 };
        assert_eq!(reference.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(reference.next(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        let mut random = Random::new(7, 0);
        let mut seen = [0_usize; 6];
        for _ in 0..6000 {
            seen[random.below(6)] += 1;
            let fraction = random.fraction();
            assert!((0.0..1.0).contains(&fraction));
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
