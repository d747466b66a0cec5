//! The inputs of the reference vectors, for a fuzzer to start from.

use anyhow::Context;
use operon_document::decode_base64;
use serde_json::Value;

/// The fields that hold an input; bytes that are not UTF-8 are in the same field with `B64` behind.
const INPUT_FIELDS: &[&str] = &["yaml", "range", "in", "rule", "value"];

/// Returns the vector file whose inputs a target reads.
pub(super) fn vector_file(target: &str) -> Option<&'static str> {
    match target {
        "fbc" => Some("fbc.jsonl"),
        "yaml" => Some("yaml.jsonl"),
        "range" => Some("semver.jsonl"),
        "constraint" => Some("constraints.jsonl"),
        "cel" => Some("cel.jsonl"),
        _ => None,
    }
}

/// Returns the distinct inputs of a vector file, sorted.
pub(super) fn inputs(vectors: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    for (index, line) in vectors.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let value: Value =
            serde_json::from_str(line).with_context(|| format!("line {} is no JSON", index + 1))?;
        for field in INPUT_FIELDS {
            inputs.extend(input(&value, field));
        }
        let files = value["files"].as_array().map_or(&[][..], Vec::as_slice);
        inputs.extend(files.iter().filter_map(|file| input(file, "content")));
    }
    inputs.sort();
    inputs.dedup();
    Ok(inputs)
}

fn input(value: &Value, field: &str) -> Option<Vec<u8>> {
    if let Some(text) = value[field].as_str() {
        return Some(text.as_bytes().to_vec());
    }
    decode_base64(value[format!("{field}B64")].as_str()?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_input_is_found_once() {
        let vectors = r#"
{"yaml":"a: 1","json":"{\"a\":1}"}
{"yaml":"a: 1"}
{"yamlB64":"/w=="}
{"kind":"range","range":">=1.0.0","versions":["1.0.0"]}
{"kind":"parse","in":"1.2.3"}
{"kind":"compare","a":"1.0.0","b":"2.0.0"}
{"files":[{"path":"a.json","content":"{}"},{"path":"b","contentB64":"/g=="}]}
"#;
        let expected: [&[u8]; 6] = [b"1.2.3", b">=1.0.0", b"a: 1", b"{}", b"\xfe", b"\xff"];
        assert_eq!(inputs(vectors).expect("well formed"), expected);
        inputs("{").expect_err("not JSON");
    }
}
