//! `operon catalog list`: tables for people, everything for programs, filters from the indexes.

use crate::support::operon_on as operon;

/// A catalog of sound and defective packages.
const CATALOG: &str = include_str!("defects.json");

#[test]
fn tables_show_sound_and_defective_things_alike() {
    insta::assert_snapshot!(operon(CATALOG, &["list", "packages", "catalog"]), @r"
    NAME   DISPLAY NAME  DEFAULT CHANNEL  HEAD   CHANNELS  BUNDLES  PROVIDER  DEPRECATED
    app                  c                1.0.0  1         1
    empty                none                    0         0
    etcd   Etcd          stable           1.2.0  3         3        CNCF      deprecated
    odd                  c                       1         3
    ");
    insta::assert_snapshot!(operon(CATALOG, &["list", "channels", "catalog"]), @r"
    PACKAGE  CHANNEL  HEAD         VERSION  ENTRIES  DEFAULT  DEPRECATED
    app      c        app.v1.0.0   1.0.0    1        default
    etcd     old      etcd.v1.1.0  1.1.0    1                 deprecated
    etcd     stable   etcd.v1.2.0  1.2.0    3        default
    etcd     two                            2
    odd      c        ghost                 3        default
    ");
    insta::assert_snapshot!(operon(CATALOG, &["list", "bundles", "catalog"]), @r"
    PACKAGE  CHANNEL          BUNDLE       VERSION        REPLACES     SKIPS           SKIP RANGE      IMAGE                           DEPRECATED
    app      c                app.v1.0.0   1.0.0                                                       q.io/app:1
    etcd     old              etcd.v1.1.0  1.1.0                                                       q.io/etcd:1.1.0                 deprecated
    etcd     stable           etcd.v1.2.0  1.2.0          etcd.v1.1.0  etcd.v1.1.1 +2  >=1.0.0 <1.2.0  q.io/etcd@sha256:0123456789ab…
    etcd     stable           etcd.v1.1.1  1.1.1                                                       q.io/etcd:1.1.1
    etcd     stable           etcd.v1.1.0  1.1.0          etcd.v1.0.0                                  q.io/etcd:1.1.0                 deprecated
    etcd     two              etcd.v1.2.0  1.2.0                                                       q.io/etcd@sha256:0123456789ab…
    etcd     two              etcd.v1.1.0  1.1.0                                                       q.io/etcd:1.1.0                 deprecated
    odd      c                odd.a                       odd.b                                        q.io/odd:a
    odd      c                odd.b        not-a-version  odd.a                                        q.io/odd:b
    odd      c                ghost        (no bundle)
    odd      (in no channel)  odd.lost     1.0.0                                                       q.io/odd:c
    ");
    insta::assert_snapshot!(operon(CATALOG, &["list", "apis", "catalog"]), @r"
    GROUP    VERSION  KIND         PROVIDERS  REQUIRED BY
    etcd.io  v1       EtcdCluster  etcd       app
    ");
}

#[test]
fn programs_get_what_tables_cut_short() {
    let arguments =
        ["list", "bundles", "catalog", "--name", "V1.2", "--channel", "stable", "-o", "json"];
    insta::assert_snapshot!(operon(CATALOG, &arguments), @r#"
    [
      {
        "package": "etcd",
        "channel": "stable",
        "name": "etcd.v1.2.0",
        "version": "1.2.0",
        "release": null,
        "replaces": "etcd.v1.1.0",
        "skips": [
          "etcd.v1.1.1",
          "etcd.v1.1.2",
          "etcd.v1.1.3"
        ],
        "skipRange": ">=1.0.0 <1.2.0",
        "image": "q.io/etcd@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "deprecation": null
      }
    ]
    "#);
    insta::assert_snapshot!(operon(CATALOG, &["list", "apis", "catalog", "-o", "yaml"]), @r"
    - group: etcd.io
      kind: EtcdCluster
      providers:
      - bundles:
        - etcd.v1.1.0
        - etcd.v1.2.0
        package: etcd
      requiredBy:
      - bundles:
        - app.v1.0.0
        package: app
      version: v1
    ");
}

/// Lists bundles with filters and returns `channel bundle` of each row.
fn chosen(filters: &[&str]) -> Vec<String> {
    let arguments = [&["list", "bundles", "catalog"], filters].concat();
    let table = operon(CATALOG, &arguments);
    let rows = table.lines().skip_while(|line| !line.starts_with("PACKAGE")).skip(1);
    rows.map(|row| row.split_whitespace().skip(1).take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn filters_narrow_and_names_widen() {
    let claims: &[(&[&str], &[&str])] = &[
        (&["--package", "app"], &["c app.v1.0.0"]),
        (
            &["--package", "app", "--package", "etcd", "--default-only"],
            &["c app.v1.0.0", "stable etcd.v1.2.0", "stable etcd.v1.1.1", "stable etcd.v1.1.0"],
        ),
        (
            &["--channel", "old", "--channel", "two"],
            &["old etcd.v1.1.0", "two etcd.v1.2.0", "two etcd.v1.1.0"],
        ),
        (
            &["--provides", "etcdcluster.v1", "--channel", "stable"],
            &["stable etcd.v1.2.0", "stable etcd.v1.1.0"],
        ),
        (
            &["--provides", "EtcdCluster.v1.etcd.io", "--deprecated", "--channel", "stable"],
            &["stable etcd.v1.1.0"],
        ),
        (&["--requires", "EtcdCluster"], &["c app.v1.0.0"]),
        (&["--requires", "etcd"], &["c app.v1.0.0"]),
        // Only an olm.constraint names this one.
        (&["--requires", "Nothing.x.io"], &["c app.v1.0.0"]),
        (&["--label", "red"], &["c app.v1.0.0"]),
        (
            &["--property", "olm.maxOpenShiftVersion", "--channel", "stable"],
            &["stable etcd.v1.2.0"],
        ),
        (&["--property", "olm.csv.metadata", "--label", "red"], &[]),
        (&["--name", "ghost"], &["c ghost"]),
    ];
    for (filters, expected) in claims {
        assert_eq!(chosen(filters), *expected, "{filters:?}");
    }
}

#[test]
fn what_is_not_there_is_said_with_a_way_out() {
    const SOUND: &str = r#"
{"schema":"olm.package","name":"app","defaultChannel":"c"}
{"schema":"olm.channel","package":"app","name":"c","entries":[{"name":"app.v1.0.0"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.0.0","image":"q.io/app:1","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}},{"type":"olm.gvk.required","value":{"group":"etcd.io","version":"v1","kind":"EtcdCluster"}},{"type":"olm.package.required","value":{"packageName":"etcd","versionRange":">=1.1.1"}},{"type":"olm.package.required","value":{"packageName":"etcd","versionRange":"^1"}},{"type":"olm.label","value":{"label":"red"}},{"type":"olm.constraint","value":{"failureMessage":"needs a database","any":{"constraints":[{"package":{"packageName":"etcd","versionRange":"<1.2.0"}},{"gvk":{"group":"x.io","version":"v1","kind":"Nothing"}},{"cel":{"rule":"properties.exists(p, p.type == 'x')"}}]}}}]}
"#;
    insta::assert_snapshot!(operon(SOUND, &["list", "bundles", "catalog", "--package", "ap"]), @r"
    error: no package `ap` in this catalog
    hint: did you mean `app`?
    exit code 1
    ");
    insta::assert_snapshot!(operon(SOUND, &["list", "channels", "catalog", "--channel", "stable"]), @r"
    error: no channel `stable` in package `app`
    hint: its channels are `c`
    exit code 1
    ");
    insta::assert_snapshot!(operon(SOUND, &["list", "packages", "catalog", "--provides", "EtcdClusters"]), @r"
    no packages match
    hint: no bundle names the API `EtcdClusters`; did you mean `EtcdCluster`?
    ");
    insta::assert_snapshot!(operon(SOUND, &["list", "packages", "catalog", "--property", "olm.labels", "-o", "json"]), @r"
    []
    no packages match
    hint: the property types of this catalog are `olm.constraint`, `olm.gvk.required`, `olm.label`, `olm.package`, `olm.package.required`
    ");
}
