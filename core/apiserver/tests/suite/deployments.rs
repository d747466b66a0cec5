//! What a Deployment shows while its pods come up, or do not.

use operon_apiserver::{Settings, WorkloadReport, workload_report};
use operon_object::{Object, Timestamp, Value};

use crate::support::{Bench, target};

fn deployment(workload: &str, image: &str, spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web","namespace":"shop"}},
        "spec":{{"selector":{{"matchLabels":{{"app":"web"}}}},{spec}
        "template":{{"metadata":{{"labels":{{"app":"web"}},"annotations":{{"operon.dev/workload":"{workload}"}}}},
        "spec":{{"containers":[{{"name":"main","image":"{image}"}}]}}}}}}}}"#
    )
}

fn now(bench: &Bench) -> Object {
    bench.get(&target("apps/v1 Deployment shop/web")).unwrap()
}

/// Shows a status as `replicas/updated/ready/unavailable Available Progressing`.
fn show(deployment: &Object) -> String {
    let status = deployment.status();
    let counts = ["replicas", "updatedReplicas", "readyReplicas", "unavailableReplicas"]
        .map(|name| status.get(name).as_integer().unwrap_or(0).to_string());
    let conditions = ["Available", "Progressing"].map(|name| {
        let mut found = status.get("conditions").elements().iter();
        let condition =
            found.find(|one| one.get("type").str() == name).cloned().unwrap_or_default();
        format!("{}:{}", condition.get("status").str(), condition.get("reason").str())
    });
    format!("{} {}", counts.join("/"), conditions.join(" "))
}

#[test]
fn a_rollout_shows_each_state_in_turn() {
    let mut bench = Bench::with(Settings::default());
    let start = bench.commits.len();
    bench.create(&deployment("ready", "one", ""));
    assert_eq!(bench.settle(), None);
    let states: Vec<String> = bench.commits[start..]
        .iter()
        .filter_map(|commit| commit.writes[0].1.as_ref().map(show))
        .collect();
    assert_eq!(
        states,
        [
            "0/0/0/0 : :",
            "0/0/0/0 : True:NewReplicaSetCreated",
            "1/1/0/1 False:MinimumReplicasUnavailable True:ReplicaSetUpdated",
            "1/1/1/0 True:MinimumReplicasAvailable True:NewReplicaSetAvailable",
        ]
    );
    let done = now(&bench);
    assert_eq!(done.at(&["status", "observedGeneration"]).as_integer(), Some(1));
    let messages: Vec<&str> = done
        .at(&["status", "conditions"])
        .elements()
        .iter()
        .map(|one| one.get("message").str())
        .collect();
    assert_eq!(messages[0], "Deployment has minimum availability.");
    assert!(
        messages[1].starts_with("ReplicaSet \"web-")
            && messages[1].ends_with("\" has successfully progressed."),
        "{messages:?}"
    );
    let revision = bench.server.revision();
    bench.sleep(10_000);
    assert_eq!(bench.server.revision(), revision, "what is done stays as it is");
}

/// What is done to a Deployment: after so many seconds it has this workload, image and more spec.
type Deed<'a> = (u64, &'a str, &'a str, &'a str);

/// What is claimed: a name, deeds, and what is seen after so many seconds each.
type Claim<'a> = (&'a str, &'a [Deed<'a>], &'a [(u64, &'a str)]);

#[test]
fn pods_do_what_their_template_says() {
    let claims: &[Claim<'_>] = &[
        (
            "ready later",
            &[(0, "ready-after=3s", "one", "")],
            &[
                (0, "1/1/0/1 False:MinimumReplicasUnavailable True:ReplicaSetUpdated"),
                (2, "1/1/0/1 False:MinimumReplicasUnavailable True:ReplicaSetUpdated"),
                (1, "1/1/1/0 True:MinimumReplicasAvailable True:NewReplicaSetAvailable"),
            ],
        ),
        (
            "never ready",
            &[(0, "never", "one", "")],
            &[
                (599, "1/1/0/1 False:MinimumReplicasUnavailable True:ReplicaSetUpdated"),
                (1, "1/1/0/1 False:MinimumReplicasUnavailable False:ProgressDeadlineExceeded"),
                (9999, "1/1/0/1 False:MinimumReplicasUnavailable False:ProgressDeadlineExceeded"),
            ],
        ),
        (
            "ready after the deadline",
            &[(0, "ready-after=10s", "one", r#""progressDeadlineSeconds":4,"#)],
            &[
                (4, "1/1/0/1 False:MinimumReplicasUnavailable False:ProgressDeadlineExceeded"),
                (6, "1/1/1/0 True:MinimumReplicasAvailable True:NewReplicaSetAvailable"),
            ],
        ),
        (
            "a crash loop",
            &[(0, "crash", "one", r#""progressDeadlineSeconds":5,"replicas":3,"#)],
            &[
                (0, "3/3/0/3 False:MinimumReplicasUnavailable True:ReplicaSetUpdated"),
                (5, "3/3/0/3 False:MinimumReplicasUnavailable False:ProgressDeadlineExceeded"),
            ],
        ),
        (
            "ready, then down",
            &[(0, "crash-after=5s", "one", "")],
            &[
                (4, "1/1/1/0 True:MinimumReplicasAvailable True:NewReplicaSetAvailable"),
                (1, "1/1/0/1 False:MinimumReplicasUnavailable True:NewReplicaSetAvailable"),
            ],
        ),
        (
            "a bad update keeps the old pods",
            &[
                (0, "ready", "one", r#""replicas":4,"#),
                (9, "never", "two", r#""replicas":4,"progressDeadlineSeconds":7,"#),
            ],
            &[
                (0, "5/2/3/2 True:MinimumReplicasAvailable True:ReplicaSetUpdated"),
                (7, "5/2/3/2 True:MinimumReplicasAvailable False:ProgressDeadlineExceeded"),
            ],
        ),
        (
            "a mended update completes",
            &[
                (0, "ready", "one", ""),
                (9, "never", "two", r#""progressDeadlineSeconds":7,"#),
                (8, "ready", "three", ""),
            ],
            &[(0, "1/1/1/0 True:MinimumReplicasAvailable True:NewReplicaSetAvailable")],
        ),
        (
            "recreating takes the old pods first",
            &[
                (0, "ready", "one", ""),
                (9, "ready-after=2s", "two", r#""strategy":{"type":"Recreate"},"#),
            ],
            &[
                (1, "1/1/0/1 False:MinimumReplicasUnavailable True:ReplicaSetUpdated"),
                (1, "1/1/1/0 True:MinimumReplicasAvailable True:NewReplicaSetAvailable"),
            ],
        ),
        (
            "scaling is no rollout",
            &[(0, "ready", "one", ""), (9, "ready", "one", r#""replicas":5,"#)],
            &[(0, "5/5/5/0 True:MinimumReplicasAvailable True:NewReplicaSetAvailable")],
        ),
        (
            "none is enough",
            &[(0, "never", "one", r#""replicas":0,"#)],
            &[(0, "0/0/0/0 True:MinimumReplicasAvailable True:NewReplicaSetAvailable")],
        ),
        (
            "paused, nothing begins",
            &[(0, "ready", "one", r#""paused":true,"#)],
            &[(0, "0/0/0/0 : :")],
        ),
    ];
    for (claim, deeds, expected) in claims {
        let mut bench = Bench::new();
        for (index, (wait, workload, image, spec)) in deeds.iter().enumerate() {
            bench.sleep(*wait);
            let text = deployment(workload, image, spec);
            match index {
                0 => drop(bench.create(&text)),
                _ => drop(bench.update(crate::support::object(&text))),
            }
            bench.settle();
        }
        for (wait, state) in *expected {
            bench.sleep(*wait);
            assert_eq!(show(&now(&bench)), *state, "{claim}");
            let observed = now(&bench).at(&["status", "observedGeneration"]).as_integer();
            assert_eq!(observed, Some(now(&bench).generation()), "{claim}");
        }
    }
}

#[test]
fn crashes_are_counted() {
    let mut bench = Bench::new();
    bench.create(&deployment("crash", "one", ""));
    bench.settle();
    let start = bench.now;
    let report = |seconds: i64| {
        let time = Timestamp::from_milliseconds(start.milliseconds() + seconds * 1000);
        let WorkloadReport { restarts, message } = workload_report(&now(&bench), time).unwrap();
        (restarts, message)
    };
    let waiting = |time: &str| format!("back-off {time} restarting failed container=main");
    assert_eq!(report(0), (0, waiting("10s")));
    assert_eq!(report(10), (1, waiting("20s")));
    assert_eq!(report(30), (2, waiting("40s")));
    assert_eq!(report(3600), (15, waiting("5m0s")));
    let quiet = crate::support::object(&deployment("ready", "one", ""));
    assert_eq!(workload_report(&quiet, start), None);
}

#[test]
fn a_restored_server_goes_on_where_it_was() {
    let mut bench = Bench::new();
    bench.create(&deployment("ready-after=30s", "one", ""));
    assert_eq!(bench.settle(), Some(30.0));
    bench.sleep(10);
    let (objects, counters) =
        (bench.server.objects().cloned().collect::<Vec<_>>(), bench.server.counters());
    let revision = bench.server.revision();
    bench.server =
        operon_apiserver::Server::restore(objects, revision, counters, Settings::default());
    assert_eq!(bench.settle(), Some(20.0));
    assert_eq!(bench.server.revision(), revision);
    bench.sleep(20);
    assert_ne!(now(&bench).at(&["status", "availableReplicas"]), &Value::Null);
}
