//! A catalog, bundles and a cluster of hostile text.

use std::{fs, path::Path};

use operon_document::{escape_json, json::canonical_string};
use tempfile::TempDir;

use crate::harbour::copy;

/// Begins a line that no command prints by itself.
pub(super) const FORGED: &str = "FORGED";

/// A colour that Operon does not use.
pub(super) const STYLE: &str = "\u{1b}[35;7m";

/// Escapes, C1, CR, BS, BEL and DEL; lines and commands that are forged; and every kind of character
/// that turns the reading direction or breaks a line.
pub(super) const HOSTILE: &str = "!\u{1b}[35;7m\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}1A\u{85}\u{8}\u{7f}\rx\
    \nFORGED error: all is lost\n::set-output name=a::b\n  ::error::c##vso[task.d]e\
    \u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}\u{2028}\u{2029}\u{feff}!";

/// What is hostile. In both, `§` stands for the hostile text; `¤`, behind names by which other
/// commands find things, does in one of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Variant {
    Texts,
    Names,
}

impl Variant {
    /// Fills in the hostile text as it is.
    pub(super) fn raw(self, text: &str) -> String {
        self.fill(text, HOSTILE)
    }

    /// Fills in the hostile text as it is written inside a string of JSON or YAML.
    fn escaped(self, text: &str) -> String {
        let quoted = canonical_string(HOSTILE);
        let quoted = escape_json(&quoted);
        self.fill(text, &quoted[1..quoted.len() - 1])
    }

    fn fill(self, text: &str, hostile: &str) -> String {
        let name = if self == Variant::Names { hostile } else { "" };
        text.replace('¤', name).replace('§', hostile)
    }
}

const METADATA: &str = r#"{"type":"olm.csv.metadata","value":{
  "displayName":"Beacon§","description":"First.\n\nSecond§","provider":{"name":"§","url":"§"},
  "keywords":["k§"],"links":[{"name":"l§","url":"§"}],"maturity":"§","minKubeVersion":"1.25.0",
  "maintainers":[{"name":"m§","email":"§"}],"annotations":{"capabilities":"§","a§":"b§"},
  "nativeAPIs":[{"group":"§","version":"v1","kind":"§"}],
  "installModes":[{"type":"AllNamespaces","supported":true}],
  "crdDescriptions":{"owned":[{"name":"beacons.example.com","version":"v1","kind":"Beacon","displayName":"§","description":"§"}]}}}"#;

const CATALOG: &str = r#"
{"schema":"olm.package","name":"beacon¤","defaultChannel":"stable§","description":"About§"}
{"schema":"olm.channel","package":"beacon¤","name":"stable§","entries":[
  {"name":"beacon.v1.0.0¤"},
  {"name":"beacon.v1.1.0¤","replaces":"beacon.v1.0.0¤","skips":["beacon.v0.9.0§"]},
  {"name":"beacon.v1.2.0¤","replaces":"beacon.v1.1.0¤","skipRange":">=1.0.0 <1.2.0"}]}
{"schema":"olm.channel","package":"beacon¤","name":"fast§","entries":[{"name":"beacon.v1.2.0¤"}]}
{"schema":"olm.bundle","package":"beacon¤","name":"beacon.v1.0.0¤","image":"example.com/beacon:1§","properties":[
  {"type":"olm.package","value":{"packageName":"beacon¤","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"beacon¤","name":"beacon.v1.1.0¤","image":"example.com/beacon:2","properties":[
  {"type":"olm.package","value":{"packageName":"beacon¤","version":"1.1.0"}},
  {"type":"olm.gvk","value":{"group":"example.com","version":"v1","kind":"Beacon§"}}]}
{"schema":"olm.bundle","package":"beacon¤","name":"beacon.v1.2.0¤","image":"example.com/beacon:3",
 "relatedImages":[{"name":"r§","image":"example.com/related:1§"}],"properties":[
  {"type":"olm.package","value":{"packageName":"beacon¤","version":"1.2.0"}},
  {"type":"olm.gvk","value":{"group":"example.com","version":"v1","kind":"Beacon§"}},
  {"type":"olm.gvk.required","value":{"group":"tide.example.com","version":"v1","kind":"Tide§"}},
  {"type":"olm.package.required","value":{"packageName":"gone§","versionRange":">=1.0.0"}},
  {"type":"olm.constraint","value":{"failureMessage":"f§","all":{"constraints":[{"failureMessage":"g§","package":{"packageName":"tide¤","versionRange":">=1.0.0"}}]}}},
  {"type":"note§","value":{"key§":"value§"}},
  METADATA]}
{"schema":"olm.deprecations","package":"beacon¤","entries":[
  {"reference":{"schema":"olm.package"},"message":"d§"},
  {"reference":{"schema":"olm.channel","name":"stable§"},"message":"d§"},
  {"reference":{"schema":"olm.bundle","name":"beacon.v1.1.0¤"},"message":"d§"}]}
{"schema":"custom§","package":"beacon¤","name":"other§","text":"§"}
{"schema":"olm.package","name":"tide¤","defaultChannel":"stable§","description":"§"}
{"schema":"olm.channel","package":"tide¤","name":"stable§","entries":[{"name":"tide.v1.0.0¤"}]}
{"schema":"olm.bundle","package":"tide¤","name":"tide.v1.0.0¤","image":"example.com/tide:1","properties":[
  {"type":"olm.package","value":{"packageName":"tide¤","version":"1.0.0"}},
  {"type":"olm.gvk","value":{"group":"tide.example.com","version":"v1","kind":"Tide§"}}]}
{"schema":"olm.package","name":"lamp","defaultChannel":"stable§","description":"§"}
{"schema":"olm.channel","package":"lamp","name":"stable§","entries":[{"name":"lamp.v1.0.0"}]}
{"schema":"olm.bundle","package":"lamp","name":"lamp.v1.0.0","image":"example.com/lamp:1","properties":[
  {"type":"olm.package","value":{"packageName":"lamp","version":"1.0.0"}},{"type":"note§","value":"§"}]}
"#;

/// What a broken catalog has besides: names that nothing has, ranges and versions that cannot be read.
const BROKEN: &str = r#"
{"schema":"olm.package","name":"broken§","defaultChannel":"none§","description":"§"}
{"schema":"olm.channel","package":"broken§","name":"a§","entries":[{"name":"b§","skipRange":"§"},{"name":"b§"},{"name":"c§","replaces":"d§"}]}
{"schema":"olm.bundle","package":"broken§","name":"b§","image":"","properties":[{"type":"olm.package","value":{"packageName":"other§","version":"1§"}}]}
{"schema":"olm.bundle","package":"absent§","name":"e§","image":"x","properties":[{"type":"§","value":7}]}
{"schema":"olm.deprecations","package":"broken§","entries":[{"reference":{"schema":"olm.bundle","name":"§"},"message":"§"},{"reference":{"schema":"§"},"message":"§"}]}
{"schema":"olm.channel","package":"broken§","name":"f§","unknown§":"§","entries":"§"}
"#;

const CLUSTER: &str = r#"
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: group, namespace: port, annotations: {a: "§"}}
spec: {targetNamespaces: ["§"]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: local, namespace: port}
spec: {sourceType: grpc, image: "example.com/catalog:1", displayName: "§", publisher: "§"}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: beacon, namespace: port}
spec: {name: "beacon¤", channel: "stable§", source: local, sourceNamespace: port, startingCSV: "§"}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: "absent", namespace: port}
spec: {name: "absent§", channel: "§", source: "§", sourceNamespace: "§"}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: "by-hand", namespace: port, annotations: {"operatorframework.io/properties": "§"}}
spec: {displayName: "§", version: 1.0.0, replaces: "§"}
"#;

/// Writes catalogs, a bundle in two versions, a template and manifests.
pub(super) fn hostile_directory(variant: Variant) -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    let write = |path: &str, text: &str| {
        let file = directory.path().join(path);
        fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        fs::write(file, variant.escaped(text)).expect("written");
    };
    let catalog = CATALOG.replace("METADATA", &METADATA.replace('\n', " "));
    write("catalog/catalog.json", &catalog);
    write("broken/catalog.json", &format!("{catalog}{BROKEN}"));
    // A server serves no package whose image cannot be pulled.
    let served = catalog.replace("beacon:1§", "beacon:1").replace("related:1§", "related:1");
    write("served/catalog.json", &served);
    let changed = catalog
        .replace("stable§", "stable§2")
        .replace("About§", "Changed§")
        .replace("d§", "e§")
        .replace("note§", "remark§")
        .replace("{\"name\":\"beacon.v1.0.0¤\"},", "");
    write("changed/catalog.json", &changed);
    write("cluster.yaml", CLUSTER);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for version in ["1.0.0", "1.1.0"] {
        let to = directory.path().join("bundles").join(version);
        copy(&repository.join("examples/bundles/kiosk").join(version), &to);
        let file = to.join("manifests/kiosk.clusterserviceversion.yaml");
        let text = fs::read_to_string(&file).expect("the example");
        let hostile = text
            .replace("displayName: Kiosk", "displayName: \"Kiosk§\"\n  description: \"§\"\n  provider: {name: \"§\"}\n  keywords: [\"§\"]\n  maturity: \"§\"\n  links: [{name: \"§\", url: \"§\"}]")
            .replace("description: A small shop", "description: \"§\", displayName: \"§\"")
            .replace("verbs: [get,", "verbs: [\"§VERSION\", get,")
            .replace("image: registry.example.com/kiosk", "image: \"§VERSION\" #")
            .replace("  annotations:\n", "  annotations:\n    capabilities: \"§\"\n    \"x§\": \"§VERSION\"\n")
            .replace("VERSION", version);
        assert!(hostile.matches('§').count() > 10, "{hostile}");
        fs::write(file, variant.escaped(&hostile)).expect("written");
    }
    write(
        "template.yaml",
        "schema: olm.semver\ngenerateMajorChannels: true\nstable: {bundles: [{image: \"./bundles/1.0.0\"}, {image: \"./gone§\"}]}\n",
    );
    directory
}

/// Objects of a cluster whose texts are hostile, besides operators from a hostile catalog.
const OBJECTS: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: texts, namespace: harbour, annotations: {a: "§", b: "Line\n§"}}
data: {text: "§", lines: "First\n::set-output name=a::b\n"}
---
apiVersion: v1
kind: Event
metadata: {name: told, namespace: harbour}
type: "§"
reason: "§"
message: "§"
involvedObject: {apiVersion: v1, kind: ConfigMap, name: texts, namespace: harbour}
source: {component: "§"}
lastTimestamp: "2024-01-01T00:00:00Z"
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: wrong, namespace: harbour}
spec: {sourceType: "§", image: "./gone§", displayName: "§", publisher: "§"}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: wrong, namespace: harbour}
spec: {name: "wrong§", channel: "§", source: chandler, sourceNamespace: harbour, startingCSV: "§"}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: lost, namespace: harbour}
spec: {name: beacon, channel: "lost§", source: chandler, sourceNamespace: harbour, installPlanApproval: "§"}
"#;

/// Runs `operon up` in a copy of the quickstart whose catalog and bundles are hostile.
pub(super) fn hostile_cluster() -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    copy(&repository.join("examples/quickstart"), directory.path());
    let variant = Variant::Texts;
    let change = |path: &str, changes: &[(&str, &str)]| {
        let file = directory.path().join(path);
        let mut text = fs::read_to_string(&file).expect("the quickstart");
        for (from, to) in changes {
            assert!(text.contains(from), "{path} has `{from}`");
            text = text.replace(from, to);
        }
        fs::write(file, variant.escaped(&text)).expect("written");
    };
    let channel = [
        ("defaultChannel: stable", "defaultChannel: \"stable§\""),
        ("name: stable", "name: \"stable§\""),
        ("description: ", "description: \"§\" #"),
    ];
    for name in ["beacon", "tide", "foghorn"] {
        change(&format!("catalog/{name}.yaml"), &channel);
    }
    for bundle in ["beacon.v1.0.0", "tide.v1.0.0"] {
        let (name, _) = bundle.split_once('.').expect("a name and a version");
        let path = format!("bundles/{bundle}/manifests/{name}.clusterserviceversion.yaml");
        let texts = [("  description: ", "  provider: {name: \"§\"}\n  description: \"§\" #")];
        change(&path, &texts);
    }
    change("cluster.yaml", &[("channel: stable", "channel: \"stable§\"")]);
    fs::write(directory.path().join("objects.yaml"), variant.escaped(OBJECTS)).expect("written");
    directory
}
