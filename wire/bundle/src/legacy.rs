//! Catalogs in ConfigMaps: lists of packages, ClusterServiceVersions and CRDs, the form that came before
//! bundles.
//!
//! Every operator is put together as a bundle and rendered like any other, so that nothing else in the
//! house knows of this form. What cannot be used is told and left out; the rest stays usable.

use std::collections::{BTreeMap, BTreeSet};

use operon_document::yaml::{self, YamlOptions};
use operon_object::{Value, map};

use crate::{
    BundleFile, Migration, RenderOptions, RenderedBundle, init_package, read_bundle, render,
};

/// The most bytes that a ConfigMap may hold: Kubernetes takes one MiB, and files may be kinder.
pub const MAX_CONFIG_MAP_BYTES: usize = 64 << 20;

/// The members of a ConfigMap that make a catalog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConfigMapCatalog<'t> {
    /// The list of packages with their channels.
    pub packages: &'t str,
    /// The list of ClusterServiceVersions.
    pub service_versions: &'t str,
    /// The list of CRDs.
    pub definitions: &'t str,
}

/// A catalog as documents, and what could not be used of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LegacyDocuments {
    /// The documents, one to a line.
    pub text: String,
    /// What is wrong, each a sentence.
    pub problems: Vec<String>,
}

/// Writes the documents of a catalog in a ConfigMap.
pub fn render_config_map(catalog: &ConfigMapCatalog<'_>) -> LegacyDocuments {
    let mut problems = Vec::new();
    let bytes = catalog.packages.len() + catalog.service_versions.len() + catalog.definitions.len();
    if bytes > MAX_CONFIG_MAP_BYTES {
        problems.push(format!("it holds more than {MAX_CONFIG_MAP_BYTES} bytes"));
        return LegacyDocuments { text: String::new(), problems };
    }
    let mut list = |member: &str, text: &str| match elements(text) {
        Ok(elements) => elements,
        Err(reason) => {
            problems.push(format!("`{member}` is no list of objects: {reason}"));
            Vec::new()
        }
    };
    let packages = list("packages", catalog.packages);
    let service_versions = list("clusterServiceVersions", catalog.service_versions);
    let definitions = list("customResourceDefinitions", catalog.definitions);
    let by_name = |objects: Vec<Value>| -> BTreeMap<String, Value> {
        let named = |object: Value| (object.at(&["metadata", "name"]).str().to_owned(), object);
        objects.into_iter().map(named).collect()
    };
    let mut shelf = Shelf {
        service_versions: by_name(service_versions),
        definitions: by_name(definitions),
        lines: Vec::new(),
        problems,
    };
    for package in &packages {
        shelf.package(package);
    }
    let text = shelf.lines.iter().map(|line| format!("{line}\n")).collect();
    LegacyDocuments { text, problems: shelf.problems }
}

/// Reads a YAML text that is a list.
fn elements(text: &str) -> Result<Vec<Value>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let json = yaml::to_json(text.as_bytes(), &YamlOptions::default())
        .map_err(|error| error.to_string())?
        .json;
    let value = Value::parse_json(json).map_err(|error| error.to_string())?;
    match value {
        Value::List(elements) => Ok(elements.to_vec()),
        Value::Null => Ok(Vec::new()),
        _ => Err("it is something else".to_owned()),
    }
}

/// What a ConfigMap holds, and what was made of it.
struct Shelf {
    service_versions: BTreeMap<String, Value>,
    definitions: BTreeMap<String, Value>,
    lines: Vec<String>,
    problems: Vec<String>,
}

impl Shelf {
    fn package(&mut self, package: &Value) {
        let name = package.get("packageName").str();
        if name.is_empty() {
            self.problems.push("a package has no `packageName`".to_owned());
            return;
        }
        let channels = package.get("channels").elements();
        let only = |channel: &Value| channel.get("name").str().to_owned();
        let default = match package.get("defaultChannel").str() {
            // Upstream: with one channel there is nothing to choose.
            "" if channels.len() == 1 => only(&channels[0]),
            written => written.to_owned(),
        };
        self.lines.push(init_package(name, &default, "", None));
        let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut chains = Vec::new();
        for channel in channels {
            let chain = self.chain(channel.get("currentCSV").str());
            for operator in &chain {
                wanted.entry(operator.clone()).or_default().insert(only(channel));
            }
            chains.push((only(channel), chain));
        }
        let bundles: BTreeMap<String, RenderedBundle> = wanted
            .iter()
            .filter_map(|(operator, channels)| {
                let rendered = self.bundle(name, operator, channels)?;
                Some((operator.clone(), rendered))
            })
            .collect();
        for (channel, chain) in chains {
            let entries: Vec<Value> =
                chain.iter().filter_map(|name| bundles.get(name)).map(entry).collect();
            let document = map! {
                "schema" => "olm.channel",
                "package" => name,
                "name" => channel,
                "entries" => entries,
            };
            self.lines.push(document.to_string());
        }
        self.lines.extend(bundles.into_values().map(|bundle| bundle.json));
    }

    /// Follows what each operator replaces, from the newest of a channel.
    fn chain(&self, newest: &str) -> Vec<String> {
        let mut chain: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next = newest.to_owned();
        while let Some(object) = self.service_versions.get(&next) {
            if !seen.insert(next.clone()) {
                break;
            }
            let replaced = object.at(&["spec", "replaces"]).str().to_owned();
            chain.push(std::mem::replace(&mut next, replaced));
        }
        if chain.is_empty() && !newest.is_empty() {
            // The channel keeps its head, and the catalog's own rules say what it lacks.
            chain.push(newest.to_owned());
        }
        chain
    }

    /// Puts an operator together as a bundle, with the CRDs that it owns.
    fn bundle(
        &mut self,
        package: &str,
        operator: &str,
        channels: &BTreeSet<String>,
    ) -> Option<RenderedBundle> {
        let Some(object) = self.service_versions.get(operator) else {
            self.problems.push(format!(
                "package `{package}` names `{operator}`, which is not among `clusterServiceVersions`"
            ));
            return None;
        };
        let manifest = |name: String, value: &Value| BundleFile {
            path: format!("manifests/{name}.json"),
            content: value.to_string().into_bytes(),
        };
        let mut files = vec![manifest("operator".to_owned(), object)];
        let owned = object.at(&["spec", "customresourcedefinitions", "owned"]).elements();
        for (number, description) in owned.iter().enumerate() {
            if let Some(definition) = self.definitions.get(description.get("name").str()) {
                files.push(manifest(format!("definition-{number}"), definition));
            }
        }
        files.push(BundleFile {
            path: "metadata/annotations.json".to_owned(),
            content: annotations(package, channels).to_string().into_bytes(),
        });
        let rendered = read_bundle(&files).bundle.and_then(|source| {
            render(&source, &RenderOptions { image: String::new(), migrate: Migration::None })
        });
        rendered.map_err(|error| self.problems.push(format!("operator `{operator}`: {error}"))).ok()
    }
}

fn annotations(package: &str, channels: &BTreeSet<String>) -> Value {
    let channels = channels.iter().map(String::as_str).collect::<Vec<_>>().join(",");
    map! {
        "annotations" => map! {
            "operators.operatorframework.io.bundle.mediatype.v1" => "registry+v1",
            "operators.operatorframework.io.bundle.manifests.v1" => "manifests/",
            "operators.operatorframework.io.bundle.metadata.v1" => "metadata/",
            "operators.operatorframework.io.bundle.package.v1" => package,
            "operators.operatorframework.io.bundle.channels.v1" => channels,
        },
    }
}

fn entry(bundle: &RenderedBundle) -> Value {
    let mut entry = map! { "name" => bundle.name.as_str() };
    if !bundle.replaces.is_empty() {
        entry.set(&["replaces"], bundle.replaces.as_str());
    }
    if !bundle.skips.is_empty() {
        let skips: Vec<Value> =
            bundle.skips.iter().map(|name| Value::from(name.as_str())).collect();
        entry.set(&["skips"], skips);
    }
    if !bundle.skip_range.is_empty() {
        entry.set(&["skipRange"], bundle.skip_range.as_str());
    }
    entry
}
