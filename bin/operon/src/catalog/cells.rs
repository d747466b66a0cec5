//! What fits into a cell: long lists, images and sentences made short, and foreign text made harmless.
//!
//! Nothing here knows a table; a cell is a text. What is cut here is always complete in JSON.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many digits of an image's digest a cell shows: enough to tell two apart, as `docker` does.
const DIGEST_DIGITS: usize = 12;

/// Returns the text on one line, cut at its end to so many columns.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.width() <= columns {
        return line;
    }
    let mut short = String::new();
    let mut used = 0;
    for character in line.chars() {
        used += character.width().unwrap_or(0);
        if used >= columns {
            break;
        }
        short.push(character);
    }
    short.truncate(short.trim_end().len());
    short + "…"
}

/// Returns the text on one line, cut in its middle: the ends of names tell more.
pub(crate) fn shorten_middle(text: &str, columns: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.width() <= columns {
        return line;
    }
    let backwards: String = line.chars().rev().collect();
    let tail: String = shorten(&backwards, columns / 2).chars().rev().collect();
    let head = shorten(&line, columns - tail.width() + 1);
    head.trim_end_matches('…').to_owned() + &tail
}

/// Returns the first names and how many more there are: `a, b +3`.
pub(crate) fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>, count: usize) -> String {
    let more = names.len().saturating_sub(count);
    let shown = names.take(count).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} +{more}") }
}

/// Returns an image reference with a short digest.
pub(crate) fn short_image(image: &str) -> String {
    match image.split_once("@sha256:") {
        Some((name, digest))
            if digest.is_char_boundary(DIGEST_DIGITS) && digest.len() > DIGEST_DIGITS =>
        {
            format!("{name}@sha256:{}…", &digest[..DIGEST_DIGITS])
        }
        Some(_) | None => image.to_owned(),
    }
}

/// Returns a mark for the rows that have something.
pub(crate) fn mark(is_marked: bool, word: &str) -> String {
    if is_marked { word.to_owned() } else { String::new() }
}

/// Returns `1 bundle`, `2 bundles`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cells_are_shortened_and_short_ones_left() {
        assert_eq!(shorten("two\n words", 20), "two words");
        assert_eq!(shorten("a sentence that is long", 11), "a sentence…");
        assert_eq!(shorten("漢字漢字漢字", 6), "漢字…");
        assert_eq!(
            shorten_middle("AWS Controllers for Kubernetes - Amazon ACM", 21),
            "AWS Control…mazon ACM"
        );
        assert_eq!(listed(["a"].into_iter(), 2), "a");
        assert_eq!(listed(["a", "b", "c", "d", "e"].into_iter(), 2), "a, b +3");
        let digest = "0123456789abcdef".repeat(4);
        assert_eq!(short_image(&format!("r/i@sha256:{digest}")), "r/i@sha256:0123456789ab…");
        assert_eq!(short_image("r/i@sha256:short"), "r/i@sha256:short");
        assert_eq!(short_image("r/i:v1"), "r/i:v1");
    }

    #[test]
    fn foreign_text_cannot_drive_a_terminal() {}
}
