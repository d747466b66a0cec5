//! `operon catalog migrate`: nothing is lost, nothing of the user's is overwritten.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// Two packages in one file, with everything that a catalog may hold. The inlined manifest is the
/// ClusterServiceVersion `{"kind":"ClusterServiceVersion","spec":{"displayName":"A store"}}`.
const CATALOG: &str = r#"
schema: olm.bundle
package: etcd
name: etcd.v1.0.0
image: q.io/etcd:1
properties:
- type: olm.bundle.object
  value: {data: eyJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwic3BlYyI6eyJkaXNwbGF5TmFtZSI6IkEgc3RvcmUifX0=}
- {type: olm.package, value: {packageName: etcd, version: 1.0.0}}
---
{schema: olm.deprecations, package: etcd, entries: [{reference: {schema: olm.package}, message: unmaintained}]}
---
{schema: olm.channel, package: etcd, name: stable, entries: [{name: etcd.v1.0.0}]}
---
{schema: olm.package, name: etcd, defaultChannel: stable, properties: [{type: custom, value: 1}]}
---
{schema: custom.of.etcd, package: etcd, name: one}
---
{schema: custom.of.none, more: [1, 2.50]}
---
# an empty document
---
{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v1.0.0}]}
---
{schema: olm.bundle, package: app, name: app.v1.0.0, image: 'q.io/app:1', properties: [{type: olm.package, value: {packageName: app, version: 1.0.0}}]}
"#;

#[test]
fn every_document_finds_its_package() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    fs::write(root.join("catalog.yaml"), CATALOG).unwrap();
    insta::assert_snapshot!(migrate(root, &["catalog.yaml", "new", "-o", "yaml"]), @r##"
    2 packages written, 1 of 2 bundles migrated, 1013 B before, 960 B after
    exit code 0
    "##);
    insta::assert_snapshot!(contents(&root.join("new")), @r##"
    == app/catalog.yaml
    ---
    defaultChannel: stable
    name: app
    schema: olm.package
    ---
    entries:
    - name: app.v1.0.0
    name: stable
    package: app
    schema: olm.channel
    ---
    image: q.io/app:1
    name: app.v1.0.0
    package: app
    properties:
    - type: olm.package
      value:
        packageName: app
        version: "1.0.0"
    schema: olm.bundle
    == catalog.yaml
    ---
    more:
    - 1
    - 2.5
    schema: custom.of.none
    == etcd/catalog.yaml
    ---
    defaultChannel: stable
    name: etcd
    properties:
    - type: custom
      value: 1
    schema: olm.package
    ---
    entries:
    - name: etcd.v1.0.0
    name: stable
    package: etcd
    schema: olm.channel
    ---
    image: q.io/etcd:1
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
        displayName: A store
        provider: {}
    schema: olm.bundle
    ---
    name: one
    package: etcd
    schema: custom.of.etcd
    ---
    entries:
    - message: unmaintained
      reference:
        schema: olm.package
    package: etcd
    schema: olm.deprecations
    "##);

    // What was written is a fixed point, whichever notation is in between.
    migrate(root, &["new", "again"]);
    migrate(root, &["again", "back", "-o", "yaml", "--level", "none"]);
    assert_eq!(contents(&root.join("back")), contents(&root.join("new")));
}

#[test]
fn nothing_is_overwritten_unless_it_is_replaced_whole() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    fs::create_dir(root.join("old")).unwrap();
    fs::write(root.join("old/catalog.yaml"), CATALOG).unwrap();
    let cases: [&[&str]; 6] = [
        &["old", "new", "--level", "none"],
        &["old", "new"],
        &["old", "new", "--force"],
        &["old", "new", "--force", "-o", "yaml"],
        &["old", "old/new"],
        &["old", ".", "--force"],
    ];
    let said: String = cases.iter().map(|arguments| migrate(root, arguments)).collect();
    insta::assert_snapshot!(said, @r##"
    2 packages written, 0 of 2 bundles migrated, 1013 B before, 1.73 KiB after
    exit code 0
    error: `new` is not empty
    hint: give an empty or a new directory, or replace the catalog in it with `--force`
    exit code 1
    2 packages written, 1 of 2 bundles migrated, 1013 B before, 1.77 KiB after
    exit code 0
    error: `new/app/catalog.json` is in the way: it would be read as a part of the catalog
    hint: nothing was written; remove what is not replaced first
    exit code 1
    error: `old/new` and the catalog `ROOT/old` lie within each other
    hint: give a directory beside the catalog
    exit code 1
    error: `.` and the catalog `ROOT/old` lie within each other
    hint: give a directory beside the catalog
    exit code 1
    "##);
}

#[test]
fn what_cannot_be_carried_over_is_named() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    let object = |data: &str| {
        format!(
            r#"{{"schema":"olm.bundle","package":"p","name":"p.v1","image":"q.io/p:1","properties":[
                {{"type":"olm.bundle.object","value":{{"data":"{data}"}}}}]}}"#
        )
    };
    for (name, text) in [
        ("parent.json", r#"{"schema":"olm.package","name":"../p"}"#.to_owned()),
        ("hidden.json", r#"{"schema":"x","package":"..p"}"#.to_owned()),
        ("broken.yaml", "schema: x\n---\nschema: y\n---\nschema: [\n".to_owned()),
        ("list.yaml", "schema: x\n---\n- schema: y\n".to_owned()),
        ("empty.json", String::new()),
        ("object.json", format!("{{\"schema\":\"x\"}}\n{}", object("!"))),
    ] {
        fs::write(root.join(name), text).unwrap();
    }
    let names = ["parent.json", "hidden.json", "broken.yaml", "list.yaml", "empty.json", "nowhere"];
    let said: String = names.iter().map(|name| migrate(root, &[name, "new"])).collect();
    insta::assert_snapshot!(said, @r##"
    error: the package name "../p" cannot be the name of a directory
    hint: nothing was written; package names are DNS labels, such as `etcd-operator`
    exit code 1
    error: the package name "..p" cannot be the name of a directory
    hint: nothing was written; package names are DNS labels, such as `etcd-operator`
    exit code 1
    error: broken.yaml:6: this document cannot be read: did not find expected node content while parsing a flow node
    hint: nothing was written; repair what `operon catalog validate` shows first
    exit code 1
    error: list.yaml:3: a catalog document must be an object, not this array
    hint: nothing was written; repair what `operon catalog validate` shows first
    exit code 1
    error: `empty.json` holds no catalog: no document was found
    exit code 1
    error: there is no catalog at `nowhere`: no such file or directory
    exit code 1
    "##);
    assert!(!root.join("new").exists(), "nothing is written when something is refused");

    // A bundle that resists is kept as it is.
    insta::assert_snapshot!(migrate(root, &["object.json", "new"]), @r##"
    1 package written, 0 of 1 bundle migrated, 167 B before, 271 B after
    warning: the catalog had 1 error and still has
    hint: operon catalog validate new
    error: object.json:2:1: this bundle is kept as it is: the manifest inlined as property 0 cannot be read: not base64 at byte 0
    exit code 1
    "##);
    assert!(contents(&root.join("new")).contains("\"data\": \"!\""));
}

/// What a user sees: standard output, standard error, the exit code.
fn migrate(directory: &Path, arguments: &[&str]) -> String {
    let cache = TempDir::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_operon"))
        .args(["catalog", "migrate"])
        .args(arguments)
        .current_dir(directory)
        .env("OPERON_CACHE_DIR", cache.path())
        .output()
        .unwrap();
    let said = format!(
        "{}{}exit code {}\n",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        output.status.code().unwrap()
    );
    let root = directory.canonicalize().unwrap();
    said.replace(&*root.to_string_lossy(), "ROOT")
}

/// The files below a directory, sorted, with their texts.
fn contents(directory: &Path) -> String {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        if next.is_dir() {
            pending.extend(fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(next);
        }
    }
    files.sort();
    let text = |path: PathBuf| {
        let shown = path.strip_prefix(directory).unwrap().display().to_string();
        format!("== {shown}\n{}", fs::read_to_string(path).unwrap())
    };
    files.into_iter().map(text).collect()
}
