//! A small operator bundle, and the means to change it.

use operon_bundle::{
    BundleFile, BundleReading, BundleSource, Migration, RenderOptions, ValidationOptions,
    read_bundle, validate_bundle,
};
use operon_document::{
    decode_base64,
    json::{Node, Tape},
};

pub(crate) const CSV_PATH: &str = "manifests/kiosk.clusterserviceversion.yaml";
pub(crate) const CRD_PATH: &str = "manifests/kiosks.shop.example.com.crd.yaml";
pub(crate) const ANNOTATIONS_PATH: &str = "metadata/annotations.yaml";

pub(crate) const CSV: &str = "\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: kiosk.v1.2.0
  annotations:
    olm.skipRange: '>=1.0.0 <1.2.0'
spec:
  version: 1.2.0
  displayName: Kiosk
  description: Sells <things> & more
  minKubeVersion: 1.25.0
  replaces: kiosk.v1.1.0
  skips: [kiosk.v1.0.0]
  icon:
  - base64data: R0lGODlh
    mediatype: image/gif
  installModes:
  - {type: AllNamespaces, supported: true}
  customresourcedefinitions:
    owned:
    - {name: kiosks.shop.example.com, version: v1, kind: Kiosk}
    required:
    - {name: databases.store.example.com, version: v1beta1, kind: Database}
  install:
    strategy: deployment
    spec:
      deployments:
      - name: kiosk
        spec:
          template:
            spec:
              initContainers:
              - {name: first, image: example.com/init@sha256:aa}
              containers:
              - {name: main, image: example.com/kiosk:1.2.0}
  relatedImages:
  - {name: main, image: example.com/kiosk:1.2.0}
";

pub(crate) const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: kiosks.shop.example.com
spec:
  group: shop.example.com
  names: {kind: Kiosk, plural: kiosks}
  versions:
  - {name: v1, maximum: 9223372036854775807}
  - {name: v1alpha1}
";

pub(crate) const ANNOTATIONS: &str = "\
annotations:
  operators.operatorframework.io.bundle.package.v1: kiosk
  operators.operatorframework.io.bundle.channels.v1: stable,beta
  operators.operatorframework.io.bundle.channel.default.v1: stable
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
";

/// Returns the small bundle with files exchanged or added.
pub(crate) fn files(changes: &[(&str, &str)]) -> Vec<BundleFile> {
    let mut files: Vec<BundleFile> =
        [(CSV_PATH, CSV), (CRD_PATH, CRD), (ANNOTATIONS_PATH, ANNOTATIONS)]
            .iter()
            .filter(|(path, _)| changes.iter().all(|(changed, _)| changed != path))
            .chain(changes)
            .map(|(path, content)| BundleFile {
                path: (*path).to_owned(),
                content: content.as_bytes().to_vec(),
            })
            .collect();
    // The order in which files are given does not matter.
    files.reverse();
    files
}

pub(crate) fn read(changes: &[(&str, &str)]) -> BundleReading {
    read_bundle(&files(changes))
}

pub(crate) fn source(changes: &[(&str, &str)]) -> BundleSource {
    read(changes).bundle.expect("bug: the example can be read")
}

pub(crate) fn options(migrate: Migration) -> RenderOptions {
    RenderOptions { image: "example.com/kiosk-bundle:1.2.0".to_owned(), migrate }
}

/// Describes findings one per line, with the text they point at.
pub(crate) fn describe(changes: &[(&str, &str)]) -> String {
    let files = files(changes);
    let reading = read_bundle(&files);
    let mut lines = Vec::new();
    for finding in &reading.findings {
        let file = files
            .iter()
            .find(|file| file.path == finding.file)
            .expect("bug: a finding is about a file");
        let marked = String::from_utf8_lossy(&file.content[finding.range.clone()]);
        let marked = marked.lines().next().unwrap_or_default();
        let (severity, rule) = (finding.severity.name(), finding.rule_id);
        lines.push(format!("{severity} {rule} [{marked}] {}", finding.message));
        lines.extend(finding.help.iter().map(|help| format!("  help: {help}")));
    }
    if let Err(error) = &reading.bundle {
        lines.push(format!("refused: {error}"));
    }
    lines.join("\n")
}

/// Returns the properties of a document, one per line, with inlined manifests decoded.
pub(crate) fn properties(json: &str) -> String {
    let mut tape = Tape::new();
    let root = tape.read(json.as_bytes()).expect("bug: a rendered bundle is JSON");
    let properties = root.get("properties").into_iter().flat_map(Node::elements);
    let lines: Vec<String> = properties.map(property_line).collect();
    lines.join("\n")
}

fn property_line(property: Node<'_>) -> String {
    let kind = property.get("type").and_then(Node::as_str).unwrap_or_default();
    let value = property.get("value").expect("bug: a property has a value");
    let text = match value.get("data").and_then(Node::as_str) {
        Some(data) => decode_base64(data.as_bytes()).unwrap_or_default(),
        None => value.raw().to_vec(),
    };
    format!("{kind} {}", String::from_utf8_lossy(&text))
}

/// Describes what validating finds, one finding per line, with the text it points at.
pub(crate) fn describe_validation(changes: &[(&str, &str)], options: &ValidationOptions) -> String {
    let files = files(changes);
    let reading = validate_bundle(&files, options);
    let lines = reading.findings.iter().map(|finding| {
        let content = files.iter().find(|file| file.path == finding.file);
        let marked = content.map(|file| &file.content[finding.range.clone()]).unwrap_or_default();
        let marked = String::from_utf8_lossy(marked);
        let marked = marked.lines().next().unwrap_or_default();
        let (severity, rule) = (finding.severity.name(), finding.rule_id);
        format!("{severity} {rule} [{marked}] {}", finding.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}
