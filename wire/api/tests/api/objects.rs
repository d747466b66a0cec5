//! Reading whole objects.

use operon_api::{
    MAX_DIAGNOSTICS, MAX_LIST_DEPTH, ManifestSeverity, ObjectManifests, read_objects,
};
use operon_object::MAX_VALUE_DEPTH;

use crate::support::shown;

fn names(manifests: &ObjectManifests) -> Vec<&str> {
    manifests.objects.iter().map(|located| located.object.name()).collect()
}

#[test]
fn every_field_of_every_kind_is_kept_with_its_line() {
    let text = "# a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, x: 1}\ndata: {k: \"1\"}\n\
                unknown: [1, 9007199254740993, 1.5, -0x10, null, yes, \"yes\"]\n---\n---\n\
                {\"apiVersion\": \"g.io/v1\", \"kind\": \"AllowList\", \"metadata\": {\"name\": \"b\"}, \"items\": \"no list\"}\n";
    let manifests = read_objects("a.yaml", text.as_bytes());
    assert_eq!(manifests.diagnostics, []);
    let [first, second] = &manifests.objects[..] else { panic!("{manifests:?}") };
    assert_eq!((&*first.file, first.line, second.line), ("a.yaml", Some(3), Some(10)));
    let expected = r#"{"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"name":"a","x":1},"unknown":[1,9007199254740993,1.5,-16,null,true,"yes"]}"#;
    assert_eq!(first.object.value().to_string(), expected);
    assert_eq!(second.object.value().get("items").str(), "no list");
}

#[test]
fn lists_are_their_items() {
    let item = |name: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"{name}"}}}}"#)
    };
    let (x, y, z) = (item("x"), item("y"), item("z"));
    let bare = |name: &str| format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
    for text in [
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{x},null,{y},{z}]}}"#),
        format!("[{x},[{y}],{z}]"),
        format!(r#"{{"kind":"List","items":[{x},{{"kind":"List","items":[{y}]}},{z}]}}"#),
        format!(
            r#"{{"apiVersion":"v1","kind":"SecretList","items":[{},{y},{}]}}"#,
            bare("x"),
            bare("z")
        ),
        format!("{x}\n{y}\n{z}\n"),
    ] {
        let manifests = read_objects("f", text.as_bytes());
        assert_eq!(manifests.diagnostics, [], "{text}");
        assert_eq!(names(&manifests), ["x", "y", "z"], "{text}");
        for located in &manifests.objects {
            assert_eq!(
                (located.object.api_version(), located.object.kind().name()),
                ("v1", "Secret")
            );
        }
    }
    for nothing in [
        "",
        "\n",
        "---\n---\n",
        "null",
        "{kind: List}",
        "{kind: List, items: null}",
        "{kind: PodList, items: []}",
    ] {
        let manifests = read_objects("f", nothing.as_bytes());
        assert!(manifests.objects.is_empty() && manifests.diagnostics.is_empty(), "{nothing}");
    }
    // A kind may end in `List` without being one.
    let kept = read_objects("f", b"{apiVersion: g/v1, kind: AllowList, metadata: {name: l}}");
    assert_eq!(names(&kept), ["l"]);
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_the_rest_goes_on() {
    let sound = "apiVersion: v1\nkind: Secret\nmetadata: {name: sound}\n";
    let kind_help = "(say in `kind` and `apiVersion` which type of object this is)";
    let quotes = "(in YAML, a number, `true` or `yes` is a string only between quotes)";
    for (text, expected) in [
        ("a: [\n", "error manifest-syntax: f:2: this is not YAML: did not find expected node content while parsing a flow node (correct this document; the others are read)".to_owned()),
        ("just words\n", "error manifest-not-an-object: f:1: an object is expected here, not a string (write a map of `apiVersion`, `kind` and `metadata`)".to_owned()),
        ("[\n3]\n", "error manifest-not-an-object: f:2: an object is expected here, not a number (write a map of `apiVersion`, `kind` and `metadata`)".to_owned()),
        ("apiVersion: v1\nmetadata: {name: x}\n", format!("error manifest-missing-field: f:1:  x: kind: is missing {kind_help}")),
        ("kind: Pod\n", format!("error manifest-missing-field: f:1: Pod: apiVersion: is missing {kind_help}")),
        ("kind: Pod\napiVersion: 1\n", format!("error manifest-wrong-type: f:2: Pod: apiVersion: must be a string, not number {kind_help}")),
        ("kind: Pod\napiVersion: v1\nmetadata: []\n", "error manifest-wrong-type: f:3: Pod: metadata: must be a map (write `name`, `namespace`, `labels` and `annotations` below it)".to_owned()),
        ("kind: Pod\napiVersion: v1\nmetadata:\n  name: 5\n", format!("warning manifest-wrong-type: f:4: Pod: metadata.name: must be a string, not number {quotes}")),
        ("kind: Pod\napiVersion: v1\nmetadata:\n  name: x\n  labels:\n    l: true\n", format!("warning manifest-wrong-type: f:6: Pod x: metadata.labels.l: must be a string, not bool {quotes}")),
    ] {
        let manifests = read_objects("f", format!("{text}---\n{sound}").as_bytes());
        let findings: Vec<String> = manifests.diagnostics.iter().map(shown).collect();
        assert_eq!(findings, [expected], "{text}");
        let is_kept = manifests.diagnostics[0].severity == ManifestSeverity::Warning;
        assert_eq!(manifests.objects.len(), 1 + usize::from(is_kept), "{text}");
        assert_eq!(manifests.objects.last().unwrap().object.name(), "sound");
    }
}

#[test]
fn limits_are_reported_and_not_passed() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let deep = format!(r#"{{"apiVersion":"v1","kind":"A","spec":{open}{close}}}"#);
        read_objects("f", format!("{deep}\n{{\"apiVersion\":\"v1\",\"kind\":\"B\"}}").as_bytes())
    };
    assert_eq!(nested(MAX_VALUE_DEPTH - 1).objects.len(), 2);
    for levels in [MAX_VALUE_DEPTH, 9000] {
        let manifests = nested(levels);
        let finding = shown(&manifests.diagnostics[0]);
        assert_eq!(
            finding,
            "error manifest-too-deep: f:1: A: nests deeper than 400 levels (no cluster takes such an object)"
        );
        assert_eq!(manifests.objects[0].object.kind().name(), "B");
    }
    let listed = |levels: usize| {
        let object = r#"{"apiVersion":"v1","kind":"A"}"#.to_owned();
        let list = |inner, _| format!(r#"{{"kind":"List","items":[{inner}]}}"#);
        read_objects("f", (0..levels).fold(object, list).as_bytes())
    };
    assert_eq!(listed(MAX_LIST_DEPTH).objects.len(), 1);
    for levels in [MAX_LIST_DEPTH + 1, 3000] {
        let manifests = listed(levels);
        assert_eq!((manifests.objects.len(), manifests.diagnostics.len()), (0, 1));
        assert_eq!(manifests.diagnostics[0].rule.id(), "manifest-too-deep");
    }
    let many = read_objects("f", "[1]\n---\n".repeat(MAX_DIAGNOSTICS + 7).as_bytes());
    assert_eq!((many.diagnostics.len(), many.unreported), (MAX_DIAGNOSTICS, 7));
    // Aliases repeat values; whoever expands them without a limit never ends.
    let bomb = (1..60).fold("a0: &a0 [x, x]\n".to_owned(), |text, level| {
        let below = level - 1;
        text + &format!("a{level}: &a{level} [*a{below}, *a{below}]\n")
    });
    assert_eq!(read_objects("f", bomb.as_bytes()).objects.len(), 0);
}
