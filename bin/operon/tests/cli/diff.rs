//! `operon catalog diff`: what changed and for whom; files, order and notation play no part.

use crate::support::operon;

const BEFORE: &str = r#"
{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.2.0","replaces":"etcd.v1.1.0","skips":["etcd.v1.1.1"]},{"name":"etcd.v1.1.1"},{"name":"etcd.v1.1.0","replaces":"etcd.v1.0.0"},{"name":"etcd.v1.0.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.2.0","image":"q.io/etcd:1.2.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.2.0"}},{"type":"olm.gvk","value":{"group":"etcd.io","version":"v1","kind":"EtcdCluster"}}],"relatedImages":[{"name":"operator","image":"q.io/operator:1"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.1","image":"q.io/etcd:1.1.1","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.1"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.0","image":"q.io/etcd:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","image":"q.io/etcd:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}}]}
{"schema":"olm.package","name":"left","defaultChannel":"c"}
{"schema":"olm.channel","package":"left","name":"c","entries":[{"name":"left.v1.0.0"}]}
{"schema":"olm.bundle","package":"left","name":"left.v1.0.0","image":"q.io/left:1","properties":[{"type":"olm.package","value":{"packageName":"left","version":"1.0.0"}}]}
"#;

const AFTER: &str = r#"
{"schema":"olm.package","name":"etcd","defaultChannel":"stable","description":"A store"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.3.0","replaces":"etcd.v1.2.0"},{"name":"etcd.v1.2.0","replaces":"etcd.v1.1.0","skipRange":"<1.0.0"},{"name":"etcd.v1.1.0","replaces":"etcd.v1.0.0"},{"name":"etcd.v1.0.0"}]}
{"schema":"olm.channel","package":"etcd","name":"fast","entries":[{"name":"etcd.v1.3.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.3.0","image":"q.io/etcd:1.3.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.3.0"}},{"type":"olm.gvk","value":{"group":"etcd.io","version":"v2","kind":"EtcdCluster"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.2.0","image":"q.io/etcd:fixed","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.2.0"}},{"type":"olm.gvk","value":{"group":"etcd.io","version":"v1","kind":"EtcdCluster"}}],"relatedImages":[{"name":"operator","image":"q.io/operator:2"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.0","image":"q.io/etcd:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","image":"q.io/etcd:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}}]}
{"schema":"olm.deprecations","package":"etcd","entries":[{"reference":{"schema":"olm.bundle","name":"etcd.v1.1.0"},"message":"loses data"}]}
{"schema":"olm.package","name":"new","defaultChannel":"c"}
{"schema":"olm.channel","package":"new","name":"c","entries":[{"name":"new.v1.0.0"}]}
{"schema":"olm.bundle","package":"new","name":"new.v1.0.0","image":"q.io/new:1","properties":[{"type":"olm.package","value":{"packageName":"new","version":"1.0.0"}}]}
"#;

/// The package `left` of the first catalog, in another notation and order.
const LEFT_AS_YAML: &str = "
schema: olm.bundle
name: left.v1.0.0
package: left
properties:
- value: {version: 1.0.0, packageName: left}
  type: olm.package
image: q.io/left:1
---
schema: olm.channel
entries:
- name: left.v1.0.0
package: left
name: c
";

fn diff(arguments: &[&str]) -> String {
    let files = [("before/catalog.json", BEFORE), ("after/catalog.json", AFTER)];
    operon(&files, &[&["diff", "before", "after"], arguments].concat())
}

#[test]
fn a_report_says_what_changed_and_for_whom() {
    insta::assert_snapshot!(diff(&[]), @r"
    - package left: 1 channel, 1 bundle, default channel `c`
    + package new: 1 channel, 1 bundle, default channel `c`
    ~ package etcd
        ~ description: none → `A store`
        - bundle etcd.v1.1.1 (1.1.1)
        + bundle etcd.v1.3.0 (1.3.0)
        ~ bundle etcd.v1.1.0
            ! deprecated: loses data
        ~ bundle etcd.v1.2.0
            ~ image: `q.io/etcd:1.2.0` → `q.io/etcd:fixed`
            - related image operator q.io/operator:1
            + related image operator q.io/operator:2
        + channel fast (head etcd.v1.3.0, 1 version)
        ~ channel stable
            ~ head: etcd.v1.2.0 → etcd.v1.3.0
            - entry etcd.v1.1.1
            + entry etcd.v1.3.0 (replaces etcd.v1.2.0)
            ~ entry etcd.v1.2.0: no longer skips etcd.v1.1.1; skipRange none → `<1.0.0`
            - the head no longer provides EtcdCluster.v1 (etcd.io)
            + the head now provides EtcdCluster.v2 (etcd.io)
        ~ for users of channel stable
            ! on 1.1.0: now deprecated: loses data
            ! on 1.1.1: stranded: updates no longer lead to the head
            ~ on 1.0.0, 1.1.0: updates end at etcd.v1.3.0 (before: etcd.v1.2.0)
            - on 1.1.1: no longer in the channel
            - on 1.1.1: no update is offered any more
            + on 1.2.0: next update etcd.v1.3.0 (before: none)

    + added  - removed  ~ changed  ! needs attention
    1 package added, 1 package removed, 1 package changed: 1 channel added, 1 bundle added, 1 bundle removed, 2 bundles changed, 1 head moved, 1 entry with other edges, 1 version stranded, 1 deprecation added
    [exit code 1]
    ");
}

#[test]
fn one_package_can_be_compared_and_the_exit_code_be_zero() {
    insta::assert_snapshot!(diff(&["--package", "left", "--exit-zero"]), @r"
    - package left: 1 channel, 1 bundle, default channel `c`

    + added  - removed  ~ changed  ! needs attention
    1 package removed
    [exit code 0]
    ");
    insta::assert_snapshot!(diff(&["--package", "lefd"]), @r"
    error: there is no package `lefd` in either catalog
    hint: did you mean `left`?
    [exit code 1]
    ");
}

#[test]
fn files_order_and_notation_play_no_part() {
    let lines: Vec<&str> = BEFORE.lines().filter(|line| !line.is_empty()).collect();
    let (etcd, left) = lines.split_at(6);
    let turned: Vec<&str> = etcd.iter().rev().copied().collect();
    let turned = turned.join("\n");
    let package = left[0];
    let files = [
        ("before/catalog.json", BEFORE),
        ("after/etcd/catalog.json", turned.as_str()),
        ("after/left/package.json", package),
        ("after/left/rest.yaml", LEFT_AS_YAML),
    ];
    insta::assert_snapshot!(operon(&files, &["diff", "before", "after"]), @r"
    no differences
    [exit code 0]
    ");
}

#[test]
fn programs_get_everything() {
    insta::assert_snapshot!(diff(&["--package", "etcd", "-o", "json"]), @r#"
    {
      "same": false,
      "summary": "1 package changed: 1 channel added, 1 bundle added, 1 bundle removed, 2 bundles changed, 1 head moved, 1 entry with other edges, 1 version stranded, 1 deprecation added",
      "counts": {
        "packagesAdded": 0,
        "packagesRemoved": 0,
        "packagesChanged": 1,
        "channelsAdded": 1,
        "channelsRemoved": 0,
        "bundlesAdded": 1,
        "bundlesRemoved": 1,
        "bundlesChanged": 2,
        "headsMoved": 1,
        "entriesChanged": 1,
        "versionsStranded": 1,
        "versionsFreed": 0,
        "newlyDeprecated": 1,
        "othersAdded": 0,
        "othersRemoved": 0
      },
      "packagesAdded": [],
      "packagesRemoved": [],
      "packagesChanged": [
        {
          "name": "etcd",
          "defaultChannel": null,
          "description": {
            "before": "",
            "after": "A store"
          },
          "icon": null,
          "deprecation": null,
          "channelsAdded": [
            {
              "name": "fast",
              "head": "etcd.v1.3.0",
              "entries": [
                "etcd.v1.3.0"
              ]
            }
          ],
          "channelsRemoved": [],
          "channelsChanged": [
            {
              "name": "stable",
              "head": {
                "before": "etcd.v1.2.0",
                "after": "etcd.v1.3.0"
              },
              "deprecation": null,
              "entriesAdded": [
                {
                  "name": "etcd.v1.3.0",
                  "replaces": "etcd.v1.2.0",
                  "skips": [],
                  "skipRange": null
                }
              ],
              "entriesRemoved": [
                {
                  "name": "etcd.v1.1.1",
                  "replaces": null,
                  "skips": [],
                  "skipRange": null
                }
              ],
              "entriesChanged": [
                {
                  "name": "etcd.v1.2.0",
                  "replaces": null,
                  "skipsAdded": [],
                  "skipsRemoved": [
                    "etcd.v1.1.1"
                  ],
                  "skipRange": {
                    "before": null,
                    "after": "<1.0.0"
                  }
                }
              ],
              "apisGained": [
                "EtcdCluster.v2 (etcd.io)"
              ],
              "apisLost": [
                "EtcdCluster.v1 (etcd.io)"
              ]
            }
          ],
          "bundlesAdded": [
            {
              "name": "etcd.v1.3.0",
              "version": "1.3.0",
              "image": "q.io/etcd:1.3.0"
            }
          ],
          "bundlesRemoved": [
            {
              "name": "etcd.v1.1.1",
              "version": "1.1.1",
              "image": "q.io/etcd:1.1.1"
            }
          ],
          "bundlesChanged": [
            {
              "name": "etcd.v1.1.0",
              "texts": [],
              "propertiesAdded": [],
              "propertiesRemoved": [],
              "relatedImagesAdded": [],
              "relatedImagesRemoved": [],
              "objectCount": null,
              "metadataCount": null,
              "deprecation": {
                "before": null,
                "after": "loses data"
              }
            },
            {
              "name": "etcd.v1.2.0",
              "texts": [
                {
                  "field": "image",
                  "before": "q.io/etcd:1.2.0",
                  "after": "q.io/etcd:fixed"
                }
              ],
              "propertiesAdded": [],
              "propertiesRemoved": [],
              "relatedImagesAdded": [
                {
                  "name": "operator",
                  "image": "q.io/operator:2"
                }
              ],
              "relatedImagesRemoved": [
                {
                  "name": "operator",
                  "image": "q.io/operator:1"
                }
              ],
              "objectCount": null,
              "metadataCount": null,
              "deprecation": null
            }
          ],
          "users": [
            {
              "channel": "stable",
              "rules": "v0",
              "complete": true,
              "changes": [
                {
                  "name": "etcd.v1.0.0",
                  "version": "1.0.0",
                  "next": null,
                  "end": {
                    "before": "etcd.v1.2.0",
                    "after": "etcd.v1.3.0"
                  },
                  "stranding": null,
                  "deprecated": null,
                  "removed": false
                },
                {
                  "name": "etcd.v1.1.0",
                  "version": "1.1.0",
                  "next": null,
                  "end": {
                    "before": "etcd.v1.2.0",
                    "after": "etcd.v1.3.0"
                  },
                  "stranding": null,
                  "deprecated": "loses data",
                  "removed": false
                },
                {
                  "name": "etcd.v1.1.1",
                  "version": "1.1.1",
                  "next": {
                    "before": "etcd.v1.2.0",
                    "after": null
                  },
                  "end": {
                    "before": "etcd.v1.2.0",
                    "after": "etcd.v1.1.1"
                  },
                  "stranding": "stranded",
                  "deprecated": null,
                  "removed": true
                },
                {
                  "name": "etcd.v1.2.0",
                  "version": "1.2.0",
                  "next": {
                    "before": null,
                    "after": "etcd.v1.3.0"
                  },
                  "end": {
                    "before": "etcd.v1.2.0",
                    "after": "etcd.v1.3.0"
                  },
                  "stranding": null,
                  "deprecated": null,
                  "removed": false
                }
              ]
            }
          ]
        }
      ],
      "othersAdded": [],
      "othersRemoved": []
    }
    [exit code 1]
    "#);
}
