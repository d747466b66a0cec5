//! YAML against the reference vectors: what upstream's `YAMLToJSON` made of each text.

use std::borrow::Cow;

use operon_document::{
    decode_base64,
    json::{Node, Tape},
    yaml::{DuplicateKeys, YamlOptions, to_json},
};

const VECTORS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/vectors/yaml.jsonl"
);

/// The options under which our output is upstream's.
const AS_UPSTREAM: YamlOptions = YamlOptions {
    duplicate_keys: DuplicateKeys::Report,
    html_escape: true,
};

/// One line of the vectors.
struct Vector {
    yaml: Vec<u8>,
    json: Option<String>,
    /// All results seen, when upstream's result depends on the order of a Go map.
    variants: Vec<String>,
    fails_strictly: bool,
}

#[test]
fn every_vector_agrees() {
    let Ok(lines) = std::fs::read_to_string(VECTORS) else {
        println!("left out: {VECTORS} is not present");
        return;
    };
    let mut disagreements = Vec::new();
    let mut count = 0;
    for line in lines.lines() {
        count += 1;
        if let Err(disagreement) = check(&Vector::read(line)) {
            disagreements.push(format!("line {count}: {disagreement}"));
        }
    }
    assert!(count > 0, "{VECTORS} holds no vectors");
    assert!(
        disagreements.is_empty(),
        "{count} vectors\n{}",
        disagreements.join("\n")
    );
}

fn check(vector: &Vector) -> Result<(), String> {
    let yaml = String::from_utf8_lossy(&vector.yaml);
    let yaml = &yaml[..yaml.floor_char_boundary(200)];
    match (to_json(&vector.yaml, &AS_UPSTREAM), &vector.json) {
        (Ok(converted), Some(expected)) => {
            let json = String::from_utf8(converted.json).expect("JSON text is UTF-8");
            if &json != expected && !vector.variants.contains(&json) {
                return Err(format!("{yaml:?} is {json}, not {expected}"));
            }
            if converted.duplicates.is_empty() == vector.fails_strictly {
                return Err(format!("{yaml:?} repeats {:?}", converted.duplicates));
            }
            Ok(())
        }
        (Err(error), None) if error.offset().is_some() && !error.message().is_empty() => Ok(()),
        (Err(error), None) => Err(format!("{yaml:?} fails without a place: {error}")),
        (Ok(_), None) => Err(format!("{yaml:?} should fail")),
        (Err(error), Some(expected)) => {
            Err(format!("{yaml:?} fails: {error}; expected {expected}"))
        }
    }
}

impl Vector {
    fn read(line: &str) -> Self {
        let mut tape = Tape::new();
        let root = tape.read(line.as_bytes()).expect("a vector is JSON");
        let text = |name| root.get(name).and_then(Node::as_str).map(Cow::into_owned);
        let variants = root.get("variants").into_iter().flat_map(Node::elements);
        Vector {
            yaml: match text("yamlB64") {
                Some(encoded) => decode_base64(encoded.as_bytes()).expect("bytes are base64"),
                None => text("yaml").expect("a vector has a text").into_bytes(),
            },
            json: text("json"),
            variants: variants
                .filter_map(Node::as_str)
                .map(Cow::into_owned)
                .collect(),
            fails_strictly: root.get("strictError").is_some(),
        }
    }
}
