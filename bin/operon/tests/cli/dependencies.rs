//! Dependencies through `olm.constraint`, as the commands around running operators see them.

use crate::harbour::Harbour;

/// An operator without a Subscription that needs others through constraints, one of them malformed.
const STRAY: &str = r#"
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: stray.v1.0.0
  namespace: harbour
  annotations:
    operatorframework.io/properties: |
      {"properties":[
        {"type":"olm.constraint","value":{"package":{"packageName":"tide","versionRange":">=1.1.0"}}},
        {"type":"olm.constraint","value":{"any":{"constraints":[
          {"package":{"packageName":"ghost","versionRange":">=1.0.0"}},
          {"all":{"constraints":[
            {"gvk":{"group":"tide.example.com","version":"v1","kind":"Tide"}},
            {"package":{"packageName":"beacon","versionRange":">=1.0.0"}},
            {"not":{"constraints":[{"package":{"packageName":"ghost","versionRange":">=0.0.0"}}]}}]}}]}}},
        {"type":"olm.constraint","value":{"not":{"constraints":[{"package":{"packageName":"tide","versionRange":"<1.1.0"}}]}}},
        {"type":"olm.constraint","value":{"package":{"packageName":"tide","versionRange":"^1"}}}
      ]}
spec:
  displayName: Stray
  version: 1.0.0
  install: { strategy: deployment, spec: { deployments: [] } }
"#;

/// Returns the harbour with tide 1.1.0 and an operator that needs it through constraints.
fn harbour_with_stray() -> Harbour {
    let harbour = Harbour::new();
    harbour.up();
    harbour.unmark("catalog/tide.yaml", "#1 ");
    harbour.up();
    harbour.write("more/stray.yaml", STRAY);
    let applied = harbour.operon(&["apply", "-f", "more/stray.yaml"]);
    assert!(applied.ends_with("[exit code 0]"), "{applied}");
    harbour
}

#[test]
fn constraints_are_dependencies() {
    let harbour = harbour_with_stray();
    let tree = harbour.operon(&["tree"]);
    let compound = "needs package ghost >=1.0.0 or (API Tide.v1 (tide.example.com) and package beacon >=1.0.0 and no package ghost >=0.0.0):\n";
    for line in [
        "needs package tide >=1.1.0: tide 1.1.0 · Succeeded · came along\n",
        "needs no package tide <1.1.0: met\n",
        compound,
        "✗ stray.v1.0.0 requires olm.constraint",
    ] {
        assert!(tree.contains(line), "{line:?} is not in\n{tree}");
    }
    let (_, below) = tree.split_once(compound).expect("it was found");
    let providers: Vec<&str> = below.lines().take(2).collect();
    assert!(providers[0].contains("├─ beacon 1.0.0"), "{tree}");
    assert!(providers[1].contains("└─ tide 1.1.0"), "{tree}");
    let json = harbour.operon(&["tree", "-o", "json"]);
    assert!(json.contains("\"met\": true") && json.contains("\"met\": null"), "{json}");

    let shown = harbour.operon(&["uninstall", "tide"]);
    let harm = "stray.v1.0.0 needs tide.v1.1.0 (package tide >=1.1.0).\n";
    assert!(shown.contains(harm), "{shown}");
    assert!(shown.contains("Plan") && shown.contains(": 3 to remove."), "{shown}");
    let refused = harbour.operon(&["uninstall", "tide", "--yes"]);
    assert!(refused.ends_with("[exit code 1]"), "{refused}");
    let shown = harbour.operon(&["uninstall", "beacon"]);
    let harm = "stray.v1.0.0 needs beacon.v1.0.0 (package ghost >=1.0.0 or (API";
    assert!(shown.contains(harm), "{shown}");
}

#[test]
fn uninstall_reports_requirements_it_cannot_read() {
    let harbour = Harbour::new();
    harbour.up();
    let malformed =
        STRAY.replace("\"tide\"", "\"elsewhere\"").replace("tide.example.com", "x.example.com");
    harbour.write("more/stray.yaml", &malformed);
    harbour.operon(&["apply", "-f", "more/stray.yaml"]);
    let shown = harbour.operon(&["uninstall", "beacon"]);
    let note =
        "note: cannot tell whether others need what goes: stray.v1.0.0 requires olm.constraint";
    assert!(shown.contains(note) && shown.contains("which cannot be read: "), "{shown}");
    assert!(shown.ends_with("[exit code 2]"), "{shown}");
}

#[test]
fn rollback_warns_of_constraints_it_breaks() {
    let harbour = harbour_with_stray();
    let shown = harbour.operon(&["rollback", "tide"]);
    for danger in [
        "stray.v1.0.0 needs package tide >=1.1.0, which tide.v1.0.0 does not provide\n",
        "stray.v1.0.0 needs no package tide <1.1.0, which no longer holds with tide.v1.0.0\n",
        "stray.v1.0.0 requires olm.constraint",
    ] {
        assert!(shown.contains(danger), "{danger:?} is not in\n{shown}");
    }
    assert!(!shown.contains("beacon.v1.0.0 needs"), "{shown}");
}
