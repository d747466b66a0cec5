//! Rendering a bundle: the `olm.bundle` document that stands for it in a catalog.
//!
//! The document equals what `opm render` prints, keys sorted, but for differences that are meant:
//! every document of a manifest file counts, not only the first; properties wrapped in `property:`
//! count; a malformed entry of a metadata file does not make the others vanish; the bundle's own
//! image is listed once even if a deployment runs it; and related images that name one image twice
//! keep their order.

use crate::{
    BundleError, BundleSource, Icon, Property, RelatedImage,
    json::{ObjectWriter, list},
    property::types,
};

mod csv_metadata;
mod images;
mod properties;

pub(crate) use csv_metadata::csv_metadata;
pub(crate) use properties::{package_value, provided_apis, required_apis, split_definition_name};

/// How a bundle is rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderOptions {
    /// The image reference of the bundle; empty for a bundle that is only a directory.
    pub image: String,
    /// What is done about inlined manifests.
    pub migrate: Migration,
}

/// How far the form of a bundle is brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    /// The manifests are inlined as `olm.bundle.object`, which is deprecated and bulky.
    None,
    /// One `olm.csv.metadata` takes the place of the inlined manifests, if there is an image.
    BundleObjectToCsvMetadata,
}

/// A bundle as a catalog document, with what channel building needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedBundle {
    /// The name of the bundle.
    pub name: String,
    /// The package it belongs to.
    pub package: String,
    /// The version, exactly as it is written; catalogs demand a strict semantic version.
    pub version: String,
    /// The release; empty if there is none.
    pub release: String,
    /// The image reference it was rendered with.
    pub image: String,
    /// The whole document as compact JSON with sorted keys.
    pub json: String,
    /// The images that must be mirrored along with it, sorted.
    pub related_images: Vec<RelatedImage>,
    /// The channels its annotations name.
    pub channels: Vec<String>,
    /// The default channel its annotations name; empty if none.
    pub default_channel: String,
    /// The picture of the operator.
    pub icon: Option<Icon>,
    /// The name people see.
    pub display_name: String,
    /// The description people see.
    pub description: String,
    /// The bundle it replaces, by its ClusterServiceVersion; empty if none.
    pub replaces: String,
    /// The bundles it skips, by its ClusterServiceVersion.
    pub skips: Vec<String>,
    /// The versions it skips, by its ClusterServiceVersion; empty if none.
    pub skip_range: String,
    /// The bundle it substitutes, by its ClusterServiceVersion; empty if none.
    pub substitutes_for: String,
}

/// Renders a bundle as one `olm.bundle` document.
pub fn render(
    source: &BundleSource,
    options: &RenderOptions,
) -> Result<RenderedBundle, BundleError> {
    let service_version = &source.service_version;
    let package = package_value(source);
    let related_images = images::related_images(source, &options.image);
    let properties = migrated_properties(source, options)?;
    let json = document(source, &options.image, &properties, &related_images);
    Ok(RenderedBundle {
        name: service_version.name.clone(),
        package: source.annotations.package.clone(),
        version: package.version,
        release: package.release,
        image: options.image.clone(),
        json,
        related_images,
        channels: source.annotations.channels.clone(),
        default_channel: source.annotations.default_channel.clone(),
        icon: service_version.icon.clone(),
        display_name: service_version.display_name.clone(),
        description: service_version.description.clone(),
        replaces: service_version.replaces.clone(),
        skips: service_version.skips.clone(),
        skip_range: service_version.skip_range.clone(),
        substitutes_for: service_version.substitutes_for.clone(),
    })
}

/// Returns the properties in the order they are printed.
///
/// Upstream: a bundle without an image is never migrated, because its manifests are nowhere else,
/// nor is one that has an `olm.csv.metadata` already.
fn migrated_properties(
    source: &BundleSource,
    options: &RenderOptions,
) -> Result<Vec<Property>, BundleError> {
    let described = properties::described(source);
    let has_metadata =
        described.iter().any(|property| property.property_type == types::CSV_METADATA);
    let migrates = match options.migrate {
        Migration::None => false,
        Migration::BundleObjectToCsvMetadata => !options.image.is_empty() && !has_metadata,
    };
    if !migrates {
        return Ok(properties::with_objects(source, described));
    }
    let mut properties = described;
    properties.retain(|property| property.property_type != types::BUNDLE_OBJECT);
    properties.push(csv_metadata::property(source)?);
    Ok(properties)
}

fn document(
    source: &BundleSource,
    image: &str,
    properties: &[Property],
    related_images: &[RelatedImage],
) -> String {
    let mut writer = ObjectWriter::new();
    writer
        .text("image", image)
        .text("name", &source.service_version.name)
        .text("package", &source.annotations.package)
        .member("properties", &list(properties.iter().map(Property::json)));
    if !related_images.is_empty() {
        writer.member("relatedImages", &list(related_images.iter().map(images::json)));
    }
    writer.text("schema", "olm.bundle").finish()
}
