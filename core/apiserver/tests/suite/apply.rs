//! Server-side apply. The claims were checked against Kubernetes' structured-merge-diff.

use operon_apiserver::{Outcome, Part, Reason, Request};
use operon_object::{Object, go_json};

use crate::support::{Bench, config_map, definition, object, target};

/// What the engine writes: one step of a story about one Pod's spec.
enum Step {
    /// `manager` applies.
    Apply(&'static str, &'static str),
    /// `manager` applies with force.
    Force(&'static str, &'static str),
    /// `manager` replaces.
    Update(&'static str, &'static str),
}

use Step::{Apply, Force, Update};

fn pod(spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"web","namespace":"shop"}},"spec":{spec}}}"#
    )
}

/// Tells a story, and returns the spec it ends with or the last refusal.
fn tell(steps: &[Step]) -> Result<String, String> {
    let mut bench = Bench::new();
    let mut last = Ok(String::new());
    for step in steps {
        let (manager, text, force) = match step {
            Apply(manager, text) => (manager, text, false),
            Force(manager, text) => (manager, text, true),
            Update(manager, text) => {
                let (object, manager) = (object(&pod(text)), (*manager).to_owned());
                let exists = bench.exists(&target("v1 Pod shop/web"));
                let part = Part::Whole;
                let request = match exists {
                    true => Request::Update { object, manager, part },
                    false => Request::Create { object, manager },
                };
                bench.ask(&request).unwrap();
                continue;
            }
        };
        last = bench
            .try_apply(manager, &pod(text), force)
            .map(|answer| go_json(answer.object.spec()))
            .map_err(|error| error.message);
    }
    last
}

#[test]
fn fields_go_to_those_who_apply_them() {
    let claims: &[(&str, &[Step], Result<&str, &str>)] = &[
        (
            "what is applied no longer goes away",
            &[Apply("a", r#"{"x":1,"y":2}"#), Apply("a", r#"{"x":1}"#)],
            Ok(r#"{"x":1}"#),
        ),
        (
            "but not what another applies too",
            &[Apply("a", r#"{"x":1,"y":2}"#), Apply("b", r#"{"y":2}"#), Apply("a", r#"{"x":1}"#)],
            Ok(r#"{"x":1,"y":2}"#),
        ),
        (
            "the same value is shared",
            &[Apply("a", r#"{"x":1}"#), Apply("b", r#"{"x":1}"#)],
            Ok(r#"{"x":1}"#),
        ),
        (
            "another value is a conflict",
            &[Apply("a", r#"{"x":1}"#), Apply("b", r#"{"x":2}"#)],
            Err(r#"Apply failed with 1 conflict: conflict with "a": .spec.x"#),
        ),
        (
            "updates own too, and are told with their version",
            &[Update("u", r#"{"x":1}"#), Apply("b", r#"{"x":2}"#)],
            Err(r#"Apply failed with 1 conflict: conflict with "u" using v1: .spec.x"#),
        ),
        (
            "several conflicts are listed by manager",
            &[
                Apply("a", r#"{"x":1,"y":1}"#),
                Force("c", r#"{"z":1}"#),
                Apply("b", r#"{"x":2,"y":2,"z":2}"#),
            ],
            Err(
                "Apply failed with 3 conflicts: conflicts with \"a\":\n- .spec.x\n- .spec.y\nconflicts with \"c\":\n- .spec.z",
            ),
        ),
        (
            "force takes the field",
            &[Apply("a", r#"{"x":1}"#), Force("b", r#"{"x":2}"#), Apply("a", r#"{"y":1}"#)],
            Ok(r#"{"x":2,"y":1}"#),
        ),
        (
            "what nobody owns any more is free",
            &[Apply("a", r#"{"x":1}"#), Apply("a", r#"{"y":1}"#), Apply("b", r#"{"x":2}"#)],
            Ok(r#"{"x":2,"y":1}"#),
        ),
        (
            "containers merge by name",
            &[
                Apply("a", r#"{"containers":[{"name":"web","image":"i"}]}"#),
                Apply(
                    "b",
                    r#"{"containers":[{"name":"web","env":[{"name":"E","value":"1"}]},{"name":"log","image":"l"}]}"#,
                ),
            ],
            Ok(
                r#"{"containers":[{"env":[{"name":"E","value":"1"}],"image":"i","name":"web"},{"image":"l","name":"log"}]}"#,
            ),
        ),
        (
            "a path into a list shows its keys",
            &[
                Apply(
                    "a",
                    r#"{"containers":[{"name":"web","image":"i","ports":[{"containerPort":80,"name":"p"}]}]}"#,
                ),
                Apply(
                    "b",
                    r#"{"containers":[{"name":"web","ports":[{"containerPort":80,"protocol":"TCP","name":"q"}]}]}"#,
                ),
            ],
            Err(
                r#"Apply failed with 1 conflict: conflict with "a": .spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].name"#,
            ),
        ),
        (
            "an element goes with its owner",
            &[
                Apply("a", r#"{"containers":[{"name":"web"},{"name":"log"}]}"#),
                Apply("b", r#"{"containers":[{"name":"web"}]}"#),
                Apply("a", r#"{"containers":[]}"#),
            ],
            Ok(r#"{"containers":[{"name":"web"}]}"#),
        ),
        (
            "shared elements take the order applied",
            &[
                Apply("a", r#"{"volumes":[{"name":"x"},{"name":"y"},{"name":"z"}]}"#),
                Apply("b", r#"{"volumes":[{"name":"z"},{"name":"n"},{"name":"x"}]}"#),
            ],
            Ok(r#"{"volumes":[{"name":"y"},{"name":"z"},{"name":"n"},{"name":"x"}]}"#),
        ),
        (
            "volume mounts merge by path, arguments as a whole",
            &[
                Apply(
                    "a",
                    r#"{"containers":[{"name":"w","args":["1"],"volumeMounts":[{"mountPath":"/a","name":"v"}]}]}"#,
                ),
                Force(
                    "b",
                    r#"{"containers":[{"name":"w","args":["2"],"volumeMounts":[{"mountPath":"/b","name":"v"}]}]}"#,
                ),
            ],
            Ok(
                r#"{"containers":[{"args":["2"],"name":"w","volumeMounts":[{"mountPath":"/a","name":"v"},{"mountPath":"/b","name":"v"}]}]}"#,
            ),
        ),
        (
            "a node selector is one value",
            &[
                Apply("a", r#"{"nodeSelector":{"x":"1"}}"#),
                Apply("b", r#"{"nodeSelector":{"y":"1"}}"#),
            ],
            Err(r#"Apply failed with 1 conflict: conflict with "a": .spec.nodeSelector"#),
        ),
        (
            "a struct goes with the last field owned in it",
            &[
                Apply("a", r#"{"securityContext":{"runAsUser":1},"x":1}"#),
                Update("u", r#"{"securityContext":{"runAsUser":1},"x":1}"#),
                Apply("a", r#"{"x":1}"#),
            ],
            Ok(r#"{"x":1}"#),
        ),
        (
            "null is no opinion",
            &[Apply("a", r#"{"x":1}"#), Apply("b", r#"{"x":null,"y":2}"#)],
            Ok(r#"{"x":1,"y":2}"#),
        ),
    ];
    for (claim, steps, expected) in claims {
        let found = tell(steps);
        let found = found.as_ref().map(String::as_str).map_err(String::as_str);
        assert_eq!(found, *expected, "{claim}");
    }
}

#[test]
fn managers_are_recorded_as_kubernetes_does() {
    let mut bench = Bench::new();
    bench.create(&config_map("one", r#","labels":{"app":"a"},"finalizers":["a.b/c"]"#));
    bench.sleep(5);
    let text = config_map("one", r#","labels":{"tier":"web"}"#);
    let answer = bench.try_apply("operon", &text, false).unwrap();
    let expected = r#"[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}},"f:metadata":{"f:labels":{"f:tier":{}}}},"manager":"operon","operation":"Apply","time":"2026-11-16T06:00:05Z"},{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{}},"f:metadata":{"f:finalizers":{".":{},"v:\"a.b/c\"":{}},"f:labels":{".":{},"f:app":{}}}},"manager":"tester","operation":"Update","time":"2026-11-16T06:00:00Z"}]"#;
    assert_eq!(go_json(answer.object.metadata("managedFields")), expected);
    // Applying the same again, later, is nothing.
    bench.sleep(5);
    let again = bench.try_apply("operon", &text, false).unwrap();
    assert_eq!((again.outcome, again.object), (Outcome::Unchanged, answer.object));
}

#[test]
fn the_oldest_of_many_updaters_are_forgotten_by_name() {
    let mut bench = Bench::new();
    let mut made = bench.create(&config_map("one", ""));
    for number in 0..15 {
        bench.sleep(1);
        made.set(&["data", &format!("k{number}")], "v");
        let request = Request::Update {
            object: made.clone(),
            manager: format!("m{number:02}"),
            part: Part::Whole,
        };
        made = bench.ask(&request).unwrap().object;
    }
    let managers: Vec<&str> = made
        .metadata("managedFields")
        .elements()
        .iter()
        .map(|entry| entry.get("manager").str())
        .collect();
    assert_eq!(managers.len(), 10);
    assert_eq!((managers[0], managers[9]), ("ancient-changes", "m14"));
}

#[test]
fn apply_creates_and_is_refused_with_reasons() {
    let mut bench = Bench::new();
    let made = bench.try_apply("operon", &config_map("one", ""), false).unwrap();
    assert_eq!(made.outcome, Outcome::Created);
    let claims = [
        ("", config_map("one", ""), 400, "fieldManager is required for apply patch"),
        (
            "m",
            config_map("one", r#","managedFields":[{}]"#),
            400,
            "metadata.managedFields must be nil",
        ),
        (
            "m",
            config_map("one", r#","resourceVersion":"1""#),
            409,
            "Operation cannot be fulfilled on configmaps \"one\": the object has been modified",
        ),
        (
            "m",
            config_map("new", r#","uid":"u""#),
            409,
            "Operation cannot be fulfilled on configmaps \"new\": uid mismatch: the provided object specified uid u, and no existing object was found",
        ),
        ("m", config_map("one", "").replace("\"name\":\"one\",", ""), 400, "name is required"),
    ];
    for (manager, text, code, message) in claims {
        let error = bench.try_apply(manager, &text, false).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.starts_with(message), "{error}");
    }
}

#[test]
fn custom_kinds_merge_as_their_schemas_say() {
    let mut bench = Bench::new();
    bench.create(&definition());
    let etcd = |spec: &str| {
        format!(
            r#"{{"apiVersion":"etcd.io/v1beta1","kind":"Etcd","metadata":{{"name":"e","namespace":"shop",
            "ownerReferences":[{{"apiVersion":"v1","kind":"Namespace","name":"shop","uid":"{}"}}]}},
            "spec":{spec},"status":{{"phase":"Mine"}}}}"#,
            "0"
        )
    };
    bench
        .try_apply(
            "a",
            &etcd(r#"{"members":[{"id":"x","role":"r"}],"tags":["t"],"unknown":1}"#),
            false,
        )
        .unwrap();
    let second = bench.try_apply("b", &etcd(r#"{"members":[{"id":"y"}]}"#), false).unwrap().object;
    assert_eq!(
        go_json(second.spec()),
        r#"{"members":[{"id":"x","role":"r"},{"id":"y"}],"size":3,"tags":["t"]}"#
    );
    assert_eq!((second.api_version(), second.status().is_null()), ("etcd.io/v1beta1", true));
    let fields = &second.metadata("managedFields").elements()[0];
    assert_eq!(fields.get("manager").str(), "a");
    assert_eq!(
        go_json(fields.at(&["fieldsV1", "f:spec"])),
        r#"{"f:members":{"k:{\"id\":\"x\"}":{".":{},"f:id":{},"f:role":{}}},"f:tags":{}}"#
    );
    // A list without a type is one value.
    let error = bench.try_apply("b", &etcd(r#"{"tags":["u"]}"#), false).unwrap_err();
    assert_eq!(
        (error.reason, error.message.as_str()),
        (Reason::Conflict, r#"Apply failed with 1 conflict: conflict with "a": .spec.tags"#)
    );
}

#[test]
fn status_is_applied_apart() {
    let mut bench = Bench::new();
    bench.create(&definition());
    let text = r#"{"apiVersion":"etcd.io/v1","kind":"Etcd","metadata":{"name":"e","namespace":"shop"},"spec":{"size":5},"status":{"phase":"Up"}}"#;
    let apply =
        |part| Request::Apply { object: object(text), manager: "a".into(), force: false, part };
    assert_eq!(bench.ask(&apply(Part::Status)).unwrap_err().code, 404);
    let whole: Object = bench.ask(&apply(Part::Whole)).unwrap().object;
    assert!(whole.status().is_null());
    let status = bench.ask(&apply(Part::Status)).unwrap().object;
    assert_eq!((status.at(&["status", "phase"]).str(), status.generation()), ("Up", 1));
    let entries = status.metadata("managedFields").elements();
    let subresources: Vec<&str> =
        entries.iter().map(|entry| entry.get("subresource").str()).collect();
    assert_eq!(subresources, ["", "status"]);
}
