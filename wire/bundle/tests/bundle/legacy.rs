//! Catalogs in ConfigMaps become documents like any other.

use operon_bundle::{ConfigMapCatalog, render_config_map};
use operon_object::Value;

const PACKAGES: &str = "
- packageName: etcd
  defaultChannel: stable
  channels:
  - {name: stable, currentCSV: etcd.v0.2.0}
  - {name: edge, currentCSV: etcd.v0.3.0}
";

fn operator(name: &str, version: &str, replaces: &str) -> String {
    format!(
        "
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {{name: {name}, annotations: {{olm.skipRange: '<0.1.0'}}}}
  spec:
    version: {version}
    replaces: {replaces}
    install: {{strategy: deployment, spec: {{deployments: []}}}}
    customresourcedefinitions:
      owned:
      - {{name: clusters.etcd.example.com, version: v1, kind: EtcdCluster}}
"
    )
}

const DEFINITIONS: &str = "
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: clusters.etcd.example.com}
  spec:
    group: etcd.example.com
    names: {kind: EtcdCluster, plural: clusters}
    scope: Namespaced
    versions: [{name: v1, served: true, storage: true}]
";

#[test]
fn a_config_map_is_a_catalog() {
    let service_versions = operator("etcd.v0.2.0", "0.2.0", "etcd.v0.1.0")
        + &operator("etcd.v0.3.0", "0.3.0", "etcd.v0.2.0")
        + &operator("etcd.v0.1.0", "0.1.0", "''");
    let catalog = ConfigMapCatalog {
        packages: PACKAGES,
        service_versions: &service_versions,
        definitions: DEFINITIONS,
    };
    let written = render_config_map(&catalog);
    assert_eq!(written.problems, [""; 0]);
    let documents: Vec<Value> =
        written.text.lines().map(|line| Value::parse_json(line).expect("a document")).collect();
    let told: Vec<String> = documents
        .iter()
        .map(|document| {
            let entries = document.get("entries").elements();
            let names: Vec<&str> = entries.iter().map(|entry| entry.get("name").str()).collect();
            format!("{} {} {names:?}", document.get("schema").str(), document.get("name").str())
        })
        .collect();
    assert_eq!(
        told,
        [
            "olm.package etcd []",
            r#"olm.channel stable ["etcd.v0.2.0", "etcd.v0.1.0"]"#,
            r#"olm.channel edge ["etcd.v0.3.0", "etcd.v0.2.0", "etcd.v0.1.0"]"#,
            "olm.bundle etcd.v0.1.0 []",
            "olm.bundle etcd.v0.2.0 []",
            "olm.bundle etcd.v0.3.0 []",
        ]
    );
    let edge = &documents[2].get("entries").elements()[0];
    assert_eq!(edge.get("replaces").str(), "etcd.v0.2.0");
    assert_eq!(edge.get("skipRange").str(), "<0.1.0");
    let properties = documents[5].get("properties").elements().iter();
    let kinds: Vec<&str> = properties.map(|property| property.get("type").str()).collect();
    assert_eq!(kinds, ["olm.gvk", "olm.package", "olm.bundle.object", "olm.bundle.object"]);
}

#[test]
fn what_cannot_be_used_is_told() {
    let claims: [(ConfigMapCatalog<'_>, &str); 4] = [
        (ConfigMapCatalog { packages: "{", ..Default::default() }, "`packages` is no list"),
        (ConfigMapCatalog { packages: "a: b", ..Default::default() }, "it is something else"),
        (ConfigMapCatalog { packages: "- {}", ..Default::default() }, "no `packageName`"),
        (
            ConfigMapCatalog { packages: PACKAGES, ..Default::default() },
            "names `etcd.v0.2.0`, which is not among `clusterServiceVersions`",
        ),
    ];
    for (catalog, expected) in claims {
        let problems = render_config_map(&catalog).problems;
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{problems:?}");
    }
}

#[test]
fn operators_that_replace_each_other_end() {
    let service_versions = operator("a", "0.2.0", "b") + &operator("b", "0.1.0", "a");
    let catalog = ConfigMapCatalog {
        packages: "- {packageName: x, channels: [{name: c, currentCSV: a}]}",
        service_versions: &service_versions,
        definitions: DEFINITIONS,
    };
    assert_eq!(render_config_map(&catalog).text.lines().count(), 4);
}
