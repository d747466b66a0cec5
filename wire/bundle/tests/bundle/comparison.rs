//! What changes between two bundles, and what does not count as a change.

use operon_bundle::{BundleSource, BundleSummary, MAX_RIGHTS, compare, read_bundle, summarize};

use crate::fixture::{CRD_PATH, CSV, CSV_PATH, files};

fn open(changes: &[(&str, &str)]) -> (BundleSource, BundleSummary) {
    let files = files(changes);
    let source = read_bundle(&files).bundle.expect("bug: the example can be read");
    let summary = summarize(&source, &files);
    (source, summary)
}

/// Describes what changes from one bundle to another, one line each.
fn changes(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
    let (old, new) = (open(before), open(after));
    let changes = compare((&old.0, &old.1), (&new.0, &new.1));
    let lines = changes.iter().map(|change| {
        let attention: String = change.attention.iter().map(|why| format!(" !{why}")).collect();
        format!("{} {} {}{attention}", change.kind.name(), change.topic.name(), change.subject)
    });
    lines.collect()
}

fn with_rules(scope: &str, rules: &str) -> String {
    let permissions =
        format!("      {scope}:\n      - serviceAccountName: kiosk\n        rules: [{rules}]\n");
    CSV.replace("      deployments:\n", &format!("{permissions}      deployments:\n"))
}

#[test]
fn rights_count_as_gained_only_if_nothing_covered_them() {
    let rule = |groups: &str, resources: &str, verbs: &str| {
        format!("{{apiGroups: [{groups}], resources: [{resources}], verbs: [{verbs}]}}")
    };
    let [cluster, inside] = ["clusterPermissions", "permissions"];
    for (before, after, expected) in [
        ((cluster, rule("'*'", "'*'", "'*'")), (cluster, rule("apps", "deployments", "get")), "-"),
        ((cluster, rule("''", "pods", "get")), (inside, rule("''", "pods", "get")), "-"),
        ((inside, rule("''", "pods", "get")), (cluster, rule("''", "pods", "get")), "+"),
        (
            (cluster, rule("''", "pods", "get, list")),
            (cluster, rule("''", "pods", "list, get")),
            "",
        ),
        ((cluster, rule("''", "'*/log'", "get")), (cluster, rule("''", "pods/log", "get")), "-"),
        ((cluster, rule("''", "pods", "get")), (cluster, rule("''", "pods", "get, watch")), "+"),
        (
            (
                cluster,
                "{apiGroups: [''], resources: [pods], resourceNames: [a], verbs: [get]}".into(),
            ),
            (cluster, rule("''", "pods", "get")),
            "+",
        ),
        (
            (cluster, "{nonResourceURLs: ['/api/*'], verbs: [get]}".into()),
            (cluster, "{nonResourceURLs: [/api/v1], verbs: [get]}".into()),
            "-",
        ),
    ] {
        let (old, new) = (with_rules(before.0, &before.1), with_rules(after.0, &after.1));
        let found = changes(&[(CSV_PATH, &old)], &[(CSV_PATH, &new)]);
        let signs: String = found
            .iter()
            .map(|line| if line.starts_with("added right") { "+" } else { "-" })
            .collect();
        assert_eq!(signs, expected, "{before:?} {after:?} {found:?}");
        assert_eq!(changes(&[(CSV_PATH, &new)], &[(CSV_PATH, &new)]), [""; 0]);
    }
}

#[test]
fn roles_count_only_where_they_are_bound() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules:\n- {apiGroups: [''], resources: [secrets], verbs: [get]}\n";
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: r}\nsubjects: [{kind: ServiceAccount, name: kiosk}]\n";
    let unbound = [("manifests/role.yaml", role)];
    assert_eq!(changes(&[], &unbound), ["added object ClusterRole r"]);
    let bound = [unbound[0], ("manifests/binding.yaml", binding)];
    assert_eq!(
        changes(&unbound, &bound),
        [
            "added right cluster: get secrets !reads every secret of the cluster",
            "added object ClusterRoleBinding b"
        ]
    );
}

#[test]
fn definitions_are_checked_as_before_an_update() {
    let definition = |versions: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: kiosks.shop.example.com}}\nspec:\n  group: shop.example.com\n  scope: Namespaced\n  names: {{kind: Kiosk, plural: kiosks}}\n  versions: [{versions}]\n"
        )
    };
    let version = |name: &str, flags: &str, properties: &str| {
        format!(
            "{{name: {name}, {flags}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{properties}}}}}}}}}}}}}"
        )
    };
    let old = definition(&version(
        "v1",
        "served: true, storage: true",
        "a: {type: string, enum: [x, z]}, b: {type: array, items: {type: object, properties: {c: {type: string}}}}, d: {type: object, properties: {e: {type: string}}}",
    ));
    let new = definition(&version(
        "v1",
        "served: true, storage: true",
        "a: {type: string, enum: [x]}, b: {type: array, items: {type: object, required: [c], properties: {c: {type: integer}}}}, f: {type: string}",
    ));
    let gone = definition(&version("v2", "served: true, storage: true", "a: {type: string}"));
    let said = |new: &str| {
        changes(&[(CRD_PATH, &old)], &[(CRD_PATH, new)]).join("\n").replace(" !", "\n  ! ")
    };
    assert_eq!(said(&old), "");
    insta::assert_snapshot!([said(&new), said(&gone)].join("\n\n"), @r#"
    changed crd kiosks.shop.example.com
      ! v1: `spec.a` no longer allows "z"
      ! v1: `spec.b[].c` is now of type integer, not string
      ! v1: `spec.b[].c` must now be given
      ! v1: the field `spec.d` is gone

    removed provided-api Kiosk shop.example.com/v1
      ! who uses this API loses it
    added provided-api Kiosk shop.example.com/v2
    changed crd kiosks.shop.example.com
      ! The new CRD has no version v1, but objects may be stored in it and would be lost. Migrate them and remove v1 from the CRD's status.storedVersions first
      ! The new CRD has no version v1, which is served today
    "#);
}

#[test]
fn rules_that_multiply_are_cut_off() {
    let many = |prefix: &str| {
        (0..400).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>().join(", ")
    };
    let rule = format!("{{apiGroups: [{}], resources: [{}], verbs: [get]}}", many("g"), many("r"));
    let csv = with_rules("clusterPermissions", &rule);
    let (_, summary) = open(&[(CSV_PATH, &csv)]);
    assert_eq!((summary.rights.len(), summary.has_more_rights), (MAX_RIGHTS, true));
    assert_eq!(changes(&[(CSV_PATH, &csv)], &[(CSV_PATH, &csv)]), [""; 0]);
}
