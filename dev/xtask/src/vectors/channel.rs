//! The order and head of a channel, and its updates.

use operon_catalog::{
    Severity,
    graph::{GraphEntry, order},
};
use operon_fbc::{MemoryFile, read_catalog};
use operon_version::{Version, VersionRange};
use serde_json::{Value, json};

use super::{LineVerdict, same, text};

/// Checks a line of `channel.jsonl`.
pub(super) fn check(line: &Value) -> LineVerdict {
    check_resolver(line)?;
    check_registry(line)
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn check_resolver(line: &Value) -> LineVerdict {
    let declared: Vec<&Value> = line["entries"].as_array().into_iter().flatten().collect();
    let entries: Vec<GraphEntry<'_>> = declared
        .iter()
        .map(|entry| GraphEntry {
            name: text(entry, "name"),
            replaces: text(entry, "replaces"),
            skips: names(&entry["skips"]),
            skip_range: VersionRange::parse(text(entry, "skipRange")).ok(),
            version: Version::parse_tolerant(text(entry, "version")).ok(),
            deprecated: false,
        })
        .collect();
    let id = text(line, "id");
    match order(&entries) {
        Err(error) => {
            let got = error.upstream_text(text(line, "channel"), text(line, "package"));
            let expected = line["sortError"].as_str().unwrap_or("an order");
            same(&format!("{id}: sortError"), expected, &got)
        }
        Ok(order) => {
            let ordered: Vec<&str> = order.iter().map(|&entry| entries[entry].name).collect();
            same(&format!("{id}: order"), &line["order"].to_string(), &json!(ordered).to_string())?;
            for installed in &entries {
                let updates: Vec<&str> = order
                    .iter()
                    .map(|&entry| &entries[entry])
                    .filter(|entry| entry.updates(installed.name, installed.version.as_ref()))
                    .map(|entry| entry.name)
                    .collect();
                let expected = line["updates"][installed.name].to_string();
                same(
                    &format!("{id}: updates of {}", installed.name),
                    &expected,
                    &json!(updates).to_string(),
                )?;
            }
            Ok(())
        }
    }
}

/// Puts the channel into a catalog of its own, as the reference did.
fn check_registry(line: &Value) -> LineVerdict {
    let (package, channel) = (text(line, "package"), text(line, "channel"));
    let mut documents = vec![
        json!({"schema": "olm.package", "name": package, "defaultChannel": channel}),
        json!({"schema": "olm.channel", "package": package, "name": channel, "entries": line["entries"]}),
    ];
    let mut seen = Vec::new();
    for entry in line["entries"].as_array().into_iter().flatten() {
        let name = text(entry, "name");
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        documents.push(json!({
            "schema": "olm.bundle", "package": package, "name": name, "image": "quay.io/ns/bundle:v1",
            "properties": [{"type": "olm.package", "value": {"packageName": package, "version": entry["version"]}}],
        }));
    }
    let content: String = documents.iter().map(|document| format!("{document}\n")).collect();
    let file = MemoryFile { path: "catalog.json".to_owned(), content: content.into_bytes() };
    let catalog = read_catalog(&[file]);
    let id = text(line, "id");
    let mut errors = catalog.diagnostics().filter(|finding| finding.severity() == Severity::Error);
    let head = catalog
        .package(package)
        .and_then(|package| package.channel(channel))
        .and_then(|channel| channel.head())
        .map(|head| head.name().to_owned());
    match line["registryHead"].as_str() {
        Some(expected) => {
            let got = errors.next().map_or_else(|| head.unwrap_or_default(), |error| error.message);
            same(&format!("{id}: registryHead"), expected, &got)
        }
        None => {
            let got = if errors.next().is_some() { "an error" } else { "valid" };
            same(&format!("{id}: registryError {}", text(line, "registryError")), "an error", got)
        }
    }
}
