//! Our CustomResourceDefinitions: what a cluster asks of them, and what their schemas keep.

use operon_api::{crd_objects, crds, read_objects};
use operon_object::{
    Object, Value,
    known::{OPERATORS_GROUP, known_kind},
};

/// Checks what makes a schema structural: every node has a type, or says that it has several.
fn check_structure(schema: &Value, path: &str) {
    let has = |name: &str| schema.get(&format!("x-kubernetes-{name}")).as_bool() == Some(true);
    let of_type = schema.get("type").str();
    // What older documents write as a map, clusters write as a text.
    let is_either = has("preserve-unknown-fields") && !schema.get("enum").is_null();
    let has_several = has("int-or-string") || is_either;
    assert_eq!(has_several, of_type.is_empty(), "{path} has no type, or two");
    let known = ["", "object", "array", "string", "integer", "number", "boolean"];
    assert!(known.contains(&of_type), "{path}: {of_type}");
    assert_eq!(of_type == "array", !schema.get("items").is_null(), "{path}");
    let fields = schema.get("properties");
    let is_map = !fields.is_null() || !schema.get("additionalProperties").is_null();
    assert!(!is_map || of_type == "object", "{path}");
    for name in schema.get("required").iter_texts() {
        assert!(fields.as_map().is_some_and(|fields| fields.contains(name)), "{path}: {name}");
    }
    for key in schema.get("x-kubernetes-list-map-keys").iter_texts() {
        let item = schema.get("items");
        let key_field = item.get("properties").get(key);
        let is_given = item.get("required").iter_texts().any(|name| name == key);
        assert!(is_given || !key_field.get("default").is_null(), "{path}: {key}");
    }
    for (name, below) in fields.entries() {
        check_structure(below, &format!("{path}.{name}"));
    }
    for (name, below) in [("items", "[]"), ("additionalProperties", "{}")] {
        if !schema.get(name).is_null() {
            check_structure(schema.get(name), &format!("{path}{below}"));
        }
    }
}

fn texts(value: &Value) -> Vec<&str> {
    value.iter_texts().collect()
}

#[test]
fn every_manifest_is_a_sound_definition_of_the_kind_that_is_known() {
    assert_eq!((crds().len(), crd_objects().len()), (8, 8));
    for (manifest, object) in crds().iter().zip(crd_objects()) {
        let read = read_objects("f", manifest.text.as_bytes());
        assert_eq!((read.diagnostics.len(), read.objects.len()), (0, 1));
        assert_eq!(read.objects[0].object, object);
        let known = known_kind(&manifest.kind).unwrap();
        let (spec, kind) = (object.spec(), known.kind.name());
        assert_eq!(object.api_version(), "apiextensions.k8s.io/v1");
        assert_eq!(object.kind().name(), "CustomResourceDefinition");
        assert_eq!(object.name(), format!("{}.{OPERATORS_GROUP}", known.plural));
        assert_eq!(spec.get("group").str(), OPERATORS_GROUP);
        let scope = if known.is_namespaced { "Namespaced" } else { "Cluster" };
        assert_eq!(spec.get("scope").str(), scope);
        let names = spec.get("names");
        assert_eq!((names.get("kind").str(), names.get("plural").str()), (kind, known.plural));
        assert_eq!(names.get("listKind").str(), format!("{kind}List"));
        assert_eq!(names.get("singular").str(), kind.to_lowercase());
        assert_eq!(texts(names.get("shortNames")), known.short_names);
        assert_eq!(texts(names.get("categories")), ["olm"]);
        let is_stored = |version: &&Value| version.get("storage").as_bool() == Some(true);
        let versions = spec.get("versions").elements();
        let stored: Vec<&Value> = versions.iter().filter(is_stored).collect();
        assert_eq!(stored.len(), 1);
        assert_eq!(stored[0].get("name").str(), known.version);
        for version in versions {
            assert_eq!(version.get("served").as_bool(), Some(true));
            assert!(version.at(&["subresources", "status"]).as_map().is_some());
            check_structure(version.at(&["schema", "openAPIV3Schema"]), kind);
        }
    }
}

#[test]
fn versions_defaults_and_choices_are_those_that_clusters_have() {
    let crd = |plural: &str| -> Object {
        let name = format!("{plural}.{OPERATORS_GROUP}");
        crd_objects().into_iter().find(|crd| crd.name() == name).unwrap()
    };
    let versions = |plural: &str| -> Vec<String> {
        let crd = crd(plural);
        let versions = crd.spec().get("versions").elements();
        versions.iter().map(|version| version.get("name").str().to_owned()).collect()
    };
    assert_eq!(versions("operatorgroups"), ["v1", "v1alpha2"]);
    assert_eq!(versions("operatorconditions"), ["v1", "v2"]);
    for (plural, version, path, keyword, expected) in [
        ("operatorgroups", 0, "spec", "default", r#"{"upgradeStrategy":"Default"}"#),
        (
            "operatorgroups",
            0,
            "spec.upgradeStrategy",
            "enum",
            r#"["Default","TechPreviewUnsafeFailForward","UnsafeFailForward",{"name":"Default"},{"name":"TechPreviewUnsafeFailForward"},{"name":"UnsafeFailForward"}]"#,
        ),
        ("operatorgroups", 0, "spec.targetNamespaces", "x-kubernetes-list-type", r#""set""#),
        ("operatorgroups", 0, "status", "required", r#"["lastUpdated"]"#),
        ("operatorgroups", 1, "spec.upgradeStrategy", "type", "null"),
        ("operatorgroups", 1, "status.conditions", "type", "null"),
        ("operatorconditions", 0, "spec.conditions", "type", "null"),
        ("operatorconditions", 1, "spec.conditions", "type", r#""array""#),
        ("subscriptions", 0, "spec", "required", r#"["name","source","sourceNamespace"]"#),
        ("subscriptions", 0, "spec.installPlanApproval", "enum", "null"),
        ("catalogsources", 0, "spec", "required", r#"["sourceType"]"#),
        (
            "catalogsources",
            0,
            "spec.grpcPodConfig.securityContextConfig",
            "enum",
            r#"["legacy","restricted"]"#,
        ),
        (
            "installplans",
            0,
            "spec",
            "required",
            r#"["approval","approved","clusterServiceVersionNames"]"#,
        ),
        ("installplans", 0, "status", "required", r#"["catalogSources","phase"]"#),
        ("clusterserviceversions", 0, "spec", "required", r#"["displayName","install"]"#),
        ("clusterserviceversions", 0, "spec.release", "maxLength", "20"),
        ("clusterserviceversions", 0, "spec.webhookdefinitions.[].containerPort", "default", "443"),
        (
            "clusterserviceversions",
            0,
            "spec.webhookdefinitions.[].type",
            "enum",
            r#"["ValidatingAdmissionWebhook","MutatingAdmissionWebhook","ConversionWebhook"]"#,
        ),
        (
            "olmconfigs",
            0,
            "spec.features.packageServerSyncInterval",
            "pattern",
            r#""^([0-9]+(\\.[0-9]+)?(s|m|h))+$""#,
        ),
        ("operators", 0, "status.components", "required", r#"["labelSelector"]"#),
    ] {
        let crd = crd(plural);
        let schema =
            crd.spec().get("versions").elements()[version].at(&["schema", "openAPIV3Schema"]);
        let node = path.split('.').fold(schema, |node, name| match name {
            "[]" => node.get("items"),
            name => node.get("properties").get(name),
        });
        assert_eq!(node.get(keyword).to_string(), expected, "{plural} {path}");
    }
}
