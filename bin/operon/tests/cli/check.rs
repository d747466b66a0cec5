//! `operon catalog check`: one of each thing that can be wrong, and nothing said about the rest.

use crate::support::{directory_of, operon, run};

/// Makes a package with one channel whose entries follow each other, and its bundles.
///
/// A bundle is its version and its properties beside `olm.package`, which are written as
/// `type value` with `;` between them.
fn package(name: &str, bundles: &[(&str, &str)]) -> String {
    let mut entries = Vec::new();
    let mut text = String::new();
    let mut before = String::new();
    for (version, properties) in bundles {
        entries.push(format!(r#"{{"name":"{name}.v{version}"{before}}}"#));
        before = format!(r#","replaces":"{name}.v{version}""#);
        text.push_str(&bundle(name, version, properties));
    }
    channel(name, "stable", &entries.join(",")) + &text
}

fn channel(package: &str, name: &str, entries: &str) -> String {
    format!(
        r#"{{"schema":"olm.package","name":"{package}","defaultChannel":"{name}"}}
{{"schema":"olm.channel","package":"{package}","name":"{name}","entries":[{entries}]}}
"#
    )
}

fn bundle(package: &str, version: &str, properties: &str) -> String {
    let mut listed = vec![format!(
        r#"{{"type":"olm.package","value":{{"packageName":"{package}","version":"{version}"}}}}"#
    )];
    for property in properties.split(';').map(str::trim).filter(|text| !text.is_empty()) {
        let (kind, value) = property.split_once(' ').expect("a type and a value");
        let kind = format!("olm.{kind}");
        let value = match (kind.as_str(), value.split_once(':')) {
            ("olm.gvk" | "olm.gvk.required", _) => {
                format!(r#"{{"group":"sea.io","kind":"{value}","version":"v1"}}"#)
            }
            ("olm.package.required", Some((package, range))) => {
                format!(r#"{{"packageName":"{package}","versionRange":"{range}"}}"#)
            }
            (_, _) => value.to_owned(),
        };
        listed.push(format!(r#"{{"type":"{kind}","value":{value}}}"#));
    }
    let listed = listed.join(",");
    format!(
        r#"{{"schema":"olm.bundle","package":"{package}","name":"{package}.v{version}","image":"q.io/{package}:{version}","properties":[{listed}]}}
"#
    )
}

/// A harbour in which much is missing.
fn harbour() -> String {
    [
        package("kettle", &[("1.0.0", "gvk Kettle"), ("1.1.0", "gvk Kettle")]),
        // Needs an API that nothing provides, until its head.
        package(
            "anchor",
            &[
                ("1.0.0", "gvk.required Rope"),
                ("1.1.0", "gvk.required Rope"),
                ("1.2.0", "gvk.required Rope"),
                ("1.3.0", ""),
            ],
        ),
        // Needs a package in a version that is not here, and one that is not here at all.
        package("barrel", &[("1.0.0", "package.required kettle:>=2.0.0")]),
        package("bucket", &[("1.0.0", "package.required well:>=1.0.0")]),
        // The head needs what another package needs in vain.
        package("crate", &[("1.0.0", ""), ("1.1.0", ""), ("1.2.0", "gvk.required Rudder")]),
        package("rudder", &[("1.0.0", "gvk Rudder; gvk.required Sail")]),
        // What it needs cannot be together.
        package(
            "dinghy",
            &[("1.0.0", "package.required kettle:>=1.1.0; package.required oar:>=1.0.0")],
        ),
        package("oar", &[("1.0.0", "package.required kettle:<1.1.0")]),
        // Marked, malformed, and one whose only provider was skipped.
        package("elder", &[("1.0.0", "deprecated {}")]),
        package("fault", &[("1.0.0", "constraint []"), ("2.0.0", "")]),
        channel("grip", "stable", r#"{"name":"grip.v1.0.0"},{"name":"grip.v1.1.0","skips":["grip.v1.0.0"]}"#),
        bundle("grip", "1.0.0", "gvk Grip"),
        bundle("grip", "1.1.0", ""),
        package("hook", &[("1.0.0", "gvk.required Grip")]),
        // A version that only a skipped one updates, and a channel with two heads.
        channel(
            "island",
            "stable",
            r#"{"name":"island.v1.0.0"},{"name":"island.v1.0.1"},{"name":"island.v1.1.1","replaces":"island.v1.0.0","skips":["island.v1.0.1"]},{"name":"island.v1.2.0","replaces":"island.v1.0.0","skips":["island.v1.1.1"]}"#,
        ),
        ["1.0.0", "1.0.1", "1.1.1", "1.2.0"].map(|version| bundle("island", version, "")).concat(),
        channel("jetty", "stable", r#"{"name":"jetty.v1.0.0"},{"name":"jetty.v2.0.0"}"#),
        ["1.0.0", "2.0.0"].map(|version| bundle("jetty", version, "")).concat(),
    ]
    .concat()
}

/// Durations differ from run to run.
fn steady(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once(" (") {
        Some((before, after)) if after.ends_with(" ms)") => format!("{before} (… ms)"),
        Some(_) | None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn check(catalog: &str, arguments: &[&str]) -> String {
    let all = [&["check", "catalog"], arguments].concat();
    steady(&operon(&[("catalog/catalog.json", catalog)], &all))
}

#[test]
fn each_reason_is_told_once() {
    insta::assert_snapshot!(check(&harbour(), &[]), @r"
    cannot be installed
      anchor 1.0.0 – 1.2.0 (3 versions): needs API Rope.v1 (sea.io), which nothing here provides
      barrel 1.0.0: needs package kettle >=2.0.0, and only 1.0.0 and 1.1.0 are here
      bucket 1.0.0: needs package well >=1.0.0, and there is no such package here
      crate 1.2.0: needs API Rudder.v1 (sea.io), whose provider rudder needs API Sail.v1 (sea.io), which nothing here provides
      dinghy 1.0.0: cannot be together with what it needs: it needs package kettle >=1.1.0; it needs package oar >=1.0.0; oar.v1.0.0 needs package kettle <1.1.0; there can be only one version of kettle
      elder 1.0.0: is marked as one that must not be installed (olm.deprecated)
      fault 1.0.0: has a malformed property: parse olm.constraint: json: cannot unmarshal array into Go value of type constraints.Constraint
      hook 1.0.0: needs API Grip.v1 (sea.io), and no channel offers grip.v1.0.0
      rudder 1.0.0: needs API Sail.v1 (sea.io), which nothing here provides

    cannot get to the head of their channel
      anchor 1.0.0, 1.1.0 in channel stable: cannot be updated to 1.1.0, 1.2.0, each of which needs API Rope.v1 (sea.io), which nothing here provides
      crate 1.0.0, 1.1.0 in channel stable: cannot be updated to 1.2.0, which needs API Rudder.v1 (sea.io), whose provider rudder needs API Sail.v1 (sea.io), which nothing here provides
      island 1.0.1 in channel stable: nothing updates it
      jetty 1.0.0, 2.0.0 in channel stable: the channel has no single head

    26 versions in 14 channels of 14 packages: 11 cannot be installed (5 for want of an API that nothing here provides; another catalog or the cluster may), 7 cannot get to the head of a channel (… ms)
    warning: this catalog has 1 error; what is sound is shown
    hint: operon catalog validate catalog
    [exit code 1]
    ");
}

#[test]
fn a_malformed_bundle_reaches_further_upstream() {
    let catalog = [
        package("fault", &[("1.0.0", "gvk Fault; constraint []")]),
        package("victim", &[("1.0.0", "gvk.required Fault"), ("1.1.0", "")]),
        package("twice", &[("1.0.0", "gvk Twice; gvk Twice")]),
    ]
    .concat();
    insta::assert_snapshot!(check(&catalog, &[]), @r"
    cannot be installed
      fault 1.0.0: has a malformed property: parse olm.constraint: json: cannot unmarshal array into Go value of type constraints.Constraint
      victim 1.0.0: needs API Fault.v1 (sea.io), whose provider fault has a malformed property: parse olm.constraint: json: cannot unmarshal array into Go value of type constraints.Constraint

    4 versions in 3 channels of 3 packages: 2 cannot be installed (… ms)
    [exit code 1]
    ");
    insta::assert_snapshot!(check(&catalog, &["--semantics", "upstream"]), @r"
    cannot be installed
      fault 1.0.0: has a malformed property: parse olm.constraint: json: cannot unmarshal array into Go value of type constraints.Constraint
      twice 1.0.0: provides API Twice.v1 (sea.io) twice, and so excludes itself
      victim 1.0.0: leads to fault.v1.0.0, which stops the whole namespace with a malformed property: parse olm.constraint: json: cannot unmarshal array into Go value of type constraints.Constraint

    cannot get to the head of their channel
      victim 1.0.0 in channel stable: cannot be updated, because it leads to fault.v1.0.0, which stops the whole namespace with a malformed property: parse olm.constraint: json: cannot unmarshal array into Go value of type constraints.Constraint

    4 versions in 3 channels of 3 packages: 3 cannot be installed, 1 cannot get to the head of a channel (… ms)
    [exit code 1]
    ");
}

#[test]
fn catalogs_see_each_other() {
    let front = package("crate", &[("1.0.0", "gvk.required Rudder"), ("1.1.0", "")]);
    let back = package("rudder", &[("1.0.0", "gvk Rudder")]);
    let directory = directory_of(&[("front/c.json", &front), ("back/c.json", &back)]);
    let check = |arguments: &[&str]| steady(&run(directory.path(), arguments));
    insta::assert_snapshot!(check(&["check", "front"]), @r"
    cannot be installed
      crate 1.0.0: needs API Rudder.v1 (sea.io), which nothing here provides

    2 versions in 1 channel of 1 package: 1 cannot be installed (1 for want of an API that nothing here provides; another catalog or the cluster may) (… ms)
    [exit code 1]
    ");
    insta::assert_snapshot!(check(&["check", "front", "back"]), @r"
    3 versions in 2 channels of 2 packages: all can be installed and get to the head of their channels (… ms)
    [exit code 0]
    ");
    insta::assert_snapshot!(check(&["check", "front", "front"]), @r"
    error: `front` is given twice
    hint: name each catalog once
    [exit code 1]
    ");
    insta::assert_snapshot!(check(&["check", "front", "back", "--package", "ruder"]), @r"
    error: no package `ruder` here
    hint: did you mean `rudder`?
    [exit code 1]
    ");
}

#[test]
fn programs_get_everything() {
    let arguments = ["--package", "crate", "--package", "dinghy", "-o", "json"];
    insta::assert_snapshot!(check(&harbour(), &arguments), @r#"
    {
      "semantics": "documented",
      "catalogs": [
        "catalog"
      ],
      "summary": {
        "packages": 2,
        "channels": 2,
        "versions": 4,
        "notInstallable": 2,
        "missingApi": 1,
        "notReachingHead": 2,
        "undecided": 0
      },
      "notInstallable": [
        {
          "package": "crate",
          "catalog": "catalog",
          "channels": [],
          "versions": "1.2.0",
          "bundles": [
            "crate.v1.2.0"
          ],
          "reason": "needs API Rudder.v1 (sea.io), whose provider rudder needs API Sail.v1 (sea.io), which nothing here provides",
          "missingApi": true,
          "obstacle": {
            "kind": "hindered",
            "need": "API Rudder.v1 (sea.io)",
            "message": null,
            "by": [
              {
                "package": "rudder",
                "bundle": "rudder.v1.0.0",
                "obstacle": {
                  "kind": "absent",
                  "need": "API Sail.v1 (sea.io)",
                  "message": null,
                  "absence": "nothingProvides",
                  "here": []
                }
              }
            ],
            "more": 0
          }
        },
        {
          "package": "dinghy",
          "catalog": "catalog",
          "channels": [],
          "versions": "1.0.0",
          "bundles": [
            "dinghy.v1.0.0"
          ],
          "reason": "cannot be together with what it needs: it needs package kettle >=1.1.0; it needs package oar >=1.0.0; oar.v1.0.0 needs package kettle <1.1.0; there can be only one version of kettle",
          "missingApi": false,
          "obstacle": {
            "kind": "clash",
            "bundle": "dinghy.v1.0.0",
            "clauses": [
              {
                "kind": "needs",
                "bundles": [
                  "dinghy.v1.0.0"
                ],
                "phrase": "needs package kettle >=1.1.0"
              },
              {
                "kind": "needs",
                "bundles": [
                  "dinghy.v1.0.0"
                ],
                "phrase": "needs package oar >=1.0.0"
              },
              {
                "kind": "needs",
                "bundles": [
                  "oar.v1.0.0"
                ],
                "phrase": "needs package kettle <1.1.0"
              },
              {
                "kind": "oneVersion",
                "bundles": [],
                "phrase": "there can be only one version of kettle"
              }
            ]
          }
        }
      ],
      "notReachingHead": [
        {
          "package": "crate",
          "catalog": "catalog",
          "channels": [
            "stable"
          ],
          "versions": "1.0.0, 1.1.0",
          "bundles": [
            "crate.v1.0.0",
            "crate.v1.1.0"
          ],
          "reason": "cannot be updated to 1.2.0, which needs API Rudder.v1 (sea.io), whose provider rudder needs API Sail.v1 (sea.io), which nothing here provides",
          "missingApi": true,
          "obstacle": {
            "kind": "hindered",
            "need": "API Rudder.v1 (sea.io)",
            "message": null,
            "by": [
              {
                "package": "rudder",
                "bundle": "rudder.v1.0.0",
                "obstacle": {
                  "kind": "absent",
                  "need": "API Sail.v1 (sea.io)",
                  "message": null,
                  "absence": "nothingProvides",
                  "here": []
                }
              }
            ],
            "more": 0
          }
        }
      ],
      "packages": [
        {
          "package": "crate",
          "channels": [
            {
              "catalog": "catalog",
              "channel": "stable",
              "default": true,
              "head": "crate.v1.2.0",
              "entries": [
                {
                  "name": "crate.v1.0.0",
                  "version": "1.0.0",
                  "installable": true,
                  "reason": null,
                  "update": {
                    "stepsToHead": null,
                    "endsAt": "crate.v1.1.0",
                    "because": "blocked",
                    "blockedUpdate": "crate.v1.2.0"
                  }
                },
                {
                  "name": "crate.v1.1.0",
                  "version": "1.1.0",
                  "installable": true,
                  "reason": null,
                  "update": {
                    "stepsToHead": null,
                    "endsAt": "crate.v1.1.0",
                    "because": "blocked",
                    "blockedUpdate": "crate.v1.2.0"
                  }
                },
                {
                  "name": "crate.v1.2.0",
                  "version": "1.2.0",
                  "installable": false,
                  "reason": "needs API Rudder.v1 (sea.io), whose provider rudder needs API Sail.v1 (sea.io), which nothing here provides",
                  "update": {
                    "stepsToHead": 0,
                    "endsAt": null,
                    "because": null,
                    "blockedUpdate": null
                  }
                }
              ]
            }
          ]
        },
        {
          "package": "dinghy",
          "channels": [
            {
              "catalog": "catalog",
              "channel": "stable",
              "default": true,
              "head": "dinghy.v1.0.0",
              "entries": [
                {
                  "name": "dinghy.v1.0.0",
                  "version": "1.0.0",
                  "installable": false,
                  "reason": "cannot be together with what it needs: it needs package kettle >=1.1.0; it needs package oar >=1.0.0; oar.v1.0.0 needs package kettle <1.1.0; there can be only one version of kettle",
                  "update": {
                    "stepsToHead": 0,
                    "endsAt": null,
                    "because": null,
                    "blockedUpdate": null
                  }
                }
              ]
            }
          ]
        }
      ]
    }
    warning: this catalog has 1 error; what is sound is shown
    hint: operon catalog validate catalog
    [exit code 1]
    "#);
}
