//! The price of brackets: the scanner looks at every open one for every token.
//!
//! Long texts deep in brackets would take it hours. Depth itself is limited elsewhere.

/// Texts that cost more looks than this, half a second's worth, are refused; all attempts to read a
/// text count together.
///
/// Upstream: go-yaml reads such texts in no time; no one writes them but to harm.
pub const MAX_BRACKET_LOOKS: usize = 300_000_000;

/// Brackets up to this depth cost nothing that counts.
const SHALLOW: usize = 128;

/// Counts the looks that a scanner spends.
#[derive(Default)]
pub(super) struct Brackets {
    /// How many brackets are open.
    pub(super) depth: usize,
    looks: usize,
}

impl Brackets {
    /// Starts with the looks that earlier attempts have spent.
    pub(super) fn after(looks: usize) -> Self {
        Self { depth: 0, looks }
    }

    /// Returns the looks spent so far.
    pub(super) fn looks(&self) -> usize {
        self.looks
    }

    /// Counts the looks of one more event; returns whether it may go on.
    pub(super) fn look(&mut self) -> bool {
        if self.depth > SHALLOW {
            self.looks += self.depth;
        }
        self.looks <= MAX_BRACKET_LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_deep_in_brackets_run_out() {
        let events_until_refused = |depth: usize| {
            let mut brackets = Brackets { depth, looks: 0 };
            (0..1_000_000).position(|_| !brackets.look())
        };
        assert_eq!(events_until_refused(SHALLOW), None);
        assert_eq!(events_until_refused(10_000), Some(MAX_BRACKET_LOOKS / 10_000));
    }
}
