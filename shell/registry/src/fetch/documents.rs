//! Catalog documents made from the messages of the API, one JSON object per line.
//!
//! Values of properties are written with sorted keys, so that the same content is the same bytes.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use operon_document::{
    encode_base64,
    json::{Tape, canonical, canonical_string},
};

use super::collect::{Collected, EntryParts, PackageParts};
use crate::api;

/// Writes a catalog.
pub(super) struct Documents {
    collected: Collected,
}

impl Documents {
    pub(super) fn new(collected: Collected) -> Self {
        Self { collected }
    }

    /// Writes all documents and returns how many packages and bundles there are.
    pub(super) fn write(mut self, out: &mut dyn Write) -> io::Result<(usize, usize)> {
        let mut bundles = 0;
        for (name, parts) in &self.collected.packages {
            writeln!(out, "{}", package_document(name, parts))?;
            for (channel, entries) in &parts.channels {
                writeln!(out, "{}", channel_document(name, channel, entries))?;
            }
            for bundle in parts.bundles.values() {
                self.collected.spool.copy(bundle.document, out)?;
            }
            if let Some(deprecations) = deprecations_document(name, parts) {
                writeln!(out, "{deprecations}")?;
            }
            bundles += parts.bundles.len();
        }
        out.flush()?;
        Ok((self.collected.packages.len(), bundles))
    }
}

fn package_document(name: &str, parts: &PackageParts) -> String {
    let default = canonical_string(&parts.package.default_channel_name);
    let name = canonical_string(name);
    format!("{{\"schema\":\"olm.package\",\"name\":{name},\"defaultChannel\":{default}}}")
}

fn channel_document(
    package: &str,
    channel: &str,
    entries: &BTreeMap<String, EntryParts>,
) -> String {
    let entries: Vec<String> =
        entries.iter().map(|(name, entry)| entry_text(name, entry)).collect();
    format!(
        "{{\"schema\":\"olm.channel\",\"package\":{},\"name\":{},\"entries\":[{}]}}",
        canonical_string(package),
        canonical_string(channel),
        entries.join(",")
    )
}

fn entry_text(name: &str, entry: &EntryParts) -> String {
    let mut text = format!("{{\"name\":{}", canonical_string(name));
    let mut add = |key: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!(",\"{key}\":{}", canonical_string(value)));
        }
    };
    add("replaces", &entry.replaces);
    add("skipRange", &entry.skip_range);
    if !entry.skips.is_empty() {
        let skips: Vec<String> = entry.skips.iter().map(|skip| canonical_string(skip)).collect();
        text.push_str(&format!(",\"skips\":[{}]", skips.join(",")));
    }
    text.push('}');
    text
}

fn deprecations_document(name: &str, parts: &PackageParts) -> Option<String> {
    let mut entries: Vec<String> = Vec::new();
    let reference = |schema: &str, name: &str, message: &str| {
        let name = match name {
            "" => String::new(),
            name => format!(",\"name\":{}", canonical_string(name)),
        };
        let message = canonical_string(message);
        format!("{{\"reference\":{{\"schema\":\"{schema}\"{name}}},\"message\":{message}}}")
    };
    if let Some(deprecation) = &parts.package.deprecation {
        entries.push(reference("olm.package", "", &deprecation.message));
    }
    let mut channels: Vec<&api::Channel> = parts.package.channels.iter().collect();
    channels.sort_by(|left, right| left.name.cmp(&right.name));
    for channel in channels {
        if let Some(deprecation) = &channel.deprecation {
            entries.push(reference("olm.channel", &channel.name, &deprecation.message));
        }
    }
    for (bundle, parts) in &parts.bundles {
        if let Some(message) = &parts.deprecation {
            entries.push(reference("olm.bundle", bundle, message));
        }
    }
    if entries.is_empty() {
        return None;
    }
    let (package, entries) = (canonical_string(name), entries.join(","));
    Some(format!(
        "{{\"schema\":\"olm.deprecations\",\"package\":{package},\"entries\":[{entries}]}}"
    ))
}

/// Makes the document of a bundle, with a line break behind it; an error is a defect of the bundle.
pub(super) fn bundle_document(bundle: &api::Bundle) -> Result<Vec<u8>, String> {
    let mut text = format!(
        "{{\"schema\":\"olm.bundle\",\"package\":{},\"name\":{}",
        canonical_string(&bundle.package_name),
        canonical_string(&bundle.csv_name)
    );
    if !bundle.bundle_path.is_empty() {
        text.push_str(&format!(",\"image\":{}", canonical_string(&bundle.bundle_path)));
    }
    text.push_str(",\"properties\":[");
    let mut tape = Tape::new();
    let mut separator = "";
    for (kind, value) in properties(bundle) {
        let read = tape.read(value.as_bytes()).map(canonical);
        let value = read.map_err(|error| format!("its property {kind:?} is not JSON: {error}"))?;
        let kind = canonical_string(&kind);
        text.push_str(&format!("{separator}{{\"type\":{kind},\"value\":{value}}}"));
        separator = ",";
    }
    text.push_str("]}\n");
    Ok(text.into_bytes())
}

/// Returns the properties of a bundle, with its manifests where no image has them.
fn properties(bundle: &api::Bundle) -> Vec<(String, String)> {
    let mut properties: Vec<(String, String)> = bundle
        .properties
        .iter()
        .map(|property| (property.r#type.clone(), property.value.clone()))
        .collect();
    add_what_old_registries_say_elsewhere(bundle, &mut properties);
    if bundle.bundle_path.is_empty() {
        let csv = Some(&bundle.csv_json).filter(|csv| bundle.object.is_empty() && !csv.is_empty());
        for object in bundle.object.iter().chain(csv) {
            let data = encode_base64(object.as_bytes());
            properties.push(("olm.bundle.object".to_owned(), format!("{{\"data\":\"{data}\"}}")));
        }
    }
    properties
}

/// Adds properties that registries from before properties send in other fields only.
fn add_what_old_registries_say_elsewhere(
    bundle: &api::Bundle,
    properties: &mut Vec<(String, String)>,
) {
    let has = |properties: &[(String, String)], kind: &str| {
        properties.iter().any(|(present, _)| present == kind)
    };
    let text = canonical_string;
    let gvk = |api: &api::GroupVersionKind| {
        let (group, version, kind) = (text(&api.group), text(&api.version), text(&api.kind));
        format!("{{\"group\":{group},\"kind\":{kind},\"version\":{version}}}")
    };
    if !has(properties, "olm.package") && !bundle.version.is_empty() {
        let (name, version) = (text(&bundle.package_name), text(&bundle.version));
        let value = format!("{{\"packageName\":{name},\"version\":{version}}}");
        properties.push(("olm.package".to_owned(), value));
    }
    if !has(properties, "olm.gvk") {
        let provided = bundle.provided_apis.iter();
        properties.extend(provided.map(|api| ("olm.gvk".to_owned(), gvk(api))));
    }
    let has_needs = has(properties, "olm.gvk.required") || has(properties, "olm.package.required");
    if has_needs {
        return;
    }
    if bundle.dependencies.is_empty() {
        let required = bundle.required_apis.iter();
        properties.extend(required.map(|api| ("olm.gvk.required".to_owned(), gvk(api))));
    }
    for dependency in &bundle.dependencies {
        let value = match dependency.r#type.as_str() {
            // What a dependency calls its version is the range of the property.
            "olm.package" => package_requirement(&dependency.value),
            "olm.gvk" => Some(("olm.gvk.required".to_owned(), dependency.value.clone())),
            _ => None,
        };
        // Other kinds, such as `olm.constraint`, are the property themselves.
        let same = || (dependency.r#type.clone(), dependency.value.clone());
        properties.push(value.unwrap_or_else(same));
    }
}

fn package_requirement(value: &str) -> Option<(String, String)> {
    let mut tape = Tape::new();
    let root = tape.read(value.as_bytes()).ok()?;
    let name = root.field("packageName").map(canonical)?;
    let range = root.field("version").map(canonical)?;
    let value = format!("{{\"packageName\":{name},\"versionRange\":{range}}}");
    Some(("olm.package.required".to_owned(), value))
}
