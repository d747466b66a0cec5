//! Which line a place is in, without remembering every line.

/// How many bytes share an entry of the index: small enough to count through for each question,
/// large enough that the index stays below a hundredth of the text.
const BLOCK_BYTES: usize = 1024;

/// Finds the lines of places in a text.
pub(crate) struct LineIndex<'t> {
    text: &'t [u8],
    /// How many lines end before each block.
    ends_before: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        let mut ends = 0;
        let ends_before = text
            .chunks(BLOCK_BYTES)
            .map(|block| {
                let before = ends;
                ends += count_ends(block);
                before
            })
            .collect();
        Self { text, ends_before }
    }

    /// Returns the line of a place, counted from 1.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let block = (offset / BLOCK_BYTES).min(self.ends_before.len().saturating_sub(1));
        let before = self.ends_before.get(block).copied().unwrap_or(0);
        before + count_ends(&self.text[block * BLOCK_BYTES..offset]) + 1
    }
}

fn count_ends(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_counting_from_the_beginning() {
        for length in [0, 1, 1023, 1024, 1025, 5000] {
            let text: Vec<u8> =
                (0..length).map(|at| if at % 7 == 3 { b'\n' } else { b'x' }).collect();
            let index = LineIndex::new(&text);
            for offset in [0, 1, 3, 4, 1023, 1024, 1025, 2048, 4999, 5000, 9000] {
                let expected = count_ends(&text[..offset.min(length)]) + 1;
                assert_eq!(index.line_of(offset), expected, "{offset} of {length}");
            }
        }
    }
}
