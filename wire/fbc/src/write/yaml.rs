//! A plain YAML emitter for JSON values: what it writes reads back as the same value.

use std::collections::BTreeMap;

use operon_document::{
    escape_json, has_workflow_command, is_unprintable,
    json::{Kind, Node, canonical, canonical_string},
};

/// Returns a value as block-style YAML with sorted keys, ending in a line break.
pub fn yaml_text(root: Node<'_>) -> String {
    let mut out = String::new();
    let mut tasks = vec![Task::Value { node: root, indent: 0, position: Position::Line }];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Prefix { indent, text } => {
                out.extend(std::iter::repeat_n(' ', indent));
                out.push_str(&text);
            }
            Task::Value { node, indent, position } => {
                write_value(node, indent, position, &mut out, &mut tasks);
            }
        }
    }
    out
}

/// Where the emitter stands when a value comes.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// At the start of a line.
    Line,
    /// Behind `key:`.
    Key,
    /// Behind `- `, where a mapping or list may start on the same line.
    Dash,
}

/// What is still to be written; an explicit stack, because documents may nest 10,000 deep.
enum Task<'a> {
    Prefix { indent: usize, text: String },
    Value { node: Node<'a>, indent: usize, position: Position },
}

fn write_value<'a>(
    node: Node<'a>,
    indent: usize,
    position: Position,
    out: &mut String,
    tasks: &mut Vec<Task<'a>>,
) {
    let is_empty = node.members().next().is_none() && node.elements().next().is_none();
    match node.kind() {
        Kind::Object if !is_empty => push_mapping(node, indent, position, out, tasks),
        Kind::Array if !is_empty => push_list(node, indent, position, out, tasks),
        kind => {
            if position == Position::Key {
                out.push(' ');
            }
            match kind {
                Kind::Object => out.push_str("{}"),
                Kind::Array => out.push_str("[]"),
                Kind::String => write_text(&node.as_str().unwrap_or_default(), indent, out),
                Kind::Number => match canonical(node).as_str() {
                    // YAML reads `-0` as a whole number, which has no sign.
                    "-0" => out.push_str("-0.0"),
                    number => out.push_str(number),
                },
                Kind::Null | Kind::Bool => out.push_str(&canonical(node)),
            }
            out.push('\n');
        }
    }
}

fn push_mapping<'a>(
    node: Node<'a>,
    indent: usize,
    position: Position,
    out: &mut String,
    tasks: &mut Vec<Task<'a>>,
) {
    if position == Position::Key {
        out.push('\n');
    }
    let members: BTreeMap<String, Node<'a>> = node
        .members()
        .map(|(key, value)| (key.as_str().unwrap_or_default().into_owned(), value))
        .collect();
    let start = tasks.len();
    for (index, (key, value)) in members.into_iter().enumerate() {
        let on_this_line = index == 0 && position == Position::Dash;
        let mut text = if is_plain(&key) { key } else { quoted(&key) };
        text.push(':');
        tasks.push(Task::Prefix { indent: if on_this_line { 0 } else { indent }, text });
        // A list stands at the indent of its key, everything else two deeper.
        let inner = if value.kind() == Kind::Array { indent } else { indent + 2 };
        tasks.push(Task::Value { node: value, indent: inner, position: Position::Key });
    }
    tasks[start..].reverse();
}

fn push_list<'a>(
    node: Node<'a>,
    indent: usize,
    position: Position,
    out: &mut String,
    tasks: &mut Vec<Task<'a>>,
) {
    if position == Position::Key {
        out.push('\n');
    }
    let start = tasks.len();
    for (index, element) in node.elements().enumerate() {
        let on_this_line = index == 0 && position == Position::Dash;
        tasks.push(Task::Prefix {
            indent: if on_this_line { 0 } else { indent },
            text: "- ".into(),
        });
        tasks.push(Task::Value { node: element, indent: indent + 2, position: Position::Dash });
    }
    tasks[start..].reverse();
}

fn write_text(text: &str, indent: usize, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else if is_block(text) {
        write_block(text, indent, out);
    } else {
        out.push_str(&quoted(text));
    }
}

/// Returns a text in double quotes.
///
/// JSON strings are YAML strings, but for characters that JSON leaves alone and YAML does not. What
/// would act on a terminal is escaped as well, so a document can be printed as it is.
fn quoted(text: &str) -> String {
    escape_json(&canonical_string(text)).into_owned()
}

/// Tells whether a text can stand without quotes and be read back as itself.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let is_word = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    if !(first.is_ascii_alphabetic() || first == '/')
        || !text.chars().all(|character| is_word(character) || " @+:".contains(character))
    {
        return false;
    }
    // A colon is a key's end before a blank, and a trailing blank is lost.
    if text.contains(": ") || text.ends_with([' ', ':']) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    !matches!(
        lower.as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "nan" | "inf"
    )
}

/// Tells whether a text is best written as a literal block.
fn is_block(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\n', '\t'])
        && !text.ends_with("\n\n")
        && text.chars().all(|character| character == '\n' || !is_unprintable(character))
        // A line of a block is a line of the output, and CI systems read those.
        && !has_workflow_command(text)
}

fn write_block(text: &str, indent: usize, out: &mut String) {
    out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
    // Behind a key the content may stand at the key's indent plus two; at the root it needs some.
    let indent = indent.max(2);
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
    }
}
