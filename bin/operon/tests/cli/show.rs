//! `operon catalog show`: pages for packages, channels and bundles, and the documents themselves.

use crate::support::operon_on as operon;

/// A catalog of sound and defective packages.
const CATALOG: &str = include_str!("defects.json");

fn show(target: &str) -> String {
    operon(CATALOG, &["show", "catalog", target])
}

#[test]
fn a_package_has_its_channels_and_who_requires_it() {
    insta::assert_snapshot!(show("etcd"), @r"
    Package:          etcd
    Deprecated:       unmaintained
    Display name:     Etcd
    Provider:         CNCF
    Summary:          Keeps keys
    Keywords:         key value, database
    Default channel:  stable
    Head:             etcd.v1.2.0 (1.2.0)
    Bundles:          3
    File:             catalog.json

    Description:
      A store.

      Second paragraph.

    Channels:
      NAME    HEAD         VERSION  ENTRIES  NOTE
      stable  etcd.v1.2.0  1.2.0    3        default
      old     etcd.v1.1.0  1.1.0    1        deprecated: use stable
      two                           2        2 heads, so there is no order: etcd.v1.1.0, etcd.v1.2.0

    Deprecated bundles:
      etcd.v1.1.0: has a data loss bug

    APIs of etcd.v1.2.0:
      KIND         VERSION  GROUP
      EtcdCluster  v1       etcd.io

    Required by:
      PACKAGE  REQUIRES                                                     BUNDLES  NEWEST
      app      API EtcdCluster.v1 (etcd.io), package etcd <1.2.0, package…  1        app.v1.0.0
    ");
    insta::assert_snapshot!(show("empty"), @r"
    Package:          empty
    Default channel:  none
    Head:             none: there is no channel `none`
    Bundles:          0
    File:             catalog.json

    Channels:
      none
    ");
}

#[test]
fn a_channel_has_its_order_and_what_is_outside_of_it() {
    insta::assert_snapshot!(show("etcd/stable"), @r"
    Channel:  stable
    Package:  etcd
    Default:  yes
    Head:     etcd.v1.2.0 (1.2.0)
    Entries:  3 (2 in order, 1 skipped)
    File:     catalog.json

    Order, newest first:
      VERSION  BUNDLE       REPLACES     SKIPS           SKIP RANGE      NOTE
      1.2.0    etcd.v1.2.0  etcd.v1.1.0  etcd.v1.1.1 +2  >=1.0.0 <1.2.0  head
      1.1.0    etcd.v1.1.0  etcd.v1.0.0                                  deprecated

    Skipped, never installed afresh:
      VERSION  BUNDLE       NOTE
      1.1.1    etcd.v1.1.1  skipped by etcd.v1.2.0

    Virtual, named here without content:
      BUNDLE       NOTE
      etcd.v1.1.2  skipped by etcd.v1.2.0
      etcd.v1.1.3  skipped by etcd.v1.2.0
      etcd.v1.0.0  replaced by etcd.v1.1.0

    Deprecated bundles:
      etcd.v1.1.0: has a data loss bug
    ");
    insta::assert_snapshot!(show("etcd/two"), @r"
    Channel:  two
    Package:  etcd
    Default:  no
    Problem:  2 heads, so there is no order: etcd.v1.1.0, etcd.v1.2.0
    Head:     none
    Entries:  2
    File:     catalog.json

    Chains, from each head:
      VERSION  BUNDLE       NOTE
      1.2.0    etcd.v1.2.0  head
      1.1.0    etcd.v1.1.0  head; deprecated

    Deprecated bundles:
      etcd.v1.1.0: has a data loss bug
    ");
    insta::assert_snapshot!(show("odd/c"), @r"
    Channel:  c
    Package:  odd
    Default:  yes
    Problem:  the head ghost has no content, so nothing can be installed afresh
    Head:     ghost
    Entries:  3 (0 in order, 2 stranded, 1 without content)
    File:     catalog.json

    Stranded, without a way to the head:
      VERSION        BUNDLE  REPLACES  NOTE
                     odd.a   odd.b     replaced by odd.b
      not-a-version  odd.b   odd.a     replaced by odd.a

    Virtual, named here without content:
      BUNDLE
      ghost
    ");
}

#[test]
fn a_bundle_has_what_it_provides_and_requires() {
    insta::assert_snapshot!(show("etcd@1.2.0"), @r#"
    Bundle:         etcd.v1.2.0
    Package:        etcd
    Version:        1.2.0
    Image:          q.io/etcd@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    Display name:   Etcd
    Provider:       CNCF
    Summary:        Keeps keys
    Kubernetes:     >=1.20.0
    Install modes:  OwnNamespace
    File:           catalog.json

    Channels:
      stable (default): head
        Replaces:    etcd.v1.1.0
        Skips:       etcd.v1.1.1, etcd.v1.1.2, etcd.v1.1.3
        Skip range:  >=1.0.0 <1.2.0
      two: one of 2 heads

    Provides:
      KIND         VERSION  GROUP
      EtcdCluster  v1       etcd.io

    Required by:
      PACKAGE  REQUIRES                                            BUNDLES  NEWEST
      app      API EtcdCluster.v1 (etcd.io), package etcd >=1.1.1  1        app.v1.0.0

    Other properties:
      olm.maxOpenShiftVersion: "4.8"

    Related images:
      NAME      IMAGE
      operator  q.io/etcd-operator:1.2.0
    "#);
    insta::assert_snapshot!(show("app.v1.0.0"), @r#"
    Bundle:   app.v1.0.0
    Package:  app
    Version:  1.0.0
    Image:    q.io/app:1
    File:     catalog.json

    Channels:
      c (default): head

    Requires:
      API EtcdCluster.v1 (etcd.io)
        met by etcd: 2 bundles, newest etcd.v1.2.0
      package etcd >=1.1.1
        met by etcd: 2 bundles, newest etcd.v1.2.0
      olm.package.required {"packageName":"etcd","versionRange":"^1"}
        met by nothing: Could not parse Range "^1": Could not parse comparator "^" in "^1"
      any of ("needs a database")
        package etcd <1.2.0
          met by etcd: 2 bundles, newest etcd.v1.1.1
        API Nothing.v1 (x.io)
          met by nothing in this catalog
        CEL rule properties.exists(p, p.type == 'x')

    Other properties:
      olm.label: {"label":"red"}
    "#);
    insta::assert_snapshot!(show("odd@odd.lost"), @r"
    Bundle:   odd.lost
    Package:  odd
    Version:  1.0.0
    Image:    q.io/odd:c
    File:     catalog.json

    Channels:
      none, so it can never be installed
    ");
}

#[test]
fn programs_get_everything() {
    insta::assert_snapshot!(operon(CATALOG, &["show", "catalog", "app@v1.0.0", "-o", "yaml"]), @r#"
    channels:
    - deprecation: null
      isDefault: true
      name: c
      place: 1
      replaces: null
      role: head
      skipRange: null
      skippedBy: []
      skips: []
    deprecation: null
    displayName: ""
    file: catalog.json
    image: q.io/app:1
    keywords: []
    manifest:
      capabilities: ""
      categories: ""
      created: ""
      description: ""
      installModes: []
      links: []
      maintainers: []
      maturity: ""
      minimumKubernetesVersion: ""
      repository: ""
    name: app.v1.0.0
    objectCount: 0
    package: app
    properties:
    - type: olm.package
      value:
        packageName: app
        version: "1.0.0"
    - type: olm.gvk.required
      value:
        group: etcd.io
        kind: EtcdCluster
        version: v1
    - type: olm.package.required
      value:
        packageName: etcd
        versionRange: ">=1.1.1"
    - type: olm.package.required
      value:
        packageName: etcd
        versionRange: "^1"
    - type: olm.label
      value:
        label: red
    - type: olm.constraint
      value:
        any:
          constraints:
          - package:
              packageName: etcd
              versionRange: "<1.2.0"
          - gvk:
              group: x.io
              kind: Nothing
              version: v1
          - cel:
              rule: "properties.exists(p, p.type == 'x')"
        failureMessage: needs a database
    providedApis: []
    provider: ""
    relatedImages: []
    release: null
    requiredBy: []
    requires:
    - group: etcd.io
      isConstraint: false
      kind: EtcdCluster
      metBy:
      - bundles:
        - etcd.v1.2.0
        - etcd.v1.1.0
        package: etcd
      type: api
      version: v1
    - isConstraint: false
      metBy:
      - bundles:
        - etcd.v1.2.0
        - etcd.v1.1.1
        package: etcd
      package: etcd
      type: package
      versionRange: ">=1.1.1"
    - error: "Could not parse Range \"^1\": Could not parse comparator \"^\" in \"^1\""
      isConstraint: false
      metBy: []
      type: unknown
      value:
        packageName: etcd
        versionRange: "^1"
    - constraints:
      - isConstraint: true
        metBy:
        - bundles:
          - etcd.v1.1.1
          - etcd.v1.1.0
          package: etcd
        package: etcd
        type: package
        versionRange: "<1.2.0"
      - group: x.io
        isConstraint: true
        kind: Nothing
        metBy: []
        type: api
        version: v1
      - isConstraint: true
        rule: "properties.exists(p, p.type == 'x')"
        type: cel
      failureMessage: needs a database
      isConstraint: true
      type: any
    summary: ""
    version: "1.0.0"
    "#);
}

#[test]
fn a_long_description_is_cut_between_paragraphs() {
    let paragraph = "word ".repeat(100);
    let catalog = format!(
        r#"{{"schema":"olm.package","name":"p","defaultChannel":"c","description":"{paragraph}\n\n{paragraph}\n\n# Title\n\nthe end"}}"#
    );
    let short = operon(&catalog, &["show", "catalog", "p"]);
    let full = operon(&catalog, &["show", "catalog", "p", "--full"]);
    assert!(
        short.contains("  … 2 more lines, shown by --full\n") && !short.contains("Title"),
        "{short}"
    );
    assert!(full.contains("  # Title\n\n  the end\n") && !full.contains("--full"), "{full}");
    assert!(short.lines().all(|line| line.chars().count() <= 100), "{short}");
}

#[test]
fn documents_are_printed_whole() {
    insta::assert_snapshot!(operon(CATALOG, &["show", "catalog", "etcd/old", "--document"]), @r#"
    {
      "entries": [
        {
          "name": "etcd.v1.1.0"
        }
      ],
      "name": "old",
      "package": "etcd",
      "schema": "olm.channel"
    }
    "#);
}

#[test]
fn an_unknown_target_is_said_with_the_nearest_one() {
    insta::assert_snapshot!(show("ectd"), @r"
    error: no package `ectd` in this catalog
    hint: did you mean `etcd`?
    exit code 1
    ");
    insta::assert_snapshot!(show("etcd/stabel"), @r"
    error: no channel `stabel` in package `etcd`
    hint: did you mean `stable`?
    exit code 1
    ");
    insta::assert_snapshot!(show("etcd/weekly"), @r"
    error: no channel `weekly` in package `etcd`
    hint: its channels are `old`, `stable`, `two`
    exit code 1
    ");
    insta::assert_snapshot!(show("etcd@1.2.1"), @r"
    error: no bundle `1.2.1` in package `etcd`
    hint: did you mean `1.2.0`?
    exit code 1
    ");
    insta::assert_snapshot!(show("etcd@9999"), @r"
    error: no bundle `9999` in package `etcd`
    hint: its versions are `1.2.0`, `1.1.1`, `1.1.0`
    exit code 1
    ");
}
