//! A value on one line.

use operon_document::json::canonical_string;

use crate::output::Json;

/// Prints a value on one line, members in the order given.
pub(super) fn line(value: &Json) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// The recursion is as deep as the values that this program makes, never as its input.
fn write(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(value) => out.push_str(&value.to_string()),
        Json::Text(text) => out.push_str(&canonical_string(text)),
        Json::Raw(json) => out.push_str(json),
        Json::List(values) => {
            write_items(values.iter().map(|value| (None, value)), ['[', ']'], out);
        }
        Json::Object(members) => {
            let items = members.iter().map(|(key, value)| (Some(*key), value));
            write_items(items, ['{', '}'], out);
        }
        Json::Map(members) => {
            let items = members.iter().map(|(key, value)| (Some(key.as_str()), value));
            write_items(items, ['{', '}'], out);
        }
    }
}

fn write_items<'j>(
    items: impl Iterator<Item = (Option<&'j str>, &'j Json)>,
    brackets: [char; 2],
    out: &mut String,
) {
    out.push(brackets[0]);
    for (index, (key, value)) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        if let Some(key) = key {
            out.push_str(&canonical_string(key));
            out.push(':');
        }
        write(value, out);
    }
    out.push(brackets[1]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sort_of_value_fits_on_one_line() {
        let value = Json::Object(vec![
            ("text", Json::text("a\n\"b\"")),
            ("list", Json::list([Json::Null, Json::Bool(true), Json::Number(-1)])),
            ("map", Json::Map(vec![("k".to_owned(), Json::Raw("{\"x\":1}".to_owned()))])),
            ("empty", Json::List(Vec::new())),
        ]);
        let expected =
            r#"{"text":"a\n\"b\"","list":[null,true,-1],"map":{"k":{"x":1}},"empty":[]}"#;
        assert_eq!(line(&value), expected);
    }
}
