//! What `plan`, `why` and `why-not` answer where something is pinned, paused, failed or refused: what the engine
//! does.

use crate::{
    harbour::Harbour,
    images::config_map,
    plan::{harbour, manifests, operon},
};

/// Runs a command about the example namespace with changed manifests.
fn with_manifests(command: &[&str], input: &str) -> String {
    let fixed = ["--catalog", "olm/harbour=examples/catalog", "--cluster", "-"];
    operon(&[command, &fixed].concat(), input)
}

/// Asserts that an answer has every one of some texts.
fn assert_holds(answer: &str, texts: &[&str]) {
    for text in texts {
        assert!(answer.contains(text), "`{text}` is missing in:\n{answer}");
    }
}

#[test]
fn pins_and_pauses_count_in_files() {
    let annotated = |annotation: &str| {
        let annotated =
            format!("    name: tide\n    annotations: {{ {annotation} }}\n    namespace");
        manifests("    name: tide\n    namespace", &annotated)
    };
    let pinned = annotated("operon.dev/pin: \"<2.0.0\"");
    let plan = with_manifests(&["plan"], &pinned);
    assert_holds(&plan, &["= tide", "pinned to <2.0.0; 2.0.0 is available", "[exit code 0]"]);
    let why = with_manifests(&["why", "tide"], &pinned);
    assert_holds(&why, &["tide 1.4.0 is here because", "follows channel stable, pinned to <2.0.0"]);
    let why_not = with_manifests(&["why-not", "tide@2.0.0"], &pinned);
    assert_holds(
        &why_not,
        &[
            "tide 2.0.0 is available, but Subscription tide is pinned to <2.0.0 (operon pin tide --off -n port).",
        ],
    );
    // The pin does not keep back what the channel does not offer either.
    let other = with_manifests(&["why-not", "tide@1.5.0"], &pinned);
    assert!(!other.contains("is available"), "{other}");

    let paused = annotated("operon.dev/pause: \"true\"");
    let plan = with_manifests(&["plan"], &paused);
    assert_holds(&plan, &["harbour  paused", "blocked: tide: the Subscription is paused (Paused)"]);
    let why_not = with_manifests(&["why-not", "tide"], &paused);
    assert_holds(&why_not, &["tide 1.4.0 is in the plan; name the version that you miss"]);
    let why_not = with_manifests(&["why-not", "tide@2.0.0"], &paused);
    assert_holds(&why_not, &["but Subscription tide is paused (operon pause tide --off -n port)."]);
}

#[test]
fn pins_count_in_directories() {
    let harbour = Harbour::new();
    harbour.up();
    harbour.operon(&["pin", "tide", "<1.1.0"]);
    harbour.unmark("catalog/tide.yaml", "#1 ");
    let pinned = "pinned to <1.1.0; 1.1.0 is available";
    assert_holds(&harbour.operon(&["plan", "--dir", "."]), &[pinned, "[exit code 0]"]);
    let what_if = harbour.operon(&["plan", "--dir", ".", "--subscribe", "foghorn"]);
    assert_holds(&what_if, &[pinned, "+ foghorn"]);
    let why_not = harbour.operon(&["why-not", "tide@1.1.0", "--dir", "."]);
    assert_holds(
        &why_not,
        &[
            "tide 1.1.0 is available, but Subscription tide-stable-chandler-harbour is pinned to <1.1.0 (operon pin tide --off -n harbour).",
        ],
    );
    assert_holds(&harbour.operon(&["why", "tide", "--dir", "."]), &["tide 1.0.0 is here because"]);
}

#[test]
fn failed_operators_are_blocked_in_every_plan() {
    let failed = manifests(
        "    replaces: beacon.v1.0.0\n  status:\n    phase: Succeeded",
        "    replaces: beacon.v1.0.0\n  status:\n    phase: Failed\n    reason: ComponentUnhealthy",
    );
    let reasons = [
        "has a problem, see below",
        "blocked: beacon: beacon.v1.2.1 is offered, but beacon.v1.1.0 failed",
        "fail-forward is off",
        "problem: operator port/beacon.v1.1.0 failed: ComponentUnhealthy",
        "[exit code 1]",
    ];
    assert_holds(&with_manifests(&["plan"], &failed), &reasons);
    assert_holds(&with_manifests(&["plan", "--to-fixpoint"], &failed), &reasons);
    let why_not = with_manifests(&["why-not", "beacon@1.2.1"], &failed);
    assert_holds(
        &why_not,
        &["Subscription beacon is blocked: beacon.v1.2.1 is offered, but beacon.v1.1.0 failed"],
    );
    // With fail forward it is an upgrade, and no problem.
    let forward =
        failed.replace("  spec: {}", "  spec: { upgradeStrategy: TechPreviewUnsafeFailForward }");
    let plan = with_manifests(&["plan"], &forward);
    assert_holds(&plan, &["beacon        1.1.0  → 1.2.1", "[exit code 2]"]);
    assert!(!plan.contains("problem"), "{plan}");
}

#[test]
fn refused_crd_changes_are_previewed() {
    let harbour = Harbour::new();
    harbour.up();
    harbour.write(
        "london.yaml",
        "apiVersion: tide.example.com/v1\nkind: Tide\nmetadata: {name: london, namespace: harbour}\nspec: {}\n",
    );
    harbour.up();
    harbour.unmark("catalog/tide.yaml", "#1 ");
    let definition = "bundles/tide.v1.1.0/manifests/tides.tide.example.com.crd.yaml";
    let properties = "            properties:";
    harbour.replace(definition, properties, &format!("            required: [port]\n{properties}"));
    let refusal = "Tide harbour/london would no longer be valid";
    let plan = harbour.operon(&["plan", "--dir", "."]);
    assert_holds(&plan, &[" would fail: ", refusal, "[exit code 1]"]);
    // What would fail does not come true in a later generation.
    let generations = harbour.operon(&["plan", "--dir", ".", "--to-fixpoint"]);
    assert_holds(&generations, &[refusal, "Settled: nothing changes", "[exit code 1]"]);
    let why_not = harbour.operon(&["why-not", "tide@1.1.0", "--dir", "."]);
    assert_holds(
        &why_not,
        &["tide 1.1.0 is in InstallPlan install-", "which would fail: ", refusal],
    );
}

#[test]
fn unsupported_install_modes_are_previewed() {
    let harbour = Harbour::new();
    harbour.replace("cluster.yaml", "  targetNamespaces: [harbour]\n", "");
    let operator = "bundles/tide.v1.0.0/manifests/tide.clusterserviceversion.yaml";
    harbour.replace(
        operator,
        "type: AllNamespaces, supported: true",
        "type: AllNamespaces, supported: false",
    );
    let plan = harbour.operon(&["plan", "--dir", "."]);
    assert_holds(&plan, &["AllNamespaces InstallModeType not supported", "[exit code 1]"]);
}

#[test]
fn missing_native_apis_are_previewed() {
    let harbour = Harbour::new();
    let operator = "bundles/tide.v1.0.0/manifests/tide.clusterserviceversion.yaml";
    let native = |group: &str, kind: &str| {
        format!(
            "  nativeAPIs:\n  - {{ group: {group}, version: v1, kind: {kind} }}\n  installModes:\n"
        )
    };
    let token = native("authentication.k8s.io", "TokenReview");
    harbour.replace(operator, "  installModes:\n", &token);
    assert_holds(&harbour.operon(&["plan", "--dir", "."]), &["2 to install", "[exit code 2]"]);
    harbour.replace(operator, &token, &native("route.example.com", "Route"));
    let refused = ["Native API does not exist: Route.v1 (route.example.com)", "[exit code 1]"];
    assert_holds(&harbour.operon(&["plan", "--dir", "."]), &refused);
}

#[test]
fn conflicts_have_their_tree_in_every_source() {
    let harbour_directory = Harbour::new();
    harbour_directory.append(
        "cluster.yaml",
        "---\napiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: fog, namespace: harbour}\nspec: {name: foghron, channel: stable, source: chandler, sourceNamespace: harbour}\n",
    );
    let plan = harbour_directory.operon(&["plan", "--dir", "."]);
    let parts = [
        "Subscription fog asks for package foghron, which its catalog does not have. Did you mean foghorn?",
        "Ways out (each was checked):",
        "1. ask for package foghorn in Subscription fog",
        "1 Subscription has no solution",
        "[exit code 1]",
    ];
    assert_holds(&plan, &parts);
    assert_eq!(plan.matches(parts[0]).count(), 1, "one explanation for a conflict:\n{plan}");
}

#[test]
fn what_if_works_with_catalogs_in_config_maps() {
    let harbour = Harbour::new();
    harbour.replace(
        "cluster.yaml",
        "  sourceType: grpc\n  image: ./catalog\n",
        "  sourceType: configmap\n  configMap: wares\n",
    );
    harbour.write("wares.yaml", &config_map());
    let plan = harbour.operon(&["plan", "--dir", ".", "--subscribe", "tide"]);
    assert_holds(&plan, &["+ tide", "1.0.0  stable  chandler  you subscribed", "Plan install-"]);
    let why = harbour.operon(&["why", "tide", "--dir", ".", "--subscribe", "tide"]);
    assert_holds(&why, &["tide 1.0.0 is here because you subscribe to it"]);
}

#[test]
fn newer_versions_that_are_passed_over_are_counted() {
    let answer = harbour(&["plan"], &["--subscribe", "anchor"]);
    assert!(!answer.contains("passed over"), "{answer}");
}
