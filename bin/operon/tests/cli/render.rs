//! `operon catalog render`: documents on standard output, everything else on standard error.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

#[test]
fn a_bundle_becomes_one_document() {
    let directory = TempDir::new().unwrap();
    write_bundle(directory.path(), "etcd", "0.9.4", "");
    let arguments = ["etcd/0.9.4", "--image", "quay.io/x/etcd:v0.9.4", "--migrate"];
    insta::assert_snapshot!(shown(&render(directory.path(), &arguments)), @r##"
    {
        "schema": "olm.bundle",
        "name": "etcd.v0.9.4",
        "package": "etcd",
        "image": "quay.io/x/etcd:v0.9.4",
        "properties": [
            {
                "type": "olm.package",
                "value": {
                    "packageName": "etcd",
                    "version": "0.9.4"
                }
            },
            {
                "type": "olm.csv.metadata",
                "value": {
                    "apiServiceDefinitions": {},
                    "crdDescriptions": {},
                    "displayName": "A store",
                    "provider": {}
                }
            }
        ],
        "relatedImages": [
            {
                "name": "",
                "image": "quay.io/x/etcd:v0.9.4"
            }
        ]
    }
    exit code 0
    "##);
    // Without an image the manifests stay, because they are nowhere else.
    insta::assert_snapshot!(shown(&render(directory.path(), &["etcd/0.9.4", "--migrate", "-o", "yaml"])), @r##"
    ---
    image: ""
    name: etcd.v0.9.4
    package: etcd
    properties:
    - type: olm.package
      value:
        packageName: etcd
        version: "0.9.4"
    - type: olm.bundle.object
      value:
        data: eyJhcGlWZXJzaW9uIjoib3BlcmF0b3JzLmNvcmVvcy5jb20vdjFhbHBoYTEiLCJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwibWV0YWRhdGEiOnsibmFtZSI6ImV0Y2QudjAuOS40In0sInNwZWMiOnsiZGlzcGxheU5hbWUiOiJBIHN0b3JlIiwidmVyc2lvbiI6IjAuOS40In19
    schema: olm.bundle
    hint: bundles from directories have `image: ""`; `--image-template` gives them one
    hint: `--migrate` leaves bundles without an image as they are
    exit code 0
    "##);
}

#[test]
fn many_bundles_are_rendered_and_each_is_reported_with_its_place() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    write_bundle(root, "all/sound", "1.0.0", "");
    write_bundle(root, "all/misspelt", "1.0.0", "  miniKubeVersion: 1.11.0\n");
    write_bundle(
        root,
        "all/refused",
        "1.0.0",
        "  customresourcedefinitions:\n    owned:\n    - {name: gone.x.io, version: v1, kind: Gone}\n",
    );
    write_bundle(root, "all/broken", "1.0.0", "");
    fs::write(root.join("all/broken/1.0.0/metadata/annotations.yaml"), "annotations: {}\n")
        .unwrap();
    write_bundle(root, "all/.hidden", "1.0.0", "");

    let output = render(
        root,
        &["all", "all/sound/1.0.0", "--image-template", "q.io/{{.Package}}:v{version}"],
    );
    let documents = String::from_utf8_lossy(&output.stdout).into_owned();
    let images: Vec<&str> =
        documents.lines().filter_map(|line| line.strip_prefix("    \"image\": ")).collect();
    assert_eq!(
        images,
        [r#""q.io/misspelt:v1.0.0","#, r#""q.io/refused:v1.0.0","#, r#""q.io/sound:v1.0.0","#]
    );
    let said = Output { stdout: Vec::new(), ..output };
    insta::assert_snapshot!(shown(&said), @r##"
    error: cannot render `all/broken/1.0.0`: no file in `metadata/` has bundle annotations; `metadata/annotations.yaml` must name the package

    warning[bundle-unknown-field]: `spec.miniKubeVersion` is not a field of a ClusterServiceVersion
     --> all/misspelt/1.0.0/manifests/misspelt.csv.yaml:8:3
      |
    8 |   miniKubeVersion: 1.11.0
      |   ^^^^^^^^^^^^^^^
      |
      = help: did you mean `minKubeVersion`?

    error[bundle-owned-crd-missing]: the CSV owns `gone.x.io` version `v1` kind `Gone`, but no manifest defines it
      --> all/refused/1.0.0/manifests/refused.csv.yaml:10:7
       |
    10 |     - {name: gone.x.io, version: v1, kind: Gone}
       |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: add the CRD to `manifests/`, or take it off the list of owned ones

    3 bundles rendered, 1 failed, 2 findings
    exit code 1
    "##);
}

#[test]
fn what_is_no_bundle_is_refused() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    write_bundle(root, "one", "1.0.0", "");
    write_bundle(root, "two", "2.0.0", "");
    fs::create_dir_all(root.join("half/manifests")).unwrap();
    fs::create_dir_all(root.join("empty")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    write_bundle(root, "circle", "1.0.0", "");
    symlink(root, root.join("circle/1.0.0/manifests/link")).unwrap();
    write_bundle(root, "gone", "1.0.0", "");
    symlink("nowhere", root.join("gone/1.0.0/manifests/link.yaml")).unwrap();
    let cases: [&[&str]; 9] = [
        &["quay.io/x/etcd:v1"],
        &["file"],
        &["half"],
        &["empty"],
        &["one", "two", "--image", "q.io/x:1"],
        &["one", "--image-template", "q.io/x:{tag}"],
        &["one", "--image-template", "x", "--image", "y"],
        &["circle"],
        &["gone"],
    ];
    let said: String = cases.iter().map(|arguments| shown(&render(root, arguments))).collect();
    insta::assert_snapshot!(said, @r##"
    error: there is no directory `quay.io/x/etcd:v1`
    hint: `operon bundle` takes images too
    exit code 1
    error: `file` is a file; a bundle is a directory with `manifests/` and `metadata/`
    exit code 1
    error: `half` is not a bundle: it has no directory `metadata/`
    exit code 1
    error: `empty` holds no bundle: no directory in it has `manifests/` and `metadata/`
    exit code 1
    error: `--image` names one image, but there are 2 bundles
    hint: use `--image-template` with {package}, {name} or {version}
    exit code 1
    error: invalid value 'q.io/x:{tag}' for '--image-template <PATTERN>': `{tag}` is not known; there are `{package}`, `{name}` and `{version}`

    For more information, try '--help'.
    exit code 2
    error: the argument '--image-template <PATTERN>' cannot be used with '--image <REFERENCE>'

    Usage: operon catalog render --image-template <PATTERN> <DIRECTORY>...

    For more information, try '--help'.
    exit code 2
    error: cannot render `circle/1.0.0`: `circle/1.0.0/manifests/link` is a link to a directory, or a device; bundles hold files and directories

    exit code 1
    error: cannot render `gone/1.0.0`: cannot read `gone/1.0.0/manifests/link.yaml`: No such file or directory (os error 2)

    exit code 1
    "##);
}

#[test]
fn links_are_followed_inside_a_bundle_only() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    write_bundle(root, "etcd", "1.0.0", "");
    let bundle = root.join("etcd/1.0.0");
    let manifest = bundle.join("manifests/etcd.csv.yaml");
    fs::rename(&manifest, bundle.join("csv")).unwrap();
    symlink("../csv", &manifest).unwrap();
    assert_eq!(render(root, &["etcd"]).status.code(), Some(0));

    fs::write(root.join("secret"), "password: 1234\n").unwrap();
    symlink("../../../secret", bundle.join("manifests/secret.yaml")).unwrap();
    let refused = |path: &str| {
        let commands: [&[&str]; 4] = [
            &["catalog", "render", "etcd"],
            &["bundle", "validate", "etcd/1.0.0"],
            &["bundle", "show", "etcd/1.0.0"],
            &["bundle", "build", "etcd/1.0.0", "--skip-validation", "-t", "oci:layout:v1"],
        ];
        for arguments in commands {
            let mut operon = Command::new(env!("CARGO_BIN_EXE_operon"));
            let output = operon.args(arguments).current_dir(root).output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{arguments:?}");
            let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            let expected = format!("`{path}` is a link that leads out of `etcd/1.0.0`");
            assert!(text.contains(&expected), "{arguments:?}: {text}");
            assert!(!text.contains("password"), "{arguments:?}: {text}");
        }
    };
    refused("etcd/1.0.0/manifests/secret.yaml");
    // The directories themselves may not lead out either.
    fs::remove_file(bundle.join("manifests/secret.yaml")).unwrap();
    fs::rename(bundle.join("metadata"), root.join("metadata")).unwrap();
    symlink("../../metadata", bundle.join("metadata")).unwrap();
    refused("etcd/1.0.0/metadata");
}

/// The newest bundles of every package of the community's repository.
#[test]
fn every_real_bundle_is_rendered() {
    let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/bundles.tar.zst");
    let directory = TempDir::new().unwrap();
    let mut unpack = Command::new("tar");
    unpack.args(["--zstd", "-xf", archive, "-C"]).arg(directory.path());
    let unpacked = unpack.output().is_ok_and(|output| output.status.success());
    if !Path::new(archive).exists() || !unpacked {
        let reason = format!("{archive} is not present, or tar and zstd are not");
        operon_parts::leave_out(operon_parts::Part::Shared, &reason);
        return;
    }
    let pattern = "quay.io/example/{package}:v{version}";
    let output = render(directory.path(), &["bundles", "--migrate", "--image-template", pattern]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.lines().last(), Some("797 bundles rendered, 0 failed, 94 findings"));
    assert_eq!(output.status.code(), Some(0));
    let documents = String::from_utf8(output.stdout).unwrap();
    assert_eq!(documents.matches("\n    \"schema\": \"olm.bundle\",\n").count(), 797);
}

/// Writes a bundle below `<package>/<version>`, with more lines for the spec of its CSV.
fn write_bundle(root: &Path, package: &str, version: &str, spec: &str) {
    let directory = root.join(package).join(version);
    let name = package.rsplit('/').next().unwrap();
    fs::create_dir_all(directory.join("manifests")).unwrap();
    fs::create_dir_all(directory.join("metadata")).unwrap();
    let csv = format!(
        "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n\
         metadata:\n  name: {name}.v{version}\nspec:\n  version: {version}\n  displayName: A store\n{spec}"
    );
    fs::write(directory.join(format!("manifests/{name}.csv.yaml")), csv).unwrap();
    let annotations =
        format!("annotations:\n  operators.operatorframework.io.bundle.package.v1: {name}\n");
    fs::write(directory.join("metadata/annotations.yaml"), annotations).unwrap();
}

fn render(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_operon"))
        .args(["catalog", "render"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap()
}

/// What a user sees: standard output, standard error, the exit code.
fn shown(output: &Output) -> String {
    format!(
        "{}{}exit code {}\n",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        output.status.code().unwrap()
    )
}
