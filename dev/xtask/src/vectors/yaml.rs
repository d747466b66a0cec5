//! YAML to JSON.

use operon_document::yaml::{DuplicateKeys, YamlOptions, to_json};
use serde_json::Value;

use super::{LineVerdict, input, same};

/// Checks a line of `yaml.jsonl`: the bytes of a success, the fact of an error, and the repeated keys
/// that a strict reading refuses.
pub(super) fn check(line: &Value) -> LineVerdict {
    let text = input(line, "yaml");
    let what = format!("yaml {:?}", String::from_utf8_lossy(&text[..text.len().min(80)]));
    let options = YamlOptions { html_escape: true, duplicate_keys: DuplicateKeys::Report };
    let got = match to_json(&text, &options) {
        Ok(converted) => {
            let strict = if line["strictError"].is_null() { "accepted" } else { "refused" };
            let repeats = if converted.duplicates.is_empty() { "accepted" } else { "refused" };
            same(&format!("strict reading of {what}"), strict, repeats)?;
            String::from_utf8_lossy(&converted.json).into_owned()
        }
        Err(_) => "error".to_owned(),
    };
    let expected = line["json"].as_str().unwrap_or("error");
    // Where Go's map order decides, any of its answers will do.
    let variants = line["variants"].as_array().into_iter().flatten();
    if variants.filter_map(Value::as_str).any(|variant| variant == got) {
        return Ok(());
    }
    same(&what, expected, &got)
}
