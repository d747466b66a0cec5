//! Values for programs: a tree that prints as JSON or YAML, with members in the order given.

use operon_document::json::{Tape, canonical_string, write_pretty};
use operon_fbc::yaml_text;

use super::Rendered;

/// A value of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(i64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
    /// An object whose keys are data.
    Map(Vec<(String, Json)>),
    /// A value that is JSON text already.
    Raw(String),
}

impl Json {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Json::Text(text.into())
    }

    pub(crate) fn optional(text: Option<impl Into<String>>) -> Self {
        text.map_or(Json::Null, |text| Json::Text(text.into()))
    }

    pub(crate) fn number(number: impl TryInto<i64>) -> Self {
        Json::Number(number.try_into().unwrap_or(i64::MAX))
    }

    pub(crate) fn list(values: impl IntoIterator<Item = Json>) -> Self {
        Json::List(values.into_iter().collect())
    }

    pub(crate) fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Json::List(texts.into_iter().map(|text| Json::Text(text.into())).collect())
    }

    /// Renders the value as JSON for standard output.
    pub(crate) fn to_json(&self) -> Rendered {
        Rendered::Json(self.to_json_text())
    }

    /// Renders the value as YAML for standard output.
    pub(crate) fn to_yaml(&self) -> Rendered {
        Rendered::Yaml(self.to_yaml_text())
    }

    /// Writes the value with an indent of two, members in the order given.
    fn to_json_text(&self) -> String {
        let mut out = String::new();
        self.write(0, &mut out);
        out.push('\n');
        out
    }

    /// Writes the value as YAML, members sorted by key.
    pub(crate) fn to_yaml_text(&self) -> String {
        let json = self.to_json_text();
        let mut tape = Tape::new();
        let root = tape.read(json.as_bytes()).expect("bug: answers are printed as JSON");
        yaml_text(root)
    }

    fn write(&self, depth: usize, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(value) => out.push_str(&value.to_string()),
            Json::Text(text) => out.push_str(&canonical_string(text)),
            Json::Raw(json) => out.push_str(&reindent(json, depth)),
            Json::List(values) => {
                let items = values.iter().map(|value| (None, value));
                write_items(items, ['[', ']'], depth, out);
            }
            Json::Object(members) => {
                let items = members.iter().map(|(key, value)| (Some(*key), value));
                write_items(items, ['{', '}'], depth, out);
            }
            Json::Map(members) => {
                let items = members.iter().map(|(key, value)| (Some(key.as_str()), value));
                write_items(items, ['{', '}'], depth, out);
            }
        }
    }
}

fn write_items<'j>(
    items: impl ExactSizeIterator<Item = (Option<&'j str>, &'j Json)>,
    brackets: [char; 2],
    depth: usize,
    out: &mut String,
) {
    let is_empty = items.len() == 0;
    out.push(brackets[0]);
    for (index, (key, value)) in items.enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.extend(std::iter::repeat_n("  ", depth + 1));
        if let Some(key) = key {
            out.push_str(&canonical_string(key));
            out.push_str(": ");
        }
        value.write(depth + 1, out);
    }
    if !is_empty {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
    out.push(brackets[1]);
}

fn reindent(json: &str, depth: usize) -> String {
    let mut tape = Tape::new();
    let Ok(root) = tape.read(json.as_bytes()) else { return "null".to_owned() };
    let mut pretty = Vec::new();
    write_pretty(root, 2, &operon_document::json::alphabetical, &mut pretty);
    let text = String::from_utf8_lossy(&pretty).into_owned();
    text.replace('\n', &format!("\n{}", "  ".repeat(depth)))
}
