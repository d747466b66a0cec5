//! The semver template: images sorted into stabilities, channels made from their versions.
//!
//! The edges of channels are told by the versions alone; there is no way to state one.

use std::collections::{BTreeMap, BTreeSet};

use operon_document::json::Kind;
use operon_version::Version;

use super::{
    RenderBundle, TemplateError, TemplateKind,
    document::{Reference, Template, read, render_reference},
};
use crate::{RenderedBundle, init_package};

use channels::{Archetype, Choice, Generated, Release, StreamKind, generate};

mod channels;

/// Expands a semver template into a package, its channels by name, and its bundles by name.
///
/// Flow: each distinct image is rendered once; the bundles of each stability are ordered by
/// version; channels `stable-v1` or `stable-v1.2` are made and linked; the package takes its
/// description and icon from the newest bundle of the default channel.
pub fn semver(
    template: &[u8],
    render: &mut RenderBundle<'_>,
) -> Result<Vec<String>, TemplateError> {
    let instructions = read(template, TemplateKind::Semver, read_instructions)?;
    let rendered = render_all(template, &instructions, render)?;
    let Some(first) = rendered.first() else {
        return Err(TemplateError::whole(
            "the template names no bundle; list images under `candidate`, `fast` or `stable`",
        ));
    };
    let package = first.bundle.package.clone();
    let by_image: BTreeMap<&str, &RenderedBundle> = rendered
        .iter()
        .map(|rendered| (rendered.reference.image.as_str(), &rendered.bundle))
        .collect();
    let mut releases = Vec::new();
    for (archetype, references) in &instructions.lists {
        releases.extend(order(template, *archetype, references, &by_image)?);
    }
    let generated = generate(&package, &releases, &instructions.choice);
    let bundles = by_name(template, &rendered)?;
    let mut documents = vec![package_document(&package, &generated, &bundles)];
    documents.extend(generated.channels);
    documents.extend(bundles.values().map(|bundle| bundle.json.clone()));
    Ok(documents)
}

/// What a semver template says.
struct Instructions {
    choice: Choice,
    lists: Vec<(Archetype, Vec<Reference>)>,
}

/// A bundle, and the first place that names it.
struct Rendered<'a> {
    reference: &'a Reference,
    bundle: RenderedBundle,
}

fn read_instructions(template: &Template<'_>) -> Result<Instructions, TemplateError> {
    const FIELDS: [&str; 7] = [
        "schema",
        "generateMajorChannels",
        "generateMinorChannels",
        "defaultChannelTypePreference",
        "candidate",
        "fast",
        "stable",
    ];
    let root = template.root();
    // Upstream: this template, unlike the others, is read strictly.
    template.refuse_repeated_keys()?;
    template.refuse_others(root, &FIELDS)?;
    let mut lists = Vec::new();
    for archetype in Archetype::ALL {
        let list = template.field(root, archetype.name(), Kind::Object, "an object")?;
        let mut references = Vec::new();
        if let Some(list) = list {
            template.refuse_others(list, &["bundles"])?;
            for bundle in template.objects(list, "bundles")? {
                template.refuse_others(bundle, &["image"])?;
                let image = template.text(bundle, "image")?;
                if image.is_empty() {
                    return Err(template.error(bundle, "a bundle must have an `image`"));
                }
                let range = template.range(bundle.field("image").unwrap_or(bundle));
                references.push(Reference { image, range });
            }
        }
        lists.push((archetype, references));
    }
    Ok(Instructions { choice: read_choice(template)?, lists })
}

fn read_choice(template: &Template<'_>) -> Result<Choice, TemplateError> {
    let root = template.root();
    let major = template.bool(root, "generateMajorChannels")?;
    let minor = template.bool(root, "generateMinorChannels")? || !major;
    let preference = template.text(root, "defaultChannelTypePreference")?;
    let node = root.field("defaultChannelTypePreference").unwrap_or(root);
    let preference = match preference.as_str() {
        "" if minor => StreamKind::Minor,
        "" => StreamKind::Major,
        "minor" if minor => StreamKind::Minor,
        "major" if major => StreamKind::Major,
        "minor" | "major" => {
            let message = format!(
                "`defaultChannelTypePreference` is `{preference}`, but no {preference} channels are generated"
            );
            return Err(template.error(node, message));
        }
        _ => {
            let message = format!(
                "`defaultChannelTypePreference` is `{preference}`, but must be `minor` or `major`"
            );
            return Err(template.error(node, message));
        }
    };
    Ok(Choice { major, minor, preference })
}

/// Renders each distinct image once, and checks that all belong to one package.
fn render_all<'a>(
    template: &[u8],
    instructions: &'a Instructions,
    render: &mut RenderBundle<'_>,
) -> Result<Vec<Rendered<'a>>, TemplateError> {
    let mut all: Vec<Rendered<'a>> = Vec::new();
    let mut images = BTreeSet::new();
    for reference in instructions.lists.iter().flat_map(|(_, references)| references) {
        if !images.insert(&reference.image) {
            continue;
        }
        let bundle = render_reference(template, reference, render)?;
        if let Some(first) = all.first()
            && first.bundle.package != bundle.package
        {
            let message = format!(
                "`{}` belongs to the package `{}`, but `{}` to `{}`; a template is about one package",
                reference.image, bundle.package, first.reference.image, first.bundle.package
            );
            return Err(TemplateError::at(template, reference.range.clone(), message));
        }
        all.push(Rendered { reference, bundle });
    }
    Ok(all)
}

/// Returns the bundles of a stability in the order of their versions.
fn order(
    template: &[u8],
    archetype: Archetype,
    references: &[Reference],
    by_image: &BTreeMap<&str, &RenderedBundle>,
) -> Result<Vec<Release>, TemplateError> {
    let mut releases: Vec<(Release, &Reference)> = Vec::new();
    let mut names = BTreeSet::new();
    for reference in references {
        let bundle = by_image
            .get(reference.image.as_str())
            .expect("bug: every image of the template was rendered");
        let error = |message| TemplateError::at(template, reference.range.clone(), message);
        let version = Version::parse(&bundle.version).map_err(|reason| {
            error(format!(
                "the bundle `{}` has the version `{}`: {reason}",
                bundle.name, bundle.version
            ))
        })?;
        if !names.insert(&bundle.name) {
            return Err(error(format!(
                "the bundle `{}` is listed twice under `{}`",
                bundle.name,
                archetype.name()
            )));
        }
        releases.push((Release { archetype, name: bundle.name.clone(), version }, reference));
    }
    releases.sort_by(|(left, _), (right, _)| left.version.cmp(&right.version));
    for pair in releases.windows(2) {
        let [(lower, _), (higher, reference)] = pair else {
            continue;
        };
        if lower.version == higher.version {
            let message = format!(
                "the versions `{}` of `{}` and `{}` of `{}` differ by build metadata at most, so they have no order",
                lower.version, lower.name, higher.version, higher.name
            );
            return Err(TemplateError::at(template, reference.range.clone(), message));
        }
    }
    Ok(releases.into_iter().map(|(release, _)| release).collect())
}

/// Returns the bundles by name; two of one name must be the same.
fn by_name<'a>(
    template: &[u8],
    rendered: &'a [Rendered<'_>],
) -> Result<BTreeMap<&'a str, &'a RenderedBundle>, TemplateError> {
    let mut bundles = BTreeMap::new();
    for Rendered { reference, bundle } in rendered {
        let other = bundles.insert(bundle.name.as_str(), bundle);
        if other.is_some_and(|other| other.json != bundle.json) {
            let message = format!(
                "`{}` gives another bundle with the name `{}` than an image before it",
                reference.image, bundle.name
            );
            return Err(TemplateError::at(template, reference.range.clone(), message));
        }
    }
    Ok(bundles)
}

fn package_document(
    package: &str,
    generated: &Generated,
    bundles: &BTreeMap<&str, &RenderedBundle>,
) -> String {
    let head = bundles.get(generated.default_head.as_str());
    let description = head.map(|bundle| bundle.description.as_str()).unwrap_or_default();
    let icon = head.and_then(|bundle| bundle.icon.as_ref());
    let icon = icon.map(|icon| (icon.data.as_slice(), icon.media_type.as_str()));
    init_package(package, &generated.default_channel, description, icon)
}
