//! Go's quoting of texts (`%q`), which predicate texts and JSON errors use.
//!
//! Only valid UTF-8 is quoted here: property texts were already cleaned when they were read.

/// Quotes a text as Go's `strconv.Quote` does.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        quoted.push_str(&escape(character, '"'));
    }
    quoted.push('"');
    quoted
}

/// Escapes one character as Go does inside the given quotation mark.
pub fn escape(character: char, mark: char) -> String {
    match character {
        '\\' => "\\\\".to_owned(),
        '\u{7}' => "\\a".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{b}' => "\\v".to_owned(),
        same if same == mark => format!("\\{same}"),
        plain if is_printable(plain) => plain.to_string(),
        control if control < ' ' || control == '\u{7f}' => {
            format!("\\x{:02x}", u32::from(control))
        }
        small if u32::from(small) < 0x1_0000 => format!("\\u{:04x}", u32::from(small)),
        large => format!("\\U{:08x}", u32::from(large)),
    }
}

/// Go prints letters, marks, numbers, punctuation, symbols and the ASCII blank. The standard
/// library knows the same set but shows it only through `escape_debug`; a letter in front keeps
/// it from also escaping combining marks.
fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return (' '..='~').contains(&character);
    }
    let probe = String::from_iter(['a', character]);
    probe.escape_debug().nth(1) == Some(character)
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_as_go_does() {
        let claims = [
            ("plain é 日 😀", "\"plain é 日 😀\""),
            ("q\"uote\\", "\"q\\\"uote\\\\\""),
            ("\u{7}\u{8}\u{c}\n\r\t\u{b}", "\"\\a\\b\\f\\n\\r\\t\\v\""),
            ("\u{0}\u{1b}\u{7f}", "\"\\x00\\x1b\\x7f\""),
            ("\u{85}\u{a0}\u{ad}\u{2028}", "\"\\u0085\\u00a0\\u00ad\\u2028\""),
            ("e\u{301}\u{fffd}", "\"e\u{301}\u{fffd}\""),
            ("\u{e0001}", "\"\\U000e0001\""),
        ];
        for (text, expected) in claims {
            assert_eq!(quote(text), expected, "{text:?}");
        }
    }
}
