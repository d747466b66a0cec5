//! The reader: one pass over the bytes, an explicit stack, no recursion.

use std::{error::Error, fmt};

use super::{
    literal::{scan_literal, scan_number, scan_string, skip_whitespace},
    node::{Kind, Node},
};

/// The deepest nesting that is read; Go's `encoding/json` stops at the same depth.
pub const MAX_DEPTH: usize = 10_000;

/// The largest single document that is read: forty times the largest one seen in the wild.
///
/// It bounds the memory of a reader and lets offsets inside a document be 32 bits wide.
pub const MAX_DOCUMENT_BYTES: usize = 64 << 20;

/// A parsed document: its values in the order of the text, containers before their content.
///
/// A tape is a buffer that can be filled again and again, so that reading thousands of documents
/// allocates once.
#[derive(Debug, Default)]
pub struct Tape {
    pub(super) slots: Vec<Slot>,
    open: Vec<u32>,
}

/// One value on the tape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The slot after this value and everything inside it.
    pub(super) next: u32,
    pub(super) kind: Kind,
    /// For a string: it is plain UTF-8 without escapes, so the text between the quotes is its value.
    pub(super) plain: bool,
}

/// Why a text is not JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    offset: usize,
    message: String,
    /// The text ended before the value did; more bytes might complete it.
    incomplete: bool,
}

impl JsonError {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into(), incomplete: false }
    }

    pub(super) fn incomplete(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into(), incomplete: true }
    }

    /// Returns the byte offset in the text where reading stopped.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns what is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Tells whether the text merely ended too early.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.message, self.offset)
    }
}

impl Error for JsonError {}

impl Tape {
    /// Returns an empty tape.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one value that fills `text` but for white space around it.
    pub fn read<'a>(&'a mut self, text: &'a [u8]) -> Result<Node<'a>, JsonError> {
        let end = self.fill(text)?;
        let rest = skip_whitespace(text, end);
        if rest < text.len() {
            return Err(JsonError::new(rest, "unexpected text after the end of the JSON value"));
        }
        Ok(Node::root(text, self))
    }

    /// Reads the first value of `text` and returns it with the offset where it ends.
    pub fn read_first<'a>(&'a mut self, text: &'a [u8]) -> Result<(Node<'a>, usize), JsonError> {
        let end = self.fill(text)?;
        Ok((Node::root(text, self), end))
    }

    fn fill(&mut self, text: &[u8]) -> Result<usize, JsonError> {
        self.slots.clear();
        self.open.clear();
        Reader { text, position: 0, slots: &mut self.slots, open: &mut self.open }.document()
    }
}

/// What the reader expects at its position.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Value,
    /// After `[`: a value or `]`.
    FirstElement,
    /// After `{`: a key or `}`.
    FirstKey,
    Key,
    /// After a value inside a container: `,` or the closing bracket.
    Next,
}

struct Reader<'a> {
    text: &'a [u8],
    position: usize,
    slots: &'a mut Vec<Slot>,
    open: &'a mut Vec<u32>,
}

impl Reader<'_> {
    fn document(mut self) -> Result<usize, JsonError> {
        let mut expect = Expect::Value;
        loop {
            self.position = skip_whitespace(self.text, self.position);
            let Some(&byte) = self.text.get(self.position) else {
                return Err(JsonError::incomplete(self.position, "unexpected end of JSON text"));
            };
            if self.position >= MAX_DOCUMENT_BYTES {
                return Err(JsonError::new(
                    0,
                    format!("the document is larger than {MAX_DOCUMENT_BYTES} bytes"),
                ));
            }
            expect = match (expect, byte) {
                (Expect::FirstElement, b']') | (Expect::FirstKey, b'}') => self.close(),
                (Expect::Value | Expect::FirstElement, _) => self.value(byte)?,
                (Expect::FirstKey | Expect::Key, b'"') => self.key()?,
                (Expect::FirstKey | Expect::Key, _) => {
                    return Err(self.unexpected(byte, "an object key in double quotes"));
                }
                (Expect::Next, _) => self.next(byte)?,
            };
            if self.open.is_empty() && expect == Expect::Next {
                return Ok(self.position);
            }
        }
    }

    fn value(&mut self, byte: u8) -> Result<Expect, JsonError> {
        match byte {
            b'{' => self.enter(Kind::Object, Expect::FirstKey),
            b'[' => self.enter(Kind::Array, Expect::FirstElement),
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => {
                let end = scan_number(self.text, self.position)?;
                self.scalar(Kind::Number, end, true);
                Ok(Expect::Next)
            }
            b't' | b'f' | b'n' => {
                let (kind, end) = scan_literal(self.text, self.position)?;
                self.scalar(kind, end, true);
                Ok(Expect::Next)
            }
            _ => Err(self.unexpected(byte, "the beginning of a value")),
        }
    }

    fn string(&mut self) -> Result<Expect, JsonError> {
        let scanned = scan_string(self.text, self.position)?;
        self.scalar(Kind::String, scanned.end, scanned.plain);
        Ok(Expect::Next)
    }

    fn key(&mut self) -> Result<Expect, JsonError> {
        self.string()?;
        self.position = skip_whitespace(self.text, self.position);
        match self.text.get(self.position) {
            Some(b':') => {
                self.position += 1;
                Ok(Expect::Value)
            }
            Some(&byte) => Err(self.unexpected(byte, "`:` after an object key")),
            None => Err(JsonError::incomplete(self.position, "unexpected end of JSON text")),
        }
    }

    fn next(&mut self, byte: u8) -> Result<Expect, JsonError> {
        let container = self.open.last().map(|&slot| self.slots[slot as usize].kind);
        match (byte, container) {
            (b',', Some(Kind::Object)) => {
                self.position += 1;
                Ok(Expect::Key)
            }
            (b',', Some(_)) => {
                self.position += 1;
                Ok(Expect::Value)
            }
            (b'}', Some(Kind::Object)) | (b']', Some(Kind::Array)) => Ok(self.close()),
            (_, Some(Kind::Object)) => Err(self.unexpected(byte, "`,` or `}` after a value")),
            (_, _) => Err(self.unexpected(byte, "`,` or `]` after a value")),
        }
    }

    fn enter(&mut self, kind: Kind, expect: Expect) -> Result<Expect, JsonError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(JsonError::new(
                self.position,
                format!("nesting is deeper than {MAX_DEPTH} levels"),
            ));
        }
        self.open.push(self.slots.len() as u32);
        let start = self.position as u32;
        self.slots.push(Slot { start, end: start, next: 0, kind, plain: true });
        self.position += 1;
        Ok(expect)
    }

    fn close(&mut self) -> Expect {
        self.position += 1;
        let slot = self.open.pop().expect("bug: a closing bracket is only read inside a container");
        let next = self.slots.len() as u32;
        let container = &mut self.slots[slot as usize];
        container.end = self.position as u32;
        container.next = next;
        Expect::Next
    }

    fn scalar(&mut self, kind: Kind, end: usize, plain: bool) {
        let next = self.slots.len() as u32 + 1;
        self.slots.push(Slot { start: self.position as u32, end: end as u32, next, kind, plain });
        self.position = end;
    }

    fn unexpected(&self, byte: u8, wanted: &str) -> JsonError {
        let found = match byte {
            0x20..=0x7e => format!("`{}`", byte as char),
            _ => format!("byte 0x{byte:02x}"),
        };
        JsonError::new(self.position, format!("found {found} where {wanted} was expected"))
    }
}
