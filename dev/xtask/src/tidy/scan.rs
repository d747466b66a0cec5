//! Tells the code of a Rust file from its comments and literals.
//!
//! This is not a parser: it knows just enough of the language's lexical rules that a rule about
//! code is never misled by a comment or a string, and the other way round.

/// A Rust file as three texts of the same length, so that an offset means the same in each.
pub(crate) struct Scanned<'t> {
    /// The text as it is written.
    pub(crate) text: &'t str,
    /// The code: comments are blank, and literals between their quotes.
    pub(crate) code: String,
    /// The comments: everything else is blank.
    pub(crate) comments: String,
}

impl<'t> Scanned<'t> {
    /// Scans a file.
    pub(crate) fn new(text: &'t str) -> Self {
        let mut scanner = Scanner {
            text,
            position: 0,
            code: String::with_capacity(text.len()),
            comments: String::with_capacity(text.len()),
        };
        scanner.scan();
        Self { text, code: scanner.code, comments: scanner.comments }
    }

    /// Returns the number of the line that holds an offset, counted from one.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.text.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// What a stretch of text is, and therefore which of the two texts keeps it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

struct Scanner<'t> {
    text: &'t str,
    position: usize,
    code: String,
    comments: String,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        while self.position < self.text.len() {
            let rest = &self.text[self.position..];
            if rest.starts_with("//") {
                let length = rest.find('\n').unwrap_or(rest.len());
                self.take(length, Kind::Comment);
            } else if rest.starts_with("/*") {
                self.take(block_comment_length(rest), Kind::Comment);
            } else if let Some((opening, closing)) = self.raw_string_quotes(rest) {
                self.take(opening, Kind::Code);
                self.take_literal_until(&closing);
            } else if rest.starts_with('"') {
                self.take(1, Kind::Code);
                let length = string_length(&self.text[self.position..]);
                self.take(length, Kind::Literal);
                self.take(1, Kind::Code);
            } else if let Some(length) = character_length(rest) {
                self.take(1, Kind::Code);
                self.take(length, Kind::Literal);
                self.take(1, Kind::Code);
            } else {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                self.take(length, Kind::Code);
            }
        }
    }

    /// Moves on by a number of bytes; what a text does not keep is blank in it, line breaks aside.
    fn take(&mut self, length: usize, kind: Kind) {
        let end = (self.position + length).min(self.text.len());
        let taken = &self.text[self.position..end];
        for (kept, target) in
            [(kind == Kind::Code, &mut self.code), (kind == Kind::Comment, &mut self.comments)]
        {
            if kept {
                target.push_str(taken);
            } else {
                target.extend(taken.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            }
        }
        self.position = end;
    }

    fn take_literal_until(&mut self, closing: &str) {
        let rest = &self.text[self.position..];
        let length = rest.find(closing).unwrap_or(rest.len());
        self.take(length, Kind::Literal);
        self.take(closing.len(), Kind::Code);
    }

    /// Returns the length of `r##"` and the text that ends such a string.
    fn raw_string_quotes(&self, rest: &str) -> Option<(usize, String)> {
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        if self.text[..self.position].ends_with(is_part) {
            return None;
        }
        let prefix = ["br", "cr", "r"].into_iter().find(|prefix| rest.starts_with(prefix))?;
        let behind = &rest[prefix.len()..];
        let hashes = behind.len() - behind.trim_start_matches('#').len();
        let opening = prefix.len() + hashes + 1;
        behind[hashes..].starts_with('"').then(|| (opening, format!("\"{}", "#".repeat(hashes))))
    }
}

/// Returns the length of a comment that may hold others.
fn block_comment_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut position) = (0_usize, 0);
    while position < bytes.len() {
        if bytes[position..].starts_with(b"/*") {
            depth += 1;
            position += 2;
        } else if bytes[position..].starts_with(b"*/") {
            depth -= 1;
            position += 2;
            if depth == 0 {
                return position;
            }
        } else {
            position += 1;
        }
    }
    bytes.len()
}

/// Returns the length of a string up to its closing quote.
fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (offset, byte) in rest.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return offset,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a character between its quotes; `None` for a lifetime or anything else.
fn character_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        // The escaped character may be a quote itself.
        let behind = inside.char_indices().nth(2)?.0;
        return inside[behind..].find('\'').map(|length| behind + length);
    }
    inside[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_and_literals_are_told_apart() {
        // Each case: the text, its code, its comments.
        let cases = [
            ("a // b", "a     ", "  // b"),
            ("a /* b /* c */ d */ e", "a                   e", "  /* b /* c */ d */  "),
            (r#"f("// no")"#, r#"f("     ")"#, "          "),
            (r#"f("a\"b") // c"#, r#"f("    ")     "#, "          // c"),
            (r##"r#"a " b"# x"##, r##"r#"     "# x"##, "            "),
            (r#"br"\" y"#, r#"br" " y"#, "       "),
            ("'\"' '\\'' 'a T", "' ' '  ' 'a T", "             "),
            ("r#fn x", "r#fn x", "      "),
            ("/* open", "       ", "/* open"),
            ("\"open", "\"    ", "     "),
        ];
        for (text, code, comments) in cases {
            let scanned = Scanned::new(text);
            assert_eq!(scanned.code, code, "code of {text}");
            assert_eq!(scanned.comments, comments, "comments of {text}");
        }
    }

    #[test]
    fn offsets_and_lines_stay_what_they_were() {
        let text = "let s = \"ä\nb\"; // ü\nlet t;\n";
        let scanned = Scanned::new(text);
        assert_eq!(scanned.code.len(), text.len());
        assert_eq!(scanned.code.lines().count(), 3);
        assert_eq!(scanned.line_of(text.find("let t").expect("it is there")), 3);
        assert_eq!(scanned.code.find("let t"), text.find("let t"));
    }
}
