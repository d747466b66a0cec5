//! What a namespace sees of a cluster.

use operon_api::{Cluster, read_manifests};

use crate::support::{manifest, read, shown};

fn names<'o, T>(objects: &[&'o T], metadata: fn(&'o T) -> &'o operon_api::Metadata) -> Vec<String> {
    let name = |object: &&'o T| {
        let metadata = metadata(object);
        format!("{}/{}", metadata.namespace, metadata.name)
    };
    objects.iter().map(name).collect()
}

#[test]
fn catalogs_of_the_global_namespace_are_visible_unless_the_group_hides_them() {
    let hiding =
        "  annotations: {olm.operatorframework.io/exclude-global-namespace-resolution: \"VALUE\"}";
    for (value, expected) in [
        ("true", &["a/own"][..]),
        ("True", &["a/own", "olm/global"]),
        ("false", &["a/own", "olm/global"]),
    ] {
        let text = [
            manifest("CatalogSource", "olm", "global", ""),
            manifest("CatalogSource", "b", "foreign", ""),
            manifest("CatalogSource", "a", "own", ""),
            manifest("OperatorGroup", "a", "g", &hiding.replace("VALUE", value)),
            manifest("OperatorGroup", "b", "g", ""),
        ]
        .concat();
        let cluster = Cluster::new(read(&text), "a");
        let view = cluster.view("a", "olm");
        assert!(view.group.is_ok());
        assert_eq!(names(&view.catalog_sources, |source| &source.metadata), expected, "{value}");
    }
}

#[test]
fn only_what_lies_in_the_namespace_and_is_no_copy_counts() {
    let text = [
        manifest("ClusterServiceVersion", "a", "plain", "status: {phase: Failed}"),
        manifest("ClusterServiceVersion", "a", "home", "  annotations: {olm.operatorNamespace: a}"),
        manifest(
            "ClusterServiceVersion",
            "a",
            "abroad",
            "  annotations: {olm.operatorNamespace: b}",
        ),
        manifest("ClusterServiceVersion", "a", "labelled", "  labels: {olm.copiedFrom: \"\"}"),
        manifest("ClusterServiceVersion", "a", "copied", "status: {reason: Copied}"),
        manifest("ClusterServiceVersion", "b", "elsewhere", ""),
        manifest("Subscription", "b", "elsewhere", "spec: {name: x}"),
        manifest("Subscription", "a", "z", "spec: {name: x}"),
        manifest("Subscription", "\"\"", "homeless", "spec: {name: x}"),
    ]
    .concat();
    let cluster = Cluster::new(read(&text), "a");
    let view = cluster.view("a", "olm");
    assert_eq!(names(&view.service_versions, |version| &version.metadata), ["a/home", "a/plain"]);
    assert_eq!(names(&view.subscriptions, |wanted| &wanted.metadata), ["a/homeless", "a/z"]);
    assert_eq!(view.group.unwrap_err().to_string(), "found 0 operatorGroups, expected 1");
    assert!(!view.fails_forward());
}

#[test]
fn two_groups_are_none() {
    let text = ["g", "h"]
        .map(|name| {
            manifest("OperatorGroup", "a", name, "spec: {upgradeStrategy: UnsafeFailForward}")
        })
        .concat();
    let manifests = read(&text);
    assert_eq!(manifests.only_group_namespace(), None);
    let cluster = Cluster::new(manifests, "a");
    let view = cluster.view("a", "olm");
    assert_eq!(view.group.unwrap_err().found, 2);
    assert!(!view.fails_forward());
}

#[test]
fn contradictions_are_reported_and_repetitions_are_not() {
    let etcd = |channel: &str| {
        manifest("Subscription", "a", "s", &format!("spec: {{name: etcd, channel: {channel}}}"))
    };
    let again = Cluster::new(read(&(etcd("x") + &etcd("x"))), "a");
    assert_eq!((again.subscriptions.len(), again.diagnostics.len()), (1, 0));

    let text = etcd("x") + &etcd("z") + &manifest("Subscription", "a", "t", "spec: {name: etcd}");
    let cluster = Cluster::new(read_manifests("cluster.yaml", text.as_bytes()), "a");
    let findings: Vec<String> = cluster.diagnostics.iter().map(shown).collect();
    let expected = "error manifest-contradiction: cluster.yaml:8: Subscription a/s: has other \
                    content here than at cluster.yaml:1 (leave one of the two, the one that is true)";
    assert_eq!(findings, [expected]);
    assert_eq!(cluster.subscriptions.len(), 1, "neither of the two is used, the third is");
}
