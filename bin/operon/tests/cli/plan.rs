//! `operon plan` on the example catalog and cluster.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::support::directory_of;

/// The example namespace with its catalog.
const HARBOUR: &[&str] =
    &["--catalog", "olm/harbour=examples/catalog", "--cluster", "examples/cluster/harbour.yaml"];

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the program in the repository and returns all it printed, and its exit code.
pub(crate) fn operon(arguments: &[&str], input: &str) -> String {
    let cache = TempDir::new().expect("a temporary directory");
    let mut child = Command::new(env!("CARGO_BIN_EXE_operon"))
        .args(arguments)
        .current_dir(repository())
        .env("OPERON_CACHE_DIR", cache.path())
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .env_remove("KUBECONFIG")
        .env("HOME", "/nonexistent")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("operon starts");
    // A program that does not read its input may have ended already.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("operon runs");
    let code = output.status.code().expect("an exit code");
    let [printed, told] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    format!("{printed}{told}[exit code {code}]")
}

/// Runs a command about the example namespace.
pub(crate) fn harbour(command: &[&str], more: &[&str]) -> String {
    operon(&[command, HARBOUR, more].concat(), "")
}

/// Returns the manifests of the example namespace, with a text replaced.
pub(crate) fn manifests(from: &str, to: &str) -> String {
    let path = repository().join("examples/cluster/harbour.yaml");
    let text = fs::read_to_string(path).expect("the example");
    assert!(text.contains(from), "the example has `{from}`");
    text.replace(from, to)
}

/// Plans the example namespace as manifests from standard input describe it.
fn from_input(manifests: &str, more: &[&str]) -> String {
    let fixed = ["plan", "--catalog", "olm/harbour=examples/catalog", "--cluster", "-"];
    operon(&[&fixed, more].concat(), manifests)
}

#[test]
fn an_empty_namespace_gets_what_is_subscribed_and_what_that_needs() {
    insta::assert_snapshot!(operon(&["plan", "--catalog", "examples/catalog", "--subscribe", "beacon"], ""), @r"
      namespace operators · catalog catalog@44405f

      + beacon  –  → 1.2.1  stable  catalog  you subscribed
      + tide    –  → 2.0.1  stable  catalog  beacon needs API Tide.v1 (tide.example.com)

      + install

      operators: 2 to install. Nothing needs approval.
      Next: create the Subscription. Why: operon why tide (with the same options)
    [exit code 2]
    ");
}

#[test]
fn a_namespace_is_planned_with_all_that_changes() {
    insta::assert_snapshot!(harbour(&["plan"], &["--subscribe", "anchor"]), @r"
      namespace port · catalog harbour@44405f

      + anchor        –      → 0.9.2  fast    harbour  you subscribed
      ↑ beacon        1.1.0  → 1.2.1  stable  harbour  replaces 1.1.0
      ↑ tide          1.4.0  → 2.0.0  stable  harbour  replaces 1.4.0
      = pilot.v0.3.0  0.3.0                            runs without a Subscription

      + install  ↑ upgrade  = keep

      port: 1 to install, 2 to upgrade, 1 kept. Nothing needs approval.
      Next: create the Subscription. Why: operon why tide (with the same options)
    [exit code 2]
    ");
    insta::assert_snapshot!(harbour(&["plan"], &["--width", "50"]), @r"
      namespace port · catalog harbour@44405f

      ↑ beacon        1.1.0  → 1.2.1  stable  harbour
          replaces 1.1.0
      ↑ tide          1.4.0  → 2.0.0  stable  harbour
          replaces 1.4.0
      = pilot.v0.3.0  0.3.0
          runs without a Subscription

      ↑ upgrade  = keep

      port: 2 to upgrade, 1 kept. Nothing needs approval.
      Why: operon why tide (with the same options)
    [exit code 2]
    ");
    insta::assert_snapshot!(harbour(&["plan"], &["--subscribe", "beacon/candidate"]), @r"
      namespace port · catalog harbour@44405f

      note: Subscription beacon follows candidate from olm/harbour here instead of stable from olm/harbour

      ↑ beacon        1.1.0  → 1.3.0-rc.1  candidate  harbour  updates >=1.1.0 <1.3.0-rc.1
      ↑ tide          1.4.0  → 2.0.0       stable     harbour  replaces 1.4.0
      = pilot.v0.3.0  0.3.0                                    runs without a Subscription

      ↑ upgrade  = keep

      port: 2 to upgrade, 1 kept. Nothing needs approval.
      Next: change the Subscription. Why: operon why tide (with the same options)
    [exit code 2]
    ");
}

#[test]
fn what_the_catalog_advises_against_is_told() {
    let slow = ["plan", "--catalog", "examples/catalog", "--subscribe", "anchor/slow"];
    insta::assert_snapshot!(operon(&slow, ""), @r"
      namespace operators · catalog catalog@44405f

      + anchor  –  → 0.9.0  slow    catalog  you subscribed
      + tide    –  → 2.0.1  stable  catalog  anchor needs package tide >=1.4.0

      note: channel slow of anchor is deprecated: the slow channel ends with 0.9; follow fast

      + install

      operators: 2 to install. Nothing needs approval.
      Next: create the Subscription. Why: operon why tide (with the same options)
    [exit code 2]
    ");
}

#[test]
fn texts_of_strangers_do_not_drive_the_terminal() {
    let paused =
        "    name: \"b\\e[31m\"\n    annotations: {operon.dev/pause: \"true\"}\n    namespace";
    let hostile = manifests("    name: beacon\n    namespace", paused);
    for more in [["-o", "mermaid"], ["-o", "text"]] {
        let printed = from_input(&hostile, &more);
        assert!(!printed.contains('\u{1b}') && printed.contains('\u{fffd}'), "{printed}");
    }
}

#[test]
fn generations_follow_until_nothing_changes() {
    insta::assert_snapshot!(harbour(&["plan"], &["--subscribe", "anchor", "--to-fixpoint"]), @r"
      namespace port · catalog harbour@44405f

      generation 1
      + anchor  –      → 0.9.2  fast    harbour  you subscribed
      ↑ beacon  1.1.0  → 1.2.1  stable  harbour  replaces 1.1.0
      ↑ tide    1.4.0  → 2.0.0  stable  harbour  replaces 1.4.0

      port: 1 to install, 2 to upgrade, 1 kept. Nothing needs approval.

      generation 2
      ↑ tide  2.0.0  → 2.0.1  stable  harbour  replaces 2.0.0

      port: 1 to upgrade, 3 kept. Nothing needs approval.

      generation 3
      = anchor        0.9.2  fast    harbour  at the head
      = beacon        1.2.1  stable  harbour  at the head
      = tide          2.0.1  stable  harbour  at the head
      = pilot.v0.3.0  0.3.0                   runs without a Subscription

      port: nothing to do, 4 kept.

      + install  ↑ upgrade  = keep

      Settled: nothing changes after generation 2
    [exit code 2]
    ");
}

#[test]
fn a_catalog_can_be_thought_away() {
    insta::assert_snapshot!(harbour(&["plan"], &["--without", "harbour"]), @r"
      namespace port · catalog harbour (not available: --without says so)

      = beacon        1.1.0  stable  harbour  catalog harbour cannot be read
      = tide          1.4.0  stable  harbour  catalog harbour cannot be read
      = pilot.v0.3.0  0.3.0                   runs without a Subscription

      note: the catalog olm/harbour was left out: --without says so
      note: beacon.v1.1.0 stays as it is: the catalog olm/harbour cannot be read
      note: tide.v1.4.0 stays as it is: the catalog olm/harbour cannot be read

      = keep

      port: nothing to do, 3 kept.
    warning: no catalog can be read, so nothing can be added or updated
    [exit code 0]
    ");
    // Without its content, a catalog of the manifests cannot be read either.
    insta::assert_snapshot!(operon(&["plan", "--cluster", "examples/cluster/harbour.yaml"], ""), @r"
      namespace port · catalog harbour (not available: give its content with --catalog olm/harbour=PATH)

      = beacon        1.1.0  stable  harbour  catalog harbour cannot be read
      = tide          1.4.0  stable  harbour  catalog harbour cannot be read
      = pilot.v0.3.0  0.3.0                   runs without a Subscription

      note: the catalog olm/harbour was left out: give its content with --catalog olm/harbour=PATH
      note: beacon.v1.1.0 stays as it is: the catalog olm/harbour cannot be read
      note: tide.v1.4.0 stays as it is: the catalog olm/harbour cannot be read

      = keep

      port: nothing to do, 3 kept.
    warning: no catalog can be read, so nothing can be added or updated
    [exit code 0]
    ");
}

#[test]
fn what_has_no_answer_is_explained_beside_the_rest() {
    insta::assert_snapshot!(harbour(&["plan"], &["--cluster", "examples/cluster/buoy.yaml"]), @r#"
      namespace port · catalog harbour@44405f

      = beacon        1.1.0  stable  harbour  its update 1.2.1 does not go with the rest
      = tide          1.4.0  stable  harbour  its update 2.0.0 does not go with the rest
      = buoy          1.0.0                   runs without a Subscription
      = pilot.v0.3.0  0.3.0                   runs without a Subscription

      anchor cannot be installed: it needs package tide >=2.0.0, and none of tide 2.0.0 and 2.0.1 can run beside tide.v1.4.0: both are of package tide, but buoy.v1.0.0 needs package tide <2.0.0.

      anchor.v0.9.2
      └─ needs package tide >=2.0.0
         └─ tide 2.0.0 and 2.0.1, each of which
            └─ cannot run beside tide.v1.4.0: both are of package tide
               └─ buoy.v1.0.0 needs package tide <2.0.0   "buoy 1 reads the old tide tables"
                  └─ buoy.v1.0.0 runs here, and no Subscription refers to it

      Ways out (each was checked):
        1. leave out startingCSV in Subscription anchor
        2. follow channel slow and leave out startingCSV in Subscription anchor
        3. remove the operator buoy.v1.0.0, which has no Subscription: kubectl delete csv buoy.v1.0.0 -n port
        4. remove Subscription anchor

      The other 2 Subscriptions in this namespace are not affected.

      = keep

      port: nothing to do, 4 kept. 1 Subscription has no solution.
    [exit code 1]
    "#);
}

#[test]
fn one_bad_subscription_stops_no_other() {
    let bad = "apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: lighthouse, namespace: port}
spec: {name: beakon, channel: stable, source: harbour, sourceNamespace: olm}";
    let input = format!("{}\n---\n{bad}", manifests("port", "port"));
    insta::assert_snapshot!(from_input(&input, &[]), @r"
      namespace port · catalog harbour@44405f

      ↑ beacon        1.1.0  → 1.2.1  stable  harbour  replaces 1.1.0
      ↑ tide          1.4.0  → 2.0.0  stable  harbour  replaces 1.4.0
      = pilot.v0.3.0  0.3.0                            runs without a Subscription

      Subscription lighthouse asks for package beakon, which its catalog does not have. Did you mean beacon?

      Ways out (each was checked):
        1. ask for package beacon in Subscription lighthouse
        2. remove Subscription lighthouse

      The other 2 Subscriptions in this namespace are not affected.

      ↑ upgrade  = keep

      port: 2 to upgrade, 1 kept. Nothing needs approval. 1 Subscription has no solution.
      Why: operon why tide (with the same options)
    [exit code 1]
    ");
    // Upstream's program fails for the whole namespace.
    insta::assert_snapshot!(from_input(&input, &["--semantics", "upstream"]), @r"
      namespace port · catalog harbour@44405f

      = beacon        1.1.0  stable  harbour  no solution, see below
      = tide          1.4.0  stable  harbour  no solution, see below
      = pilot.v0.3.0  0.3.0                   runs without a Subscription

      Subscription lighthouse asks for package beakon, which its catalog does not have. Did you mean beacon?

      Ways out (each was checked):
        1. ask for package beacon in Subscription lighthouse
        2. remove Subscription lighthouse

      Until that is settled, beacon.v1.1.0, pilot.v0.3.0 and tide.v1.4.0 stay as they are.

      = keep

      port: nothing to do, 3 kept. 3 Subscriptions have no solution.
    [exit code 1]
    ");
}

#[test]
fn one_request_by_hand_holds_what_moves_with_it() {
    let by_hand = manifests(
        "    name: tide\n    channel",
        "    installPlanApproval: Manual\n    name: tide\n    channel",
    );
    insta::assert_snapshot!(from_input(&by_hand, &[]), @r"
      namespace port · catalog harbour@44405f

      ! beacon        1.1.0  → 1.2.1  stable  harbour  replaces 1.1.0
      ! tide          1.4.0  → 2.0.0  stable  harbour  replaces 1.4.0
      = pilot.v0.3.0  0.3.0                            runs without a Subscription

      = keep  ! waits for approval

      port: 2 to upgrade, 1 kept. 2 wait for approval.
      Why: operon why tide (with the same options)
    [exit code 2]
    ");
}

#[test]
fn nothing_to_do_ends_with_zero() {
    let old = manifests("    channel: stable", "    channel: gone");
    insta::assert_snapshot!(from_input(&old, &[]), @r"
      namespace port · catalog harbour@44405f

      = beacon        1.1.0  gone  harbour  catalog harbour has no channel gone
      = tide          1.4.0  gone  harbour  catalog harbour has no channel gone
      = pilot.v0.3.0  0.3.0                 runs without a Subscription

      note: beacon.v1.1.0 stays as it is: the package beacon has no channel gone
      note: tide.v1.4.0 stays as it is: the package tide has no channel gone

      = keep

      port: nothing to do, 3 kept.
    [exit code 0]
    ");
}

#[test]
fn catalogs_that_lead_back_and_forth_never_settle() {
    let back =
        CATALOG.replace(r#"{"name":"w.v1.0.0"}"#, r#"{"name":"w.v1.0.0","replaces":"w.v2.0.0"}"#);
    let forth = CATALOG.replace("w.v1", "w.v2").replace("1.0.0", "2.0.0");
    let forth =
        forth.replace(r#"{"name":"w.v2.0.0"}"#, r#"{"name":"w.v2.0.0","replaces":"w.v1.0.0"}"#);
    let catalogs = directory_of(&[("back/w.json", &back), ("forth/w.json", &forth)]);
    let given = |name: &str| format!("olm/{name}={}", catalogs.path().join(name).display());
    let arguments = [
        "plan",
        "--catalog",
        &given("back"),
        "--catalog",
        &given("forth"),
        "--subscribe",
        "w",
        "--to-fixpoint",
    ];
    let printed = operon(&arguments, "");
    let [.., settled, code] = printed.lines().collect::<Vec<_>>()[..] else { panic!("{printed}") };
    assert_eq!(
        settled,
        "  Never settles: generation 3 leads back to what was there before generation 2"
    );
    assert_eq!(code, "[exit code 1]");
}

/// Two channels that list the same operator.
const CATALOG: &str = r#"
{"schema":"olm.package","name":"w","defaultChannel":"stable"}
{"schema":"olm.channel","package":"w","name":"stable","entries":[{"name":"w.v1.0.0"}]}
{"schema":"olm.channel","package":"w","name":"beta","entries":[{"name":"w.v1.0.0"}]}
{"schema":"olm.bundle","package":"w","name":"w.v1.0.0","image":"q.io/w:1","properties":[{"type":"olm.package","value":{"packageName":"w","version":"1.0.0"}}]}
"#;

#[test]
fn unknown_names_are_refused_with_the_nearest_one() {
    let claims: &[(&[&str], &str)] = &[
        (&["plan", "--subscribe", "beakon"], "did you mean `beacon`?"),
        (&["plan", "--subscribe", "beacon/stabel"], "did you mean `stable`?"),
        (&["plan", "--subscribe", "beacon@harbor"], "did you mean `harbour`?"),
        (&["plan", "--without", "olm/harbor"], "did you mean `olm/harbour`?"),
        (&["why", "tied"], "did you mean `tide`?"),
        (&["why", "anchor"], "operon why-not anchor tells why"),
        (&["why-not", "ancor"], "did you mean `anchor`?"),
        (&["why-not", "tide@2.0.2"], "did you mean `2.0.1`?"),
    ];
    for (command, hint) in claims {
        let printed = harbour(command, &[]);
        assert!(printed.contains(hint), "{command:?}: {printed}");
        assert!(printed.ends_with("[exit code 1]"), "{command:?}: {printed}");
    }
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let broken = manifests("    phase: Succeeded", "    phase: [Succeeded]");
    insta::assert_snapshot!(from_input(&broken, &[]), @r"
    error[manifest-wrong-type]: standard input:61: ClusterServiceVersion port/beacon.v1.1.0: status.phase: must be a string, not array
      help: in YAML, a number, `true` or `yes` is a string only between quotes
    error[manifest-wrong-type]: standard input:75: ClusterServiceVersion port/tide.v1.4.0: status.phase: must be a string, not array
      help: in YAML, a number, `true` or `yes` is a string only between quotes
    error[manifest-wrong-type]: standard input:89: ClusterServiceVersion port/pilot.v0.3.0: status.phase: must be a string, not array
      help: in YAML, a number, `true` or `yes` is a string only between quotes
    error: the manifests have 3 errors, so what the namespace holds is not certain
    [exit code 1]
    ");
    insta::assert_snapshot!(from_input("{\"kind\": ", &[]), @r"
    error[manifest-syntax]: standard input:1: this is not JSON: unexpected end of JSON text
    error: the manifests have 1 error, so what the namespace holds is not certain
    [exit code 1]
    ");
    let elsewhere = "{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: x, namespace: far}}";
    let printed = from_input(&format!("{elsewhere}\n---\n{}", manifests("port", "port")), &[]);
    assert!(printed.starts_with("  namespace port"), "{printed}");
    assert!(printed.contains("warning[manifest-missing-field]"), "{printed}");
    insta::assert_snapshot!(operon(&["plan"], ""), @r"
    error: no catalog is given
    hint: give one with --catalog PATH
    [exit code 1]
    ");
    insta::assert_snapshot!(operon(&["plan", "--catalog", "far/x=examples/catalog"], ""), @r"
    error: catalog `far/x` is not visible in namespace `operators`
    hint: visible are those of `operators` and of the global namespace, `olm`
    [exit code 1]
    ");
    insta::assert_snapshot!(operon(&["plan", "--catalog", "x=examples/catalog", "--catalog", "x=examples/broken"], ""), @r"
    error: two catalogs would be called `olm/x`: `examples/catalog` and `examples/broken`
    hint: name one of them with --catalog NAME=PATH
    [exit code 1]
    ");
    insta::assert_snapshot!(operon(&["plan", "--catalog", "examples/catalog", "--cluster", "nowhere.yaml"], ""), @r"
    error: cannot read the manifests in `nowhere.yaml`
      because: No such file or directory (os error 2)
    [exit code 1]
    ");
    let two = manifests("port", "port").replacen("namespace: port", "namespace: quay", 1);
    let two = two.replacen("kind: OperatorGroup", "kind: Other", 1);
    insta::assert_snapshot!(from_input(&two.replacen("namespace: port", "namespace: quay", 1), &[]), @r"
    error: several namespaces have operators: `port`, `quay`
    hint: choose one with --namespace
    [exit code 1]
    ");
}

/// The README of the example shows what the program prints today.
#[test]
fn transcripts_of_the_example_are_true() {
    let readme =
        fs::read_to_string(repository().join("examples/cluster/README.md")).expect("the example");
    let mut steps = 0;
    for block in readme.split("```").skip(1).step_by(2) {
        for step in block.split("$ operon ").skip(1) {
            let (arguments, expected) = step.split_once('\n').unwrap_or((step, ""));
            let arguments: Vec<&str> = arguments.split_whitespace().collect();
            let printed = operon(&arguments, "");
            let (printed, _) = printed.rsplit_once("[exit code").expect("an exit code");
            assert_eq!(printed.trim(), expected.trim(), "operon {}", arguments.join(" "));
            steps += 1;
        }
    }
    assert!(steps >= 4, "the example shows the program at work");
}
