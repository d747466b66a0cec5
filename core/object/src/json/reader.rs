//! Reads JSON text as a flat stream of events.
//!
//! Nesting is a stack of one bit per open container, never the call stack. Numbers stay text:
//! whoever asks for a value decides what they mean.

use std::borrow::Cow;

use super::text::{clean, unescape};
use super::{JsonError, JsonFault, MAX_JSON_DEPTH, TrailingText};

/// Names one step through a JSON text.
#[derive(Debug, PartialEq)]
pub enum JsonEvent<'a> {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// The key of the entry that follows.
    Key(Cow<'a, str>),
    /// A text.
    String(Cow<'a, str>),
    /// A number as it is written, and where.
    Number {
        /// Holds the digits.
        text: &'a str,
        /// Counts the bytes before it.
        offset: usize,
    },
    /// `true` or `false`.
    Bool(bool),
    /// `null`
    Null,
}

/// Walks over a JSON text.
pub struct JsonReader<'a> {
    text: &'a [u8],
    position: usize,
    trailing: TrailingText,
    open: Vec<Container>,
    expected: Expected,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

#[derive(Clone, Copy)]
enum Expected {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    AfterValue,
    Nothing,
}

impl<'a> JsonReader<'a> {
    /// Begins at the start of a text.
    pub fn new(text: &'a [u8], trailing: TrailingText) -> Self {
        Self { text, position: 0, trailing, open: Vec::new(), expected: Expected::Value }
    }

    /// Returns the next event, or nothing after the value (and, if asked for, the text) ended.
    pub fn next_event(&mut self) -> Result<Option<JsonEvent<'a>>, JsonError> {
        loop {
            if let Expected::Nothing = self.expected {
                return self.finish();
            }
            self.skip_blanks();
            match self.expected {
                Expected::Value => return self.value().map(Some),
                Expected::ValueOrEnd => {
                    if self.peek() == Some(b']') {
                        return Ok(Some(self.close()));
                    }
                    return self.value().map(Some);
                }
                Expected::KeyOrEnd => {
                    if self.peek() == Some(b'}') {
                        return Ok(Some(self.close()));
                    }
                    return self.key().map(Some);
                }
                Expected::Key => return self.key().map(Some),
                Expected::AfterValue => {
                    if let Some(event) = self.after_value()? {
                        return Ok(Some(event));
                    }
                }
                Expected::Nothing => {}
            }
        }
    }

    fn finish(&mut self) -> Result<Option<JsonEvent<'a>>, JsonError> {
        if self.trailing == TrailingText::Refuse {
            self.skip_blanks();
            if let Some(byte) = self.peek() {
                return Err(self.invalid(byte, "after top-level value"));
            }
        }
        Ok(None)
    }

    fn value(&mut self) -> Result<JsonEvent<'a>, JsonError> {
        let Some(byte) = self.peek() else {
            return Err(self.ended());
        };
        match byte {
            b'{' => self.enter(Container::Object),
            b'[' => self.enter(Container::Array),
            b'"' => {
                let text = self.string()?;
                self.leave_value();
                Ok(JsonEvent::String(text))
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", JsonEvent::Bool(true)),
            b'f' => self.word("false", JsonEvent::Bool(false)),
            b'n' => self.word("null", JsonEvent::Null),
            other => Err(self.invalid(other, "looking for beginning of value")),
        }
    }

    fn enter(&mut self, container: Container) -> Result<JsonEvent<'a>, JsonError> {
        if self.open.len() == MAX_JSON_DEPTH {
            let byte = self.text[self.position];
            return Err(self.invalid(byte, "exceeded max depth"));
        }
        self.position += 1;
        self.open.push(container);
        match container {
            Container::Object => {
                self.expected = Expected::KeyOrEnd;
                Ok(JsonEvent::BeginObject)
            }
            Container::Array => {
                self.expected = Expected::ValueOrEnd;
                Ok(JsonEvent::BeginArray)
            }
        }
    }

    fn close(&mut self) -> JsonEvent<'a> {
        self.position += 1;
        let closed = self.open.pop();
        self.leave_value();
        match closed {
            Some(Container::Object) => JsonEvent::EndObject,
            Some(Container::Array) | None => JsonEvent::EndArray,
        }
    }

    fn leave_value(&mut self) {
        self.expected = match self.open.last() {
            Some(_) => Expected::AfterValue,
            None => Expected::Nothing,
        };
    }

    fn key(&mut self) -> Result<JsonEvent<'a>, JsonError> {
        match self.peek() {
            None => return Err(self.ended()),
            Some(b'"') => {}
            Some(other) => {
                return Err(self.invalid(other, "looking for beginning of object key string"));
            }
        }
        let key = self.string()?;
        self.skip_blanks();
        match self.peek() {
            None => Err(self.ended()),
            Some(b':') => {
                self.position += 1;
                self.expected = Expected::Value;
                Ok(JsonEvent::Key(key))
            }
            Some(other) => Err(self.invalid(other, "after object key")),
        }
    }

    fn after_value(&mut self) -> Result<Option<JsonEvent<'a>>, JsonError> {
        let Some(byte) = self.peek() else {
            return Err(self.ended());
        };
        match (self.open.last(), byte) {
            (Some(Container::Object), b',') => {
                self.position += 1;
                self.expected = Expected::Key;
                Ok(None)
            }
            (Some(Container::Array), b',') => {
                self.position += 1;
                self.expected = Expected::Value;
                Ok(None)
            }
            (Some(Container::Object), b'}') | (Some(Container::Array), b']') => {
                Ok(Some(self.close()))
            }
            (Some(Container::Object), other) => {
                Err(self.invalid(other, "after object key:value pair"))
            }
            (Some(Container::Array) | None, other) => {
                Err(self.invalid(other, "after array element"))
            }
        }
    }

    fn word(
        &mut self,
        word: &'static str,
        event: JsonEvent<'a>,
    ) -> Result<JsonEvent<'a>, JsonError> {
        for index in 1..word.len() {
            self.position += 1;
            let found = self.byte_of_literal()?;
            if found != word.as_bytes()[index] {
                return Err(self.invalid(found, word_context(word, index)));
            }
        }
        self.position += 1;
        self.leave_value();
        Ok(event)
    }

    fn number(&mut self) -> Result<JsonEvent<'a>, JsonError> {
        let start = self.position;
        if self.peek() == Some(b'-') {
            self.position += 1;
        }
        match self.byte_of_literal()? {
            b'0' => self.position += 1,
            b'1'..=b'9' => self.skip_digits(),
            other => return Err(self.invalid(other, "in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        self.leave_value();
        let text = std::str::from_utf8(&self.text[start..self.position])
            .expect("bug: a number consists of ASCII bytes");
        Ok(JsonEvent::Number { text, offset: start })
    }

    fn digits(&mut self, context: &'static str) -> Result<(), JsonError> {
        let first = self.byte_of_literal()?;
        if !first.is_ascii_digit() {
            return Err(self.invalid(first, context));
        }
        self.skip_digits();
        Ok(())
    }

    fn skip_digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.position + 1;
        self.position = start;
        let mut escaped = false;
        loop {
            match self.peek() {
                None => return Err(self.ended()),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(control) if control < b' ' => {
                    return Err(self.invalid(control, "in string literal"));
                }
                Some(_) => self.position += 1,
            }
        }
        let raw = &self.text[start..self.position];
        self.position += 1;
        if escaped {
            return Ok(Cow::Owned(unescape(raw)));
        }
        Ok(clean(raw))
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        self.position += 1;
        match self.byte_of_literal()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {
                self.position += 1;
                Ok(())
            }
            b'u' => {
                for _ in 0..4 {
                    self.position += 1;
                    let digit = self.byte_of_literal()?;
                    if !digit.is_ascii_hexdigit() {
                        return Err(self.invalid(digit, "in \\u hexadecimal character escape"));
                    }
                }
                self.position += 1;
                Ok(())
            }
            other => Err(self.invalid(other, "in string escape code")),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    /// Upstream: the end of a whole text is fed to a half-read literal as a blank, so `tru` is
    /// refused for the blank after it, not for ending early.
    fn byte_of_literal(&self) -> Result<u8, JsonError> {
        match (self.peek(), self.trailing) {
            (Some(byte), _) => Ok(byte),
            (None, TrailingText::Refuse) => Ok(b' '),
            (None, TrailingText::Ignore) => Err(self.ended()),
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.position += 1;
        }
    }

    fn ended(&self) -> JsonError {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let fault = match self.trailing {
            TrailingText::Refuse => JsonFault::UnexpectedEnd,
            TrailingText::Ignore if self.text.iter().all(blank) => JsonFault::NoValue,
            TrailingText::Ignore => JsonFault::UnfinishedValue,
        };
        JsonError { offset: self.position, fault }
    }

    fn invalid(&self, byte: u8, context: &'static str) -> JsonError {
        JsonError { offset: self.position, fault: JsonFault::InvalidByte { byte, context } }
    }
}

fn word_context(word: &str, index: usize) -> &'static str {
    match (word, index) {
        ("true", 1) => "in literal true (expecting 'r')",
        ("true", 2) => "in literal true (expecting 'u')",
        ("true", _) => "in literal true (expecting 'e')",
        ("false", 1) => "in literal false (expecting 'a')",
        ("false", 2) => "in literal false (expecting 'l')",
        ("false", 3) => "in literal false (expecting 's')",
        ("false", _) => "in literal false (expecting 'e')",
        (_, 1) => "in literal null (expecting 'u')",
        (_, _) => "in literal null (expecting 'l')",
    }
}
