//! What people ask of an embedded cluster: what happened, who needs whom, what would happen, taking
//! something away, going back.

use std::collections::BTreeSet;

use crate::harbour::{Harbour, steady};

/// Blanks what differs from run to run: times, and the names of removals.
fn blank(text: &str) -> String {
    let line = |line: &str| {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for index in 1..words.len() {
            let is_name = matches!(words[index - 1].as_str(), "Plan" | "--approve" | "is");
            let end = words[index].trim_end_matches(':').len();
            let is_hash = end == 10 && words[index][..end].bytes().all(|b| b.is_ascii_hexdigit());
            if is_name && is_hash {
                words[index].replace_range(..end, "…");
            }
            let is_time = words[index].len() == 5 && words[index].get(2..3) == Some(":");
            if is_time && words[index - 1].len() == 10 {
                words[index - 1] = "…".to_owned();
                words[index] = "…".to_owned();
            }
        }
        words.join(" ")
    };
    steady(&text.lines().map(line).collect::<Vec<_>>().join("\n"))
}

/// Returns the name of the plan that a command shows.
fn plan_in(shown: &str) -> String {
    let (_, id) = shown.rsplit_once("--approve ").expect("the command that does it is shown");
    id.split_whitespace().next().expect("a name").to_owned()
}

#[test]
fn what_happened_and_who_needs_whom() {
    let harbour = Harbour::new();
    harbour.up();
    harbour.unmark("catalog/tide.yaml", "#1 ");
    harbour.up();
    harbour.unmark("cluster.yaml", "#4 ");
    harbour.up();
    insta::assert_snapshot!(harbour.operon(&["tree"]), @r"
    harbour
    ├─ beacon 1.0.0 · Succeeded · Subscription beacon
    │  └─ needs API Tide.v1 (tide.example.com): tide 1.1.0 · Succeeded · came along
    └─ foghorn · nothing is installed yet · Subscription foghorn
    [exit code 0]
    ");
    harbour.operon(&["approve", "foghorn"]);
    harbour.up();
    insta::assert_snapshot!(blank(&harbour.operon(&["history"])), @r"
    GEN  WHEN              WHAT                          BECAUSE
    3    … …  + foghorn 0.9.0               Subscription foghorn asks for it; approved
    2    … …  tide 1.0.0 → 1.1.0            catalog harbour/chandler offers it
    1    … …  + beacon 1.0.0, + tide 1.0.0  beacon.v1.0.0: Subscription beacon asks for it; tide.v1.0.0: beacon.v1.0.0 needs API Tide.v1 (tide.example.com)
    [exit code 0]
    ");
    let json = harbour.operon(&["history", "-n", "harbour", "-o", "json"]);
    assert!(json.contains("\"replaces\": \"tide.v1.0.0\""), "{json}");

    harbour.operon(&["delete", "sub", "tide-stable-chandler-harbour"]);
    harbour.operon(&["delete", "csv", "tide.v1.1.0"]);
    let tree = harbour.operon(&["tree", "-n", "harbour"]);
    assert!(tree.contains("needs API Tide.v1 (tide.example.com): there is a CRD for it"), "{tree}");
    harbour.operon(&["delete", "crd", "tides.tide.example.com"]);
    insta::assert_snapshot!(harbour.operon(&["tree"]), @r"
    harbour
    ├─ beacon 1.0.0 · Succeeded · Subscription beacon
    │  └─ needs API Tide.v1 (tide.example.com): ✗ no operator provides it
    └─ foghorn 0.9.0 · Succeeded · Subscription foghorn
    [exit code 0]
    ");
    let json = harbour.operon(&["tree", "-o", "json"]);
    assert!(json.contains("\"kind\": \"none\""), "{json}");
    for command in ["tree", "history"] {
        let answer = harbour.operon(&[command, "-n", "default", "-o", "json"]);
        assert!(answer.starts_with("[]\n") && answer.ends_with("[exit code 0]"), "{answer}");
    }
}

/// A generation that failed, at once or later, says so and why; one that took something away says what.
#[test]
fn a_failed_generation_says_why() {
    let harbour = Harbour::new();
    harbour.up();
    let revision = "\
apiVersion: apps/v1
kind: ControllerRevision
metadata: { name: operon-generation-2-x, namespace: harbour, labels: { operon.dev/generation: 'true' } }
revision: 2
data:
  because: 'beacon.v1.1.0: catalog harbour/chandler offers it'
  outcome: failed
  message: the CRD would lose data
  when: 2026-11-14T09:12:13Z
  changes: [{ name: beacon.v1.1.0, version: 1.1.0, replaces: beacon.v1.0.0, catalog: harbour/chandler }]
";
    harbour.write("more/revision.yaml", revision);
    harbour.operon(&["apply", "-f", "more/revision.yaml"]);
    let history = harbour.operon(&["history"]);
    let row = history.lines().nth(1).expect("a row");
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "2 2026-11-14 09:12 beacon 1.0.0 → 1.1.0 (failed) catalog harbour/chandler offers it; failed: the CRD would lose data"
    );
    let revisions = "\
apiVersion: apps/v1
kind: ControllerRevision
metadata:
  name: operon-generation-3-x
  namespace: harbour
  labels: { operon.dev/generation: 'true' }
  annotations: { operon.dev/failed-later: '2026-11-15T00:00:00Z beacon.v1.1.0: InstallCheckFailed: install timeout' }
revision: 3
data:
  because: 'beacon.v1.1.0: catalog harbour/chandler offers it'
  outcome: done
  when: 2026-11-14T09:30:00Z
  changes: [{ name: beacon.v1.1.0, version: 1.1.0, replaces: beacon.v1.0.0, catalog: harbour/chandler }]
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: { name: operon-generation-removed-x, namespace: harbour, labels: { operon.dev/generation: 'true' } }
revision: 4
data:
  because: somebody deleted it
  outcome: done
  when: 2026-11-15T10:00:00Z
  removed: [{ name: tide.v1.1.0, version: 1.1.0 }]
";
    harbour.write("more/revisions.yaml", revisions);
    harbour.operon(&["apply", "-f", "more/revisions.yaml"]);
    let history = harbour.operon(&["history"]);
    let rows = history.lines().skip(1).take(2);
    let rows: Vec<String> =
        rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "4 2026-11-15 10:00 - tide 1.1.0 somebody deleted it",
        "3 2026-11-14 09:30 beacon 1.0.0 → 1.1.0 (failed later) catalog harbour/chandler offers it; \
         failed later: 2026-11-15T00:00:00Z beacon.v1.1.0: InstallCheckFailed: install timeout",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn an_operator_is_taken_away() {
    let harbour = Harbour::new();
    let lamp = "apiVersion: beacon.example.com/v1\nkind: Lamp\nmetadata: { name: east, namespace: harbour }\nspec: { colour: red }\n";
    harbour.write("lamp.yaml", lamp);
    harbour.up();
    insta::assert_snapshot!(blank(&harbour.operon(&["uninstall", "tide"])), @r"
    beacon.v1.0.0 needs tide.v1.0.0 (API Tide.v1 (tide.example.com)).
      Removing tide alone would break it.

      - beacon.v1.0.0  Deployment, OperatorCondition, Role, RoleBinding, ServiceAccount, Subscription
      - tide.v1.0.0    Deployment, OperatorCondition, Role, RoleBinding, ServiceAccount, Subscription
      = CRD lamps.beacon.example.com (1 custom resource exists)
      = CRD tides.tide.example.com (no custom resource exists)
      note: ./cluster.yaml:29 asks for Subscription harbour/beacon: take it out there too, or operon up brings it back

      - remove  = keep

      Plan …: 2 to remove. To do it: operon uninstall tide --with-dependants --approve …
    [exit code 2]
    ");
    insta::assert_snapshot!(harbour.operon(&["uninstall", "tide", "--yes"]), @r"
    error: beacon.v1.0.0 needs tide.v1.0.0 (API Tide.v1 (tide.example.com)); removing tide alone would break it
    hint: operon uninstall tide --with-dependants --plan shows what goes with it
    [exit code 1]
    ");
    let shown = harbour.operon(&["uninstall", "beacon", "--plan"]);
    let leftover = "= tide.v1.0.0: it came along and nobody else needs it; --with-leftovers takes it away too\n";
    assert!(shown.contains(leftover) && shown.contains(": 1 to remove."), "{shown}");

    // What is approved is what is done: another plan is not meant.
    let shown = harbour.operon(&["uninstall", "beacon", "--with-leftovers"]);
    let id = plan_in(&shown);
    let refused = harbour.operon(&["uninstall", "beacon", "--approve", &id]);
    assert!(refused.contains(&format!("by now, and not {id}: something changed")), "{refused}");
    assert!(refused.ends_with("[exit code 1]"), "{refused}");
    let before = harbour.operon(&["get", "csv", "-o", "name"]);
    assert_eq!(before.lines().count(), 3, "{before}");
    let done = harbour.operon(&["uninstall", "beacon", "--with-leftovers", "--approve", &id]);
    insta::assert_snapshot!(blank(&done), @r"
    - beacon.v1.0.0  Deployment, OperatorCondition, Role, RoleBinding, ServiceAccount, Subscription
      - tide.v1.0.0    Deployment, OperatorCondition, Role, RoleBinding, ServiceAccount, Subscription
      = CRD lamps.beacon.example.com (1 custom resource exists)
      = CRD tides.tide.example.com (no custom resource exists)
      note: ./cluster.yaml:29 asks for Subscription harbour/beacon: take it out there too, or operon up brings it back
    catalog   chandler       ready                          3 packages, 3 bundles
    operator  beacon.v1.0.0  1.0.0            Succeeded     ok
    operator  tide.v1.0.0    1.0.0            Succeeded     ok
    operator  beacon.v1.0.0 is gone
    operator  tide.v1.0.0 is gone
    settled in … s · no operators
    beacon.v1.0.0 is gone
    tide.v1.0.0 is gone
    [exit code 0]
    ");
    insta::assert_snapshot!(harbour.operon(&["get", "sub,csv,deploy,lamps", "-o", "name"]), @r"
    lamp.beacon.example.com/east
    [exit code 0]
    ");
}

/// Whoever needs an operator from another namespace keeps it.
#[test]
fn others_elsewhere_are_not_harmed() {
    let harbour = Harbour::new();
    harbour.up();
    let stray = "\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: { name: stray.v1.0.0, namespace: default }
spec:
  displayName: Stray
  version: 1.0.0
  install: { strategy: deployment, spec: { deployments: [] } }
  customresourcedefinitions:
    required: [{ name: tides.tide.example.com, version: v1, kind: Tide }]
";
    harbour.write("more/stray.yaml", stray);
    harbour.operon(&["apply", "-f", "more/stray.yaml"]);
    let shown = harbour.operon(&["uninstall", "tide", "--with-dependants"]);
    let told = "! stray.v1.0.0 needs tide.v1.0.0 (API Tide.v1 (tide.example.com)), and is in namespace default: take it away there first\n";
    assert!(shown.contains(told) && shown.contains("It cannot be done now."), "{shown}");
    assert!(shown.ends_with("[exit code 1]"), "{shown}");
    let refused = harbour.operon(&["uninstall", "tide", "--with-dependants", "--yes"]);
    assert!(refused.starts_with("error: stray.v1.0.0 needs tide.v1.0.0"), "{refused}");
    assert!(harbour.operon(&["get", "csv"]).contains("tide.v1.0.0"));
    let tree = harbour.operon(&["tree", "-n", "default"]);
    assert!(tree.contains("needs API Tide.v1 (tide.example.com): harbour/tide 1.0.0"), "{tree}");
}

/// Beside a running `operon up` the rest is left to it.
#[test]
fn a_running_up_does_the_rest() {
    let harbour = Harbour::new();
    let following = harbour.follow();
    following.wait_for("settled", 1);
    let done = harbour.operon(&["uninstall", "tide", "--with-dependants", "--yes"]);
    assert!(done.contains("hint: the running operon up does the rest"), "{done}");
    assert!(done.ends_with("[exit code 0]"), "{done}");
    following.wait_for("tide.v1.0.0 is gone", 1);
    following.wait_for("no operators", 1);
}

#[test]
fn an_operator_goes_back() {
    let harbour = Harbour::new();
    harbour.up();
    harbour.unmark("catalog/tide.yaml", "#1 ");
    harbour.up();
    let shown = harbour.operon(&["rollback", "tide"]);
    insta::assert_snapshot!(blank(&shown), @r"
    ↓ tide.v1.1.0 1.1.0 → 1.0.0
        writes ClusterServiceVersion, CustomResourceDefinition, Role, RoleBinding, ServiceAccount
        pins Subscription harbour/tide-stable-chandler-harbour to 1.0.0; operon pin tide-stable-chandler-harbour --off lets it move on again

      What can go wrong:
        1. tide.v1.0.0 never said that it can take over from tide.v1.1.0: what the newer one wrote may be strange to it

      Plan install-…: 1 to roll back. To do it: operon rollback tide --approve install-…
    [exit code 2]
    ");
    let refused = harbour.operon(&["rollback", "tide", "--approve", "install-0"]);
    assert!(refused.contains("by now, and not install-0: something changed"), "{refused}");
    assert!(refused.ends_with("[exit code 1]"), "{refused}");
    assert!(harbour.operon(&["get", "csv"]).contains("tide.v1.1.0"));
    let done = harbour.operon(&["rollback", "tide", "--approve", &plan_in(&shown)]);
    let end = "tide.v1.0.0 runs again; Subscription harbour/tide-stable-chandler-harbour is pinned to 1.0.0\n[exit code 0]";
    assert!(done.ends_with(end), "{done}");
    let history = harbour.operon(&["history"]);
    assert!(
        history.contains("tide 1.1.0 → 1.0.0            rolled back from tide.v1.1.0"),
        "{history}"
    );
    // It stays there.
    assert!(harbour.up().contains("operator  tide          1.0.0            Succeeded"));
}

#[test]
fn what_would_happen_is_told() {
    let harbour = Harbour::new();
    insta::assert_snapshot!(blank(&harbour.operon(&["plan", "--dir", "."])), @r"
    namespace harbour · catalog chandler@3a8068

      + beacon  –  → 1.0.0  stable  chandler  Subscription beacon
      + tide    –  → 1.0.0  stable  chandler  beacon needs API Tide.v1 (tide.example.com)

      new permissions: beacon.v1.0.0 gets a Role of 2 rules in namespace harbour
      new permissions: tide.v1.0.0 gets a Role of 1 rule in namespace harbour

      + install

      Plan install-…: beacon.v1.0.0, tide.v1.0.0

      harbour: 2 to install. Nothing needs approval.
      Why: operon why tide -n harbour

      Next: operon up carries out the plans until nothing changes.
    [exit code 2]
    ");
    assert!(!harbour.path(".operon").exists(), "a question leaves nothing behind");
    harbour.up();
    harbour.unmark("catalog/tide.yaml", "#1 ");
    harbour.unmark("catalog/beacon.yaml", "#2 ");
    harbour.unmark("cluster.yaml", "#4 ");
    harbour.operon(&["pause", "beacon"]);
    insta::assert_snapshot!(blank(&harbour.operon(&["plan", "--dir", "."])), @r"
    namespace harbour · catalog chandler@84fe06

      ! foghorn  –      → 0.9.0  stable  chandler  Subscription foghorn
      ↑ tide     1.0.0  → 1.1.0  stable  chandler  replaces 1.0.0
      = beacon   1.0.0           stable  chandler  paused

      blocked: beacon: the Subscription is paused (Paused)

      new permissions: foghorn.v0.9.0 gets a Role of 1 rule in namespace harbour

      ↑ upgrade  = keep  ! waits for approval

      Plan install-…: tide.v1.1.0
      Plan install-…: foghorn.v0.9.0 waits for approval: operon up, then operon approve install-… -n harbour

      harbour: 1 to install, 1 to upgrade, 1 kept. 1 waits for approval. 1 Subscription is blocked.
      Why: operon why tide -n harbour

      Next: operon up carries out the plans until nothing changes.
    [exit code 2]
    ");
    // What if, and why, are the same question.
    let what_if = harbour.operon(&["plan", "--dir", ".", "--subscribe", "foghorn"]);
    assert!(what_if.contains("= beacon   1.0.0           stable  chandler  paused"), "{what_if}");
    let why = harbour.operon(&["why", "beacon", "--dir", "."]);
    assert!(why.starts_with("beacon 1.0.0 is here because Subscription"), "{why}");
    assert!(why.contains("is blocked: the Subscription is paused."), "{why}");
    let why_not = harbour.operon(&["why-not", "beacon@1.1.0", "--dir", "."]);
    assert!(
        why_not.contains("beacon 1.1.0 is available, but Subscription beacon is paused")
            && why_not.contains("(operon pause beacon --off -n harbour)"),
        "{why_not}"
    );
}

/// Returns the names of plans in what `operon plan -o json` prints, or in a table.
fn plan_names(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !(character.is_alphanumeric() || character == '-'));
    let is_name = |word: &&str| {
        let digits = word.strip_prefix("install-").unwrap_or_default();
        digits.len() == 10 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    words.filter(is_name).map(str::to_owned).collect()
}

/// What one previews the other does: the plans have the same names.
#[test]
fn what_is_previewed_is_done() {
    let harbour = Harbour::new();
    let changes: [(&str, &str); 5] = [
        ("cluster.yaml", "no mark"),
        ("catalog/tide.yaml", "#1 "),
        ("cluster.yaml", "#4 "),
        ("catalog/beacon.yaml", "#2 "),
        ("catalog/beacon.yaml", "#3 "),
    ];
    let made = || plan_names(&harbour.operon(&["get", "installplans", "-o", "name"]));
    for (file, mark) in changes {
        harbour.unmark(file, mark);
        let before = if mark == "no mark" { BTreeSet::new() } else { made() };
        let shown = harbour.operon(&["plan", "--dir", ".", "-o", "json"]);
        assert!(shown.ends_with("[exit code 2]"), "{file} {mark}: {shown}");
        let shown = plan_names(&shown);
        harbour.up();
        let after = made();
        assert!(shown.is_subset(&after), "{file} {mark}: {shown:?} became {after:?}");
        let new: BTreeSet<String> = after.difference(&before).cloned().collect();
        assert!(new.is_subset(&shown), "{file} {mark}: {new:?} was not told in {shown:?}");
        assert!(!new.is_empty(), "{file} {mark}");
    }
    // Only what waits for a person is left.
    let waiting = harbour.operon(&["plan", "--dir", "."]);
    assert!(waiting.contains("1 waits for approval."), "{waiting}");
    assert!(!waiting.contains("Next:"), "{waiting}");
    harbour.operon(&["approve", "--all"]);
    harbour.up();
    let settled = harbour.operon(&["plan", "--dir", "."]);
    assert!(settled.contains("harbour: nothing to do, 3 kept.\n"), "{settled}");
    assert!(settled.ends_with("[exit code 0]"), "{settled}");
}

#[test]
fn bad_wishes_are_answered() {
    let harbour = Harbour::new();
    let nothing = "error: there is no cluster in `.`\nhint: operon up . begins one";
    for command in [&["tree"][..], &["history"], &["uninstall", "beacon"], &["rollback", "beacon"]]
    {
        let answer = harbour.operon(command);
        assert!(answer.starts_with(nothing), "{answer}");
    }
    harbour.unmark("cluster.yaml", "#4 ");
    harbour.up();
    let claims: [(&[&str], &str, u8); 9] = [
        (
            &["uninstall", "beacn"],
            "error: there is no operator, package or Subscription `beacn` here\nhint: did you mean `beacon`?",
            1,
        ),
        (&["rollback", "beacn"], "hint: did you mean `beacon`?", 1),
        (&["uninstall", "beacon", "-n", "default"], "hint: operon tree shows what is here", 1),
        (&["uninstall", ""], "error: there is no operator, package or Subscription `` here", 1),
        (
            &["uninstall", "foghorn"],
            "error: Subscription harbour/foghorn has no operator yet\nhint: operon delete subscription foghorn -n harbour",
            1,
        ),
        (
            &["rollback", "beacon"],
            "error: nothing is known to have been before beacon.v1.0.0\nhint: operon history shows",
            1,
        ),
        (&["uninstall", "beacon", "--plan", "--yes"], "cannot be used with", 2),
        (&["plan", "--dir", ".", "-n", "harbor"], "hint: did you mean `harbour`?", 1),
        (&["plan", "--dir", "nowhere"], "error: there is no directory `nowhere`", 1),
    ];
    for (arguments, expected, code) in claims {
        let answer = harbour.operon(arguments);
        assert!(answer.contains(expected), "{arguments:?}: {answer}");
        assert!(answer.ends_with(&format!("[exit code {code}]")), "{arguments:?}: {answer}");
    }
}
