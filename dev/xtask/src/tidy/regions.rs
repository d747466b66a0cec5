//! The regions of a Rust file that rules are about: code that only tests see, and functions.
//!
//! Both are found by matching brackets in the code of a scanned file; what a macro makes of its
//! arguments is not known.

use std::ops::Range;

use super::{scan::Scanned, text::find_word};

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// The offset of the keyword.
    pub(crate) start: usize,
    /// The line of the keyword, counted from one.
    pub(crate) line: usize,
    /// How many lines it has, from the keyword to the closing brace.
    pub(crate) lines: usize,
}

/// Returns the byte ranges of items that are compiled for tests only.
pub(crate) fn test_regions(scanned: &Scanned<'_>) -> Vec<Range<usize>> {
    let code = scanned.code.as_str();
    let mut regions = Vec::new();
    let mut from = 0;
    while let Some(start) = code[from..].find("#[cfg(").map(|found| from + found) {
        let Some(end) = matching_bracket(code, start + 1) else {
            break;
        };
        from = end;
        let condition = &code[start..end];
        let is_test = find_word(condition, "test", 0).is_some() && !condition.contains("not(test");
        if is_test {
            from = item_end(code, end);
            regions.push(start..from);
        }
    }
    regions
}

/// Returns the functions of a file in the order they are written.
pub(crate) fn functions(scanned: &Scanned<'_>) -> Vec<Function> {
    let code = scanned.code.as_str();
    let mut functions = Vec::new();
    let mut from = 0;
    while let Some(start) = find_word(code, "fn", from) {
        from = start + "fn".len();
        let behind = code[from..].trim_start();
        let name: String =
            behind.chars().take_while(|&part| part.is_alphanumeric() || part == '_').collect();
        let end = item_end(code, from);
        // A pointer type has no name, a declaration no body.
        if name.is_empty() || !code[..end].ends_with('}') {
            continue;
        }
        let line = scanned.line_of(start);
        functions.push(Function { name, start, line, lines: scanned.line_of(end - 1) - line + 1 });
    }
    functions
}

/// Returns the end of the item that starts at an offset: behind its body or its semicolon.
fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'{' if depth == 0 => return matching_bracket(code, offset).unwrap_or(code.len()),
            b';' if depth == 0 => return offset + 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns the offset behind the bracket that closes the one at `open`.
fn matching_bracket(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_for_tests_are_found() {
        // Each case: the text, and what of it only tests see.
        let cases: &[(&str, &[&str])] = &[
            ("fn a() {}", &[]),
            ("#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}", &["mod tests { fn b() {} }"]),
            ("#[cfg(test)]\nuse a::b;\nfn c() {}", &["use a::b;"]),
            (
                "#[cfg(all(test, unix))]\n#[derive(Debug)]\nstruct A { b: u8 }\nfn c() {}",
                &["#[derive(Debug)]\nstruct A { b: u8 }"],
            ),
            ("#[cfg(not(test))]\nfn a() {}", &[]),
            ("#[cfg(feature = \"test\")]\nfn a() {}", &[]),
            (
                "#[cfg(test)]\nconst A: [u8; 2] = [1, 2];\nfn c() {}",
                &["const A: [u8; 2] = [1, 2];"],
            ),
            (
                "#[cfg(test)]\nmod tests { const A: &str = \"}\"; }\nfn c() {}",
                &["mod tests { const A: &str = \"}\"; }"],
            ),
        ];
        for (text, expected) in cases {
            let regions = test_regions(&Scanned::new(text));
            let found: Vec<&str> = regions
                .iter()
                .map(|region| text[region.clone()].split_once('\n').map_or("", |(_, item)| item))
                .collect();
            assert_eq!(found, *expected, "{text}");
        }
    }

    #[test]
    fn functions_are_measured_from_keyword_to_brace() {
        let text = "\
/// fn in_a_comment() {}
pub fn one() -> [u8; 2] { [1, 2] }
trait A { fn declared(&self); }
const fn three(call: fn(u8) -> u8) -> u8 {
    call(b'}')
}
fn outer()
where
    u8: Copy,
{
    fn inner() {
    }
}
";
        let found: Vec<(String, usize, usize)> = functions(&Scanned::new(text))
            .into_iter()
            .map(|function| (function.name, function.line, function.lines))
            .collect();
        let expected = [("one", 2, 1), ("three", 4, 3), ("outer", 7, 7), ("inner", 11, 2)]
            .map(|(name, line, lines)| (name.to_owned(), line, lines));
        assert_eq!(found, expected);
    }
}
