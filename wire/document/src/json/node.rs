//! A value on the tape: its kind, its place, its members, its text.

use std::{borrow::Cow, ops::Range};

use super::tape::{Slot, Tape};

/// What sort of value a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// `-1.5e3`
    Number,
    /// `"text"`
    String,
    /// `[1, 2]`
    Array,
    /// `{"key": 1}`
    Object,
}

impl Kind {
    /// Returns the word people use for this kind of value.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "bool",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

/// A value of a document, borrowed from its text and tape.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    text: &'a [u8],
    slots: &'a [Slot],
    index: u32,
}

impl<'a> Node<'a> {
    pub(super) fn root(text: &'a [u8], tape: &'a Tape) -> Self {
        Self { text, slots: &tape.slots, index: 0 }
    }

    fn slot(self) -> Slot {
        self.slots[self.index as usize]
    }

    fn at(self, index: u32) -> Self {
        Self { index, ..self }
    }

    /// Returns what sort of value this is.
    pub fn kind(self) -> Kind {
        self.slot().kind
    }

    /// Returns the byte range of the value in the text it was read from.
    pub fn span(self) -> Range<usize> {
        let slot = self.slot();
        slot.start as usize..slot.end as usize
    }

    /// Returns the text of the value exactly as it was written.
    pub fn raw(self) -> &'a [u8] {
        &self.text[self.span()]
    }

    /// Tells whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns the value of a string, or `None` for any other kind.
    ///
    /// Upstream: bytes that are not UTF-8 and halves of surrogate pairs become U+FFFD.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let slot = self.slot();
        if slot.kind != Kind::String {
            return None;
        }
        let inner = &self.text[slot.start as usize + 1..slot.end as usize - 1];
        if slot.plain {
            let text = std::str::from_utf8(inner);
            return Some(Cow::Borrowed(text.expect("bug: plain strings were checked to be UTF-8")));
        }
        Some(Cow::Owned(unescape(inner)))
    }

    /// Returns the text of a string that holds no escapes, without copying it.
    pub fn as_plain_str(self) -> Option<&'a str> {
        match self.as_str() {
            Some(Cow::Borrowed(text)) => Some(text),
            Some(Cow::Owned(_)) | None => None,
        }
    }

    /// Returns the value of a bool.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == b"true")
    }

    /// Returns the members of an object in the order they are written; nothing for other kinds.
    pub fn members(self) -> Members<'a> {
        Members(self.children(Kind::Object))
    }

    /// Returns the elements of an array; nothing for other kinds.
    pub fn elements(self) -> Elements<'a> {
        self.children(Kind::Array)
    }

    /// Returns the value of the member with exactly this key, the last one if it is repeated.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        self.members().filter(|(name, _)| name.key_equals(key)).last().map(|(_, value)| value)
    }

    /// Returns the member that Go would assign to a struct field of this name.
    ///
    /// Upstream: keys match without regard to case, and documents are re-encoded with sorted keys
    /// before they are read, so of several spellings the bytewise last one wins.
    pub fn field(self, name: &str) -> Option<Node<'a>> {
        let mut best: Option<(Cow<'a, str>, Node<'a>)> = None;
        for (key, value) in self.members() {
            if !key.folds_to(name) {
                continue;
            }
            let text = key.as_str().unwrap_or_default();
            if best.as_ref().is_none_or(|(earlier, _)| *earlier <= text) {
                best = Some((text, value));
            }
        }
        best.map(|(_, value)| value)
    }

    /// Tells whether this string is exactly `key`.
    pub fn key_equals(self, key: &str) -> bool {
        let slot = self.slot();
        if slot.plain {
            return self.text[slot.start as usize + 1..slot.end as usize - 1] == *key.as_bytes();
        }
        self.as_str().is_some_and(|text| text == key)
    }

    /// Tells whether this string equals `name` (which is ASCII) the way Go matches field names.
    pub fn folds_to(self, name: &str) -> bool {
        let slot = self.slot();
        let inner = &self.text[slot.start as usize + 1..slot.end as usize - 1];
        if slot.plain && inner.is_ascii() {
            return inner.eq_ignore_ascii_case(name.as_bytes());
        }
        self.as_str().is_some_and(|text| folds_to(&text, name))
    }

    fn children(self, kind: Kind) -> Elements<'a> {
        let slot = self.slot();
        let (next, end) = if slot.kind == kind { (self.index + 1, slot.next) } else { (0, 0) };
        Elements { node: self, next, end }
    }
}

/// Two characters outside ASCII fold to ASCII letters: the long s and the Kelvin sign.
fn folds_to(text: &str, name: &str) -> bool {
    let fold = |character: char| match character {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    text.chars().map(fold).eq(name.chars().map(fold))
}

/// The elements of an array, in order.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    node: Node<'a>,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        (self.next < self.end).then(|| {
            let node = self.node.at(self.next);
            self.next = node.slot().next;
            node
        })
    }
}

/// The members of an object, in the order they are written: key and value.
#[derive(Debug, Clone)]
pub struct Members<'a>(Elements<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Node<'a>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.next()?;
        let value = self.0.next().expect("bug: every key on the tape is followed by its value");
        Some((key, value))
    }
}

fn unescape(inner: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut position = 0;
    while let Some(&byte) = inner.get(position) {
        if byte != b'\\' {
            bytes.push(byte);
            position += 1;
            continue;
        }
        position += 2;
        match inner[position - 1] {
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'u' => {
                let (character, consumed) = unicode_escape(&inner[position..]);
                position += consumed;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            literal => bytes.push(literal),
        }
    }
    replace_invalid_utf8(&bytes)
}

/// Reads the hex digits after `\u`, and the low half that may follow a high surrogate.
fn unicode_escape(rest: &[u8]) -> (char, usize) {
    let hex = |digits: &[u8]| {
        std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let first = hex(&rest[..4]).unwrap_or(0xfffd);
    if (0xd800..0xdc00).contains(&first)
        && rest.get(4..6) == Some(b"\\u".as_slice())
        && let Some(second) = rest.get(6..10).and_then(hex)
        && (0xdc00..0xe000).contains(&second)
    {
        let combined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(combined).unwrap_or(char::REPLACEMENT_CHARACTER), 10);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 4)
}

/// Upstream: Go replaces every single byte that is not part of valid UTF-8, one by one.
fn replace_invalid_utf8(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}
