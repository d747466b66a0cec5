//! `operon catalog matrix`: a grid, or a list where the grid is too wide, and who is left behind.

use crate::support::operon;

/// A skipped entry with an edge that OLM v0 ignores, a version it strands, and a name that is gone.
const ETCD: &str = r#"
{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.0.0","replaces":"etcd.v0.9.0"},{"name":"etcd.v1.1.0","replaces":"etcd.v1.0.0"},{"name":"etcd.v1.2.0","replaces":"etcd.v0.1.0","skips":["etcd.v1.1.0","etcd.v1.0.0"]},{"name":"etcd.v1.0.1"},{"name":"etcd.v1.1.1","skips":["etcd.v1.0.1"],"replaces":"etcd.v1.2.0"},{"name":"etcd.v1.3.0","replaces":"etcd.v1.2.0","skips":["etcd.v1.1.1"]}]}
{"schema":"olm.channel","package":"etcd","name":"old","entries":[{"name":"etcd.v1.0.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","image":"q.io/etcd:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.1","image":"q.io/etcd:1.0.1","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.1"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.0","image":"q.io/etcd:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.1","image":"q.io/etcd:1.1.1","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.1"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.2.0","image":"q.io/etcd:1.2.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.2.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.3.0","image":"q.io/etcd:1.3.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.3.0"}}]}
{"schema":"olm.deprecations","package":"etcd","entries":[{"reference":{"schema":"olm.bundle","name":"etcd.v1.3.0"},"message":"loses data"}]}
"#;

fn matrix(arguments: &[&str]) -> String {
    operon(&[("catalog/etcd.json", ETCD)], &[&["matrix", "catalog", "etcd"], arguments].concat())
}

#[test]
fn grids_mark_where_the_generations_differ_and_who_is_stranded() {
    insta::assert_snapshot!(matrix(&[]), @r"
    etcd, channel old (OLM v0)
      installed  1.0.0  ends at
      1.0.0          0  1.0.0  head

    etcd, channel old (OLM v1): the same as under OLM v0

    etcd, channel stable (OLM v0, default)
      installed  1.0.0  1.0.1  1.1.0  1.1.1  1.2.0  1.3.0  ends at
      0.1.0          .      .      .      .      1      2  1.3.0  not published  ≠ OLM v1: 1.2.0
      1.0.0          0      .      .      .      1      2  1.3.0  ≠ OLM v1: 1.2.0
      1.0.1          .      0      .      .      .      .  1.0.1  stranded  ≠ OLM v1: 1.1.1
      1.1.0          .      .      0      .      1      2  1.3.0  ≠ OLM v1: 1.2.0
      1.1.1          .      .      .      0      .      1  1.3.0  ≠ OLM v1: 1.1.1
      1.2.0          .      .      .      .      0      1  1.3.0  ≠ OLM v1: 1.2.0
      1.3.0          .      .      .      .      .      0  1.3.0  head  deprecated
      stranded: 1.0.1: nothing in channel `stable` that OLM v0 installs replaces, skips or covers `etcd.v1.0.1`; `etcd.v1.1.1` does, but is skipped or hidden, and OLM v0 ignores the edges of such entries

    etcd, channel stable (OLM v1, default)
      installed  1.0.0  1.0.1  1.1.0  1.1.1  1.2.0  1.3.0  ends at
      0.1.0          .      .      .      2      1      2  1.2.0  not published  ≠ OLM v0: 1.3.0
      0.9.0          1      .      2      3      2      3  1.2.0  not published  ≠ OLM v0: 0.9.0
      1.0.0          0      .      1      2      1      2  1.2.0  ≠ OLM v0: 1.3.0
      1.0.1          .      0      .      1      .      2  1.1.1  ≠ OLM v0: 1.0.1
      1.1.0          .      .      0      2      1      2  1.2.0  ≠ OLM v0: 1.3.0
      1.1.1          .      .      .      0      .      1  1.1.1  ≠ OLM v0: 1.3.0
      1.2.0          .      .      .      1      0      1  1.2.0  ≠ OLM v0: 1.3.0
      1.3.0          .      .      .      .      .      0  1.3.0  head  deprecated

    etcd, all channels together (OLM v1)
      installed  1.0.0  1.0.1  1.1.0  1.1.1  1.2.0  1.3.0  ends at
      0.1.0          .      .      .      2      1      2  1.2.0  not published
      0.9.0          1      .      2      3      2      3  1.2.0  not published
      1.0.0          0      .      1      2      1      2  1.2.0  head
      1.0.1          .      0      .      1      .      2  1.1.1
      1.1.0          .      .      0      2      1      2  1.2.0
      1.1.1          .      .      .      0      .      1  1.1.1
      1.2.0          .      .      .      1      0      1  1.2.0
      1.3.0          .      .      .      .      .      0  1.3.0  head  deprecated

    6 published versions: 1 stranded in some channel, 7 end differently under OLM v0 and v1
    [exit code 0]
    ");
}

#[test]
fn wide_matrices_become_lists() {
    insta::assert_snapshot!(matrix(&["--channel", "stable", "--rules", "v0", "--width", "40"]), @r"
    etcd, channel stable (OLM v0, default)
      0.1.0 → 1.2.0 (1 hop), 1.3.0 (2); ends at 1.3.0 (2 hops)  not published
      1.0.0 → 1.2.0 (1 hop), 1.3.0 (2); ends at 1.3.0 (2 hops)
      1.0.1 no update  stranded
      1.1.0 → 1.2.0 (1 hop), 1.3.0 (2); ends at 1.3.0 (2 hops)
      1.1.1 → 1.3.0 (1 hop); ends at 1.3.0 (1 hop)
      1.2.0 → 1.3.0 (1 hop); ends at 1.3.0 (1 hop)
      1.3.0 no update  head  deprecated
      stranded: 1.0.1: nothing in channel `stable` that OLM v0 installs replaces, skips or covers `etcd.v1.0.1`; `etcd.v1.1.1` does, but is skipped or hidden, and OLM v0 ignores the edges of such entries

    6 published versions: 1 stranded in some channel
    [exit code 0]
    ");
}

#[test]
fn programs_get_everything() {
    insta::assert_snapshot!(matrix(&["--channel", "old", "-o", "json"]), @r#"
    {
      "package": "etcd",
      "installed": [
        {
          "name": "etcd.v0.1.0",
          "version": "0.1.0",
          "origin": "mentioned"
        },
        {
          "name": "etcd.v0.9.0",
          "version": "0.9.0",
          "origin": "mentioned"
        },
        {
          "name": "etcd.v1.0.0",
          "version": "1.0.0",
          "origin": "published"
        },
        {
          "name": "etcd.v1.0.1",
          "version": "1.0.1",
          "origin": "published"
        },
        {
          "name": "etcd.v1.1.0",
          "version": "1.1.0",
          "origin": "published"
        },
        {
          "name": "etcd.v1.1.1",
          "version": "1.1.1",
          "origin": "published"
        },
        {
          "name": "etcd.v1.2.0",
          "version": "1.2.0",
          "origin": "published"
        },
        {
          "name": "etcd.v1.3.0",
          "version": "1.3.0",
          "origin": "published"
        }
      ],
      "tables": [
        {
          "rules": "v0",
          "channels": [
            "old"
          ],
          "targets": [
            {
              "name": "etcd.v1.0.0",
              "version": "1.0.0",
              "head": true,
              "deprecation": null
            }
          ],
          "rows": [
            {
              "installed": "etcd.v1.0.0",
              "reach": {
                "etcd.v1.0.0": 0
              },
              "end": null,
              "automaticHops": 0,
              "stranded": null
            }
          ]
        },
        {
          "rules": "v1",
          "channels": [
            "old"
          ],
          "targets": [
            {
              "name": "etcd.v1.0.0",
              "version": "1.0.0",
              "head": true,
              "deprecation": null
            }
          ],
          "rows": [
            {
              "installed": "etcd.v1.0.0",
              "reach": {
                "etcd.v1.0.0": 0
              },
              "end": null,
              "automaticHops": 0,
              "stranded": null
            }
          ]
        }
      ],
      "endsDiffer": []
    }
    [exit code 0]
    "#);
    insta::assert_snapshot!(matrix(&["--channel", "nowhere"]), @r"
    error: no channel `nowhere` in package `etcd`
    hint: its channels are `old`, `stable`
    [exit code 1]
    ");
}
