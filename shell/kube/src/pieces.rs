//! The objects of a listing as pieces of its text.
//!
//! Each is read alone: one that cannot be read stops none of its neighbours, and the text of a page and
//! its objects are never in memory together with a tree of the whole. What the pieces mean is not read
//! here.

use std::ops::Range;

/// Where the objects of a listing lie, and the rest of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// The place of each object in the text.
    pub(crate) items: Vec<Range<usize>>,
    /// The text with `null` in place of the objects.
    pub(crate) rest: Vec<u8>,
}

/// Finds the objects of a listing; nothing where the text is no JSON object. Only brackets and texts are
/// looked at, so that what is found may still be no JSON.
pub(crate) fn pieces(text: &[u8]) -> Option<Pieces> {
    let mut items = Vec::new();
    let mut list = 0..0;
    let mut at = expect(text, blank(text, 0), b'{')?;
    if text.get(blank(text, at)) == Some(&b'}') {
        return Some(Pieces { items, rest: text.to_vec() });
    }
    loop {
        let key = blank(text, at);
        at = after_text(text, key)?;
        let is_list = text.get(key..at) == Some(br#""items""#.as_slice());
        at = blank(text, expect(text, blank(text, at), b':')?);
        if is_list && text.get(at) == Some(&b'[') {
            let start = at;
            at = read_items(text, at + 1, &mut items)?;
            list = start..at;
        } else {
            at = after_value(text, at)?;
        }
        at = blank(text, at);
        match text.get(at)? {
            b',' => at += 1,
            b'}' => break,
            _ => return None,
        }
    }
    let (before, after) = (text.get(..list.start)?, text.get(list.end..)?);
    let word: &[u8] = if list.is_empty() { b"" } else { b"null" };
    Some(Pieces { items, rest: [before, word, after].concat() })
}

/// Reads the elements of a list that was opened, and returns the place after it.
fn read_items(text: &[u8], start: usize, items: &mut Vec<Range<usize>>) -> Option<usize> {
    let mut at = blank(text, start);
    if text.get(at) == Some(&b']') {
        return Some(at + 1);
    }
    loop {
        let start = blank(text, at);
        at = after_value(text, start)?;
        items.push(start..at);
        at = blank(text, at);
        match text.get(at)? {
            b',' => at += 1,
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Returns the place after a value.
fn after_value(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        match text.get(at)? {
            b'"' => at = after_text(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth > 0 => at += 1,
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => return None,
            _ => at = after_word(text, at),
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the place after a number, `true`, `false` or `null`.
fn after_word(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let ends = |byte: &u8| b"{}[],: \t\n\r\"".contains(byte);
    rest.iter().position(ends).map_or(text.len(), |length| start + length.max(1))
}

/// Returns the place after a text.
fn after_text(text: &[u8], start: usize) -> Option<usize> {
    let mut at = expect(text, start, b'"')?;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn expect(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    (text.get(at) == Some(&byte)).then_some(at + 1)
}

/// Returns the first place that is not blank.
fn blank(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| b" \t\n\r".contains(byte)).count();
    start + blanks
}

#[cfg(test)]
mod tests {
    use operon_object::Value;

    use super::*;

    const LISTINGS: [&str; 7] = [
        r#"{"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[]}"#,
        r#"{"items":[{"a":1},{"b":[1,{"items":[2]}]},{"c":"]}\"\\"}],"kind":"X"}"#,
        " { \"items\" : [ { } , [ 1 , 2.5e3 ] , null , true , \"x\" ] , \"z\" : { \"items\" : [ 9 ] } } ",
        r#"{"metadata":{"items":[1,2]},"items":null}"#,
        r#"{"a":"items","items":[[[[[]]]]]}"#,
        "{}",
        r#"{"kind":"x"}"#,
    ];

    #[test]
    fn pieces_are_what_a_reader_of_the_whole_finds() {
        for text in LISTINGS {
            let whole = Value::parse_json(text).unwrap();
            let found = pieces(text.as_bytes()).expect(text);
            let read = |range: &Range<usize>| Value::parse_json(&text.as_bytes()[range.clone()]);
            let items: Vec<Value> = found.items.iter().map(|item| read(item).unwrap()).collect();
            assert_eq!(items, whole.get("items").elements(), "{text}");
            let mut rest = Value::parse_json(&found.rest).unwrap();
            let mut without = whole.clone();
            rest.remove(&["items"]);
            without.remove(&["items"]);
            assert_eq!(rest, without, "{text}");
        }
    }

    #[test]
    fn noise_is_no_listing() {
        for text in LISTINGS {
            for end in 0..text.trim_end().len() {
                assert_eq!(pieces(&text.as_bytes()[..end]), None, "{}", &text[..end]);
            }
            for place in 0..text.len() {
                for byte in [b'"', b'{', b']', b'\\', b',', 0, 255] {
                    let mut noise = text.as_bytes().to_vec();
                    noise[place] = byte;
                    // Whatever is found lies within the text.
                    for item in pieces(&noise).into_iter().flat_map(|found| found.items) {
                        assert!(item.start < item.end && item.end <= noise.len());
                    }
                }
            }
        }
        let deep = format!("{{\"items\":[{}1{}]}}", "[".repeat(500_000), "]".repeat(500_000));
        assert_eq!(pieces(deep.as_bytes()).map(|found| found.items.len()), Some(1));
    }
}
