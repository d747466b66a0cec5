//! Reading and checking a catalog, and what a registry serves for it.

use operon_catalog::{Catalog, Entry, GroupVersionKind, Place, Severity};
use operon_document::{
    json::{Tape, canonical},
    yaml::{YamlOptions, to_json},
};
use operon_fbc::{MemoryFile, ServedBundle, ServedDependency, read_catalog, serve_bundle};
use serde_json::{Value, json};

use super::{LineVerdict, input, same};

/// Checks a line of `fbc.jsonl`: the verdict always, the counts, others and served fields of valid
/// catalogs.
pub(super) fn check(line: &Value) -> LineVerdict {
    let files: Vec<MemoryFile> = line["files"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|file| MemoryFile {
            path: file["path"].as_str().unwrap_or_default().to_owned(),
            content: input(file, "content"),
        })
        .collect();
    let catalog = read_catalog(&files);
    let errors: Vec<String> = catalog
        .diagnostics()
        .filter(|finding| finding.severity() == Severity::Error)
        .map(|finding| format!("{}: {}", finding.rule.id(), finding.message))
        .collect();
    let id = line["id"].as_str().unwrap_or_default();
    let is_valid = line["ok"] == json!(true);
    if !is_valid {
        let got = if errors.is_empty() { "valid" } else { "an error" };
        return same(&format!("{id}: verdict ({})", line["error"]), "an error", got);
    }
    same(&format!("{id}: verdict"), "", &errors.join("; "))?;
    let source = Source { catalog: &catalog, files: &files };
    same(&format!("{id}: others"), &sorted(&line["others"]), &sorted(&source.others()))?;
    let expected = line["packages"].as_array().into_iter().flatten();
    let got: Vec<Value> = catalog.packages().map(|package| source.package(package)).collect();
    same(
        &format!("{id}: packages"),
        &line["packages"].as_array().map_or(0, Vec::len).to_string(),
        &got.len().to_string(),
    )?;
    for (expected, got) in expected.zip(&got) {
        same(
            &format!("{id}: package {}", expected["name"]),
            &expected.to_string(),
            &got.to_string(),
        )?;
    }
    Ok(())
}

fn sorted(value: &Value) -> String {
    let mut texts: Vec<String> =
        value.as_array().into_iter().flatten().map(Value::to_string).collect();
    texts.sort();
    texts.join("\n")
}

struct Source<'s> {
    catalog: &'s Catalog,
    files: &'s [MemoryFile],
}

impl Source<'_> {
    /// Reads a document again from its place, as a server does.
    fn document(&self, place: Place) -> String {
        let path = self.catalog.file_path(place.file);
        let file = self.files.iter().find(|file| file.path == path);
        let text = file.map_or(&[][..], |file| &file.content[place.range()]);
        let mut tape = Tape::new();
        if let Ok(root) = tape.read(text) {
            return canonical(root);
        }
        let converted = to_json(text, &YamlOptions::default()).map(|converted| converted.json);
        let converted = converted.unwrap_or_default();
        tape.read(&converted).map(canonical).unwrap_or_default()
    }

    fn others(&self) -> Value {
        let blob = |place| format!("{}\n", self.document(place));
        self.catalog
            .others()
            .map(|other| {
                json!({"schema": other.schema, "package": other.package, "name": other.name, "blob": blob(other.place)})
            })
            .collect()
    }

    fn package(&self, package: operon_catalog::Package<'_>) -> Value {
        let channels: Vec<Value> =
            package.channels().map(|channel| self.channel(channel)).collect();
        let mut value = json!({
            "name": package.name(),
            "defaultChannel": package.default_channel_name(),
            "channels": channels,
        });
        set_optional(
            &mut value,
            "deprecation",
            package.deprecation().map(|message| json!(message)),
        );
        value
    }

    fn channel(&self, channel: operon_catalog::Channel<'_>) -> Value {
        let mut entries: Vec<Entry<'_>> = channel.entries().collect();
        entries.sort_by_key(|entry| entry.name());
        let bundles: Vec<Value> = entries.into_iter().map(|entry| self.bundle(entry)).collect();
        let mut value = json!({
            "name": channel.name(),
            "head": channel.head().map(|head| head.name()),
            "bundles": bundles,
        });
        set_optional(
            &mut value,
            "deprecation",
            channel.deprecation().map(|message| json!(message)),
        );
        value
    }

    fn bundle(&self, entry: Entry<'_>) -> Value {
        let Some(bundle) = entry.bundle() else {
            return json!({"missing": entry.name()});
        };
        let document = self.document(bundle.place());
        let package_document = self.document(bundle.package().place());
        match serve_bundle(entry, document.as_bytes(), package_document.as_bytes()) {
            Ok(served) => served_json(served),
            Err(error) => {
                json!({"csvName": entry.name(), "apiError": format!("parse properties: {error}")})
            }
        }
    }
}

fn set_optional(value: &mut Value, name: &str, optional: Option<Value>) {
    if let Some(present) = optional {
        value[name] = present;
    }
}

fn served_json(served: ServedBundle) -> Value {
    let pairs = |pairs: Vec<ServedDependency>| -> Value {
        pairs.into_iter().map(|pair| json!({"type": pair.kind, "value": pair.value})).collect()
    };
    let apis = |apis: Vec<GroupVersionKind>| -> Value {
        apis.into_iter()
            .map(|api| json!({"group": api.group, "version": api.version, "kind": api.kind, "plural": ""}))
            .collect()
    };
    let mut value = json!({
        "csvName": served.csv_name,
        "packageName": served.package_name,
        "channelName": served.channel_name,
        "bundlePath": served.bundle_path,
        "version": served.version,
        "replaces": served.replaces,
        "skips": served.skips,
        "skipRange": served.skip_range,
        "providedApis": apis(served.provided_apis),
        "requiredApis": apis(served.required_apis),
        "properties": pairs(served.properties),
        "dependencies": pairs(served.dependencies),
    });
    set_optional(&mut value, "deprecation", served.deprecation.map(|message| json!(message)));
    let csv = Some(served.csv_json).filter(|csv| !csv.is_empty());
    set_optional(&mut value, "csvJson", csv.map(|csv| json!(csv)));
    set_optional(
        &mut value,
        "object",
        Some(json!(served.objects)).filter(|_| !served.objects.is_empty()),
    );
    value
}
