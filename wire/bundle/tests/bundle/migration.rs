//! Migrating catalog documents.

use operon_bundle::{MigrateError, Migration, migrate_document, render};
use operon_document::encode_base64;

use crate::fixture::{options, source};

#[test]
fn a_migrated_document_equals_a_bundle_rendered_anew() {
    let source = source(&[("metadata/p.yaml", "properties: [{type: z, value: 1.50}]")]);
    let inlined = render(&source, &options(Migration::None)).unwrap();
    let described = render(&source, &options(Migration::BundleObjectToCsvMetadata)).unwrap();
    assert_eq!(migrate_document(&inlined.json), Ok(Some(described.json.clone())));
    assert_eq!(migrate_document(&described.json), Ok(None));
}

#[test]
fn documents_without_anything_to_migrate_are_left_alone() {
    let object = |manifest: &str| {
        let data = encode_base64(manifest.as_bytes());
        format!(r#"{{"type": "olm.bundle.object", "value": {{"data": "{data}"}}}}"#)
    };
    let bundle = |image: &str, properties: &str| {
        format!(r#"{{"schema": "olm.bundle", "image": "{image}", "properties": [{properties}]}}"#)
    };
    let csv = object("kind: ClusterServiceVersion\nspec: {displayName: A}\n");
    for untouched in [
        r#"{"schema": "olm.package", "image": "x"}"#.to_owned(),
        bundle("", &csv),
        bundle("x", &object("kind: Secret")),
        bundle("x", &format!(r#"{csv}, {{"type": "olm.csv.metadata", "value": {{}}}}"#)),
        "[]".to_owned(),
    ] {
        assert_eq!(migrate_document(&untouched), Ok(None), "{untouched}");
    }
    let other = r#"{"value": {"b": 1, "a": 2}, "type": "t"}"#;
    assert_eq!(
        migrate_document(&bundle("x", &format!("{csv}, {other}"))).unwrap().unwrap(),
        r#"{"image":"x","properties":[{"type":"t","value":{"a":2,"b":1}},{"type":"olm.csv.metadata","value":{"apiServiceDefinitions":{},"crdDescriptions":{},"displayName":"A","provider":{}}}],"schema":"olm.bundle"}"#
    );
}

#[test]
fn what_cannot_be_migrated_is_told() {
    let bundle = |data: &str| {
        format!(
            r#"{{"schema": "olm.bundle", "image": "x", "properties": [{{"type": "olm.bundle.object", "value": {{"data": "{data}"}}}}]}}"#
        )
    };
    let wrong = encode_base64(b"kind: ClusterServiceVersion\nspec: {links: [{name: [1]}]}\n");
    let messages = ["{".to_owned(), bundle("%"), bundle(&encode_base64(b"a: [")), bundle(&wrong)]
        .map(|document| migrate_document(&document).unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"), @"
    the document is not JSON: unexpected end of JSON text at byte 1
    the manifest inlined as property 0 cannot be read: not base64 at byte 0
    the manifest inlined as property 0 cannot be read: did not find expected node content while parsing a flow node
    `spec.links.0.name` of the inlined ClusterServiceVersion must be a string, not array
    ");
    assert!(matches!(migrate_document(&bundle(&wrong)), Err(MigrateError::WrongType { .. })));
}
