//! Plans for programs and as pictures.

use crate::plan::harbour;

#[test]
fn programs_get_the_plan_under_stable_names() {
    insta::assert_snapshot!(harbour(&["plan"], &["-o", "json"]), @r#"
    {
      "namespace": "port",
      "semantics": "documented",
      "catalogs": [
        {
          "namespace": "olm",
          "name": "harbour",
          "priority": 0,
          "available": true,
          "digest": "44405fe4d8895716961b8dd2e331a08c90a73d2915db9c2dcd78d87297e593ab",
          "path": "examples/catalog",
          "reason": null
        }
      ],
      "remarks": [],
      "additions": [
        {
          "name": "beacon.v1.2.1",
          "package": "beacon",
          "version": "1.2.1",
          "channel": "stable",
          "catalog": "harbour",
          "catalogNamespace": "olm",
          "change": "upgrade",
          "updates": "beacon.v1.1.0",
          "from": "1.1.0",
          "replaces": "beacon.v1.1.0",
          "image": "registry.example.com/harbour/beacon-bundle:v1.2.1",
          "waitsForApproval": false,
          "why": "replaces 1.1.0",
          "reasons": [
            {
              "kind": "requested",
              "request": "beacon"
            }
          ]
        },
        {
          "name": "tide.v2.0.0",
          "package": "tide",
          "version": "2.0.0",
          "channel": "stable",
          "catalog": "harbour",
          "catalogNamespace": "olm",
          "change": "upgrade",
          "updates": "tide.v1.4.0",
          "from": "1.4.0",
          "replaces": "tide.v1.4.0",
          "image": "registry.example.com/harbour/tide-bundle:v2.0.0",
          "waitsForApproval": false,
          "why": "replaces 1.4.0",
          "reasons": [
            {
              "kind": "needed",
              "by": "beacon.v1.2.1",
              "requirement": "API Tide.v1 (tide.example.com)",
              "message": ""
            },
            {
              "kind": "requested",
              "request": "tide"
            }
          ]
        }
      ],
      "kept": [
        {
          "name": "pilot.v0.3.0",
          "package": "",
          "version": "0.3.0",
          "channel": "",
          "catalog": null,
          "catalogNamespace": null,
          "why": "runs without a Subscription",
          "reasons": [
            {
              "kind": "freestanding"
            }
          ]
        }
      ],
      "plans": [],
      "blocked": [],
      "failed": [],
      "inProgress": [],
      "problems": [],
      "notices": [],
      "conflicts": [],
      "generations": [],
      "summary": {
        "install": 0,
        "upgrade": 2,
        "keep": 1,
        "waiting": 0,
        "conflicts": 0,
        "blocked": 0,
        "failed": 0,
        "refusals": 0,
        "problems": 0,
        "text": "2 to upgrade, 1 kept. Nothing needs approval."
      }
    }
    [exit code 2]
    "#);
    let yaml = harbour(&["plan"], &["-o", "yaml", "--to-fixpoint"]);
    for name in ["additions:", "conflicts:", "generations:", "kept:", "plans:", "summary:"] {
        assert!(yaml.lines().any(|line| line.starts_with(name)), "{name} in {yaml}");
    }
    let conflict = harbour(&["plan"], &["-o", "json", "--cluster", "examples/cluster/buoy.yaml"]);
    for name in ["\"headline\"", "\"because\"", "\"waysOut\"", "\"requests\""] {
        assert!(conflict.contains(name), "{name} in {conflict}");
    }
}

#[test]
fn a_plan_is_drawn() {
    insta::assert_snapshot!(harbour(&["plan"], &["--subscribe", "anchor", "-o", "mermaid"]), @r#"
    graph LR
      classDef install fill:#D7F2DD,stroke:#1A7F37,color:#1F2328
      classDef upgrade fill:#D6EBF7,stroke:#0072B2,color:#1F2328
      classDef keep fill:#F0F1F3,stroke:#6E7781,color:#1F2328
      classDef waits fill:#FFF4D9,stroke:#B87A00,color:#1F2328
      classDef subscription fill:#FFFFFF,stroke:#6E7781,color:#1F2328
      classDef unanswered fill:#FBE4D8,stroke:#D55E00,color:#1F2328,stroke-width:3px
      s0(["Subscription anchor"]):::subscription
      s1(["Subscription beacon"]):::subscription
      s2(["Subscription tide"]):::subscription
      o0["anchor<br/>+ 0.9.2"]:::install
      o1["beacon<br/>1.1.0 → 1.2.1"]:::upgrade
      o2["tide<br/>1.4.0 → 2.0.0"]:::upgrade
      o3["pilot.v0.3.0<br/>= 0.3.0"]:::keep
      s0 --> o0
      s1 --> o1
      o0 -->|"package tide #62;=2.0.0"| o2
      o1 -->|"API Tide.v1 (tide.example.com)"| o2
      s2 --> o2
    [exit code 2]
    "#);
}
