//! Text of strangers on a terminal: what would move the cursor or turn the text is made visible.

/// Returns the text without characters that drive a terminal or turn the reading direction.
pub(crate) fn clean(text: &str) -> String {
    let harmful = |character: char| {
        character.is_control()
            || matches!(
                character,
                '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
            )
    };
    let harmless = |character: char| match character {
        '\n' | '\r' | '\t' => ' ',
        character if harmful(character) => char::REPLACEMENT_CHARACTER,
        character => character,
    };
    text.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_reversals_are_made_visible() {
        assert_eq!(clean("a\u{1b}[31m\nb\u{202e}"), "a\u{fffd}[31m b\u{fffd}");
    }
}
