//! Claims about roles: of a ClusterServiceVersion, of provided APIs, of OperatorGroups, and lifted.

use operon_install::{
    COPIED_FROM_LABEL, Existing, MANAGED_LABEL, OWNER_NAMESPACE_LABEL, Ownership, StepHandling,
    cluster_lift, component_label, has_owner_labels, namespace_lift, operator_group_roles,
    parse_provided_apis, properties_annotation, provided_api_roles, provided_apis,
    provided_apis_text, rbac_for, step_handling, step_kind, target_namespaces_text,
};
use operon_object::Object;

use crate::support::{csv, object, value};

const PERMISSIONS: &str = r#"{"install":{"strategy":"deployment","spec":{
    "permissions":[{"serviceAccountName":"sa","rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"x":1}]},
        {"serviceAccountName":"default","rules":[]}],
    "clusterPermissions":[{"serviceAccountName":"sa","rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}]}}}"#;

#[test]
fn permissions_become_complete_objects() {
    let csv = csv(PERMISSIONS);
    let accounts = rbac_for(&csv, "elsewhere").expect("it is sound");
    let names: Vec<&str> = accounts.iter().map(|account| &*account.account).collect();
    assert_eq!(names, ["default", "sa"]);
    assert_eq!(accounts[0].service_account, None, "every namespace has `default`");
    let sa = &accounts[1];
    let account = sa.service_account.as_ref().expect("it must be made");
    for object in [account, &sa.roles[0], &sa.role_bindings[0]] {
        assert_eq!(object.namespace(), "elsewhere");
        assert_eq!(object.owners().next(), Some(csv.owner_reference()));
    }
    for object in [&sa.cluster_roles[0], &sa.cluster_role_bindings[0]] {
        assert_eq!((object.namespace(), object.owners().count()), ("", 0));
        assert_eq!(object.label(OWNER_NAMESPACE_LABEL), "elsewhere");
    }
    let rules = value(r#"[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]"#);
    assert_eq!(*sa.roles[0].at(&["rules"]), rules);
    let binding = &sa.cluster_role_bindings[0];
    let subjects = value(r#"[{"kind":"ServiceAccount","name":"sa","namespace":"elsewhere"}]"#);
    assert_eq!(*binding.at(&["subjects"]), subjects);
    assert_eq!(binding.at(&["roleRef", "name"]).str(), sa.cluster_roles[0].name());
    assert_eq!(binding.at(&["roleRef", "kind"]).str(), "ClusterRole");

    let unknown = crate::support::csv(r#"{"install":{"strategy":"helm"}}"#);
    let fault = rbac_for(&unknown, "ns").map_err(|fault| fault.to_string());
    assert_eq!(
        fault,
        Err("unrecognized install strategy: `helm`, only `deployment` is known".to_owned())
    );
}

#[test]
fn provided_apis_have_roles_that_groups_collect() {
    let csv = csv(
        r#"{"customresourcedefinitions":{"owned":[{"name":"foos.foo.io","version":"v1","kind":"Foo"}]},
            "apiservicedefinitions":{"owned":[{"name":"bars","group":"bar.io","version":"v2","kind":"Bar"}]}}"#,
    );
    let installed = |kind: &str, name: &str| {
        let mut object = Object::new("x/v1", kind, "", name);
        object.metadata_mut().insert("uid", name);
        object
    };
    let crd = installed("CustomResourceDefinition", "foos.foo.io");
    let service = installed("APIService", "v2.bar.io");
    let find_crd = |name: &str| (name == crd.name()).then_some(&crd);
    let find_service = |name: &str| (name == service.name()).then_some(&service);
    let roles = provided_api_roles(&csv, find_crd, find_service).expect("all are installed");
    let found: Vec<(&str, String, String)> = roles
        .iter()
        .map(|role| {
            let rule = &role.at(&["rules"]).elements()[0];
            let owner = role.owners().next().expect("it has an owner");
            (role.name(), owner.uid, format!("{} {}", rule.get("verbs"), rule.get("resources")))
        })
        .collect();
    let expected = [
        ("foos.foo.io-v1-admin", "foos.foo.io", r#"["*"] ["foos"]"#),
        ("foos.foo.io-v1-edit", "foos.foo.io", r#"["create","update","patch","delete"] ["foos"]"#),
        ("foos.foo.io-v1-view", "foos.foo.io", r#"["get","list","watch"] ["foos"]"#),
        ("foos.foo.io-v1-crdview", "foos.foo.io", r#"["get"] ["customresourcedefinitions"]"#),
        ("bars-v2-admin", "v2.bar.io", r#"["*"] ["bars"]"#),
        ("bars-v2-edit", "v2.bar.io", r#"["create","update","patch","delete"] ["bars"]"#),
        ("bars-v2-view", "v2.bar.io", r#"["get","list","watch"] ["bars"]"#),
    ];
    let expected: Vec<_> = expected
        .map(|(name, owner, rule)| (name, owner.to_owned(), rule.to_owned()))
        .into_iter()
        .collect();
    assert_eq!(found, expected);
    assert_eq!(roles[3].label("rbac.authorization.k8s.io/aggregate-to-view"), "true");

    let apis = provided_apis(&csv);
    assert_eq!(provided_apis_text(&apis), "Bar.v2.bar.io,Foo.v1.foo.io");
    assert_eq!(parse_provided_apis("Foo.v1.foo.io, Bar.v2.bar.io,,x"), apis);
    let group = Object::new("operators.coreos.com/v1", "OperatorGroup", "ns", "og");
    let collected = operator_group_roles(&group, &apis);
    for (role, own) in collected.iter().zip([&roles[0], &roles[1], &roles[2]]) {
        assert!(has_owner_labels(role, &group));
        let selectors = role.at(&["aggregationRule", "clusterRoleSelectors"]).elements();
        assert_eq!(selectors.len(), 2);
        let is_collected = selectors.iter().any(|selector| {
            selector
                .get("matchLabels")
                .entries()
                .all(|(label, value)| own.label(label) == value.str())
        });
        assert!(is_collected, "{} collects {}", role.name(), own.name());
    }
    let [role, ..] = operator_group_roles(&group, &std::collections::BTreeSet::new());
    assert!(role.at(&["aggregationRule"]).is_null());

    let fault = provided_api_roles(&csv, |_| None, find_service).map_err(|fault| fault.to_string());
    assert_eq!(fault, Err("crd \"foos.foo.io\" not found".to_owned()));
}

#[test]
fn roles_follow_an_operator_to_the_namespaces_it_watches() {
    let csv = csv(PERMISSIONS);
    let accounts = rbac_for(&csv, "ns").expect("it is sound");
    let mut objects: Vec<Object> = accounts
        .iter()
        .flat_map(|account| account.roles.iter().chain(&account.role_bindings).cloned())
        .collect();
    let mut stranger = objects[0].clone();
    stranger.metadata_mut().insert("labels", value("{}"));
    let mut unreferenced = objects[0].clone();
    unreferenced.metadata_mut().insert("name", "unreferenced");
    unreferenced.metadata_mut().remove("ownerReferences");
    objects.extend([stranger, unreferenced]);

    let lifted = cluster_lift(&csv, &objects);
    assert_eq!(lifted.len(), 5, "two accounts and a Role that is only labelled");
    let role = lifted.iter().find(|role| role.name() == accounts[1].roles[0].name());
    let role = role.expect("it was lifted");
    assert_eq!((role.kind().name(), role.namespace()), ("ClusterRole", ""));
    let rules = value(
        r#"[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},
            {"verbs":["get","list","watch"],"apiGroups":[""],"resources":["namespaces"]}]"#,
    );
    assert_eq!(*role.at(&["rules"]), rules);
    assert_eq!(role.metadata("labels"), accounts[1].roles[0].metadata("labels"));
    let bindings = lifted.iter().filter(|object| object.kind().name() == "ClusterRoleBinding");
    for binding in bindings {
        assert_eq!(binding.at(&["roleRef", "kind"]).str(), "ClusterRole");
    }

    let mut copy = csv.clone();
    copy.set_namespace("target");
    copy.metadata_mut().insert("uid", "u2");
    let cloned = namespace_lift(&csv, &copy, &objects);
    assert_eq!(cloned.len(), 4, "what does not refer to the operator stays");
    for object in &cloned {
        assert_eq!(object.namespace(), "target");
        assert_eq!(object.owners().map(|owner| owner.uid).collect::<Vec<_>>(), ["u2"]);
        assert!(has_owner_labels(object, &copy));
        assert_eq!(object.label(COPIED_FROM_LABEL), "ns");
        assert_eq!(object.label(MANAGED_LABEL), "true");
    }
    assert!(namespace_lift(&csv, &csv, &objects).is_empty());
}

#[test]
fn texts_of_annotations_and_labels() {
    let long = "p".repeat(60);
    let claims = [
        (component_label("etcd", "shop"), "operators.coreos.com/etcd.shop".to_owned()),
        (component_label(&long, "ab"), format!("operators.coreos.com/{long}.ab")),
        (component_label(&long, "a-bc"), format!("operators.coreos.com/{long}.a")),
        (target_namespaces_text(["b", "a"]), "a,b".to_owned()),
        (target_namespaces_text([""]), String::new()),
        (properties_annotation::<&str, &str>(&[]), "{}".to_owned()),
        (
            properties_annotation(&[("t<", r#" { "b" : [1, "a \" < b"], "a":2 } "#), ("u", "no")]),
            r#"{"properties":[{"type":"t\u003c","value":{"b":[1,"a \" \u003c b"],"a":2}},{"type":"u","value":"no"}]}"#.to_owned(),
        ),
    ];
    for (found, expected) in claims {
        assert_eq!(found, expected);
    }
    let pod = object(r#"{"apiVersion":"v1","kind":"Pod","metadata":{}}"#);
    assert_eq!(step_handling(pod.kind().name()), None, "no bundle holds pods");
    let handling = StepHandling { existing: Existing::Patch, ownership: Ownership::Reference };
    assert_eq!(step_handling(step_kind("Secret")), Some(handling));
    let handling =
        StepHandling { existing: Existing::Replace, ownership: Ownership::ReferenceOrLabels };
    assert_eq!(step_handling("PriorityClass"), Some(handling));
}
