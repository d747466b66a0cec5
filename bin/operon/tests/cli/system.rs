//! Operon itself: what it says about a cluster that is none, or an embedded one, and its own image.
//!
//! That it runs in pods is proven on a real cluster, in `dev/proof`.

use crate::harbour::Harbour;

#[test]
fn status_says_what_is_wrong() {
    let harbour = Harbour::new();
    harbour.up();
    insta::assert_snapshot!(harbour.operon(&["status", "--local", "."]), @r"
    cluster     the embedded cluster of . (nobody looks after it)
    signatures  not verified, unless `operon up` is started with `--signature-policy`
    CRDs        8 of 8 served
    catalogs    harbour/chandler READY
    operators   2 Succeeded

    all is well
    [exit code 0]
    ");
    harbour.write(
        "more/more.yaml",
        "\
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: { name: lost, namespace: harbour }
spec: { sourceType: grpc }
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: { name: ghost, namespace: harbour }
spec: { name: ghost, channel: stable, source: chandler, sourceNamespace: harbour }
",
    );
    harbour.operon(&["apply", "-f", "more/more.yaml"]);
    harbour.up();
    let told = harbour.operon(&["status"]);
    for part in [
        "✕ catalog harbour/lost cannot be read: image and address unset",
        "✕ Subscription harbour/ghost has no answer: ",
        "help: operon plan -n harbour",
        "2 things are wrong\n[exit code 2]",
    ] {
        assert!(told.contains(part), "`{part}` is missing in: {told}");
    }
    let json = harbour.operon(&["status", "-o", "json"]);
    assert!(json.contains("\"healthy\": false") && json.contains("\"Succeeded\": 2"), "{json}");
}

#[test]
fn what_cannot_be_done_is_said_with_a_way_out() {
    let harbour = Harbour::new();
    harbour.up();
    for (arguments, parts) in [
        (
            &["install"][..],
            &["error: no cluster was found", "set `KUBECONFIG`", "[exit code 1]"][..],
        ),
        (
            &["install", "--timeout", "soon"],
            &["`soon` is no duration such as `90s`", "[exit code 2]"],
        ),
        (&["install", "--replicas", "0"], &["[exit code 1]"]),
        (&["manifests", "--tenant", "a.b"], &["`a.b` is not a valid namespace", "[exit code 1]"]),
        (
            &["uninstall", "--self"],
            &["the embedded cluster of . has no controller", "--kubeconfig", "[exit code 1]"],
        ),
        (&["uninstall"], &["<NAME>", "[exit code 2]"]),
        (&["uninstall", "tide", "--self"], &["cannot be used with", "[exit code 2]"]),
        (&["uninstall", "tide", "--with-crds"], &["cannot be used with", "[exit code 2]"]),
        (&["uninstall", "--with-crds"], &["--self", "[exit code 2]"]),
        (&["image", "--program", "cluster.yaml"], &["it is no program of Linux", "[exit code 1]"]),
        (&["image", "--program", "nowhere"], &["cannot read `nowhere`", "[exit code 1]"]),
    ] {
        let told = harbour.operon(arguments);
        for part in parts {
            assert!(told.contains(part), "{arguments:?}: `{part}` is missing in: {told}");
        }
    }
}

/// The program of the tests is linked as usual.
#[test]
fn a_program_that_needs_libraries_makes_no_image() {
    let harbour = Harbour::new();
    let told = harbour.operon(&["image", "-t", "oci:layout"]);
    for part in ["it needs shared libraries", "hint: cargo xtask image", "[exit code 1]"] {
        assert!(told.contains(part), "`{part}` is missing in: {told}");
    }
    assert!(!harbour.path("layout").exists());
}

#[test]
fn what_is_stuck_is_a_problem() {
    let harbour = Harbour::new();
    let group = "targetNamespaces: [harbour]\n";
    let text = std::fs::read_to_string(harbour.path("cluster.yaml")).expect("manifests");
    assert!(text.contains(group));
    let attenuated = format!("{group}  serviceAccountName: nobody\n");
    harbour.write("cluster.yaml", &text.replace(group, &attenuated));
    harbour.up();
    let told = harbour.operon(&["status", "--local", "."]);
    assert!(told.ends_with("[exit code 2]"), "{told}");
    assert!(!told.contains("all is well"), "{told}");
    for problem in [
        "OperatorGroup harbour/harbour: operators are not installed, repaired or removed: please make sure the \
         service account exists. sa=nobody",
        "is blocked: please make sure the service account exists. sa=nobody",
    ] {
        assert!(told.contains(problem), "`{problem}` is missing:\n{told}");
    }
    let help = "operon describe operatorgroup harbour -n harbour";
    assert!(told.contains(help), "{told}");
    let help = harbour.operon(&help.split(' ').skip(1).collect::<Vec<_>>());
    assert!(help.ends_with("[exit code 0]"), "{help}");
}
