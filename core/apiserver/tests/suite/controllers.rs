//! Owners, namespaces and aggregated roles.

use operon_apiserver::{Propagation, Target};
use operon_object::go_json;

use crate::support::{Bench, config_map, target};

fn place(name: &str) -> Target {
    target(&format!("v1 ConfigMap shop/{name}"))
}

/// Makes ConfigMaps, each owned by those named after it; `!` before an owner means it is blocked.
fn make(bench: &mut Bench, objects: &[(&str, &[&str])]) {
    for (name, owners) in objects {
        let references: Vec<String> = owners
            .iter()
            .map(|owner| {
                let (is_blocking, owner) = (owner.starts_with('!'), owner.trim_start_matches('!'));
                let uid = bench.get(&place(owner)).map_or("gone".to_owned(), |found| found.uid().to_owned());
                format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","name":"{owner}","uid":"{uid}","blockOwnerDeletion":{is_blocking}}}"#)
            })
            .collect();
        bench.create(&config_map(
            name,
            &format!(r#","ownerReferences":[{}]"#, references.join(",")),
        ));
    }
}

fn alive(bench: &Bench) -> Vec<String> {
    let kind = place("x").kind;
    let found = bench.server.list(&kind, &operon_apiserver::ListFilter::default()).unwrap();
    found.iter().map(|object| object.name().to_owned()).collect()
}

#[test]
fn what_nobody_owns_goes_away() {
    use Propagation::{Background, Foreground, Orphan};
    type Claim<'a> = (&'a str, &'a [(&'a str, &'a [&'a str])], Propagation, &'a [&'a str]);
    let claims: &[Claim<'_>] = &[
        ("a chain goes", &[("a", &[]), ("b", &["a"]), ("c", &["b"])], Background, &[]),
        (
            "one owner is enough",
            &[("a", &[]), ("o", &[]), ("b", &["a", "o"])],
            Background,
            &["b", "o"],
        ),
        ("orphans stay", &[("a", &[]), ("b", &["a"]), ("c", &["b"])], Orphan, &["b", "c"]),
        (
            "foreground takes everything",
            &[("a", &[]), ("b", &["!a"]), ("c", &["!b"]), ("d", &["a"])],
            Foreground,
            &[],
        ),
        (
            "a live owner blocks nothing",
            &[("a", &[]), ("o", &[]), ("b", &["!a", "o"])],
            Foreground,
            &["b", "o"],
        ),
        (
            "others are left alone",
            &[("a", &[]), ("x", &[]), ("y", &["x"])],
            Background,
            &["x", "y"],
        ),
    ];
    for (claim, objects, propagation, expected) in claims {
        let mut bench = Bench::new();
        make(&mut bench, objects);
        bench.settle();
        let answer = bench.delete(&place("a"), *propagation).unwrap();
        assert_eq!(answer.object.is_deleting(), *propagation != Background, "{claim}");
        bench.settle();
        assert_eq!(alive(&bench), *expected, "{claim}");
        for name in *expected {
            let owners: Vec<String> =
                bench.get(&place(name)).unwrap().owners().map(|owner| owner.name).collect();
            assert!(!owners.contains(&"a".to_owned()), "{claim}: {name} forgot its owner");
        }
    }
}

#[test]
fn references_mean_one_object_in_reach() {
    let mut bench = Bench::new();
    bench.create(r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mall"}}"#);
    let there = bench.create(&config_map("owner", "").replace("\"shop\"", "\"mall\""));
    let shop = bench.get(&target("v1 Namespace shop")).unwrap();
    let reference = |api: &str, kind: &str, name: &str, uid: &str| {
        format!(
            r#","ownerReferences":[{{"apiVersion":"{api}","kind":"{kind}","name":"{name}","uid":"{uid}"}}]"#
        )
    };
    bench.create(&config_map("other-uid", &reference("v1", "ConfigMap", "owner", "made-up")));
    bench.create(&config_map(
        "other-namespace",
        &reference("v1", "ConfigMap", "owner", there.uid()),
    ));
    bench.create(&config_map("of-the-cluster", &reference("v1", "Namespace", "shop", shop.uid())));
    bench.create(&config_map("unknown-kind", &reference("a.b/v1", "Thing", "t", "made-up")));
    let role = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"REFERENCE}}"#;
    bench.create(&role.replace("REFERENCE", &reference("v1", "ConfigMap", "owner", there.uid())));
    bench.settle();
    assert_eq!(alive(&bench), ["owner", "of-the-cluster", "unknown-kind"]);
    assert!(bench.exists(&target("rbac.authorization.k8s.io/v1 ClusterRole r")));
}

#[test]
fn rings_of_owners_neither_hang_nor_take_the_living() {
    for propagation in [Propagation::Background, Propagation::Foreground] {
        let mut bench = Bench::new();
        make(&mut bench, &[("root", &[]), ("a", &["!root"]), ("b", &["!a"])]);
        let uid = bench.get(&place("b")).unwrap().uid().to_owned();
        let root = bench.get(&place("root")).unwrap().uid().to_owned();
        let patch = format!(
            r#"{{"metadata":{{"ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":"{uid}","blockOwnerDeletion":true}},
            {{"apiVersion":"v1","kind":"ConfigMap","name":"root","uid":"{root}","blockOwnerDeletion":true}}]}}}}"#
        );
        bench.patch(&place("a"), &patch).unwrap();
        bench.settle();
        assert_eq!(alive(&bench), ["a", "b", "root"]);
        bench.delete(&place("root"), propagation).unwrap();
        bench.settle();
        assert_eq!(alive(&bench), ["a", "b"], "a ring keeps itself");
        bench.delete(&place("a"), propagation).unwrap();
        bench.settle();
        assert_eq!(alive(&bench), Vec::<String>::new());
    }
}

#[test]
fn namespaces_begin_with_an_account_and_end_empty() {
    let mut bench = Bench::new();
    let made = bench.get(&target("v1 Namespace shop")).unwrap();
    assert_eq!(made.label("kubernetes.io/metadata.name"), "shop");
    assert_eq!(made.at(&["status", "phase"]).str(), "Active");
    let account = target("v1 ServiceAccount shop/default");
    bench.delete(&account, Propagation::Background).unwrap();
    bench.settle();
    assert!(bench.exists(&account), "it is made again");
    bench.create(&config_map("held", r#","finalizers":["a.b/c"]"#));
    (0..200).for_each(|number| {
        bench.create(&config_map(&format!("c{number}"), ""));
    });
    let going = bench.delete(&target("v1 Namespace shop"), Propagation::Background).unwrap().object;
    assert_eq!(going.at(&["status", "phase"]).str(), "Terminating");
    assert_eq!(bench.settle(), None);
    assert_eq!(alive(&bench), ["held"]);
    assert!(bench.exists(&target("v1 Namespace shop")) && !bench.exists(&account));
    bench.patch(&place("held"), r#"{"metadata":{"finalizers":null}}"#).unwrap();
    bench.settle();
    assert_eq!(bench.server.objects().count(), 0);
}

#[test]
fn aggregated_roles_follow_those_they_select() {
    let role = |name: &str, labels: &str, rest: &str| {
        format!(
            r#"{{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{{"name":"{name}","labels":{{{labels}}}}},{rest}}}"#
        )
    };
    let rule = |verb: &str| {
        format!(r#""rules":[{{"apiGroups":[""],"resources":["pods"],"verbs":["{verb}"]}}]"#)
    };
    let mut bench = Bench::new();
    let selector = r#""aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to-admin":"true"}},{"matchExpressions":[{"key":"extra","operator":"Exists"}]}]}"#;
    bench.create(&role("b", r#""to-admin":"true""#, &rule("get")));
    bench.create(&role("admin", "", &format!("{selector},{}", rule("lost"))));
    bench.settle();
    let place = target("rbac.authorization.k8s.io/v1 ClusterRole admin");
    let verbs = |bench: &Bench| -> Vec<String> {
        let rules = bench.get(&place).unwrap();
        rules.at(&["rules"]).elements().iter().map(|rule| go_json(rule.get("verbs"))).collect()
    };
    assert_eq!(verbs(&bench), [r#"["get"]"#]);
    bench.create(&role("a", r#""to-admin":"true""#, &rule("list")));
    bench.create(&role("c", r#""to-admin":"true""#, &rule("get")));
    bench.create(&role("d", r#""extra":"x""#, &rule("watch")));
    bench.create(&role("e", r#""to-admin":"false""#, &rule("never")));
    bench.settle();
    assert_eq!(verbs(&bench), [r#"["list"]"#, r#"["get"]"#, r#"["watch"]"#]);
    let changed = target("rbac.authorization.k8s.io/v1 ClusterRole a");
    bench.patch(&changed, r#"{"metadata":{"labels":{"to-admin":null}}}"#).unwrap();
    bench
        .delete(&target("rbac.authorization.k8s.io/v1 ClusterRole d"), Propagation::Background)
        .unwrap();
    bench.settle();
    assert_eq!(verbs(&bench), [r#"["get"]"#]);
    // Roles that select each other come to rest.
    bench.create(&role("x", r#""extra":"x""#, selector));
    bench.create(&role("y", r#""extra":"x""#, selector));
    assert_eq!(bench.settle(), None);
}
