//! Small writers of JSON text.
//!
//! Everything a bundle becomes is text with sorted keys, so the writers here take members in that
//! order and build no tree.

use std::borrow::Cow;

use operon_document::json::{
    Kind, Node, canonical_string, format_float, number_value, write_string,
};

/// An object being written; members must be given in the order of their keys.
pub(crate) struct ObjectWriter {
    text: String,
}

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self { text: "{".to_owned() }
    }

    /// Writes a member whose value is JSON already.
    pub(crate) fn member(&mut self, key: &str, value: &str) -> &mut Self {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(&canonical_string(key));
        self.text.push(':');
        self.text.push_str(value);
        self
    }

    /// Writes a member whose value is a string.
    pub(crate) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.member(key, &canonical_string(value))
    }

    /// Writes a member whose value is a string, unless that is empty.
    pub(crate) fn text_if_any(&mut self, key: &str, value: &str) -> &mut Self {
        if value.is_empty() { self } else { self.text(key, value) }
    }

    pub(crate) fn finish(&mut self) -> String {
        self.text.push('}');
        std::mem::take(&mut self.text)
    }
}

/// Returns a list of values that are JSON already.
pub(crate) fn list<Item: AsRef<str>>(items: impl IntoIterator<Item = Item>) -> String {
    let mut text = "[".to_owned();
    for item in items {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(item.as_ref());
    }
    text.push(']');
    text
}

/// Returns an object as upstream prints a manifest it has read: keys sorted, HTML characters
/// escaped, whole numbers of 64 bits kept exactly.
///
/// Upstream: this print, and not the file, is what an inlined manifest holds, so two tools that
/// read the same bundle agree on every byte.
pub(crate) fn print_manifest(node: Node<'_>) -> String {
    let mut out = Vec::with_capacity(node.span().len());
    let mut tasks = vec![Task::Value(node)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Value(node) => print_value(node, &mut tasks, &mut out),
            Task::Key(text) => {
                write_string(&text, true, &mut out);
                out.push(b':');
            }
            Task::Mark(byte) => out.push(byte),
        }
    }
    String::from_utf8(out).expect("bug: the writer emits UTF-8 only")
}

/// What is still to be printed; an explicit stack, because documents may nest deeply.
enum Task<'a> {
    Value(Node<'a>),
    Key(Cow<'a, str>),
    Mark(u8),
}

fn print_value<'a>(node: Node<'a>, tasks: &mut Vec<Task<'a>>, out: &mut Vec<u8>) {
    match node.kind() {
        Kind::Object => {
            out.push(b'{');
            tasks.push(Task::Mark(b'}'));
            push_members(node, tasks);
        }
        Kind::Array => {
            out.push(b'[');
            tasks.push(Task::Mark(b']'));
            let start = tasks.len();
            for element in node.elements() {
                if tasks.len() > start {
                    tasks.push(Task::Mark(b','));
                }
                tasks.push(Task::Value(element));
            }
            tasks[start..].reverse();
        }
        Kind::String => write_string(&node.as_str().unwrap_or_default(), true, out),
        Kind::Number => out.extend_from_slice(print_number(node.raw()).as_bytes()),
        Kind::Bool | Kind::Null => out.extend_from_slice(node.raw()),
    }
}

fn push_members<'a>(object: Node<'a>, tasks: &mut Vec<Task<'a>>) {
    let mut members: Vec<(Cow<'a, str>, Node<'a>)> =
        object.members().map(|(key, value)| (key.as_str().unwrap_or_default(), value)).collect();
    // A stable sort in reverse puts the members on the stack so that the first key is on top, and
    // of equal keys the last one written is met first here.
    members.reverse();
    members.sort_by(|left, right| right.0.cmp(&left.0));
    members.dedup_by(|later, first| later.0 == first.0);
    let count = members.len();
    for (index, (key, value)) in members.into_iter().enumerate() {
        tasks.push(Task::Value(value));
        tasks.push(Task::Key(key));
        if index + 1 < count {
            tasks.push(Task::Mark(b','));
        }
    }
}

/// Prints a number literal as upstream prints it after reading it into a generic value.
fn print_number(literal: &[u8]) -> String {
    let text = String::from_utf8_lossy(literal);
    match text.parse::<i64>() {
        Ok(whole) => whole.to_string(),
        Err(_) => format_float(number_value(literal).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use operon_document::json::Tape;

    use super::*;

    #[test]
    fn manifests_print_as_upstream_prints_them() {
        for (written, expected) in [
            (r#"{"b":1,"a":[true,null,"x"],"c":{}}"#, r#"{"a":[true,null,"x"],"b":1,"c":{}}"#),
            (r#"{"a":1,"b":0,"a":2}"#, r#"{"a":2,"b":0}"#),
            (r#"["<&>","\u2028é"]"#, r#"["\u003c\u0026\u003e","\u2028é"]"#),
            ("[9223372036854775807,-0,1.0,1e3]", "[9223372036854775807,0,1,1000]"),
            ("[18446744073709551615,1e21,0.1]", "[18446744073709552000,1e+21,0.1]"),
        ] {
            let mut tape = Tape::new();
            let node = tape.read(written.as_bytes()).unwrap();
            assert_eq!(print_manifest(node), expected);
        }
    }

    #[test]
    fn deep_nesting_is_printed_without_recursion() {
        let deep = format!("{}{}", "[".repeat(9_000), "]".repeat(9_000));
        let mut tape = Tape::new();
        assert_eq!(print_manifest(tape.read(deep.as_bytes()).unwrap()), deep);
    }
}
