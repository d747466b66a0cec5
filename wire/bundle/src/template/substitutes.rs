//! The substitutes template: a catalog, and bundles that take the place of others in its channels.
//!
//! Upstream also validates the catalog before and after; here that is left to the caller, who has
//! the reader of catalogs at hand.

use std::collections::{BTreeMap, BTreeSet};

use operon_document::json::{Kind, Node, Tape, canonical, canonical_string};
use operon_version::{Release, Version, VersionRelease};

use super::{
    RenderBundle, TemplateError, TemplateKind,
    basic::read_header,
    document::{Reference, Template, read, render_reference},
};
use crate::{
    RenderedBundle,
    json::{ObjectWriter, list},
    migrate::inlined_service_version,
    property::{PackageValue, text, types},
};

/// Expands a substitutes template into catalog documents: its entries with channels changed, then
/// the bundles that were substituted.
///
/// In each channel that has the base, the new bundle takes over the base's edges and skips the
/// base; whoever replaced the base replaces the new bundle and skips the base; whoever skipped the
/// base skips the new bundle instead.
pub fn substitutes(
    template: &[u8],
    render: &mut RenderBundle<'_>,
) -> Result<Vec<String>, TemplateError> {
    let Instructions { mut entries, substitutions } =
        read(template, TemplateKind::Substitutes, read_instructions)?;
    let mut bases = BTreeSet::new();
    let mut candidates = BTreeSet::new();
    for substitution in &substitutions {
        let Substitution { candidate, base } = substitution;
        let error = |message: String| TemplateError::at(template, candidate.range.clone(), message);
        if !bases.insert(base) {
            return Err(error(format!("the base `{base}` is substituted twice")));
        }
        if !candidates.insert(&candidate.image) {
            return Err(error(format!("`{}` is substituted for two bases", candidate.image)));
        }
        let bundle = render_reference(template, candidate, render)?;
        check_versions(&entries, base, &bundle).map_err(error)?;
        for entry in &mut entries {
            if let Entry::Channel(channel) = entry {
                channel.substitute(base, &bundle.name);
            }
        }
        let version = rendered_version(&bundle);
        entries.push(Entry::Bundle { name: bundle.name, version, json: bundle.json });
    }
    Ok(entries.into_iter().map(Entry::into_json).collect())
}

/// What a substitutes template says.
struct Instructions {
    entries: Vec<Entry>,
    substitutions: Vec<Substitution>,
}

/// A bundle that takes the place of another.
struct Substitution {
    candidate: Reference,
    base: String,
}

enum Entry {
    Channel(Channel),
    Bundle { name: String, version: Result<VersionRelease, String>, json: String },
    Other { json: String },
}

impl Entry {
    fn into_json(self) -> String {
        match self {
            Entry::Channel(channel) => channel.json(),
            Entry::Bundle { json, .. } | Entry::Other { json } => json,
        }
    }
}

fn read_instructions(template: &Template<'_>) -> Result<Instructions, TemplateError> {
    let root = template.root();
    let entries = template.objects(root, "entries")?;
    let entries = entries.into_iter().map(|entry| read_entry(template, entry));
    let mut substitutions = Vec::new();
    for node in template.objects(root, "substitutions")? {
        let (image, base) = (template.text(node, "name")?, template.text(node, "base")?);
        if image.is_empty() || base.is_empty() {
            let message = "a substitution must have a `name`, which is an image, and a `base`, which is a bundle";
            return Err(template.error(node, message));
        }
        if image == base {
            return Err(template.error(node, "`name` and `base` of a substitution are the same"));
        }
        let range = template.range(node);
        substitutions.push(Substitution { candidate: Reference { image, range }, base });
    }
    Ok(Instructions { entries: entries.collect::<Result<_, _>>()?, substitutions })
}

fn read_entry<'a>(template: &Template<'a>, entry: Node<'a>) -> Result<Entry, TemplateError> {
    Ok(match read_header(template, entry)?.as_str() {
        "olm.channel" => Entry::Channel(Channel::read(template, entry)?),
        "olm.bundle" => Entry::Bundle {
            name: template.text(entry, "name")?,
            version: document_version(entry),
            json: canonical(entry),
        },
        _ => Entry::Other { json: canonical(entry) },
    })
}

/// A channel whose entries can be changed; its other fields are kept as they are.
struct Channel {
    others: BTreeMap<String, String>,
    entries: Vec<ChannelEntry>,
}

struct ChannelEntry {
    name: String,
    replaces: String,
    skips: Vec<String>,
    skip_range: String,
}

impl Channel {
    fn read<'a>(template: &Template<'a>, node: Node<'a>) -> Result<Self, TemplateError> {
        let mut entries = Vec::new();
        for entry in template.objects(node, "entries")? {
            let skips = template.field(entry, "skips", Kind::Array, "a list")?;
            entries.push(ChannelEntry {
                name: template.text(entry, "name")?,
                replaces: template.text(entry, "replaces")?,
                skips: skips
                    .into_iter()
                    .flat_map(Node::elements)
                    .map(|skip| text(Some(skip)))
                    .collect(),
                skip_range: template.text(entry, "skipRange")?,
            });
        }
        let others = node
            .members()
            .filter(|(key, _)| !key.folds_to("entries"))
            .map(|(key, value)| (text(Some(key)), canonical(value)))
            .collect();
        Ok(Self { others, entries })
    }

    fn substitute(&mut self, base: &str, name: &str) {
        let mut added = Vec::new();
        for entry in self.entries.iter_mut().filter(|entry| entry.name == base) {
            let mut skips = std::mem::take(&mut entry.skips);
            skips.push(base.to_owned());
            added.push(ChannelEntry {
                name: name.to_owned(),
                replaces: std::mem::take(&mut entry.replaces),
                skips,
                skip_range: std::mem::take(&mut entry.skip_range),
            });
        }
        for entry in &mut self.entries {
            if entry.replaces == base {
                name.clone_into(&mut entry.replaces);
                entry.skips.push(base.to_owned());
            } else if entry.skips.iter().any(|skip| skip == base) {
                entry.skips.retain(|skip| skip != base);
                entry.skips.push(name.to_owned());
            }
        }
        self.entries.extend(added);
    }

    fn json(mut self) -> String {
        let entries = list(self.entries.iter().map(ChannelEntry::json));
        self.others.insert("entries".to_owned(), entries);
        let mut writer = ObjectWriter::new();
        for (key, value) in &self.others {
            writer.member(key, value);
        }
        writer.finish()
    }
}

impl ChannelEntry {
    fn json(&self) -> String {
        let mut writer = ObjectWriter::new();
        writer
            .text("name", &self.name)
            .text_if_any("replaces", &self.replaces)
            .text_if_any("skipRange", &self.skip_range);
        if !self.skips.is_empty() {
            writer.member("skips", &list(self.skips.iter().map(|skip| canonical_string(skip))));
        }
        writer.finish()
    }
}

/// Checks that the base is there and lower than the bundle that takes its place.
fn check_versions(entries: &[Entry], base: &str, bundle: &RenderedBundle) -> Result<(), String> {
    let found = entries.iter().find_map(|entry| match entry {
        Entry::Bundle { name, version, .. } if name == base => Some(version),
        Entry::Bundle { .. } | Entry::Channel(_) | Entry::Other { .. } => None,
    });
    let Some(lower) = found else {
        return Err(format!("the base `{base}` is not a bundle of this template"));
    };
    let lower = lower.as_ref().map_err(|reason| format!("the base `{base}`: {reason}"))?;
    let higher = rendered_version(bundle)?;
    if *lower < higher {
        return Ok(());
    }
    Err(format!(
        "the base `{base}` has the version `{lower}`, which is not lower than `{higher}` of `{}`",
        bundle.name
    ))
}

fn rendered_version(bundle: &RenderedBundle) -> Result<VersionRelease, String> {
    version_release(&bundle.version, &bundle.release, !bundle.substitutes_for.is_empty())
}

/// Returns the version and release of a bundle document.
fn document_version(bundle: Node<'_>) -> Result<VersionRelease, String> {
    let properties: Vec<Node<'_>> =
        bundle.field("properties").into_iter().flat_map(Node::elements).collect();
    let values = |property_type: &'static str| {
        let of_type =
            properties.iter().filter(move |node| text(node.field("type")) == property_type);
        of_type.filter_map(|node| node.field("value"))
    };
    let packages: Vec<Node<'_>> = values(types::PACKAGE).collect();
    let [package] = packages[..] else {
        return Err(format!("it has {} `olm.package` properties instead of one", packages.len()));
    };
    let package = PackageValue::read(package);
    let key = "olm.substitutesFor";
    let annotated = |node: Node<'_>| {
        let annotations = node.field("annotations");
        !text(annotations.and_then(|annotations| annotations.get(key))).is_empty()
    };
    let inlined = inlined_service_version(bundle).map_err(|error| error.to_string())?;
    let in_inlined = inlined.is_some_and(|csv| {
        let mut tape = Tape::new();
        tape.read(csv.as_bytes()).is_ok_and(|root| root.field("metadata").is_some_and(annotated))
    });
    let substitutes = in_inlined || values(types::CSV_METADATA).any(annotated);
    version_release(&package.version, &package.release, substitutes)
}

/// Upstream: before releases existed, a bundle that substitutes another told them apart by build
/// metadata, which is read as the release then.
fn version_release(
    version: &str,
    release: &str,
    substitutes: bool,
) -> Result<VersionRelease, String> {
    let version = Version::parse(version)
        .map_err(|error| format!("the version `{version}` cannot be read: {error}"))?;
    let build = version.build().join(".");
    let release = if release.is_empty() && substitutes { build.as_str() } else { release };
    let release = Release::parse(release)
        .map_err(|error| format!("the release `{release}` cannot be read: {error}"))?;
    Ok(VersionRelease { version, release })
}
