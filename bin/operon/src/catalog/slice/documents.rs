//! The documents of a slice: bundles as they are, everything that refers to what is dropped rewritten.
//!
//! Fields that Operon does not know stay where they are; only entries, the default channel and
//! deprecations are touched.

use std::collections::BTreeMap;

use anyhow::Context;
use operon_catalog::slice::{ChannelPlan, EntryPlan, PackagePlan, SlicePlan};
use operon_document::json::{Node, Tape, canonical_string};
use operon_fbc::{MemoryFile, write_documents};
use operon_image::OpenedCatalog;

use super::Notation;

/// Returns the files of the slice, one for each package.
pub(super) fn files(
    opened: &OpenedCatalog,
    plan: &SlicePlan<'_>,
    notation: Notation,
) -> anyhow::Result<Vec<MemoryFile>> {
    let files = plan.packages.iter().map(|package| {
        let documents = package_documents(opened, package)?;
        let text = write_documents(&documents, notation.output_format())?;
        let path = format!("{}/catalog.{}", package.package.name(), notation.file_extension());
        Ok(MemoryFile { path, content: text.into_bytes() })
    });
    files.collect()
}

fn package_documents(
    opened: &OpenedCatalog,
    plan: &PackagePlan<'_>,
) -> anyhow::Result<Vec<String>> {
    let package = plan.package;
    let mut documents = Vec::new();
    let text = opened.document(package.place())?;
    documents.push(if plan.default_channel == package.default_channel_name() {
        text
    } else {
        with_members(&text, &[("defaultChannel", Some(canonical_string(plan.default_channel)))])?
    });
    for channel in &plan.channels {
        let text = opened.document(channel.channel.place())?;
        documents.push(channel_document(&text, channel)?);
    }
    for bundle in &plan.bundles {
        documents.push(opened.document(bundle.place())?);
    }
    for other in &plan.others {
        documents.push(opened.document(other.place)?);
    }
    documents.extend(deprecations(plan));
    Ok(documents)
}

/// Keeps the entries of a channel that the plan keeps, with their repairs.
fn channel_document(text: &str, plan: &ChannelPlan<'_>) -> anyhow::Result<String> {
    let mut kept: BTreeMap<&str, &EntryPlan<'_>> =
        plan.entries.iter().map(|entry| (entry.entry.name(), entry)).collect();
    let mut tape = Tape::new();
    let root = tape.read(text.as_bytes()).context("a channel cannot be read again")?;
    let mut entries = Vec::new();
    for node in root.field("entries").into_iter().flat_map(Node::elements) {
        let name = node.field("name").and_then(Node::as_str).unwrap_or_default();
        // Of an entry that is written twice the first one counts.
        if let Some(entry) = kept.remove(name.as_ref()) {
            entries.push(entry_text(node, entry)?);
        }
    }
    with_members(text, &[("entries", Some(format!("[{}]", entries.join(","))))])
}

fn entry_text(node: Node<'_>, plan: &EntryPlan<'_>) -> anyhow::Result<String> {
    let text = std::str::from_utf8(node.raw()).context("an entry is not UTF-8")?;
    let mut changes = Vec::new();
    if plan.replaces != plan.entry.replaces() {
        changes.push(("replaces", plan.replaces.map(canonical_string)));
    }
    if !plan.added_skips.is_empty() {
        let skips = plan.entry.skips().chain(plan.added_skips.iter().copied());
        let skips: Vec<String> = skips.map(canonical_string).collect();
        changes.push(("skips", Some(format!("[{}]", skips.join(",")))));
    }
    if changes.is_empty() { Ok(text.to_owned()) } else { with_members(text, &changes) }
}

/// Writes the deprecations of what is kept; none when nothing that is kept is deprecated.
fn deprecations(plan: &PackagePlan<'_>) -> Option<String> {
    let package = plan.package.deprecation().map(|message| ("olm.package", None, message));
    let channels = plan.channels.iter().filter_map(|plan| {
        Some(("olm.channel", Some(plan.channel.name()), plan.channel.deprecation()?))
    });
    let bundles = plan
        .bundles
        .iter()
        .filter_map(|bundle| Some(("olm.bundle", Some(bundle.name()), bundle.deprecation()?)));
    let entries: Vec<String> = package
        .into_iter()
        .chain(channels)
        .chain(bundles)
        .map(|(schema, name, message)| {
            let name = name.map(|name| format!(",\"name\":{}", canonical_string(name)));
            format!(
                "{{\"reference\":{{\"schema\":\"{schema}\"{}}},\"message\":{}}}",
                name.unwrap_or_default(),
                canonical_string(message)
            )
        })
        .collect();
    (!entries.is_empty()).then(|| {
        format!(
            "{{\"schema\":\"olm.deprecations\",\"package\":{},\"entries\":[{}]}}",
            canonical_string(plan.package.name()),
            entries.join(",")
        )
    })
}

/// Returns an object with some members replaced, or removed where there is no new value.
fn with_members(object: &str, changes: &[(&str, Option<String>)]) -> anyhow::Result<String> {
    let mut tape = Tape::new();
    let root = tape.read(object.as_bytes()).context("a document cannot be read again")?;
    let mut members = Vec::new();
    for (key, value) in root.members() {
        if changes.iter().all(|(name, _)| !key.folds_to(name)) {
            let key = key.as_str().unwrap_or_default();
            let value = std::str::from_utf8(value.raw()).context("a document is not UTF-8")?;
            members.push(format!("{}:{value}", canonical_string(&key)));
        }
    }
    for (name, value) in changes {
        members.extend(value.iter().map(|value| format!("{}:{value}", canonical_string(name))));
    }
    Ok(format!("{{{}}}", members.join(",")))
}
