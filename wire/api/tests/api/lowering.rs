//! What a resolution is told about installed operators and Subscriptions.

use operon_api::{lower_service_version, lower_subscription};
use operon_resolve::InstalledProperties;

use crate::support::{manifest, read};

fn properties(rest: &str) -> String {
    let text = manifest("ClusterServiceVersion", "a", "x.v1", rest);
    match lower_service_version(&read(&text).service_versions[0].object).properties {
        InstalledProperties::Annotated(list) => {
            let shown = list.iter().map(|(kind, value)| format!("{kind} {value}"));
            format!("annotated: {}", shown.collect::<Vec<_>>().join("; "))
        }
        InstalledProperties::Derived { owned, required } => {
            let shown = |apis: &[operon_constraint::GroupVersionKind]| {
                apis.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            format!("derived: {} | {}", shown(&owned), shown(&required))
        }
        InstalledProperties::Unreadable(reason) => format!("unreadable: {reason}"),
    }
}

#[test]
fn properties_come_from_the_annotation_or_else_from_apis() {
    let annotated = |value: &str, rest: &str| {
        let quoted = value.replace('\'', "''");
        properties(&format!(
            "  annotations: {{operatorframework.io/properties: '{quoted}'}}\n{rest}"
        ))
    };
    let owned =
        "spec: {customresourcedefinitions: {owned: [{name: ds.e.io, version: v1, kind: D}]}}";
    let bad = "spec: {customresourcedefinitions: {required: [{name: dots, version: v1, kind: D}]}}";
    let unreadable = r#"unreadable: failed to retrieve properties of csv "x.v1": failed to unmarshal properties annotation: "#;
    for (value, rest, expected) in [
        (
            r#"{"properties":[{"type":"olm.gvk","value":{"version":"v1","group":"g","kind":"K"}},{"value":1.0,"type":"t"}]}"#,
            owned,
            r#"annotated: olm.gvk {"group":"g","kind":"K","version":"v1"}; t 1"#.to_owned(),
        ),
        ("{}", owned, "annotated: ".to_owned()),
        (r#"{"properties":null}"#, owned, "annotated: ".to_owned()),
        (
            r#"{"Properties":[{"Type":"t","Value":null},{"type":"u"}]}"#,
            "",
            "annotated: t null; u ".to_owned(),
        ),
        ("", "", format!("{unreadable}unexpected end of JSON input")),
        (r#"{"properties":["#, "", format!("{unreadable}unexpected end of JSON input")),
        (r#"{"properties":{}}"#, "", format!("{unreadable}properties must be a list, not object")),
        ("{}", bad, "unreadable: error parsing crd name: dots".to_owned()),
    ] {
        assert_eq!(annotated(value, rest), expected, "{value}");
    }
    assert_eq!(properties(bad), "unreadable: error parsing crd name: dots");
    assert_eq!(properties(""), "derived:  | ");
    let many = "spec:\n  customresourcedefinitions:\n    owned: [{name: zs.e.io, version: v1, kind: Z}, \
        {name: as.e.io, version: v1, kind: A}, {name: as.e.io, version: v1, kind: A}, {name: aa.e.io, version: v1, kind: A}]\n\
        \x20 apiservicedefinitions: {owned: [{name: as, group: e.io, version: v1, kind: A}], required: [{name: qs, group: q, version: v2, kind: Q}]}";
    let expected = "derived: A.v1 (e.io), A.v1 (e.io), Z.v1 (e.io) | Q.v2 (q)";
    assert_eq!(properties(many), expected, "a repetition counts once, another plural counts");
}

#[test]
fn subscriptions_become_requests() {
    let text = manifest(
        "Subscription",
        "a",
        "s",
        "spec: {name: p, channel: c, source: hub, sourceNamespace: olm, startingCSV: v, installPlanApproval: Manual}\n\
         status: {installedCSV: i, currentCSV: j}",
    );
    let request = lower_subscription(&read(&text).subscriptions[0].object);
    let fields = [
        &request.name,
        &request.package,
        &request.channel,
        &request.starting_csv,
        &request.installed_csv,
        &request.current_csv,
    ];
    assert_eq!(fields, ["s", "p", "c", "v", "i", "j"]);
    assert_eq!(request.source.unwrap().to_string(), "olm/hub");
    assert!(request.manual_approval);
    let bare = manifest("Subscription", "a", "s", "spec: {name: p}");
    let request = lower_subscription(&read(&bare).subscriptions[0].object);
    assert_eq!((request.source, request.manual_approval), (None, false));
}
