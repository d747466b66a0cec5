//! `operon catalog template`: bundles are directories beside the template; the result is checked.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

const SEMVER: &str = "\
schema: olm.semver
generateMajorChannels: true
stable:
  bundles:
  - image: bundles/etcd/1.0.0
  - image: bundles/etcd/1.1.0
";

#[test]
fn a_semver_template_makes_channels_from_directories() {
    let directory = directory_with_bundles();
    fs::create_dir(directory.path().join("sub")).unwrap();
    fs::write(directory.path().join("sub/etcd.yaml"), SEMVER.replace("bundles/", "../bundles/"))
        .unwrap();
    let pattern = ["--image-template", "q.io/{package}:{version}", "--migrate", "-o", "yaml"];
    let mut arguments = vec!["semver", "sub/etcd.yaml"];
    arguments.extend(pattern);
    let from_file = template(directory.path(), &arguments, "");
    insta::assert_snapshot!(shown(&from_file), @r##"
    ---
    defaultChannel: stable-v1
    description: A store
    name: etcd
    schema: olm.package
    ---
    entries:
    - name: etcd.v1.0.0
    - name: etcd.v1.1.0
      replaces: etcd.v1.0.0
    name: stable-v1
    package: etcd
    schema: olm.channel
    ---
    image: q.io/etcd:1.0.0
    name: etcd.v1.0.0
    package: etcd
    properties:
    - type: olm.package
      value:
        packageName: etcd
        version: "1.0.0"
    - type: olm.csv.metadata
      value:
        apiServiceDefinitions: {}
        crdDescriptions: {}
        description: A store
        provider: {}
    relatedImages:
    - image: q.io/etcd:1.0.0
      name: ""
    schema: olm.bundle
    ---
    image: q.io/etcd:1.1.0
    name: etcd.v1.1.0
    package: etcd
    properties:
    - type: olm.package
      value:
        packageName: etcd
        version: "1.1.0"
    - type: olm.csv.metadata
      value:
        apiServiceDefinitions: {}
        crdDescriptions: {}
        description: A store
        provider: {}
    relatedImages:
    - image: q.io/etcd:1.1.0
      name: ""
    schema: olm.bundle
    exit code 0
    "##);

    // From standard input, paths start at the current directory.
    let mut arguments = vec!["auto", "-"];
    arguments.extend(pattern);
    let from_input = template(directory.path(), &arguments, SEMVER);
    assert_eq!(shown(&from_input), shown(&from_file));
}

#[test]
fn mistakes_are_shown_where_the_template_makes_them() {
    let directory = directory_with_bundles();
    let image = SEMVER.replace("bundles/etcd/1.1.0", "quay.io/x/etcd@sha256:00");
    let no_bundle = SEMVER.replace("bundles/etcd/1.1.0", "bundles");
    let cases = [
        (["auto", "-"], image.as_str()),
        (["semver", "-"], no_bundle.as_str()),
        (["basic", "-"], SEMVER),
        (["auto", "-"], "schema: olm.package\n"),
        (["auto", "nowhere.yaml"], ""),
    ];
    let said: String = cases
        .iter()
        .map(|(arguments, text)| shown(&template(directory.path(), arguments, text)))
        .collect();
    insta::assert_snapshot!(said, @r##"
    error: cannot render `quay.io/x/etcd@sha256:00`: there is no directory `quay.io/x/etcd@sha256:00`; images cannot be pulled yet, so unpack the bundle image and give its directory, relative to the template
     --> <standard input>:6:12
      |
    6 |   - image: quay.io/x/etcd@sha256:00
      |            ^^^^^^^^^^^^^^^^^^^^^^^^

    exit code 1
    error: cannot render `bundles`: `bundles` holds no bundle: no directory in it has `manifests/` and `metadata/`
     --> <standard input>:6:12
      |
    6 |   - image: bundles
      |            ^^^^^^^

    exit code 1
    error: the schema of this template is `olm.semver`, but must be `olm.template.basic`
     --> <standard input>:1:9
      |
    1 | schema: olm.semver
      |         ^^^^^^^^^^

    exit code 1
    error: the text is not a template: its `schema` must be one of `olm.template.basic`, `olm.semver`, `olm.template.substitutes`
    --> <standard input>

    exit code 1
    error: cannot read `nowhere.yaml`
      because: No such file or directory (os error 2)
    exit code 1
    "##);
}

#[test]
fn the_expanded_catalog_is_checked() {
    let directory = directory_with_bundles();
    let entries = "\
entries:
- {schema: olm.package, name: etcd, defaultChannel: stable}
- {schema: olm.channel, package: etcd, name: stable, entries: [{name: etcd.v1.0.0}, {name: etcd.v0.9.0}]}
- {schema: olm.bundle, image: bundles/etcd/1.0.0}
";
    let silent = |output: Output| shown(&Output { stdout: Vec::new(), ..output });
    // A basic template may be a part of a catalog.
    let basic = format!("schema: olm.template.basic\n{entries}");
    insta::assert_snapshot!(silent(template(directory.path(), &["auto", "-"], &basic)), @r##"
    warning[entry-without-bundle]: channel "stable" of package "etcd" has an entry "etcd.v0.9.0", but there is no such bundle
      --> <expanded template>:15:21
       |
    15 |             "name": "etcd.v0.9.0"
       |                     ^^^^^^^^^^^^^
       |
       = help: add its olm.bundle document, or remove the entry; others may still name it in `replaces` and `skips`

    warning[channel-two-heads]: channel "stable" of package "etcd" has two heads
      --> <expanded template>:15:21
       |
    15 |             "name": "etcd.v0.9.0"
       |                     ^^^^^^^^^^^^^ nothing in this channel replaces or skips it
       |
      ::: <expanded template>:12:21
       |
    12 |             "name": "etcd.v1.0.0"
       |                     ^^^^^^^^^^^^^ nothing in this channel replaces or skips it
       |
       = a Subscription to this channel cannot know which one is newest
       = help: let etcd.v0.9.0 replace or skip etcd.v1.0.0

    hint: bundles from directories have `image: ""`; `--image-template` gives them one
    exit code 0
    "##);

    let entries = entries.replace("image: bundles/etcd/1.0.0", "name: etcd.v1.0.0, package: etcd, image: 'q.io/x:1', properties: [{type: olm.package, value: {packageName: etcd, version: 1.0.0}}]");
    let substitutes = format!(
        "schema: olm.template.substitutes\n{entries}substitutions:\n- {{name: bundles/etcd/1.1.0, base: etcd.v1.0.0}}\n"
    );
    insta::assert_snapshot!(silent(template(directory.path(), &["auto", "-"], &substitutes)), @r##"
    error[entry-without-bundle]: channel "stable" of package "etcd" has an entry "etcd.v0.9.0", but there is no such bundle
      --> <expanded template>:15:21
       |
    15 |             "name": "etcd.v0.9.0"
       |                     ^^^^^^^^^^^^^
       |
       = help: add its olm.bundle document, or remove the entry; others may still name it in `replaces` and `skips`

    error[channel-two-heads]: channel "stable" of package "etcd" has two heads
      --> <expanded template>:15:21
       |
    15 |             "name": "etcd.v0.9.0"
       |                     ^^^^^^^^^^^^^ nothing in this channel replaces or skips it
       |
      ::: <expanded template>:18:21
       |
    18 |             "name": "etcd.v1.1.0",
       |                     ^^^^^^^^^^^^^ nothing in this channel replaces or skips it
       |
       = a Subscription to this channel cannot know which one is newest
       = help: let etcd.v1.1.0 replace or skip etcd.v0.9.0

    hint: bundles from directories have `image: ""`; `--image-template` gives them one
    exit code 1
    "##);
}

fn directory_with_bundles() -> TempDir {
    let directory = TempDir::new().unwrap();
    for version in ["1.0.0", "1.1.0"] {
        let bundle = directory.path().join("bundles/etcd").join(version);
        fs::create_dir_all(bundle.join("manifests")).unwrap();
        fs::create_dir_all(bundle.join("metadata")).unwrap();
        let csv = format!(
            "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n\
             metadata:\n  name: etcd.v{version}\nspec:\n  version: {version}\n  description: A store\n"
        );
        fs::write(bundle.join("manifests/csv.yaml"), csv).unwrap();
        let annotations =
            "annotations:\n  operators.operatorframework.io.bundle.package.v1: etcd\n";
        fs::write(bundle.join("metadata/annotations.yaml"), annotations).unwrap();
    }
    directory
}

fn template(directory: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_operon"))
        .args(["catalog", "template"])
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
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
