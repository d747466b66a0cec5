//! Bodies of bundles: inlined manifests and metadata, read only for what people are shown.

use operon_catalog::Summary;
use operon_document::{
    json::{Kind, Node, Tape, byte_value},
    yaml::{self, YamlOptions},
};

/// Reads an inlined manifest and returns its summary when it is the ClusterServiceVersion.
pub(crate) fn read_object(value: Node<'_>) -> Result<Option<Summary>, String> {
    if !value.is_null() && value.kind() != Kind::Object {
        return Err(format!(
            "it should be an object with `data`, but is a {}",
            value.kind().name()
        ));
    }
    let Some(data) = value.field("data").filter(|data| !data.is_null()) else {
        return Ok(None);
    };
    let manifest = byte_value(data).map_err(|mismatch| {
        format!("`data` should be {}, but is {}", mismatch.expected, mismatch.found)
    })?;
    // Upstream: data that starts like JSON is taken as it is, even if it is not JSON.
    if is_json(&manifest) {
        return Ok(summary_of_json(&manifest));
    }
    let converted = yaml::to_json(&manifest, &YamlOptions::default())
        .map_err(|error| format!("it is neither JSON nor YAML: {error}"))?;
    Ok(summary_of_json(&converted.json))
}

/// Tells whether a text is taken for JSON: its first character that is not white space is `{`.
pub(crate) fn is_json(text: &[u8]) -> bool {
    text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}

fn summary_of_json(json: &[u8]) -> Option<Summary> {
    const KIND: &[u8] = b"ClusterServiceVersion";
    if !json.windows(KIND.len()).any(|window| window == KIND) {
        return None;
    }
    let mut tape = Tape::new();
    let root = tape.read(json).ok()?;
    if root.field("kind").and_then(Node::as_str)? != "ClusterServiceVersion" {
        return None;
    }
    let annotations = root.field("metadata").and_then(|metadata| metadata.field("annotations"));
    Some(summary(root.field("spec")?, annotations))
}

/// Returns the summary that an `olm.csv.metadata` property gives.
pub(crate) fn metadata_summary(metadata: Node<'_>) -> Summary {
    summary(metadata, metadata.field("annotations"))
}

fn summary(spec: Node<'_>, annotations: Option<Node<'_>>) -> Summary {
    let text =
        |node: Option<Node<'_>>| node.and_then(Node::as_str).unwrap_or_default().into_owned();
    let keywords: Vec<String> = spec
        .field("keywords")
        .into_iter()
        .flat_map(Node::elements)
        .map(|word| text(Some(word)))
        .collect();
    Summary {
        display_name: text(spec.field("displayName")),
        provider: text(spec.field("provider").and_then(|provider| provider.field("name"))),
        keywords: keywords.join(", "),
        blurb: text(annotations.and_then(|annotations| annotations.get("description"))),
    }
}
