//! `operon catalog slice`: documents, files and reports of a smaller catalog that is still valid.

use crate::support::{operon, run};
use std::fs;

const OPERATORS: &str = r#"
{"schema":"olm.package","name":"app","defaultChannel":"fast","icon":{"base64data":"PHN2Zz48L3N2Zz4=","mediatype":"image/svg+xml"}}
{"schema":"olm.channel","package":"app","name":"fast","entries":[{"name":"app.v2.0.0","replaces":"app.v1.1.0"},{"name":"app.v1.1.0"}]}
{"schema":"olm.channel","package":"app","name":"slow","x-ours":true,"entries":[{"name":"app.v1.1.0","replaces":"app.v1.0.0","skips":["app.v1.0.1"]},{"name":"app.v1.0.1"},{"name":"app.v1.0.0","skipRange":"<1.0.0"}]}
{"schema":"olm.bundle","package":"app","name":"app.v2.0.0","image":"q.io/app:2.0.0","properties":[{"type":"olm.package","value":{"packageName":"app","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.1.0","image":"q.io/app:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.1.0"}},{"type":"olm.constraint","value":{"failureMessage":"a database or a store","any":{"constraints":[{"gvk":{"group":"x.io","version":"v1","kind":"Nothing"}},{"package":{"packageName":"database","versionRange":"<2.0.0"}}]}}},{"type":"olm.gvk.required","value":{"group":"none.io","version":"v1","kind":"Missing"}}],"relatedImages":[{"name":"operand","image":"q.io/operand:1"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.0.1","image":"q.io/app:1.0.1","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.1"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.0.0","image":"q.io/app:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}],"relatedImages":[{"name":"operand","image":"q.io/operand:1"}]}
{"schema":"olm.deprecations","package":"app","entries":[{"reference":{"schema":"olm.package"},"message":"unmaintained"},{"reference":{"schema":"olm.channel","name":"fast"},"message":"too fast"},{"reference":{"schema":"olm.bundle","name":"app.v1.0.0"},"message":"old"}]}
{"schema":"custom","package":"app","name":"note"}
{"schema":"custom","name":"global"}
{"schema":"olm.package","name":"database","defaultChannel":"c"}
{"schema":"olm.channel","package":"database","name":"c","entries":[{"name":"database.v2.0.0","replaces":"database.v1.0.0"},{"name":"database.v1.0.0"}]}
{"schema":"olm.bundle","package":"database","name":"database.v2.0.0","image":"q.io/database:2","properties":[{"type":"olm.package","value":{"packageName":"database","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"database","name":"database.v1.0.0","image":"q.io/database:1","properties":[{"type":"olm.package","value":{"packageName":"database","version":"1.0.0"}}]}
"#;

fn slice(arguments: &[&str]) -> String {
    operon(&[("catalog.json", OPERATORS)], &[&["slice", "catalog.json"], arguments].concat())
}

#[test]
fn documents_are_printed_with_what_they_need() {
    insta::assert_snapshot!(slice(&["--keep", "app/slow@1.1.0"]), @r#"
    {
        "schema": "olm.package",
        "name": "app",
        "defaultChannel": "slow",
        "icon": {
            "base64data": "PHN2Zz48L3N2Zz4=",
            "mediatype": "image/svg+xml"
        }
    }
    {
        "schema": "olm.channel",
        "name": "slow",
        "package": "app",
        "entries": [
            {
                "name": "app.v1.1.0",
                "replaces": "app.v1.0.0",
                "skips": [
                    "app.v1.0.1"
                ]
            }
        ],
        "x-ours": true
    }
    {
        "schema": "olm.bundle",
        "name": "app.v1.1.0",
        "package": "app",
        "image": "q.io/app:1.1.0",
        "properties": [
            {
                "type": "olm.package",
                "value": {
                    "packageName": "app",
                    "version": "1.1.0"
                }
            },
            {
                "type": "olm.constraint",
                "value": {
                    "any": {
                        "constraints": [
                            {
                                "gvk": {
                                    "group": "x.io",
                                    "kind": "Nothing",
                                    "version": "v1"
                                }
                            },
                            {
                                "package": {
                                    "packageName": "database",
                                    "versionRange": "<2.0.0"
                                }
                            }
                        ]
                    },
                    "failureMessage": "a database or a store"
                }
            },
            {
                "type": "olm.gvk.required",
                "value": {
                    "group": "none.io",
                    "kind": "Missing",
                    "version": "v1"
                }
            }
        ],
        "relatedImages": [
            {
                "name": "operand",
                "image": "q.io/operand:1"
            }
        ]
    }
    {
        "schema": "custom",
        "name": "note",
        "package": "app"
    }
    {
        "schema": "olm.deprecations",
        "package": "app",
        "entries": [
            {
                "reference": {
                    "schema": "olm.package"
                },
                "message": "unmaintained"
            }
        ]
    }
    {
        "schema": "olm.package",
        "name": "database",
        "defaultChannel": "c"
    }
    {
        "schema": "olm.channel",
        "name": "c",
        "package": "database",
        "entries": [
            {
                "name": "database.v1.0.0"
            }
        ]
    }
    {
        "schema": "olm.bundle",
        "name": "database.v1.0.0",
        "package": "database",
        "image": "q.io/database:1",
        "properties": [
            {
                "type": "olm.package",
                "value": {
                    "packageName": "database",
                    "version": "1.0.0"
                }
            }
        ]
    }
    kept 2 of 2 packages, 2 of 3 channels, 2 of 6 bundles
    dependency: database/c: `database.v1.0.0`, because `app.v1.1.0` requires a database or a store
    repair: app: the default channel is `slow` now, `fast` is not kept
    warning: nothing in this catalog provides what `app.v1.1.0` requires: the API Missing.v1 (none.io)
    left out: 1 document of other schemas that belong to no package
    3 images needed, of bundles and related images
    [exit code 0]
    "#);
}

#[test]
fn yaml_is_written_and_read_back() {
    insta::assert_snapshot!(slice(&["--keep", "database@<2.0.0", "--format", "yaml"]), @r#"
    ---
    defaultChannel: c
    name: database
    schema: olm.package
    ---
    entries:
    - name: database.v1.0.0
    name: c
    package: database
    schema: olm.channel
    ---
    image: q.io/database:1
    name: database.v1.0.0
    package: database
    properties:
    - type: olm.package
      value:
        packageName: database
        version: "1.0.0"
    schema: olm.bundle
    kept 1 of 2 packages, 1 of 3 channels, 1 of 6 bundles
    left out: 1 document of other schemas that belong to no package
    1 image needed, of bundles and related images
    [exit code 0]
    "#);
}

#[test]
fn files_are_written_once_and_slicing_them_again_changes_nothing() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let root = directory.path();
    fs::write(root.join("catalog.json"), OPERATORS).expect("written");
    let keep = ["--keep", "app/slow", "--keep", "database"];
    let slice = |arguments: &[&str]| run(root, &[&["slice"], arguments, keep.as_slice()].concat());
    insta::assert_snapshot!(slice(&["catalog.json", "--output", "mirror", "--images", "images.txt"]), @r"
    kept 2 of 2 packages, 2 of 3 channels, 5 of 6 bundles
    repair: app: the default channel is `slow` now, `fast` is not kept
    warning: nothing in this catalog provides what `app.v1.1.0` requires: the API Missing.v1 (none.io)
    left out: 1 document of other schemas that belong to no package
    6 images needed, of bundles and related images
    written: 2 files below `mirror`
    [exit code 0]
    ");
    insta::assert_snapshot!(fs::read_to_string(root.join("images.txt")).expect("images"), @r"
    q.io/app:1.0.0
    q.io/app:1.0.1
    q.io/app:1.1.0
    q.io/database:1
    q.io/database:2
    q.io/operand:1
    ");
    insta::assert_snapshot!(slice(&["catalog.json", "--output", "mirror"]), @r"
    error: `mirror` is not empty
    hint: --force writes into it, beside what is there
    [exit code 1]
    ");
    slice(&["mirror", "--output", "again"]);
    for file in ["app/catalog.json", "database/catalog.json"] {
        let [first, second] = ["mirror", "again"]
            .map(|top| fs::read_to_string(root.join(top).join(file)).expect(file));
        assert_eq!(first, second);
    }
    assert_eq!(run(root, &["validate", "mirror"]).lines().last(), Some("[exit code 0]"));
}

#[test]
fn wishes_that_cannot_be_met_are_refused() {
    insta::assert_snapshot!(slice(&["--keep", "ap"]), @r"
    error: no package `ap` in this catalog
    hint: did you mean `app`?
    [exit code 1]
    ");
    insta::assert_snapshot!(slice(&["--keep", "app/slow@1.0.1"]), @r"
    error: only skipped versions match `app/slow@1.0.1`, which nobody can install: `app.v1.0.1`; keep what updates them as well
    [exit code 1]
    ");
    insta::assert_snapshot!(slice(&["--keep", "app@^1"]), @r#"
    error: invalid value 'app@^1' for '--keep <PACKAGE[/CHANNEL][@RANGE]>': the version range cannot be read: Could not parse Range "^1": Could not parse comparator "^" in "^1"

    For more information, try '--help'.
    [exit code 2]
    "#);
}

#[test]
fn programs_get_a_report() {
    insta::assert_snapshot!(slice(&["--keep", "app/slow", "--heads-only", "--dependencies", "none", "-o", "json"]), @r#"
    {
      "kept": {
        "packages": 1,
        "channels": 1,
        "entries": 1,
        "bundles": 1
      },
      "source": {
        "packages": 2,
        "channels": 3,
        "entries": 7,
        "bundles": 6
      },
      "packages": [
        {
          "name": "app",
          "defaultChannel": "slow",
          "channels": [
            {
              "name": "slow",
              "head": "app.v1.1.0",
              "entries": [
                {
                  "name": "app.v1.1.0",
                  "cause": "asked",
                  "addedSkips": [],
                  "replaces": "app.v1.0.0"
                }
              ]
            }
          ],
          "bundles": [
            "app.v1.1.0"
          ]
        }
      ],
      "dependencies": [],
      "unmetRequirements": [],
      "repairs": [
        "app: the default channel is `slow` now, `fast` is not kept"
      ],
      "leftOut": [],
      "images": [
        "q.io/app:1.1.0",
        "q.io/operand:1"
      ]
    }
    [exit code 0]
    "#);
}
