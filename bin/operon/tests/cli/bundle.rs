//! `operon bundle …` on the bundles of `examples/`, and on broken ones.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::directory_of;

const ANNOTATIONS: &str = "\
annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: kiosk
  operators.operatorframework.io.bundle.channels.v1: stable
";

/// A ClusterServiceVersion with an error, a warning and a misspelt field.
const BROKEN: &str = "\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: kiosk.v1.0.0
spec:
  displayName: Kiosk
  version: 1.0.0
  miniKubeVersion: 1.25.0
  minKubeVersion: v1.25
  installModes:
  - {type: AllNamespaces, supported: true}
  install:
    strategy: deployment
    spec: {deployments: []}
";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bundles/kiosk")
}

/// Runs `operon bundle …` in a directory and returns all it printed, and its exit code.
fn run(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_operon"))
        .arg("bundle")
        .args(arguments)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("OPERATOR_BUNDLE_CATEGORIES")
        .output()
        .expect("operon runs");
    let code = output.status.code().expect("an exit code");
    let [printed, told] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    format!("{printed}{told}[exit code {code}]")
}

#[test]
fn good_bundles_are_valid() {
    let suite =
        ["--select-optional", "suite=operatorframework", "--optional-values", "k8s-version=1.31"];
    let said = run(&examples(), &["validate", "1.0.0", "1.1.0"]);
    assert_eq!(said, "0 errors, 0 warnings in 2 bundles\n[exit code 0]");
    let said = run(&examples(), &[&["validate", "1.0.0"], suite.as_slice()].concat());
    insta::assert_snapshot!(said, @"
    warning[hub-icon-missing]: the ClusterServiceVersion has no `spec.icon`
     --> 1.0.0/manifests/kiosk.clusterserviceversion.yaml:8:1
      |
    8 | spec:
      | ^^^^

    error[hub-provider-missing]: the ClusterServiceVersion has no `spec.provider.name`
     --> 1.0.0/manifests/kiosk.clusterserviceversion.yaml:8:1
      |
    8 | spec:
      | ^^^^

    1 error, 1 warning in 1 bundle
    [exit code 1]
    ");
}

#[test]
fn what_is_wrong_is_shown_where_it_stands() {
    let files =
        [("kiosk/manifests/csv.yaml", BROKEN), ("kiosk/metadata/annotations.yaml", ANNOTATIONS)];
    let directory = directory_of(&files);
    insta::assert_snapshot!(run(directory.path(), &["validate", "kiosk"]), @"
    warning[bundle-examples-missing]: the annotations of the ClusterServiceVersion hold no examples
     --> kiosk/manifests/csv.yaml:3:1
      |
    3 | metadata:
      | ^^^^^^^^
      |
      = help: put one object of each owned API into the annotation `alm-examples`

    warning[bundle-unknown-field]: `spec.miniKubeVersion` is not a field of a ClusterServiceVersion
     --> kiosk/manifests/csv.yaml:8:3
      |
    8 |   miniKubeVersion: 1.25.0
      |   ^^^^^^^^^^^^^^^
      |
      = help: did you mean `minKubeVersion`?

    error[bundle-min-kube-version-invalid]: the minKubeVersion `v1.25` cannot be read: No Major.Minor.Patch elements found
     --> kiosk/manifests/csv.yaml:9:19
      |
    9 |   minKubeVersion: v1.25
      |                   ^^^^^
      |
      = help: write `1.25.0`

    1 error, 2 warnings in 1 bundle
    [exit code 1]
    ");
    insta::assert_snapshot!(run(directory.path(), &["validate", "kiosk/", "-o", "json"]), @r#"
    [
      {
        "bundle": "kiosk/",
        "severity": "warning",
        "rule": "bundle-examples-missing",
        "message": "the annotations of the ClusterServiceVersion hold no examples",
        "file": "kiosk/manifests/csv.yaml",
        "line": 3,
        "column": 1,
        "help": [
          "put one object of each owned API into the annotation `alm-examples`"
        ]
      },
      {
        "bundle": "kiosk/",
        "severity": "warning",
        "rule": "bundle-unknown-field",
        "message": "`spec.miniKubeVersion` is not a field of a ClusterServiceVersion",
        "file": "kiosk/manifests/csv.yaml",
        "line": 8,
        "column": 3,
        "help": [
          "did you mean `minKubeVersion`?"
        ]
      },
      {
        "bundle": "kiosk/",
        "severity": "error",
        "rule": "bundle-min-kube-version-invalid",
        "message": "the minKubeVersion `v1.25` cannot be read: No Major.Minor.Patch elements found",
        "file": "kiosk/manifests/csv.yaml",
        "line": 9,
        "column": 19,
        "help": [
          "write `1.25.0`"
        ]
      }
    ]
    [exit code 1]
    "#);
    let right = BROKEN.replace("  minKubeVersion: v1.25\n", "");
    fs::write(directory.path().join("kiosk/manifests/csv.yaml"), right).expect("written");
    let ends = |arguments: &[&str]| {
        let said = run(directory.path(), arguments);
        said.lines().rev().take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ends(&["validate", "kiosk"]), "[exit code 0] 0 errors, 3 warnings in 1 bundle");
    assert_eq!(
        ends(&["validate", "kiosk", "--strict"]),
        "[exit code 1] 0 errors, 3 warnings in 1 bundle"
    );
}

#[test]
fn what_is_no_bundle_is_told_plainly() {
    let files = [
        ("empty/manifests/.keep", ""),
        ("empty/metadata/annotations.yaml", ANNOTATIONS),
        ("half/manifests/csv.yaml", BROKEN),
    ];
    let directory = directory_of(&files);
    let said = |arguments: &[&str]| run(directory.path(), arguments);
    let cases = [
        said(&["validate", "nowhere", "half"]),
        said(&["validate", "empty"]),
        said(&["show", "empty"]),
        said(&["diff", "half", "half"]),
        said(&["render", "half"]),
        said(&["validate", "empty", "--select-optional", "name=nothing"]),
        said(&["validate", "empty", "--optional-values", "k8s-version=new"]),
        said(&["validate", "empty", "--optional-values", "index-path=nowhere"]),
    ];
    insta::assert_snapshot!(cases.join("\n\n"), @r#"
    0 errors, 0 warnings in 0 bundles
    error: there is no directory `nowhere`
    hint: `operon bundle` takes images too
    error: `half` is not a bundle: it has no directory `metadata/`
    [exit code 1]

    error[bundle-unreadable]: no manifest in `manifests/` is a ClusterServiceVersion
    --> empty

    warning[bundle-manifest-passed-over]: hidden files are not read
    --> empty/manifests/.keep
     = help: move the file directly below `manifests/`, or out of it if it is no manifest

    1 error, 1 warning in 1 bundle
    [exit code 1]

    error: cannot read `empty`: no manifest in `manifests/` is a ClusterServiceVersion
    hint: `operon bundle validate` says more
    [exit code 1]

    error: `half` is not a bundle: it has no directory `metadata/`
    [exit code 1]

    error: `half` is not a bundle: it has no directory `metadata/`
    [exit code 1]

    error: invalid value 'name=nothing' for '--select-optional <SELECTOR>': `name=nothing` selects no validator; there are `name=` operatorhub/v2, standardcapabilities, standardcategories, bundle-objects, alpha-deprecated-apis, good-practices, community, operatorhub, multiarch and `suite=operatorframework`

    For more information, try '--help'.
    [exit code 2]

    error: invalid value 'k8s-version=new' for '--optional-values <KEY=VALUE>': `new` is not a Kubernetes version: Invalid character(s) found in major number "0new"

    For more information, try '--help'.
    [exit code 2]

    error: cannot read `nowhere`
      because: No such file or directory (os error 2)
    [exit code 1]
    "#);
}

#[test]
fn own_categories_come_from_the_environment() {
    let directory = directory_of(&[
        (
            "kiosk/manifests/csv.yaml",
            &BROKEN.replace(
                "name: kiosk.v1.0.0",
                "name: kiosk.v1.0.0\n  annotations: {categories: 'Toys, Database'}",
            ),
        ),
        ("kiosk/metadata/annotations.yaml", ANNOTATIONS),
        ("categories.json", r#"{"categories": ["Toys"]}"#),
    ]);
    let said = |variable: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_operon"))
            .args([
                "bundle",
                "validate",
                "kiosk",
                "--select-optional",
                "name=standardcategories",
                "-o",
                "json",
            ])
            .current_dir(directory.path())
            .env("OPERATOR_BUNDLE_CATEGORIES", variable)
            .output()
            .expect("operon runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    assert!(said("").contains("the category `Toys` is not known"));
    let own = said("categories.json");
    assert!(own.contains("the category `Database` is not known") && !own.contains("`Toys` is not"));
    assert!(said("nowhere.json").contains("`OPERATOR_BUNDLE_CATEGORIES` cannot be used"));
}

#[test]
fn validators_are_listed() {
    insta::assert_snapshot!(run(&examples(), &["validate", "--list-optional"]), @"
    NAME                   SUITE              WHAT IT CHECKS
    operatorhub/v2         operatorframework  What OperatorHub.io asks of the texts of a bundle.
    standardcapabilities   operatorframework  The capability level is one of the five.
    standardcategories     operatorframework  The categories are known ones.
    bundle-objects         operatorframework  Budgets, priority classes and roles do not harm the cluster.
    alpha-deprecated-apis  operatorframework  No API is used that newer Kubernetes does not serve.
    good-practices         operatorframework  Requests, descriptions, channel names and rights are as recommended.
    community                                 Bundles with removed APIs keep off newer OpenShift versions.
    operatorhub                               Deprecated: operatorhub/v2, standardcapabilities and standardcategories in one.
    multiarch                                 Images are made for what labels and node affinities promise; asks registries.
    [exit code 0]
    ");
}

#[test]
fn a_bundle_is_shown() {
    let page = run(&examples(), &["show", "1.1.0"]);
    // How well gzip compresses is its own business.
    let (sizes, others): (Vec<&str>, Vec<&str>) =
        page.lines().partition(|line| line.starts_with("Size:"));
    assert!(sizes.len() == 1 && sizes[0].ends_with("with gzip: 0 % of the limit"), "{page}");
    insta::assert_snapshot!(others.join("\n"), @"
    Bundle:            kiosk.v1.1.0
    Display name:      Kiosk
    Package:           kiosk
    Version:           1.1.0
    Channels:          stable (default)
    Replaces:          kiosk.v1.0.0
    Needs Kubernetes:  1.28.0
    Install modes:     AllNamespaces

    Provided APIs:
      KIND   GROUP             VERSION
      Kiosk  shop.example.com  v1
      Kiosk  shop.example.com  v1alpha1

    Required APIs:
      KIND      GROUP              VERSION
      Database  store.example.com  v1

    Rights of kiosk (2 of 5 deserve a look):
         SCOPE    GROUP                      RESOURCES              VERBS           WHY TO LOOK
      !  cluster                             secrets                get list watch  reads every secret of the cluster
      !  cluster  rbac.authorization.k8s.io  roles                  bind            may hand out any role (bind)
         cluster                             configmaps             get list watch
         cluster  shop.example.com           kiosks, kiosks/status  get update

    Deployments:
      NAME   REPLICAS  ACCOUNT  CONTAINER  IMAGE                             REACHES
      kiosk  2         kiosk    manager    registry.example.com/kiosk:1.1.0  host network

    Webhooks:
      NAME                     TYPE                        ON FAILURE  ASKED ABOUT
      vkiosk.shop.example.com  ValidatingAdmissionWebhook  Fail        kiosks.shop.example.com

    CRDs:
      NAME                     SCOPE       VERSIONS
      kiosks.shop.example.com  namespaced  v1 (stored), v1alpha1

    Other objects:
      KIND         NAME          API VERSION
      ClusterRole  kiosk-viewer  rbac.authorization.k8s.io/v1
    [exit code 0]
    ");
    let json = run(&examples(), &["show", "1.1.0", "-o", "json"]);
    assert!(json.contains(r#""danger": "reads every secret of the cluster""#), "{json}");
    let yaml = run(&examples(), &["show", "1.0.0", "-o", "yaml"]);
    assert!(yaml.contains("minKubeVersion: \"1.25.0\"\n"), "{yaml}");
}

#[test]
fn a_bundle_is_rendered_as_for_a_catalog() {
    let directory = examples();
    let rendered =
        run(&directory, &["render", "1.0.0", "--image", "registry.example.com/kiosk-bundle:1.0.0"]);
    let output = Command::new(env!("CARGO_BIN_EXE_operon"))
        .args(["catalog", "render", "1.0.0", "--image", "registry.example.com/kiosk-bundle:1.0.0"])
        .current_dir(&directory)
        .output()
        .expect("operon runs");
    assert_eq!(rendered, String::from_utf8_lossy(&output.stdout) + "[exit code 0]");
    assert!(rendered.contains(r#""name": "kiosk.v1.0.0""#));
}

#[test]
fn an_update_is_compared_with_what_it_replaces() {
    insta::assert_snapshot!(run(&examples(), &["diff", "1.0.0", "1.1.0"]), @"
    kiosk.v1.0.0 → kiosk.v1.1.0

    Bundle:
      ~ minKubeVersion: 1.25.0 → 1.28.0
          ! the cluster may be too old for it
      ~ name: kiosk.v1.0.0 → kiosk.v1.1.0
      ~ version: 1.0.0 → 1.1.0

    Provided APIs:
      + Kiosk shop.example.com/v1

    Required APIs:
      + Database store.example.com/v1
          ! something else must be installed for it

    CRDs:
      ~ kiosks.shop.example.com: v1alpha1 (stored) → v1 (stored), v1alpha1
          ! the old bundle's example Kiosk corner would no longer be valid in version v1alpha1: spec.city: Required value
          ! v1alpha1: the field `spec.awning` is gone
          ! v1alpha1: the new field `spec.city` must be given

    Rights:
      - cluster: * kiosks.shop.example.com
      - cluster: * kiosks/status.shop.example.com
      + cluster: bind roles.rbac.authorization.k8s.io
          ! may hand out any role (bind)
      + cluster: get,list,watch configmaps
      + cluster: get,list,watch secrets
          ! reads every secret of the cluster

    Install modes:
      - OwnNamespace
          ! an operator group that needs this mode stops the operator
      - SingleNamespace
          ! an operator group that needs this mode stops the operator

    Webhooks:
      + vkiosk.shop.example.com (ValidatingAdmissionWebhook)
          ! requests are refused while the webhook cannot be reached

    Deployments:
      ~ kiosk: replicas 1, account kiosk, containers manager → replicas 2, account kiosk, containers manager
          ! its pods now have: host network

    Images:
      - registry.example.com/kiosk:1.0.0
      + registry.example.com/kiosk:1.1.0

    Other objects:
      + ClusterRole kiosk-viewer

    + added  - removed  ~ changed  ! deserves a look
    18 changes, 9 of which deserve a look
    [exit code 1]
    ");
    assert_eq!(run(&examples(), &["diff", "1.1.0", "1.1.0"]), "no differences\n[exit code 0]");
    let json = run(&examples(), &["diff", "1.1.0", "1.0.0", "-o", "json", "--exit-zero"]);
    assert!(json.contains(r#""this goes back to an older version""#), "{json}");
    assert!(json.ends_with("[exit code 0]"));
}
