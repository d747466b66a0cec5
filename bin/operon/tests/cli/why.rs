//! `operon why` and `operon why-not` on the example catalog and cluster.

use std::fs;

use crate::{
    plan::{harbour, manifests, operon, repository},
    support::directory_of,
};

#[test]
fn why_follows_the_chain_to_the_subscription() {
    insta::assert_snapshot!(harbour(&["why", "tide"], &["--subscribe", "anchor"]), @r"
    tide 2.0.0 is here because anchor 0.9.2, which you subscribe to, needs package tide >=2.0.0.
    It is also here because beacon 1.2.1, which Subscription beacon asks for, needs API Tide.v1 (tide.example.com).
    It is also here because Subscription tide asks for it.
    In channel stable it replaces 1.4.0, and tide 1.4.0 runs now; no other version there updates it; the head is 2.0.1.
    [exit code 0]
    ");
    insta::assert_snapshot!(operon(&["why", "tide", "--catalog", "examples/catalog", "--subscribe", "beacon"], ""), @r"
    tide 2.0.1 is here because beacon 1.2.1, which you subscribe to, needs API Tide.v1 (tide.example.com).
    Of 2 bundles of 1 operator in 1 catalog that meet this, tide 2.0.1 was taken: the newest version.
    [exit code 0]
    ");
    insta::assert_snapshot!(harbour(&["why", "pilot.v0.3.0"], &[]), @r"
    pilot.v0.3.0 is here because it runs and no Subscription refers to it, so it is left as it is.
    [exit code 0]
    ");
    insta::assert_snapshot!(harbour(&["why", "beacon"], &["-o", "json"]), @r#"
    [
      {
        "name": "beacon.v1.2.1",
        "package": "beacon",
        "version": "1.2.1",
        "reasons": [
          {
            "kind": "requested",
            "request": "beacon"
          }
        ],
        "sentences": [
          "beacon 1.2.1 is here because Subscription beacon asks for it.",
          "In channel stable it replaces 1.1.0, and beacon 1.1.0 runs now; no other version there updates it; it is the head."
        ]
      }
    ]
    [exit code 0]
    "#);
}

#[test]
fn why_not_is_checked_by_asking_again() {
    let claims: &[(&str, &[&str])] = &[
        ("beacon@1.2.1", &[]),
        ("beacon@1.2.0", &[]),
        ("beacon@1.3.0-rc.1", &[]),
        ("beacon@1.0.0", &[]),
        ("tide@2.0.1", &[]),
        ("tide.v1.4.0", &[]),
        ("anchor", &[]),
        ("anchor@0.9.2", &[]),
        ("anchor@0.9.0", &["--subscribe", "anchor"]),
    ];
    let told: String = claims
        .iter()
        .map(|(name, more)| format!("{name}\n{}\n\n", harbour(&["why-not", name], more)))
        .collect();
    insta::assert_snapshot!(told, @r"
    beacon@1.2.1
    beacon 1.2.1 is in the plan: operon why beacon tells why.
    [exit code 0]

    beacon@1.2.0
    In channel stable, beacon.v1.2.1 skips beacon.v1.2.0, so it is never installed.
    [exit code 0]

    beacon@1.3.0-rc.1
    beacon 1.3.0-rc.1 is published in channel candidate, and Subscription beacon follows channel stable.
    beacon.v1.3.0-rc.1 is an update of beacon.v1.1.0, which runs now.
    If Subscription beacon followed channel candidate, the plan would take it (that was tried).
    [exit code 0]

    beacon@1.0.0
    No update leads there from beacon.v1.1.0: `beacon.v1.0.0` is older than `beacon.v1.1.0`, and no update in channel `stable` leads back.
    [exit code 0]

    tide@2.0.1
    tide.v2.0.1 is 2 updates away from tide.v1.4.0, which runs now: tide.v2.0.0, then tide.v2.0.1.
    Generation 2 of operon plan --to-fixpoint would take it (that was tried).
    [exit code 0]

    tide.v1.4.0
    tide 1.4.0 runs now, and the plan moves on from it.
    It would fit: a Subscription with `startingCSV: tide.v1.4.0` was tried in its place.
    tide 2.0.0 was taken: it is nearer to the head of stable.
    [exit code 0]

    anchor
    Nothing asks for anchor: no Subscription in namespace port names it, and no operator of the plan needs it.
    A Subscription to it would give anchor 0.9.2: operon plan --subscribe anchor shows what comes with it.
    [exit code 0]

    anchor@0.9.2
    Nothing asks for anchor 0.9.2: no Subscription in namespace port names it, and no operator of the plan needs it.
    It would fit: a Subscription with `startingCSV: anchor.v0.9.2` was tried in its place.
    [exit code 0]

    anchor@0.9.0
    It would fit: a Subscription with `startingCSV: anchor.v0.9.0` was tried in its place.
    anchor 0.9.2 was taken: it is nearer to the head of fast.
    [exit code 0]
    ");
}

#[test]
fn why_not_shows_the_conflict_of_what_was_tried() {
    let buoy =
        fs::read_to_string(repository().join("examples/cluster/buoy.yaml")).expect("the example");
    let (held, _) = buoy.split_once("---").expect("two documents");
    let input = format!("{}\n---\n{held}", manifests("port", "port"));
    let ask = |command: &[&str]| {
        let fixed = ["--catalog", "olm/harbour=examples/catalog", "--cluster", "-"];
        operon(&[command, &fixed].concat(), &input)
    };
    insta::assert_snapshot!(ask(&["plan", "--subscribe", "anchor"]), @r"
      namespace port · catalog harbour@44405f

      + anchor        –      → 0.9.0  fast    harbour  you subscribed; 1 newer version passed over
      = beacon        1.1.0           stable  harbour  its update 1.2.1 does not go with the rest
      = tide          1.4.0           stable  harbour  its update 2.0.0 does not go with the rest
      = buoy          1.0.0                            runs without a Subscription
      = pilot.v0.3.0  0.3.0                            runs without a Subscription

      + install  = keep

      port: 1 to install, 4 kept. Nothing needs approval.
      Next: create the Subscription. Why: operon why anchor (with the same options)
    [exit code 2]
    ");
    let claims: &[(&[&str], &[&str])] = &[
        (
            &["why-not", "tide@2.0.0"],
            &[
                "tide.v2.0.0 is an update of tide.v1.4.0, which runs now.\n",
                "It was tried to take exactly tide 2.0.0:\n",
                "buoy.v1.0.0 needs package tide <2.0.0",
                "\"buoy 1 reads the old tide tables\"",
            ],
        ),
        (
            &["why-not", "anchor@0.9.2", "--subscribe", "anchor"],
            &[
                "It was tried to take exactly anchor 0.9.2:\n",
                "anchor cannot be installed: it needs package tide >=2.0.0",
            ],
        ),
    ];
    for (command, expected) in claims {
        let told = ask(command);
        for text in *expected {
            assert!(told.contains(text), "{text:?} in {told}");
        }
        assert!(!told.contains("Ways out"), "a supposition has none: {told}");
    }
    insta::assert_snapshot!(ask(&["why", "anchor", "--subscribe", "anchor"]), @r"
    anchor 0.9.0 is here because you subscribe to it.
    Subscription anchor follows channel fast, and 0.9.0 is in fast, where 1 newer version was passed over (operon why-not anchor@0.9.2 tells why).
    [exit code 0]
    ");
}

#[test]
fn a_version_is_told_apart_from_a_new_subscription_that_has_no_answer() {
    let buoy = ["--cluster", "examples/cluster/buoy.yaml"];
    let told = harbour(&["why-not", "tide@2.0.0"], &buoy);
    let expected =
        ["It was tried to take exactly tide 2.0.0:\n", "buoy.v1.0.0 needs package tide <2.0.0"];
    for text in expected {
        assert!(told.contains(text), "{text:?} in {told}");
    }
    assert!(!told.contains("anchor.v0.9.2"), "{told}");
    let told = harbour(&["why-not", "anchor@0.9.2"], &buoy);
    assert!(told.starts_with("Subscription anchor asks for anchor, and the part"), "{told}");
}

/// An operator that two catalogs offer, and one that needs it.
const NEEDING: &str = r#"
{"schema":"olm.package","name":"lamp","defaultChannel":"stable"}
{"schema":"olm.channel","package":"lamp","name":"stable","entries":[{"name":"lamp.v1.0.0"}]}
{"schema":"olm.bundle","package":"lamp","name":"lamp.v1.0.0","image":"q.io/lamp:1","properties":[{"type":"olm.package","value":{"packageName":"lamp","version":"1.0.0"}},{"type":"olm.constraint","value":{"failureMessage":"a lamp needs oil","package":{"packageName":"oil","versionRange":">=1.0.0"}}}]}
"#;
const OIL: &str = r#"
{"schema":"olm.package","name":"oil","defaultChannel":"stable"}
{"schema":"olm.channel","package":"oil","name":"stable","entries":[{"name":"oil.v1.1.0","replaces":"oil.v1.0.0"},{"name":"oil.v1.0.0"}]}
{"schema":"olm.channel","package":"oil","name":"beta","entries":[{"name":"oil.v1.1.0"}]}
{"schema":"olm.bundle","package":"oil","name":"oil.v1.0.0","image":"q.io/oil:1","properties":[{"type":"olm.package","value":{"packageName":"oil","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"oil","name":"oil.v1.1.0","image":"q.io/oil:1","properties":[{"type":"olm.package","value":{"packageName":"oil","version":"1.1.0"}}]}
"#;

#[test]
fn why_tells_what_speaks_for_the_chosen_one() {
    let catalogs =
        directory_of(&[("near/lamp.json", NEEDING), ("near/oil.json", OIL), ("far/oil.json", OIL)]);
    let given = |name: &str| format!("olm/{name}={}", catalogs.path().join(name).display());
    let ask = |name: &str, catalogs: &[String]| {
        let mut arguments = vec!["why", name, "--subscribe", "lamp"];
        arguments.extend(catalogs.iter().flat_map(|catalog| ["--catalog", catalog]));
        operon(&arguments, "")
    };
    insta::assert_snapshot!(ask("oil", &[given("near"), given("far")]), @r#"
    oil 1.1.0 is here because lamp 1.0.0, which you subscribe to, needs package oil >=1.0.0 ("a lamp needs oil").
    Of 4 bundles of 1 operator in 2 catalogs that meet this, oil 1.1.0 was taken: from the same catalog as lamp, from its default channel stable, the newest version.
    [exit code 0]
    "#);
    insta::assert_snapshot!(ask("lamp", &[given("near")]), @r"
    lamp 1.0.0 is here because you subscribe to it.
    Subscription lamp follows channel stable, and 1.0.0 is the head of stable.
    [exit code 0]
    ");
}
