//! One document, many documents, lists; every field; every finding.

use operon_api::{NamespaceSelection, UpgradeStrategy, read_manifests};

use crate::support::{manifest, read, shown};

const SUBSCRIPTION: &str = r#"{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription",
  "metadata":{"name":"NAME","namespace":"a"},"spec":{"name":"etcd"}}"#;

/// However objects are packed, the same ones come out, in the order they are written.
#[test]
fn every_packing_of_objects_is_opened() {
    let object = |name: &str| SUBSCRIPTION.replace("NAME", name).replace('\n', " ");
    let (x, y, z) = (object("x"), object("y"), object("z"));
    let bare =
        |name: &str| format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"name":"etcd"}}}}"#);
    let typed = format!(
        r#"{{"apiVersion":"operators.coreos.com/v1alpha1","kind":"SubscriptionList","items":[{},{},{}]}}"#,
        bare("x"),
        bare("y"),
        bare("z")
    );
    for text in [
        format!("{x}\n{y}\n{z}\n"),
        format!("{x}{y}{z}"),
        format!("[{x},{y},{z}]"),
        format!("---\n{x}\n---\n# nothing\n---\n{y}\n---\n{z}\n"),
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{x},{y},{z}]}}"#),
        format!(
            r#"{{"kind":"List","items":[{x},{{"kind":"List","items":[{{"kind":"List","items":[{y}]}},{z}]}}]}}"#
        ),
        format!("{x}\n---\n{y}\n---\n{z}\n"),
        typed,
    ] {
        let manifests = read(&text);
        let names: Vec<&str> = manifests
            .subscriptions
            .iter()
            .map(|located| located.object.metadata.name.as_str())
            .collect();
        assert_eq!(names, ["x", "y", "z"], "{text}");
        assert_eq!(manifests.ignored, 0);
    }
    for nothing in
        ["", "\n", "---\n---\n", "null", r#"{"kind":"List"}"#, r#"{"kind":"List","items":null}"#]
    {
        assert!(read(nothing).subscriptions.is_empty(), "{nothing}");
    }
}

#[test]
fn objects_of_other_projects_are_passed_over_and_counted() {
    let text = "apiVersion: messaging.knative.dev/v1\nkind: Subscription\nspec: 3\n---\n\
                apiVersion: v1\nkind: Namespace\n---\napiVersion: operators.coreos.com/v1alpha1\n\
                kind: InstallPlan\n";
    assert_eq!(read(text).ignored, 3);
}

#[test]
fn every_field_is_read() {
    let text = [
        manifest("Subscription", "a", "s", "  creationTimestamp: \"2026-01-01T00:00:00Z\"\n  labels: {l: m}\n  annotations: {k: o}\n\
            spec: {name: etcd, channel: \"4.2\", source: hub, sourceNamespace: olm, startingCSV: etcd.v1, installPlanApproval: Manual}\n\
            status: {installedCSV: etcd.v0, currentCSV: etcd.v1, state: UpgradePending}"),
        manifest("CatalogSource", "olm", "hub", "spec: {priority: -7, sourceType: grpc, image: q/h, address: h:50051, displayName: Hub}"),
        manifest("ClusterServiceVersion", "a", "etcd.v0", "spec:\n  version: v1.2\n  replaces: etcd.vold\n\
            \x20 customresourcedefinitions:\n    owned: [{name: es.etcd.io, version: v1, kind: E}]\n    required: [{name: fs.etcd.io, version: v2, kind: F}]\n\
            \x20 apiservicedefinitions: {owned: [{name: gs, group: g.io, version: v3, kind: G}], required: [{group: h.io, version: v4, kind: H}]}\n\
            status: {phase: Failed, reason: ComponentUnhealthy}"),
    ].concat();
    let manifests = read(&text);
    let subscription = &manifests.subscriptions[0];
    assert_eq!((subscription.line, &*subscription.file), (Some(1), "cluster.yaml"));
    let object = &subscription.object;
    assert_eq!(object.metadata.creation_timestamp, "2026-01-01T00:00:00Z");
    assert_eq!(object.metadata.labels["l"], "m");
    assert_eq!(object.metadata.annotations["k"], "o");
    let fields = [
        &object.package,
        &object.channel,
        &object.source,
        &object.source_namespace,
        &object.starting_csv,
        &object.install_plan_approval,
        &object.installed_csv,
        &object.current_csv,
        &object.state,
    ];
    assert_eq!(
        fields,
        ["etcd", "4.2", "hub", "olm", "etcd.v1", "Manual", "etcd.v0", "etcd.v1", "UpgradePending"]
    );
    let source = &manifests.catalog_sources[0].object;
    assert_eq!(source.priority, -7);
    let fields = [&source.source_type, &source.image, &source.address, &source.display_name];
    assert_eq!(fields, ["grpc", "q/h", "h:50051", "Hub"]);
    assert_eq!(manifests.catalog_sources[0].line, Some(12));
    let version = &manifests.service_versions[0].object;
    assert_eq!(version.version.to_string(), "1.2.0");
    let fields = [
        &version.replaces,
        &version.phase,
        &version.reason,
        &version.owned_crds[0].name,
        &version.required_crds[0].kind,
        &version.owned_api_services[0].group,
        &version.required_api_services[0].version,
    ];
    assert_eq!(
        fields,
        ["etcd.vold", "Failed", "ComponentUnhealthy", "es.etcd.io", "F", "g.io", "v4"]
    );
}

#[test]
fn groups_say_what_they_look_after_and_how_they_update() {
    let selected = |labels: &[(&str, &str)], has_expressions| NamespaceSelection::Selected {
        match_labels: labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
        has_expressions,
    };
    let named = || NamespaceSelection::Named(vec!["x".into(), "z".into()]);
    for (spec, forward, targets) in [
        ("spec: {}", false, NamespaceSelection::All),
        ("", false, NamespaceSelection::All),
        ("spec: {upgradeStrategy: Default, selector: {}}", false, NamespaceSelection::All),
        ("spec: {upgradeStrategy: TechPreviewUnsafeFailForward}", true, NamespaceSelection::All),
        ("spec: {upgradeStrategy: UnsafeFailForward}", true, NamespaceSelection::All),
        ("spec: {upgradeStrategy: {name: UnsafeFailForward}}", true, NamespaceSelection::All),
        ("spec: {upgradeStrategy: {}}", false, NamespaceSelection::All),
        ("spec: {targetNamespaces: [x, z], selector: {matchLabels: {a: b}}}", false, named()),
        ("spec: {selector: {matchLabels: {a: b}}}", false, selected(&[("a", "b")], false)),
        (
            "spec: {selector: {matchExpressions: [{key: a, operator: Exists}]}}",
            false,
            selected(&[], true),
        ),
    ] {
        for api_version in ["v1", "v1alpha2"] {
            let text = manifest("OperatorGroup", "a", "g", spec)
                .replace("com/v1\n", &format!("com/{api_version}\n"));
            let manifests = read(&text);
            let group = &manifests.operator_groups[0].object;
            assert_eq!(
                group.upgrade_strategy == UpgradeStrategy::UnsafeFailForward,
                forward,
                "{spec}"
            );
            assert_eq!(group.targets, targets, "{spec}");
            assert_eq!(manifests.only_group_namespace(), Some("a"));
        }
    }
}

/// What is wrong with an object is said once; whether it is kept follows from the severity, and
/// the sound object behind it is always kept.
#[test]
fn every_finding_names_its_place_and_a_way_out() {
    let quotes = "in YAML, a number, `true` or `yes` is a string only between quotes";
    for (kind, rest, expected, kept) in [
        ("Subscription", "spec: {name: etcd, channel: 4.2}",
         format!("error manifest-wrong-type: cluster.yaml:6: Subscription a/x: spec.channel: must be a string, not number ({quotes})"), 0),
        ("Subscription", "spec:\n  name: 7",
         format!("error manifest-wrong-type: cluster.yaml:7: Subscription a/x: spec.name: must be a string, not number ({quotes})"), 0),
        ("Subscription", "spec: {channel: a}",
         "error manifest-missing-field: cluster.yaml:6: Subscription a/x: spec.name: is missing (name the package that is wanted in `spec.name`)".into(), 0),
        ("Subscription", "",
         "error manifest-missing-field: cluster.yaml:1: Subscription a/x: spec: is missing (name the package that is wanted in `spec.name`)".into(), 0),
        ("Subscription", "spec:\n  name: etcd\n  startingCsv: etcd.v1",
         "warning manifest-spelling: cluster.yaml:8: Subscription a/x: spec.startingCSV: is spelt `startingCsv` here, so it is not read (write `startingCSV`)".into(), 1),
        ("Subscription", "spec: {name: etcd, installPlanApproval: manual}",
         "warning manifest-invalid-value: cluster.yaml:6: Subscription a/x: spec.installPlanApproval: `manual` means `Automatic`, as everything but `Manual` does (write `Manual` or `Automatic`)".into(), 1),
        ("OperatorGroup", "spec: {upgradeStrategy: Forward}",
         "warning manifest-invalid-value: cluster.yaml:6: OperatorGroup a/x: spec.upgradeStrategy: `Forward` is no strategy; `Default` is used (write `Default` or `TechPreviewUnsafeFailForward`)".into(), 1),
        ("OperatorGroup", "spec: {upgradeStrategy: {name: 3}}",
         "error manifest-wrong-type: cluster.yaml:6: OperatorGroup a/x: spec.upgradeStrategy: must be a string, not number".into(), 0),
        ("CatalogSource", "spec: {priority: 1.5}",
         "error manifest-wrong-type: cluster.yaml:6: CatalogSource a/x: spec.priority: must be a whole number, not number 1.5".into(), 0),
        ("ClusterServiceVersion", "spec: {version: latest}",
         "error manifest-invalid-value: cluster.yaml:6: ClusterServiceVersion a/x: spec.version: `latest` cannot be read: Invalid character(s) found in major number \"0latest\" (write a semantic version, such as `1.2.3`)".into(), 0),
        ("ClusterServiceVersion", "spec: {customresourcedefinitions: {owned: {}}}",
         "error manifest-wrong-type: cluster.yaml:6: ClusterServiceVersion a/x: spec.customresourcedefinitions.owned: must be a list, not object".into(), 0),
        ("ClusterServiceVersion", "  annotations: {a: true}",
         format!("error manifest-wrong-type: cluster.yaml:6: ClusterServiceVersion a/x: metadata.annotations.a: must be a string, not bool ({quotes})"), 0),
    ] {
        let sound = manifest(kind, "a", "sound", "spec: {name: etcd}");
        let text = manifest(kind, "a", "x", rest) + &sound;
        let manifests = read_manifests("cluster.yaml", text.as_bytes());
        let findings: Vec<String> = manifests.diagnostics.iter().map(shown).collect();
        assert_eq!(findings, [expected], "{rest}");
        let count = manifests.subscriptions.len()
            + manifests.operator_groups.len()
            + manifests.catalog_sources.len()
            + manifests.service_versions.len();
        assert_eq!(count, kept + 1, "{rest}");
    }
}

#[test]
fn texts_that_hold_no_object_are_reported_where_they_stand() {
    for (text, expected) in [
        (
            "just words\n",
            "error manifest-not-an-object: cluster.yaml:1: an object is expected here, not a string",
        ),
        (
            "[{\"kind\":\"X\"},\n 3]",
            "error manifest-not-an-object: cluster.yaml:2: an object is expected here, not a number",
        ),
        (
            "{\"a\": 1}",
            "error manifest-missing-field: cluster.yaml:1: : kind: is missing (say in `kind` and `apiVersion` which type of object this is)",
        ),
        (
            "kind: Subscription\n",
            "error manifest-missing-field: cluster.yaml:1: Subscription: apiVersion: is missing (write `operators.coreos.com/v1alpha1`)",
        ),
        (
            "kind: OperatorGroup\nmetadata: {name: g}\napiVersion: operators.coreos.com/v3\n",
            "warning manifest-invalid-value: cluster.yaml:3: OperatorGroup g: apiVersion: `operators.coreos.com/v3` is not a version of OperatorGroup that clusters serve (write `operators.coreos.com/v1` or `operators.coreos.com/v1alpha2`)",
        ),
        (
            "kind: CatalogSource\napiVersion: operators.coreos.com/v1alpha1\n",
            "error manifest-missing-field: cluster.yaml:1: CatalogSource: metadata.name: is missing (every object needs a name)",
        ),
    ] {
        let manifests = read_manifests("cluster.yaml", text.as_bytes());
        let findings: Vec<String> = manifests.diagnostics.iter().map(shown).collect();
        assert_eq!(findings, [expected], "{text}");
    }
    let broken = read_manifests("c", b"kind: [\n---\nkind: Namespace\n");
    assert_eq!(broken.diagnostics.len(), 1);
    assert_eq!(broken.diagnostics[0].rule.id(), "manifest-syntax");
    assert_eq!(broken.ignored, 1, "the document behind it is read");
}
