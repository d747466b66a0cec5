//! `operon catalog graph`: the drawing itself is tested where it is drawn; here, that it gets out.

use crate::support::operon_on as operon;
use std::fs;

const CATALOG: &str = r#"
{"schema":"olm.package","name":"etcd","defaultChannel":"stable","description":"A store.\n\nSecond paragraph."}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.2.0","replaces":"etcd.v1.1.0","skips":["etcd.v1.1.1","etcd.v1.1.2","etcd.v1.1.3"],"skipRange":">=1.0.0 <1.2.0"},{"name":"etcd.v1.1.0","replaces":"etcd.v1.0.0"},{"name":"etcd.v1.1.1"}]}
{"schema":"olm.channel","package":"etcd","name":"old","entries":[{"name":"etcd.v1.1.0"}]}
{"schema":"olm.channel","package":"etcd","name":"two","entries":[{"name":"etcd.v1.1.0"},{"name":"etcd.v1.2.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.2.0","image":"q.io/etcd@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.2.0"}},{"type":"olm.gvk","value":{"group":"etcd.io","version":"v1","kind":"EtcdCluster"}},{"type":"olm.maxOpenShiftVersion","value":"4.8"},{"type":"olm.csv.metadata","value":{"displayName":"Etcd","provider":{"name":"CNCF"},"keywords":["key value","database"],"description":"long","annotations":{"description":"Keeps keys"},"installModes":[{"type":"OwnNamespace","supported":true},{"type":"AllNamespaces","supported":false}],"minKubeVersion":"1.20.0"}}],"relatedImages":[{"name":"operator","image":"q.io/etcd-operator:1.2.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.0","image":"q.io/etcd:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.0"}},{"type":"olm.gvk","value":{"group":"etcd.io","version":"v1","kind":"EtcdCluster"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.1","image":"q.io/etcd:1.1.1","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.1"}}]}
{"schema":"olm.deprecations","package":"etcd","entries":[{"reference":{"schema":"olm.channel","name":"old"},"message":"use stable"},{"reference":{"schema":"olm.bundle","name":"etcd.v1.1.0"},"message":"has a data loss bug"},{"reference":{"schema":"olm.package"},"message":"unmaintained"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.0.0","image":"q.io/app:1","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}},{"type":"olm.gvk.required","value":{"group":"etcd.io","version":"v1","kind":"EtcdCluster"}},{"type":"olm.package.required","value":{"packageName":"etcd","versionRange":">=1.1.1"}},{"type":"olm.package.required","value":{"packageName":"etcd","versionRange":"^1"}},{"type":"olm.label","value":{"label":"red"}},{"type":"olm.constraint","value":{"failureMessage":"needs a database","any":{"constraints":[{"package":{"packageName":"etcd","versionRange":"<1.2.0"}},{"gvk":{"group":"x.io","version":"v1","kind":"Nothing"}},{"cel":{"rule":"properties.exists(p, p.type == 'x')"}}]}}}]}
{"schema":"olm.package","name":"empty","defaultChannel":"none"}
{"schema":"olm.package","name":"odd","defaultChannel":"c"}
{"schema":"olm.channel","package":"odd","name":"c","entries":[{"name":"odd.a","replaces":"odd.b"},{"name":"odd.b","replaces":"odd.a"},{"name":"ghost"}]}
{"schema":"olm.bundle","package":"odd","name":"odd.a","image":"q.io/odd:a","properties":[]}
{"schema":"olm.bundle","package":"odd","name":"odd.b","image":"q.io/odd:b","properties":[{"type":"olm.package","value":{"packageName":"odd","version":"not-a-version"}}]}
{"schema":"olm.bundle","package":"odd","name":"odd.lost","image":"q.io/odd:c","properties":[{"type":"olm.package","value":{"packageName":"odd","version":"1.0.0"}}]}
"#;

fn graph(arguments: &[&str]) -> String {
    operon(CATALOG, &[&["graph", "catalog"], arguments].concat())
}

#[test]
fn text_is_drawn_channel_by_channel() {
    insta::assert_snapshot!(graph(&["etcd"]), @r"
    ⚠ package etcd is deprecated: unmaintained

    stable (default)
    ●   1.2.0  head · skipRange >=1.0.0 <1.2.0 covers 2 versions here
    ├─○ 1.1.1
    ├─◌ 1.1.2  virtual: named in the graph, no content
    ├─◌ 1.1.3  virtual: named in the graph, no content
    ●   1.1.0  ⚠ deprecated: has a data loss bug
    ◌   1.0.0  virtual: named in the graph, no content

    old
    ⚠ channel deprecated: use stable
    ● 1.1.0  head · ⚠ deprecated: has a data loss bug

    two
    ⚠ problem: 2 heads, so there is no order: etcd.v1.1.0, etcd.v1.2.0
    ● 1.2.0  head

    ● 1.1.0  head · ⚠ deprecated: has a data loss bug

    ● installable  ○ skipped  ◌ virtual  ⚠ deprecated or a problem
    ");
    insta::assert_snapshot!(graph(&["etcd", "--ascii", "--channel", "stable"]), @r"
    ! package etcd is deprecated: unmaintained

    stable (default)
    *   1.2.0  head; skipRange >=1.0.0 <1.2.0 covers 2 versions here
    |-o 1.1.1
    |-? 1.1.2  virtual: named in the graph, no content
    |-? 1.1.3  virtual: named in the graph, no content
    *   1.1.0  ! deprecated: has a data loss bug
    ?   1.0.0  virtual: named in the graph, no content

    * installable  o skipped  ? virtual  ! deprecated
    ");
    insta::assert_snapshot!(graph(&["odd"]), @r"
    c (default)
    ⚠ problem: the head ghost has no content, so nothing can be installed afresh
    ◌ ghost          virtual: named in the graph, no content

    ✕ odd.a          stranded with not-a-version, which replaces it
    ✕ not-a-version  stranded with odd.a, which replaces it · replaces odd.a

    ◌ virtual  ✕ stranded  ⚠ problem
    ");
    insta::assert_snapshot!(graph(&["empty"]), @"empty has no channels");
}

#[test]
fn unknown_names_are_said() {
    insta::assert_snapshot!(graph(&["etc"]), @r"
    error: no package `etc` in this catalog
    hint: did you mean `etcd`?
    exit code 1
    ");
    insta::assert_snapshot!(graph(&["etcd", "--channel", "tow"]), @r"
    error: no channel `tow` in package `etcd`
    hint: did you mean `two`?
    exit code 1
    ");
}

#[test]
fn each_form_is_drawn_and_files_choose_theirs_by_their_ending() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (format, ending, start) in
        [("svg", "svg", "<svg"), ("mermaid", "mmd", "graph"), ("dot", "gv", "digraph")]
    {
        let printed = graph(&["etcd", "--format", format]);
        assert!(printed.starts_with(start), "{format}: {printed}");
        let file = directory.path().join(format!("etcd.{ending}"));
        let said = graph(&["etcd", "--file", &file.display().to_string()]);
        assert_eq!(said, format!("wrote {}\n", file.display()));
        assert_eq!(fs::read_to_string(&file).expect("the drawing"), printed);
    }
    let text = directory.path().join("etcd.txt").display().to_string();
    graph(&["etcd", "-f", &text]);
    assert_eq!(fs::read_to_string(&text).expect("the drawing"), graph(&["etcd"]));
}
