//! `operon-conformance resolve`: cases in directories and in lines, with both semantics.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use tempfile::TempDir;

const CLUSTER: &str = "\
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: hub, namespace: olm}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: group, namespace: operators}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: shop, namespace: operators}
spec: {name: shop, channel: stable, source: hub, sourceNamespace: olm}
";

/// `shop` needs an API that `store` provides; `lone` needs one without a provider.
const CATALOG: &str = r#"
{"schema":"olm.package","name":"shop","defaultChannel":"stable"}
{"schema":"olm.channel","package":"shop","name":"stable","entries":[{"name":"shop.v1"},{"name":"shop.v2","replaces":"shop.v1"}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v1","image":"q/shop:1","properties":[{"type":"olm.package","value":{"packageName":"shop","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"shop","name":"shop.v2","image":"q/shop:2","properties":[{"type":"olm.package","value":{"packageName":"shop","version":"2.0.0"}},{"type":"olm.gvk.required","value":{"group":"store.io","kind":"Store","version":"v1"}}]}
{"schema":"olm.package","name":"store","defaultChannel":"fast"}
{"schema":"olm.channel","package":"store","name":"fast","entries":[{"name":"store.v3"}]}
{"schema":"olm.bundle","package":"store","name":"store.v3","image":"q/store:3","properties":[{"type":"olm.package","value":{"packageName":"store","version":"3.0.0"}},{"type":"olm.gvk","value":{"group":"store.io","kind":"Store","version":"v1"}}]}
{"schema":"olm.package","name":"lone","defaultChannel":"only"}
{"schema":"olm.channel","package":"lone","name":"only","entries":[{"name":"lone.v1"}]}
{"schema":"olm.bundle","package":"lone","name":"lone.v1","image":"q/lone:1","properties":[{"type":"olm.package","value":{"packageName":"lone","version":"1.0.0"}},{"type":"olm.gvk.required","value":{"group":"moon.io","kind":"Moon","version":"v1"}}]}
"#;

/// A catalog with `shop`, as a ConfigMap.
const CONFIG_MAP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: wares, namespace: olm}
data:
  packages: |
    - packageName: shop
      channels: [{name: stable, currentCSV: shop.v1}]
      defaultChannel: stable
  clusterServiceVersions: |
    - apiVersion: operators.coreos.com/v1alpha1
      kind: ClusterServiceVersion
      metadata: {name: shop.v1}
      spec: {version: 1.0.0}
  customResourceDefinitions: '[]'
";

const LONE: &str = "\
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: lone, namespace: operators}
spec: {name: lone, channel: only, source: hub, sourceNamespace: olm}
";

/// Creates a directory with these files.
fn directory_of(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    for (path, text) in files {
        let file = directory.path().join(path);
        fs::create_dir_all(file.parent().expect("a directory")).expect("created");
        fs::write(file, text).expect("written");
    }
    directory
}

/// Runs `operon-conformance resolve …`; returns its output without durations, and its exit code.
fn resolve_in(directory: &Path, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_operon-conformance"))
        .arg("resolve")
        .args(arguments)
        .current_dir(directory)
        .env("OPERON_CACHE_DIR", directory.join(".cache"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("the binary reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the binary ends");
    let printed = String::from_utf8(output.stdout).expect("text");
    let told = String::from_utf8(output.stderr).expect("text");
    let timeless = |line: &str| match line.split_once(",\"timing\":") {
        Some((answer, _)) => format!("{answer}}}\n"),
        None => format!("{line}\n"),
    };
    let printed: String = printed.lines().map(timeless).collect();
    format!("{printed}{told}[exit code {}]", output.status.code().expect("an exit code"))
}

fn resolve(files: &[(&str, &str)], arguments: &[&str]) -> String {
    resolve_in(directory_of(files).path(), arguments, "")
}

#[test]
fn text_lists_dependencies() {
    let files = [("c/cluster.yaml", CLUSTER), ("c/catalogs/hub/all.json", CATALOG)];
    assert_eq!(
        resolve(&files, &["c"]),
        "\
operators: resolved, 2 operators to add

PACKAGE  VERSION  CHANNEL  CATALOG  BUNDLE    REPLACES
shop     2.0.0    stable   olm/hub  shop.v2   -
store    3.0.0    fast     olm/hub  store.v3  -
[exit code 0]"
    );
}

#[test]
fn json_contains_operators_and_steps() {
    let directory =
        directory_of(&[("c/cluster.yaml", CLUSTER), ("c/catalogs/hub/all.json", CATALOG)]);
    let printed = resolve_in(directory.path(), &["c", "-o", "json"], "");
    let (answer, timing) = printed.split_once("  \"timing\"").expect("times come last");
    assert!(timing.contains("\"resolveStepsNs\": "), "{timing}");
    for expected in [
        "\"id\": \"c\",\n  \"namespace\": \"operators\",\n  \"outcome\": \"resolved\",\n",
        "\"replaces\": \"shop.v1\",\n      \"bundlePath\": \"q/shop:2\"\n",
        "\"name\": \"store-fast-hub-olm\",\n        \"package\": \"store\",\n",
        "\"startingCSV\": \"store.v3\",\n        \"installPlanApproval\": \"Automatic\"\n",
        "\"sourceNamespace\": \"olm\",\n        \"currentCSV\": \"shop.v2\"\n",
    ] {
        assert!(answer.contains(expected), "{expected} in {answer}");
    }
}

/// With documented semantics a failure stops only what depends on it.
#[test]
fn conflicts_do_not_block_other_parts() {
    let cluster = CLUSTER.to_owned() + LONE;
    let files = [("c/cluster.yaml", cluster.as_str()), ("c/catalogs/olm__hub/all.json", CATALOG)];
    let why = "\
lone cannot be installed: it needs API Moon.v1 (moon.io), but nothing in the visible catalogs provides it.

lone.v1
└─ needs API Moon.v1 (moon.io)
   └─ nothing in the visible catalogs provides it

Ways out:
  1. remove Subscription lone
  2. add a catalog that offers API Moon.v1 (moon.io) (not checked)
[exit code 1]";
    assert_eq!(
        resolve(&files, &["c"]),
        format!(
            "\
operators: no answer for a part of the namespace; 2 operators to add in the rest

PACKAGE  VERSION  CHANNEL  CATALOG  BUNDLE    REPLACES
shop     2.0.0    stable   olm/hub  shop.v2   -
store    3.0.0    fast     olm/hub  store.v3  -

{why}"
        )
    );
    let upstream = resolve(&files, &["c", "--semantics", "upstream"]);
    let expected = format!("operators: no answer, constraints not satisfiable\n\n{why}");
    assert_eq!(upstream, expected);
}

#[test]
fn settings_locate_catalogs() {
    let settings = r#"{"namespace":"operators","globalCatalogNamespace":"olm","catalogDirs":{"olm/hub":"../elsewhere"}}"#;
    let files =
        [("c/case.json", settings), ("c/cluster.yaml", CLUSTER), ("elsewhere/all.json", CATALOG)];
    let printed = resolve(&files, &["c"]);
    assert!(printed.starts_with("operators: resolved, 2 operators to add\n"), "{printed}");
}

/// A catalog location may be anything that `operon` reads; `--fetch` takes that of the CatalogSource.
#[test]
fn catalogs_are_fetched_from_their_location() {
    let directory = directory_of(&[("c/cluster.yaml", CLUSTER), ("wares.yaml", CONFIG_MAP)]);
    let location = format!("configmap:{}", directory.path().join("wares.yaml").display());
    let run = |arguments: &[&str]| resolve_in(directory.path(), arguments, "");
    let unavailable = run(&["c"]);
    assert!(unavailable.contains("no registry client established"), "{unavailable}");

    let settings = format!(r#"{{"catalogDirs":{{"olm/hub":"{location}"}}}}"#);
    fs::write(directory.path().join("c/case.json"), settings).expect("written");
    let resolved = run(&["c"]);
    assert!(resolved.starts_with("operators: resolved, 1 operator to add\n"), "{resolved}");

    fs::remove_file(directory.path().join("c/case.json")).expect("removed");
    let image = format!("namespace: olm}}\nspec: {{sourceType: grpc, image: '{location}'}}");
    let cluster = CLUSTER.replacen("namespace: olm}", &image, 1);
    fs::write(directory.path().join("c/cluster.yaml"), cluster).expect("written");
    assert_eq!(run(&["c", "--fetch"]), resolved);
}

/// Some problems stop a case with upstream's semantics and are only notices otherwise.
#[test]
fn invalid_cases_stop_or_notify_by_semantics() {
    let no_group = CLUSTER.replace("kind: OperatorGroup", "kind: Namespace");
    let defective = CATALOG.replace(r#""defaultChannel":"only""#, r#""defaultChannel":"gone""#);
    let misspelt = CLUSTER.replace("channel: stable", "channel: 4");
    let twice = CLUSTER.to_owned() + "---\n" + &CLUSTER.replace("channel: stable", "channel: fast");
    let settings = r#"{"namespace":"operators"}"#;
    for (cluster, catalog, upstream, documented) in [
        (
            no_group.as_str(),
            CATALOG,
            "no answer: error using catalogsource operators/@existing: found 0 operatorGroups, expected 1\n",
            "notice: the namespace operators has 0 OperatorGroups; until it has exactly one, nothing is installed in it\n",
        ),
        (
            CLUSTER,
            defective.as_str(),
            "operators: no answer, catalog olm/hub: all.json: the default channel \"gone\" of package \"lone\" does not exist\n",
            "notice: the catalog olm/hub has errors; what is sound is used: all.json: the default channel \"gone\" of package \"lone\" does not exist\n",
        ),
        (
            misspelt.as_str(),
            CATALOG,
            "no answer: cluster.yaml:12: Subscription operators/shop: spec.channel: must be a string, not number\n",
            "notice: cluster.yaml:12: Subscription operators/shop: spec.channel: must be a string, not number\n",
        ),
        (
            twice.as_str(),
            CATALOG,
            "no answer: cluster.yaml:22: Subscription operators/shop: has other content here than at cluster.yaml:9\n",
            "no answer: cluster.yaml:22: Subscription operators/shop: has other content here than at cluster.yaml:9\n",
        ),
    ] {
        let files = [
            ("c/case.json", settings),
            ("c/cluster.yaml", cluster),
            ("c/catalogs/hub/all.json", catalog),
        ];
        let printed = resolve(&files, &["c", "--semantics", "upstream"]);
        assert!(printed.contains(upstream) && printed.ends_with("[exit code 1]"), "{printed}");
        let printed = resolve(&files, &["c"]);
        assert!(printed.contains(documented), "{printed}");
        let code = if documented.starts_with("notice") { 0 } else { 1 };
        assert!(printed.ends_with(&format!("[exit code {code}]")), "{printed}");
    }
}

#[test]
fn missing_catalogs_are_unavailable_and_empty_ones_empty() {
    let files = [("c/cluster.yaml", CLUSTER)];
    let unreachable = "error using catalogsource olm/hub: no registry client established for catalogsource olm/hub";
    let printed = resolve(&files, &["c", "--semantics", "upstream"]);
    assert_eq!(printed, format!("no answer: {unreachable}\n[exit code 1]"));
    let directory = directory_of(&files);
    fs::create_dir_all(directory.path().join("c/catalogs/hub")).expect("made");
    let arguments = ["c", "--semantics", "upstream", "-o", "json"];
    let printed = resolve_in(directory.path(), &arguments, "");
    let fact =
        "\"no operators found from catalog hub in namespace olm referenced by subscription shop\"";
    assert!(printed.contains(fact), "{printed}");
}

#[test]
fn invalid_directories_are_rejected_with_a_reason() {
    for (files, expected) in [
        (
            &[("c/note", "")][..],
            "error: `c` is not a case: it holds no `cluster.yaml` and no `cluster.json`\n[exit code 1]",
        ),
        (&[][..], "error: there is no directory `c`\n[exit code 1]"),
        (
            &[("c/cluster.yaml", CLUSTER), ("c/case.json", "[]")],
            "error: cannot read `c/case.json`\n  because: an object is expected, not array\n[exit code 1]",
        ),
        (
            &[("c/cluster.yaml", CLUSTER), ("c/case.json", r#"{"namespace":3}"#)],
            "error: cannot read `c/case.json`\n  because: `namespace` must be a string, not number\n[exit code 1]",
        ),
        (
            &[("c/cluster.yaml", "")],
            "no answer: which namespace to resolve is not said, and there are 0 OperatorGroups to tell it from; write `namespace`\n[exit code 1]",
        ),
    ] {
        assert_eq!(resolve(files, &["c"]), expected);
    }
}

/// A line that is not a case does not end the run.
#[test]
fn lines_are_answered_in_order() {
    let documents: Vec<&str> = CATALOG.trim().lines().collect();
    let line = |id: &str, channel: &str| {
        format!(
            r#"{{"id":"{id}","catalogs":[{{"name":"hub","namespace":"olm","fbc":[{}]}}],"cluster":[
            {{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{{"name":"hub","namespace":"olm"}}}},
            {{"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{{"name":"g","namespace":"operators"}}}},
            {{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{{"name":"s","namespace":"operators"}},
            "spec":{{"name":"store","channel":"{channel}","source":"hub","sourceNamespace":"olm"}}}}]}}"#,
            documents.join(",")
        )
        .replace('\n', " ")
    };
    let mut input = String::new();
    for number in 0..40 {
        input.push_str(&line(&format!("case-{number}"), "fast"));
        input.push('\n');
    }
    let directory = directory_of(&[("cases.jsonl", input.as_str())]);
    let printed = resolve_in(directory.path(), &["--jsonl", "cases.jsonl"], "");
    assert_eq!(printed, resolve_in(directory.path(), &["--jsonl", "-"], &input));
    assert!(printed.ends_with("[exit code 0]"), "{printed}");
    for (number, answer) in printed.lines().take(40).enumerate() {
        let start = format!(
            r#"{{"id":"case-{number}","namespace":"operators","outcome":"resolved","operators":[{{"name":"store.v3","package":"store","#
        );
        assert!(answer.starts_with(&start), "{answer}");
    }
    let mixed =
        format!("{}\n\nnonsense\n{{\"cluster\":[]}}\n{}", line("x", "slow"), line("y", "fast"));
    let printed =
        resolve_in(directory.path(), &["--jsonl", "-", "--semantics", "upstream"], &mixed);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with(r#"{"id":"x","namespace":"operators","outcome":"unsat","error":"constraints not satisfiable: no operators found in channel slow of package store"#), "{printed}");
    assert_eq!(
        lines[1],
        r#"{"outcome":"error","error":"line 3 is not a case: it is not JSON: found a word where the beginning of a value was expected at byte 0"}"#
    );
    assert!(lines[2].starts_with(r#"{"outcome":"error","error":"which namespace"#), "{printed}");
    assert!(
        lines[3].starts_with(r#"{"id":"y","namespace":"operators","outcome":"resolved""#),
        "{printed}"
    );
    assert_eq!(lines[4], "[exit code 1]");
}
