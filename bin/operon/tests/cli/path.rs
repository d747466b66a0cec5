//! `operon catalog path`: the way hop by hop, or a sentence that says why there is none.

use crate::support::operon;

/// A chain with a skipped entry, a range, names that are only mentioned, and a deprecated version.
const ETCD: &str = r#"
{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.0.0","replaces":"etcd.v0.9.0"},{"name":"etcd.v1.1.0","replaces":"etcd.v1.0.0"},{"name":"etcd.v1.1.1","replaces":"etcd.v1.1.0"},{"name":"etcd.v1.2.0","replaces":"etcd.v1.1.0","skips":["etcd.v1.1.1"],"skipRange":">=0.5.0 <0.9.0"}]}
{"schema":"olm.channel","package":"etcd","name":"fast","entries":[{"name":"etcd.v2.0.0","replaces":"etcd.v1.2.0","skipRange":">=1.1.0 <2.0.0"},{"name":"etcd.v1.2.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","image":"q.io/etcd:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.0","image":"q.io/etcd:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.1","image":"q.io/etcd:1.1.1","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.1"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.2.0","image":"q.io/etcd:1.2.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.2.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v2.0.0","image":"q.io/etcd:2.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"2.0.0"}}]}
{"schema":"olm.deprecations","package":"etcd","entries":[{"reference":{"schema":"olm.bundle","name":"etcd.v1.1.0"},"message":"loses data"}]}
"#;

fn path(arguments: &[&str]) -> String {
    operon(&[("catalog/etcd.json", ETCD)], &[&["path", "catalog", "etcd"], arguments].concat())
}

#[test]
fn ways_are_told_for_each_channel_and_set_of_rules() {
    insta::assert_snapshot!(path(&["etcd.v0.9.0", "head"]), @r"
    etcd: from `etcd.v0.9.0` to `head`
    note: `etcd.v0.9.0` is no longer published; its name is taken to say version 0.9.0

    channel stable (OLM v0)
      3 hops, shortest and automatic
        1. etcd.v1.0.0  replaces
        2. etcd.v1.1.0  replaces  deprecated: loses data
        3. etcd.v1.2.0  replaces

    all channels (OLM v1)
      shortest: 3 hops
        1. etcd.v1.0.0  replaces in channel stable
        2. etcd.v1.1.0  replaces in channel stable  deprecated: loses data
        3. etcd.v2.0.0  skipRange `>=1.1.0 <2.0.0` in channel fast
      automatic: passes `etcd.v2.0.0` by, and updates end at `etcd.v1.0.0` (1 hop)
        1. etcd.v1.0.0  replaces in channel stable

    channel fast (OLM v0)
      no way: nothing in channel `fast` replaces, skips or covers `etcd.v0.9.0`
    [exit code 0]
    ");
    insta::assert_snapshot!(path(&["1.0.0", "1.2.0", "--rules", "v1"]), @r"
    etcd: from `etcd.v1.0.0` to `etcd.v1.2.0`

    all channels (OLM v1)
      shortest: 2 hops
        1. etcd.v1.1.0  replaces in channel stable  deprecated: loses data
        2. etcd.v1.2.0  replaces in channel stable
      automatic: none, OLM v1 stays rather than move to a deprecated or older version
    [exit code 0]
    ");
    insta::assert_snapshot!(path(&["v0.7.0", "1.2.0", "--rules", "v0"]), @r"
    etcd: from `0.7.0` to `etcd.v1.2.0`
    note: this package does not mention version 0.7.0, so only a skipRange can update it

    channel stable (OLM v0)
      1 hop, shortest and automatic
        1. etcd.v1.2.0  skipRange `>=0.5.0 <0.9.0`

    channel fast (OLM v0)
      no way: nothing in channel `fast` replaces, skips or covers `0.7.0`
    [exit code 0]
    ");
}

#[test]
fn no_way_is_explained_and_ends_with_one() {
    insta::assert_snapshot!(path(&["1.0.0", "1.1.1", "--channel", "stable", "--rules", "v0"]), @r"
    etcd: from `etcd.v1.0.0` to `etcd.v1.1.1`

    channel stable (OLM v0)
      no way: `etcd.v1.2.0` in channel `stable` skips `etcd.v1.1.1`, so OLM v0 never installs it
    [exit code 1]
    ");
    insta::assert_snapshot!(path(&["2.0.0", "1.0.0", "--rules", "v1"]), @r"
    etcd: from `etcd.v2.0.0` to `etcd.v1.0.0`

    all channels (OLM v1)
      no way: `etcd.v1.0.0` is older than `etcd.v2.0.0`, and no update in any of 2 channels leads back
    [exit code 1]
    ");
    insta::assert_snapshot!(path(&["0.3.0", "2.0.0"]), @r"
    etcd: from `0.3.0` to `etcd.v2.0.0`
    note: this package does not mention version 0.3.0, so only a skipRange can update it

    channel fast (OLM v0)
      no way: nothing in channel `fast` replaces, skips or covers `0.3.0`

    channel stable (OLM v0)
      no way: `etcd.v2.0.0` is not in channel `stable`; channel `fast` has it

    all channels (OLM v1)
      no way: nothing in any of 2 channels replaces, skips or covers `0.3.0`
    [exit code 1]
    ");
}

#[test]
fn unknown_names_are_refused_with_the_nearest_one() {
    insta::assert_snapshot!(path(&["1.0.0", "1.2.1"]), @r"
    error: package `etcd` has no version `1.2.1`
    hint: did you mean `1.2.0`?
    [exit code 1]
    ");
    insta::assert_snapshot!(path(&["etcd.v0.9.1", "head"]), @r"
    error: `etcd.v0.9.1` is neither a version nor a bundle of this package
    hint: did you mean `etcd.v0.9.0`?
    [exit code 1]
    ");
    insta::assert_snapshot!(path(&["1.0.0", "head", "--channel", "stabel"]), @r"
    error: no channel `stabel` in package `etcd`
    hint: did you mean `stable`?
    [exit code 1]
    ");
    insta::assert_snapshot!(path(&["1.0.0", "etcd.v0.9.0"]), @r"
    error: `etcd.v0.9.0` is only mentioned in package `etcd`, it cannot be installed
    [exit code 1]
    ");
}

#[test]
fn programs_get_every_hop() {
    insta::assert_snapshot!(path(&["1.1.1", "head", "--channel", "fast", "--rules", "v0", "-o", "json"]), @r#"
    {
      "package": "etcd",
      "from": {
        "name": "etcd.v1.1.1",
        "version": "1.1.1",
        "origin": "published"
      },
      "to": "head",
      "journeys": [
        {
          "rules": "v0",
          "channels": [
            "fast"
          ],
          "target": "etcd.v2.0.0",
          "reachable": true,
          "shortest": [
            {
              "name": "etcd.v2.0.0",
              "version": "2.0.0",
              "channel": "fast",
              "edges": [
                {
                  "kind": "skipRange",
                  "range": ">=1.1.0 <2.0.0"
                }
              ],
              "deprecation": null
            }
          ],
          "automatic": {
            "updates": [
              {
                "name": "etcd.v2.0.0",
                "version": "2.0.0",
                "channel": "fast",
                "edges": [
                  {
                    "kind": "skipRange",
                    "range": ">=1.1.0 <2.0.0"
                  }
                ],
                "deprecation": null
              }
            ],
            "end": "etcd.v2.0.0",
            "circle": null,
            "hopsToTarget": 1
          },
          "reason": null
        }
      ]
    }
    [exit code 0]
    "#);
}
