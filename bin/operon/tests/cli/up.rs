//! `operon up`, on copies of the quickstart.

use std::{fs, path::Path, thread, time::Duration};

use crate::harbour::{Harbour, steady};

/// Every kind that `operon up` brings about.
const EVERYTHING: &str =
    "ns,catsrc,og,sub,ip,csv,crd,deploy,sa,role,rolebinding,operatorconditions";

/// Every transcript of the quickstart's README is what the program prints: it installs, upgrades,
/// fails, fails forward, waits for approval and goes on.
#[test]
fn the_readme_is_true() {
    let harbour = Harbour::new();
    let readme = fs::read_to_string(harbour.path("README.md")).unwrap();
    let blocks = readme.split("```").skip(1).step_by(2).map(|block| block.trim_start_matches('\n'));
    let steps: Vec<&str> =
        blocks.flat_map(|block| block.split("$ ").filter(|step| !step.trim().is_empty())).collect();
    assert!(steps.len() >= 15, "{steps:?}");
    let directory = Path::new(env!("CARGO_BIN_EXE_operon")).parent().unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap_or_default());
    for step in steps {
        let (command, expected) = step.split_once('\n').unwrap_or((step, ""));
        let both = format!("{command} 2>&1");
        let output = harbour.command("sh", &["-c", &both]).env("PATH", &path).output().unwrap();
        assert_eq!(steady(&String::from_utf8_lossy(&output.stdout)), steady(expected), "{command}");
    }
}

#[test]
fn a_second_run_writes_nothing() {
    let harbour = Harbour::new();
    assert!(harbour.up().ends_with("[exit code 0]"));
    let objects = || harbour.operon(&["get", EVERYTHING, "-o", "yaml"]);
    let before = objects();
    assert!(before.contains("resourceVersion"), "{before}");
    let again = harbour.up();
    assert!(again.contains("2 running\n[exit code 0]"), "{again}");
    assert!(!again.contains("manifest"), "{again}");
    assert_eq!(objects(), before);
    assert!(!harbour.path(".operon/operon.sock").exists(), "nobody listens any more");
}

/// The names and phases of everything.
fn picture(harbour: &Harbour) -> String {
    let names = harbour.operon(&["get", EVERYTHING, "-o", "name"]);
    // What was told may differ: whoever is killed may not have come to telling it.
    names + &harbour.operon(&["get", "csv,sub,ip,deploy"]).replace(char::is_numeric, "")
}

#[test]
fn what_is_killed_goes_on() {
    let undisturbed = Harbour::new();
    undisturbed.up();
    let expected = picture(&undisturbed);
    for milliseconds in [1, 15, 30, 60, 90, 120, 160, 220] {
        let harbour = Harbour::new();
        let mut following = harbour.follow();
        thread::sleep(Duration::from_millis(milliseconds));
        following.child.kill().unwrap();
        following.child.wait().unwrap();
        let up = harbour.up();
        assert!(up.ends_with("2 running\n[exit code 0]"), "after {milliseconds} ms: {up}");
        assert_eq!(picture(&harbour), expected, "after {milliseconds} ms");
    }
}

#[test]
fn changes_are_followed_and_others_take_part() {
    let harbour = Harbour::new();
    let following = harbour.follow();
    following.wait_for("settled", 1);

    // Another `operon up` is refused, other commands are served.
    let second = harbour.up();
    assert!(second.starts_with("error: another `operon up` looks after `.` already"), "{second}");

    harbour.unmark("cluster.yaml", "#4 ");
    following.wait_for("waits for approval: operon approve foghorn", 1);
    let answer = harbour.operon(&["approve", "foghron"]);
    assert!(answer.contains("did you mean `foghorn`?"), "{answer}");
    let answer = steady(&harbour.operon(&["approve", "--all"]));
    insta::assert_snapshot!(answer, @r"
    InstallPlan harbour/install-… approved: foghorn.v0.9.0
    [exit code 0]
    ");
    following.wait_for("operator  foghorn       0.9.0            Succeeded", 1);

    // A broken file is told and does not undo what it said before.
    harbour.append("cluster.yaml", "---\nkind: [\n");
    following.wait_for("warning: ./cluster.yaml:54: this is not YAML", 1);
    harbour.unmark("catalog/tide.yaml", "#1 ");
    following.wait_for("operator  tide          1.1.0            Succeeded", 1);
    let text = fs::read_to_string(harbour.path("cluster.yaml")).unwrap();
    harbour.write("cluster.yaml", text.trim_end_matches("---\nkind: [\n"));
    following.wait_for("`./cluster.yaml` is sound again", 1);

    // So is a catalog; what it offered before is used on.
    harbour.append("catalog/tide.yaml", "---\n}{\n");
    following.wait_for("broken", 1);
    assert!(harbour.operon(&["get", "catsrc", "-o", "yaml"]).contains("TRANSIENT_FAILURE"));
    let tide = fs::read_to_string(harbour.path("catalog/tide.yaml")).unwrap();
    harbour.write("catalog/tide.yaml", tide.trim_end_matches("---\n}{\n"));
    following.wait_for("3 packages, 4 bundles", 2);

    // What vanishes from the directory goes away.
    let text = fs::read_to_string(harbour.path("cluster.yaml")).unwrap();
    let (rest, _) = text.split_once("---\n# A person").unwrap();
    harbour.write("cluster.yaml", rest);
    following.wait_for("manifest  Subscription harbour/foghorn deleted", 1);
    assert_eq!(following.interrupt(), 0);
    let left = harbour.operon(&["get", "sub", "-o", "name"]);
    assert!(left.contains("/beacon") && !left.contains("/foghorn"), "{left}");
}
