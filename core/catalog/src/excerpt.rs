//! The beginning of long texts: a message repeats what is wrong, not kilobytes of it.

use operon_version::{RangeTrap, range_traps};

/// How many characters of a text a message repeats: ranges may be 64 KiB long.
const MAX_SHOWN_CHARACTERS: usize = 200;

/// How many traps of one range are reported: more of them say the same again.
const MAX_TRAPS_OF_A_RANGE: usize = 5;

/// Returns a text, or its beginning when it is long.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the first traps of a range that are chosen.
pub(crate) fn few_traps(range: &str, is_chosen: impl Fn(&RangeTrap) -> bool) -> Vec<RangeTrap> {
    range_traps(range).into_iter().filter(is_chosen).take(MAX_TRAPS_OF_A_RANGE).collect()
}
