//! Re-encoding: sorted keys, Go's numbers and escapes, so equal content gives equal bytes.
//!
//! Upstream reads every catalog document into a generic map and prints it again; that print is
//! what digests, caches and property values are made of.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    node::{Kind, Node},
    number::write_number,
};

/// Returns the compact re-encoding of a value: keys sorted, HTML characters left alone.
pub fn canonical(node: Node<'_>) -> String {
    let mut out = Vec::with_capacity(node.span().len());
    write_canonical(node, &mut out);
    utf8(out)
}

/// Returns `text` as a JSON string literal, escaped as in [`canonical`].
pub fn canonical_string(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    write_string(text, false, &mut out);
    utf8(out)
}

/// Appends the compact re-encoding of a value.
pub fn write_canonical(node: Node<'_>, out: &mut Vec<u8>) {
    Writer { layout: Layout::Compact, rank: &alphabetical, out }.write(node);
}

/// Appends a value with one member per line, each level indented by `indent` spaces.
///
/// Members are sorted by the rank of their key at its depth (the root's members have depth 1), and
/// by key among equals.
pub fn write_pretty(
    node: Node<'_>,
    indent: usize,
    rank: &dyn Fn(usize, &str) -> usize,
    out: &mut Vec<u8>,
) {
    Writer { layout: Layout::Indented(indent), rank, out }.write(node);
}

/// Ranks all keys alike, so that members are sorted by key.
pub fn alphabetical(_depth: usize, _key: &str) -> usize {
    0
}

/// Appends a JSON string literal as Go's `encoding/json` escapes it.
pub fn write_string(text: &str, escape_html: bool, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = 0;
    for (position, character) in text.char_indices() {
        let escape: Option<String> = match character {
            '"' => Some("\\\"".into()),
            '\\' => Some("\\\\".into()),
            '\n' => Some("\\n".into()),
            '\r' => Some("\\r".into()),
            '\t' => Some("\\t".into()),
            '\u{8}' => Some("\\b".into()),
            '\u{c}' => Some("\\f".into()),
            '<' | '>' | '&' if escape_html => Some(unicode(character)),
            '\u{0}'..='\u{1f}' | '\u{2028}' | '\u{2029}' => Some(unicode(character)),
            _ => None,
        };
        if let Some(escape) = escape {
            out.extend_from_slice(&text.as_bytes()[rest..position]);
            out.extend_from_slice(escape.as_bytes());
            rest = position + character.len_utf8();
        }
    }
    out.extend_from_slice(&text.as_bytes()[rest..]);
    out.push(b'"');
}

fn unicode(character: char) -> String {
    let mut text = String::new();
    let _ = write!(text, "\\u{:04x}", character as u32);
    text
}

fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("bug: the writer emits UTF-8 only")
}

#[derive(Clone, Copy)]
enum Layout {
    Compact,
    Indented(usize),
}

struct Writer<'o> {
    layout: Layout,
    rank: &'o dyn Fn(usize, &str) -> usize,
    out: &'o mut Vec<u8>,
}

/// What is still to be written; an explicit stack, because documents may nest 10,000 deep.
enum Task<'a> {
    Value(Node<'a>),
    Key { text: String, first: bool, depth: usize },
    Element { first: bool, depth: usize },
    Close { bracket: u8, empty: bool, depth: usize },
}

impl Writer<'_> {
    fn write(&mut self, root: Node<'_>) {
        let mut depth = 0;
        let mut tasks = vec![Task::Value(root)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Value(node) => match node.kind() {
                    Kind::Object => {
                        depth += 1;
                        self.out.push(b'{');
                        push_members(node, depth, self.rank, &mut tasks);
                    }
                    Kind::Array => {
                        depth += 1;
                        self.out.push(b'[');
                        push_elements(node, depth, &mut tasks);
                    }
                    Kind::Number => write_number(node.raw(), self.out),
                    Kind::String => {
                        write_string(&node.as_str().unwrap_or_default(), false, self.out);
                    }
                    Kind::Bool | Kind::Null => self.out.extend_from_slice(node.raw()),
                },
                Task::Key { text, first, depth } => {
                    self.separate(first, depth);
                    write_string(&text, false, self.out);
                    self.out.push(b':');
                    if let Layout::Indented(_) = self.layout {
                        self.out.push(b' ');
                    }
                }
                Task::Element { first, depth } => self.separate(first, depth),
                Task::Close { bracket, empty, depth: level } => {
                    depth -= 1;
                    if !empty {
                        self.new_line(level - 1);
                    }
                    self.out.push(bracket);
                }
            }
        }
    }

    fn separate(&mut self, first: bool, depth: usize) {
        if !first {
            self.out.push(b',');
        }
        self.new_line(depth);
    }

    fn new_line(&mut self, depth: usize) {
        if let Layout::Indented(indent) = self.layout {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + depth * indent, b' ');
        }
    }
}

fn push_members<'a>(
    object: Node<'a>,
    depth: usize,
    rank: &dyn Fn(usize, &str) -> usize,
    tasks: &mut Vec<Task<'a>>,
) {
    // Upstream: a repeated key keeps its last value.
    let members: BTreeMap<(usize, String), Node<'a>> = object
        .members()
        .map(|(key, value)| {
            let key = key.as_str().unwrap_or_default().into_owned();
            ((rank(depth, &key), key), value)
        })
        .collect();
    tasks.push(Task::Close { bracket: b'}', empty: members.is_empty(), depth });
    let start = tasks.len();
    for (index, ((_, text), value)) in members.into_iter().enumerate() {
        tasks.push(Task::Key { text, first: index == 0, depth });
        tasks.push(Task::Value(value));
    }
    tasks[start..].reverse();
}

fn push_elements<'a>(array: Node<'a>, depth: usize, tasks: &mut Vec<Task<'a>>) {
    let close = tasks.len();
    tasks.push(Task::Close { bracket: b']', empty: true, depth });
    let start = tasks.len();
    for (index, element) in array.elements().enumerate() {
        tasks.push(Task::Element { first: index == 0, depth });
        tasks.push(Task::Value(element));
    }
    if tasks.len() > start {
        tasks[close] = Task::Close { bracket: b']', empty: false, depth };
    }
    tasks[start..].reverse();
}
