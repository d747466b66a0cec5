//! What a registry serves for a bundle in a channel: upstream's fields, made from the document.
//!
//! Nothing is kept: a bundle's bodies are read from its document each time they are asked for.

use std::{error::Error, fmt};

use operon_catalog::{Entry, GroupVersionKind};
use operon_document::{
    json::{Node, Tape, byte_value},
    yaml::{self, YamlOptions},
};

use crate::manifest::is_json;

mod csv;

/// The fields of `api.Bundle` for one bundle in one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedBundle {
    /// `csvName`
    pub csv_name: String,
    /// `packageName`
    pub package_name: String,
    /// `channelName`
    pub channel_name: String,
    /// `csvJson`: the inlined ClusterServiceVersion, or one made from its metadata; may be empty.
    pub csv_json: String,
    /// `object`: the inlined manifests as JSON.
    pub objects: Vec<String>,
    /// `bundlePath`: the image reference.
    pub bundle_path: String,
    /// `providedApis`
    pub provided_apis: Vec<ServedApi>,
    /// `requiredApis`
    pub required_apis: Vec<ServedApi>,
    /// `version` as written.
    pub version: String,
    /// `skipRange` as written.
    pub skip_range: String,
    /// `dependencies`: requirements in the form of `dependencies.yaml`.
    pub dependencies: Vec<ServedDependency>,
    /// `properties`: type and value, without bodies.
    pub properties: Vec<ServedDependency>,
    /// `replaces`
    pub replaces: String,
    /// `skips`
    pub skips: Vec<String>,
    /// The message of `deprecation`.
    pub deprecation: Option<String>,
}

/// An API as the registry names it; the plural is always empty for catalogs of files.
pub type ServedApi = GroupVersionKind;

/// A type and a value as JSON text: the form of properties and dependencies on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedDependency {
    /// The type, such as `olm.gvk`.
    pub kind: String,
    /// The value as JSON text.
    pub value: String,
}

/// Why a bundle cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeError(String);

impl fmt::Display for ServeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for ServeError {}

/// Makes the fields that are served for a bundle in a channel, without the bodies of its document.
///
/// `csvJson` and `object` stay empty; everything else stands in the catalog itself, so that listing
/// bundles whose manifests lie in an image reads no file.
pub fn serve_without_bodies(entry: Entry<'_>) -> Result<ServedBundle, ServeError> {
    let bundle =
        entry.bundle().ok_or_else(|| ServeError(format!("{} has no content", entry.name())))?;
    Ok(ServedBundle {
        csv_name: bundle.name().to_owned(),
        package_name: bundle.package().name().to_owned(),
        channel_name: entry.channel().name().to_owned(),
        csv_json: String::new(),
        objects: Vec::new(),
        bundle_path: bundle.image().unwrap_or_default().to_owned(),
        provided_apis: bundle.provided_apis().map(|api| api.name()).collect(),
        required_apis: bundle.required_apis().map(|api| api.name()).collect(),
        version: bundle.version_text().to_owned(),
        skip_range: entry.skip_range().unwrap_or_default().to_owned(),
        dependencies: dependencies(bundle),
        properties: bundle
            .properties()
            .map(|property| dependency(property.kind, property.value.to_owned()))
            .collect(),
        replaces: entry.replaces().unwrap_or_default().to_owned(),
        skips: entry.skips().map(str::to_owned).collect(),
        deprecation: bundle.deprecation().map(str::to_owned),
    })
}

/// Makes the fields that are served for a bundle in a channel.
///
/// `document` is the JSON text of the bundle's document, `package_document` that of its package,
/// which lends its icon and description to bundles that have only metadata.
pub fn serve_bundle(
    entry: Entry<'_>,
    document: &[u8],
    package_document: &[u8],
) -> Result<ServedBundle, ServeError> {
    let mut served = serve_without_bodies(entry)?;
    let unreadable = |error: operon_document::json::JsonError| ServeError(error.to_string());
    let mut tape = Tape::new();
    let root = tape.read(document).map_err(unreadable)?;
    served.objects = inlined_objects(root)?;
    let csv = served.objects.iter().find(|object| is_csv(object));
    served.csv_json = csv.cloned().unwrap_or_default();
    let Some(bundle) = entry.bundle() else {
        return Ok(served);
    };
    match bundle.metadata_count() {
        0 => {}
        1 if served.csv_json.is_empty() => {
            let mut package_tape = Tape::new();
            let package = package_tape.read(package_document).map_err(unreadable)?;
            served.csv_json = csv::synthesize(bundle, root, package);
            if served.objects.is_empty() {
                served.objects.push(served.csv_json.clone());
            }
        }
        1 => {}
        count => {
            let kind = "olm.csv.metadata";
            return Err(ServeError(format!(
                "expected at most 1 property of type {kind:?}, found {count}"
            )));
        }
    }
    Ok(served)
}

fn dependency(kind: &str, value: String) -> ServedDependency {
    ServedDependency { kind: kind.to_owned(), value }
}

/// Writes requirements the way `dependencies.yaml` does, which old clients still read.
fn dependencies(bundle: operon_catalog::Bundle<'_>) -> Vec<ServedDependency> {
    let mut packages = bundle.required_packages();
    let mut served = Vec::new();
    for property in bundle.properties() {
        match property.kind {
            "olm.gvk.required" => served.push(dependency("olm.gvk", property.value.to_owned())),
            "olm.package.required" => {
                let (name, range) = packages.next().unwrap_or_default();
                let text = operon_document::json::canonical_string;
                let value =
                    format!("{{\"packageName\":{},\"version\":{}}}", text(name), text(range));
                served.push(dependency("olm.package", value));
            }
            _ => {}
        }
    }
    served
}

fn inlined_objects(root: Node<'_>) -> Result<Vec<String>, ServeError> {
    let mut objects = Vec::new();
    let mut data = Vec::new();
    for property in root.field("properties").into_iter().flat_map(Node::elements) {
        if property.field("type").and_then(Node::as_str).as_deref() != Some("olm.bundle.object") {
            continue;
        }
        // Upstream: an object without data repeats the one before it.
        let encoded = property.field("value").and_then(|value| value.field("data"));
        if let Some(encoded) = encoded.filter(|encoded| !encoded.is_null()) {
            data = byte_value(encoded).map_err(|mismatch| ServeError(mismatch.found))?;
        }
        let json = if is_json(&data) {
            data.clone()
        } else {
            yaml::to_json(&data, &YamlOptions { html_escape: true, ..YamlOptions::default() })
                .map_err(|error| ServeError(error.to_string()))?
                .json
        };
        objects.push(String::from_utf8_lossy(&json).into_owned());
    }
    Ok(objects)
}

fn is_csv(object: &str) -> bool {
    let mut tape = Tape::new();
    tape.read(object.as_bytes()).is_ok_and(|root| {
        root.field("kind").and_then(Node::as_str).as_deref() == Some("ClusterServiceVersion")
    })
}
