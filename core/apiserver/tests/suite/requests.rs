//! What requests do, as tables of claims about Kubernetes.

use std::{convert::Infallible, time::Duration};

use crate::support::{Bench, config_map, definition, object, target};
use operon_apiserver::{
    ChangeFilter, ChangeKind, DeleteOptions, FieldTracking, Limits, ListFilter, Outcome, Part,
    Propagation, Reason, Request, Server, Settings,
};
use operon_object::{Object, Selector, Value};

#[test]
fn new_objects_get_what_only_a_server_gives() {
    let mut bench = Bench::new();
    let made = bench.create(
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop",
        "uid":"mine","generation":7,"creationTimestamp":null,"labels":{}},
        "spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}}}},
        "status":{"replicas":9}}"#,
    );
    assert_eq!(made.generation(), 1);
    assert_eq!(made.metadata("creationTimestamp").str(), "2026-11-16T06:00:00Z");
    assert_eq!(made.resource_version(), bench.server.revision().to_string());
    assert!(made.status().is_null() && made.metadata("labels").is_null());
    let parts: Vec<usize> = made.uid().split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12], "{}", made.uid());
    assert_eq!(bench.get(&target("apps/v1 Deployment shop/web")), Some(made));
}

#[test]
fn generated_names_differ_and_fit_labels() {
    let mut bench = Bench::new();
    let base = "install-".repeat(9);
    let text = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"namespace":"shop","generateName":"{base}"}}}}"#
    );
    let names: std::collections::BTreeSet<String> =
        (0..50).map(|_| bench.create(&text).name().to_owned()).collect();
    assert_eq!(names.len(), 50);
    assert!(names.iter().all(|name| name.len() == 63 && name.starts_with(&base[..58])));
}

#[test]
fn requests_are_refused_in_the_words_of_kubernetes() {
    let mut bench = Bench::new();
    bench.create(&config_map("one", ""));
    bench.create(r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"gone","finalizers":["a.b/c"]}}"#);
    bench.delete(&target("v1 Namespace gone"), Propagation::Background).unwrap();
    bench.create(&config_map("frozen", "").replace("\"data\"", "\"immutable\":true,\"data\""));
    let claims = [
        (config_map("one", ""), 409, Reason::AlreadyExists, r#"configmaps "one" already exists"#),
        (
            config_map("two", r#","resourceVersion":"1""#),
            400,
            Reason::BadRequest,
            "resourceVersion should not be set on objects to be created",
        ),
        (
            config_map("two", "").replace("\"shop\"", "\"mall\""),
            404,
            Reason::NotFound,
            r#"namespaces "mall" not found"#,
        ),
        (
            config_map("two", "").replace("\"shop\"", "\"gone\""),
            403,
            Reason::Forbidden,
            r#"configmaps "two" is forbidden: unable to create new content in namespace gone because it is being terminated"#,
        ),
        (
            config_map("Two", ""),
            422,
            Reason::Invalid,
            r#"ConfigMap "Two" is invalid: metadata.name: Invalid value: "Two": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
        ),
        (
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop"}}"#.to_owned(),
            422,
            Reason::Invalid,
            r#"ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required"#,
        ),
        (
            config_map("two", "").replace("\"v1\"", "\"v9\""),
            404,
            Reason::NotFound,
            r#"no matches for kind "ConfigMap" in version "v9""#,
        ),
        (
            config_map("two", "").replace("\"v1\"", "\"etcd.io/v1\"").replace("ConfigMap", "Etcd"),
            404,
            Reason::NotFound,
            r#"no matches for kind "Etcd" in version "etcd.io/v1""#,
        ),
        (
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"two"}}"#.to_owned(),
            400,
            Reason::BadRequest,
            "an empty namespace may not be set during creation",
        ),
        (
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"two","namespace":"shop"}}"#
                .to_owned(),
            400,
            Reason::BadRequest,
            "the namespace of the provided object does not match",
        ),
        (
            config_map("two", r#","labels":{"a":"b c"}"#),
            422,
            Reason::Invalid,
            r#"ConfigMap "two" is invalid: metadata.labels: Invalid value: "b c": a valid label must be an empty string"#,
        ),
        (
            config_map("two", r#","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"one","uid":""}]"#),
            422,
            Reason::Invalid,
            r#"ConfigMap "two" is invalid: metadata.ownerReferences.uid: Invalid value: "": must not be empty"#,
        ),
    ];
    for (text, code, reason, message) in claims {
        let revision = bench.server.revision();
        let error = bench.try_create(&text).expect_err(&text);
        assert_eq!((error.code, error.reason), (code, reason), "{error}");
        assert!(error.message.starts_with(message), "{error}");
        assert_eq!(bench.server.revision(), revision, "a refused request leaves no trace");
    }
    let error =
        bench.delete(&target("v1 ConfigMap shop/two"), Propagation::Background).unwrap_err();
    assert_eq!(error.message, r#"configmaps "two" not found"#);
    let error =
        bench.patch(&target("v1 ConfigMap shop/frozen"), r#"{"data":{"a":"2"}}"#).unwrap_err();
    assert_eq!(
        error.message,
        r#"ConfigMap "frozen" is invalid: data: Forbidden: field is immutable when `immutable` is set"#
    );
}

#[test]
fn updates_are_guarded_by_the_resource_version() {
    let mut bench = Bench::new();
    let first = bench.create(&config_map("one", ""));
    let mut second = first.clone();
    second.set(&["data", "a"], "2");
    assert_eq!(bench.update(second.clone()).outcome, Outcome::Changed);
    let mut stale = first.clone();
    stale.set(&["data", "a"], "3");
    let error = bench.try_update(stale.clone(), Part::Whole).unwrap_err();
    assert_eq!((error.code, error.reason), (409, Reason::Conflict));
    assert_eq!(
        error.message,
        "Operation cannot be fulfilled on configmaps \"one\": the object has been modified; please \
         apply your changes to the latest version and try again"
    );
    // Built-in kinds may be replaced blindly, but not by what was another object.
    stale.metadata_mut().remove("resourceVersion");
    assert_eq!(bench.update(stale.clone()).object.at(&["data", "a"]).str(), "3");
    stale.metadata_mut().insert("uid", "other");
    let error = bench.try_update(stale, Part::Whole).unwrap_err();
    assert!(error.message.contains("Precondition failed: UID in precondition: other"), "{error}");
}

#[test]
fn an_update_that_changes_nothing_is_none() {
    let mut bench = Bench::new();
    let made = bench.create(&config_map("one", ""));
    let revision = bench.server.revision();
    let answer = bench.update(made.clone());
    assert_eq!((answer.outcome, answer.object), (Outcome::Unchanged, made.clone()));
    let answer = bench.patch(&target("v1 ConfigMap shop/one"), r#"{"data":{"a":"1"}}"#).unwrap();
    assert_eq!((answer.outcome, answer.object), (Outcome::Unchanged, made));
    assert_eq!(bench.server.revision(), revision);
    assert_eq!(bench.server.changes_since(revision, &ChangeFilter::default()), Ok(vec![]));
}

#[test]
fn generations_count_wishes_and_status_is_apart() {
    let mut bench = Bench::new();
    bench.create(&definition());
    let made = bench.create(
        r#"{"apiVersion":"etcd.io/v1","kind":"Etcd","metadata":{"name":"e","namespace":"shop"},
        "spec":{"size":3},"status":{"phase":"Mine"}}"#,
    );
    assert!(made.status().is_null());
    let mut labelled = made.clone();
    labelled.set_label("a", "b");
    let labelled = bench.update(labelled).object;
    assert_eq!(labelled.generation(), 1);
    let mut wished = labelled.clone();
    wished.set(&["spec", "size"], 5);
    wished.set(&["status", "phase"], "Ignored");
    let wished = bench.update(wished).object;
    assert_eq!((wished.generation(), wished.status()), (2, &Value::Null));
    let mut observed = wished.clone();
    observed.set(&["spec", "size"], 9);
    observed.set_label("a", "c");
    observed.set(&["status", "phase"], "Running");
    let observed = bench.try_update(observed, Part::Status).unwrap().object;
    assert_eq!(observed.generation(), 2);
    assert_eq!(observed.at(&["spec", "size"]).as_integer(), Some(5));
    assert_eq!((observed.label("a"), observed.at(&["status", "phase"]).str()), ("b", "Running"));
    let mut blind = observed.clone();
    blind.metadata_mut().remove("resourceVersion");
    let error = bench.try_update(blind, Part::Whole).unwrap_err();
    assert_eq!(
        error.message,
        "Etcd.etcd.io \"e\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be \
         specified for an update"
    );
    // A kind without the subresource has no such door.
    let made = bench.create(&config_map("one", ""));
    let error = bench.try_update(made, Part::Status).unwrap_err();
    assert_eq!(error.code, 404);
}

#[test]
fn merge_patches_follow_rfc_7386() {
    let mut bench = Bench::new();
    bench.create(&config_map("one", r#","annotations":{"x":"1","y":"2"}"#));
    let place = target("v1 ConfigMap shop/one");
    let patch = r#"{"metadata":{"annotations":{"x":null,"z":"3"}},"data":{"b":"2"}}"#;
    let patched = bench.patch(&place, patch).unwrap().object;
    let annotations: Vec<_> = patched.annotations().collect();
    assert_eq!(annotations, [("y", "2"), ("z", "3")]);
    assert_eq!(patched.value().get("data").to_string(), r#"{"a":"1","b":"2"}"#);
    let refused = [
        (r#"{"metadata":{"name":"two"}}"#, 400),
        (r#"{"kind":null}"#, 400),
        ("7", 400),
        (r#"{"metadata":{"resourceVersion":"1"}}"#, 409),
    ];
    for (patch, code) in refused {
        assert_eq!(bench.patch(&place, patch).unwrap_err().code, code, "{patch}");
    }
}

#[test]
fn finalizers_delay_the_end_of_an_object() {
    let mut bench = Bench::new();
    bench.create(&config_map("one", r#","finalizers":["a.b/x","a.b/y"]"#));
    let place = target("v1 ConfigMap shop/one");
    let answer = bench.delete(&place, Propagation::Background).unwrap();
    assert_eq!(answer.outcome, Outcome::Changed);
    assert_eq!(answer.object.metadata("deletionTimestamp").str(), "2026-11-16T06:00:00Z");
    bench.sleep(5);
    let again = bench.delete(&place, Propagation::Background).unwrap();
    assert_eq!((again.outcome, &again.object), (Outcome::Unchanged, &answer.object));
    let error =
        bench.patch(&place, r#"{"metadata":{"finalizers":["a.b/x","a.b/z"]}}"#).unwrap_err();
    assert!(error.message.contains("no new finalizers can be added if the object is being deleted, found new finalizers []string{\"a.b/z\"}"), "{error}");
    let still =
        bench.patch(&place, r#"{"metadata":{"finalizers":["a.b/x"],"deletionTimestamp":null}}"#);
    assert!(still.unwrap().object.is_deleting());
    let end = bench.patch(&place, r#"{"metadata":{"finalizers":null}}"#).unwrap();
    assert_eq!(end.outcome, Outcome::Removed);
    assert!(!bench.exists(&place));
}

#[test]
fn deletions_have_preconditions() {
    let mut bench = Bench::new();
    let made = bench.create(&config_map("one", ""));
    let place = target("v1 ConfigMap shop/one");
    let (uid, version) = (made.uid().to_owned(), made.resource_version().to_owned());
    let claims = [
        (
            Some("x".to_owned()),
            None,
            format!(
                "the UID in the precondition (x) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
            ),
        ),
        (
            None,
            Some("x".to_owned()),
            format!(
                "the ResourceVersion in the precondition (x) does not match the ResourceVersion in record ({version}). The object might have been modified"
            ),
        ),
    ];
    for (uid, resource_version, message) in claims {
        let options = DeleteOptions { uid, resource_version, ..DeleteOptions::default() };
        let error = bench.ask(&Request::Delete { target: place.clone(), options }).unwrap_err();
        assert_eq!(error.code, 409);
        assert_eq!(
            error.message,
            format!("Operation cannot be fulfilled on ConfigMap \"one\": {message}")
        );
    }
    let options = DeleteOptions {
        uid: Some(uid),
        resource_version: Some(version),
        ..DeleteOptions::default()
    };
    assert!(bench.ask(&Request::Delete { target: place.clone(), options }).is_ok());
    let error = bench.ask(&Request::Delete {
        target: target("v1 Namespace default"),
        options: DeleteOptions::default(),
    });
    assert_eq!(error.unwrap_err().code, 404);
    bench.create(r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}"#);
    let error = bench.delete(&target("v1 Namespace default"), Propagation::Background).unwrap_err();
    assert_eq!(
        error.message,
        "namespaces \"default\" is forbidden: this namespace may not be deleted"
    );
}

#[test]
fn objects_are_limited_in_size() {
    let limits = Limits { object_bytes: 1000, ..Limits::default() };
    let mut bench = Bench::with(Settings { limits, ..Settings::default() });
    bench.create(&config_map("small", ""));
    let large = config_map("large", "").replace("\"1\"", &format!("\"{}\"", "x".repeat(1000)));
    let error = bench.try_create(&large).unwrap_err();
    assert_eq!((error.code, error.reason), (413, Reason::RequestEntityTooLarge));
    assert!(error.message.starts_with("Request entity too large: limit is 1000"), "{error}");
}

#[test]
fn lists_are_filtered_and_sorted() {
    let mut bench = Bench::new();
    bench.create(r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mall"}}"#);
    bench.create(&config_map("two", r#","labels":{"app":"b"}"#));
    bench.create(&config_map("one", r#","labels":{"app":"a"}"#));
    bench.create(&config_map("two", r#","labels":{"app":"a"}"#).replace("\"shop\"", "\"mall\""));
    let kind = target("v1 ConfigMap x").kind;
    let list = |namespace: &str, name: Option<&str>, selector: &str| -> Vec<String> {
        let filter = ListFilter {
            namespace: namespace.to_owned(),
            name: name.map(str::to_owned),
            selector: Selector::parse(selector).unwrap(),
        };
        let found = bench.server.list(&kind, &filter).unwrap();
        found.iter().map(|object| format!("{}/{}", object.namespace(), object.name())).collect()
    };
    assert_eq!(list("", None, ""), ["mall/two", "shop/one", "shop/two"]);
    assert_eq!(list("shop", None, ""), ["shop/one", "shop/two"]);
    assert_eq!(list("sho", None, ""), Vec::<String>::new());
    assert_eq!(list("", None, "app in (a)"), ["mall/two", "shop/one"]);
    assert_eq!(list("", Some("two"), ""), ["mall/two", "shop/two"]);
    assert_eq!(list("shop", Some("two"), "app=a"), Vec::<String>::new());
}

#[test]
fn watchers_see_what_they_asked_for() {
    let mut bench = Bench::new();
    let start = bench.server.revision();
    bench.create(&config_map("one", r#","labels":{"app":"a"}"#));
    let place = target("v1 ConfigMap shop/one");
    bench.patch(&place, r#"{"metadata":{"labels":{"app":"b"}}}"#).unwrap();
    bench.patch(&place, r#"{"metadata":{"labels":{"app":"a"}}}"#).unwrap();
    bench.delete(&place, Propagation::Background).unwrap();
    let objects =
        ListFilter { selector: Selector::labels([("app", "a")]), ..ListFilter::default() };
    let filter = ChangeFilter { kinds: vec![place.kind], objects };
    let changes = bench.server.changes_since(start, &filter).unwrap();
    let seen: Vec<_> = changes
        .iter()
        .map(|change| (change.kind, change.object.label("app"), change.revision - start))
        .collect();
    use ChangeKind::{Added, Deleted};
    assert_eq!(seen, [(Added, "a", 1), (Deleted, "b", 2), (Added, "a", 3), (Deleted, "a", 4)]);
    assert_eq!(changes[3].object.resource_version(), changes[3].revision.to_string());
}

#[test]
fn the_past_is_bounded() {
    let limits = Limits { history: 3, ..Limits::default() };
    let mut bench = Bench::with(Settings { limits, ..Settings::default() });
    (0..5).for_each(|number| {
        bench.create(&config_map(&format!("c{number}"), ""));
    });
    let now = bench.server.revision();
    let everything = ChangeFilter::default();
    assert_eq!(bench.server.changes_since(now - 3, &everything).unwrap().len(), 3);
    let error = bench.server.changes_since(now - 4, &everything).unwrap_err();
    assert_eq!((error.code, error.reason), (410, Reason::Gone));
    let restored = Server::restore(
        bench.server.objects().cloned(),
        now,
        bench.server.counters(),
        Settings::default(),
    );
    assert!(restored.changes_since(now - 1, &everything).is_err());
    assert_eq!(restored.changes_since(now, &everything), Ok(vec![]));
}

#[test]
fn what_cannot_be_stored_did_not_happen() {
    let mut bench = Bench::new();
    let before: Vec<Object> = bench.server.objects().cloned().collect();
    let revision = bench.server.revision();
    let request = Request::Create { object: object(&config_map("one", "")), manager: "m".into() };
    let failed = bench.server.execute(&request, bench.now, |_| Err("disk full"));
    assert_eq!(failed.unwrap_err().to_string(), "the change could not be stored: disk full");
    let after: Vec<Object> = bench.server.objects().cloned().collect();
    assert_eq!((bench.server.revision(), after), (revision, before));
    // A controller tries again.
    bench.create(r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mall"}}"#);
    let mut attempts = 0;
    let failed = bench.server.tick(bench.now, |_| {
        attempts += 1;
        Err("disk full")
    });
    assert_eq!((failed, attempts), (Err("disk full"), 1));
    let account = target("v1 ServiceAccount mall/default");
    assert!(!bench.exists(&account));
    bench.server.tick(bench.now, |_| Ok::<(), Infallible>(())).unwrap();
    assert!(bench.exists(&account));
}

#[test]
fn immutable_fields_of_built_in_kinds_stay() {
    let mut bench = Bench::new();
    bench.create(
        r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"b","namespace":"shop"},
        "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"a"}}"#,
    );
    let place = target("rbac.authorization.k8s.io/v1 RoleBinding shop/b");
    let error = bench.patch(&place, r#"{"roleRef":{"name":"c"}}"#).unwrap_err();
    assert_eq!(error.code, 422);
    assert!(error.message.ends_with("cannot change roleRef"), "{error}");
}

#[test]
fn field_managers_may_be_left_out_until_the_first_apply() {
    let settings = Settings {
        field_tracking: FieldTracking::FromFirstApply,
        establish_delay: Duration::ZERO,
        ..Settings::default()
    };
    let mut bench = Bench::with(settings);
    let made = bench.create(&config_map("one", ""));
    assert!(made.metadata("managedFields").is_null());
    let error = bench.try_apply("operon", &config_map("one", "").replace("\"1\"", "\"2\""), false);
    assert_eq!(
        error.unwrap_err().message,
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a"
    );
}

#[test]
fn texts_of_a_secret_are_kept_as_base64_and_never_shown() {
    let mut bench = Bench::new();
    let secret = |fields: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"keys","namespace":"shop"}},{fields}}}"#
        )
    };
    let keys = target("v1 Secret shop/keys");
    let data = |object: &Object| {
        assert!(object.at(&["stringData"]).is_null(), "{object:?}");
        operon_object::go_json(object.at(&["data"]))
    };
    let made = bench.create(&secret(
        r#""data":{"a":"eA==","b":"eQ=="},"stringData":{"b":"lamp","c":"","d":"é"}"#,
    ));
    assert_eq!(data(&made), r#"{"a":"eA==","b":"bGFtcA==","c":"","d":"w6k="}"#);
    assert_eq!(bench.get(&keys), Some(made));
    // However it is written; what is not named stays where the request leaves it.
    let patched = bench.patch(&keys, r#"{"stringData":{"a":"oil"}}"#).unwrap().object;
    assert_eq!(data(&patched), r#"{"a":"b2ls","b":"bGFtcA==","c":"","d":"w6k="}"#);
    let applied =
        bench.try_apply("keeper", &secret(r#""stringData":{"e":"wick"}"#), false).unwrap();
    assert_eq!(
        data(&applied.object),
        r#"{"a":"b2ls","b":"bGFtcA==","c":"","d":"w6k=","e":"d2ljaw=="}"#
    );
    let again = bench.try_apply("keeper", &secret(r#""stringData":{"e":"wick"}"#), false).unwrap();
    assert_eq!(again.outcome, Outcome::Unchanged);
    let mut replaced = bench.get(&keys).unwrap();
    replaced.value_mut().remove(&["data"]);
    replaced.set(&["stringData", "f"], "flint");
    assert_eq!(data(&bench.update(replaced).object), r#"{"f":"ZmxpbnQ="}"#);
    // What is no text is refused; other kinds have no such field.
    let error = bench.patch(&keys, r#"{"stringData":{"a":1}}"#).unwrap_err();
    assert!(error.message.contains("stringData.a: Invalid value: must be a string"), "{error}");
    let other = config_map("plain", "").replace(r#""data""#, r#""stringData":{"a":"b"},"data""#);
    assert_eq!(bench.create(&other).at(&["stringData", "a"]).str(), "b");
}
