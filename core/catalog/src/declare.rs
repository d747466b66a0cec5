//! What the documents of a catalog declare, before anything is checked.
//!
//! These are the values between reading and checking: as written, with their places. Nothing here
//! is guaranteed but that the documents had the form of their schema.

use crate::{Findings, GroupVersionKind, Place};

/// A value and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub place: Place,
}

/// Everything that the files of a catalog declare, in the order of files and documents.
#[derive(Debug, Default)]
pub struct Declarations {
    /// `olm.package` documents.
    pub packages: Vec<PackageDeclaration>,
    /// `olm.channel` documents.
    pub channels: Vec<ChannelDeclaration>,
    /// `olm.bundle` documents.
    pub bundles: Vec<BundleDeclaration>,
    /// `olm.deprecations` documents.
    pub deprecations: Vec<DeprecationDeclaration>,
    /// Documents of any other schema.
    pub others: Vec<OtherDeclaration>,
    /// What went wrong while reading.
    pub diagnostics: Findings,
}

impl Declarations {
    /// Adds the declarations of another file behind these.
    pub fn append(&mut self, mut other: Declarations) {
        self.packages.append(&mut other.packages);
        self.channels.append(&mut other.channels);
        self.bundles.append(&mut other.bundles);
        self.deprecations.append(&mut other.deprecations);
        self.others.append(&mut other.others);
        self.diagnostics.append(other.diagnostics);
    }
}

/// A file of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path below the catalog's root, with `/` between its parts.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
}

/// An `olm.package` document.
#[derive(Debug, Clone)]
pub struct PackageDeclaration {
    /// The package's name, with its place.
    pub name: Placed<String>,
    /// The channel a Subscription without a channel follows; empty when it is not set.
    pub default_channel: Placed<String>,
    /// What the package is, in markdown.
    pub description: String,
    /// Whether it has an icon.
    pub has_icon: bool,
    /// The whole document.
    pub place: Place,
}

/// An `olm.channel` document.
#[derive(Debug, Clone)]
pub struct ChannelDeclaration {
    /// The package it belongs to.
    pub package: String,
    /// The channel's name, with its place.
    pub name: Placed<String>,
    /// Its entries, in the order they are written.
    pub entries: Vec<EntryDeclaration>,
    /// The whole document.
    pub place: Place,
}

/// An entry of a channel.
#[derive(Debug, Clone)]
pub struct EntryDeclaration {
    /// The name of the bundle.
    pub name: String,
    /// The name it replaces; empty when there is none.
    pub replaces: String,
    /// The names it skips.
    pub skips: Vec<String>,
    /// The range of versions it can replace directly; empty when there is none.
    pub skip_range: String,
    /// Where the entry is.
    pub place: Place,
}

/// An `olm.bundle` document, without the bodies it may carry.
#[derive(Debug, Clone)]
pub struct BundleDeclaration {
    /// The bundle's name, with its place.
    pub name: Placed<String>,
    /// The package it belongs to.
    pub package: String,
    /// The image reference; empty when there is none.
    pub image: Placed<String>,
    /// Its properties in order, without `olm.bundle.object` and `olm.csv.metadata`.
    pub properties: Vec<PropertyDeclaration>,
    /// The values of its `olm.package` properties.
    pub package_properties: Vec<Placed<PackageProperty>>,
    /// The APIs of its `olm.gvk` properties.
    pub provided_apis: Vec<GroupVersionKind>,
    /// The APIs of its `olm.gvk.required` properties.
    pub required_apis: Vec<GroupVersionKind>,
    /// The values of its `olm.package.required` properties.
    pub required_packages: Vec<PackageRequirement>,
    /// The values of its `olm.label` properties.
    pub labels: Vec<String>,
    /// The images it says its operator uses.
    pub related_images: Vec<RelatedImage>,
    /// How many `olm.bundle.object` properties it has.
    pub object_count: u32,
    /// How many `olm.csv.metadata` properties it has.
    pub metadata_count: u32,
    /// What its manifest or metadata says for people.
    pub summary: Summary,
    /// The whole document.
    pub place: Place,
    /// Whether reading its properties failed, so that rules about them would only repeat it.
    pub broken: bool,
}

/// What a bundle says about itself for people, from its metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// `displayName`
    pub display_name: String,
    /// `provider.name`
    pub provider: String,
    /// `keywords`, joined by a comma and a blank.
    pub keywords: String,
    /// The annotation `description`, the one-line text of a catalog card.
    pub blurb: String,
}

/// A property: its type, and its value as canonical JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyDeclaration {
    /// Such as `olm.gvk`.
    pub kind: String,
    /// The value as compact JSON with sorted keys.
    pub value: String,
    /// Where the property is.
    pub place: Place,
}

/// The value of an `olm.package` property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageProperty {
    /// The package's name.
    pub package: String,
    /// The version as written.
    pub version: String,
    /// The release as written; empty when there is none.
    pub release: String,
}

/// The value of an `olm.package.required` property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageRequirement {
    /// The package's name.
    pub package: String,
    /// The range of versions as written.
    pub range: String,
    /// Where the property is.
    pub place: Place,
}

/// An image that an operator uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedImage {
    /// What the author calls it.
    pub name: String,
    /// The image reference.
    pub image: String,
}

/// An `olm.deprecations` document.
#[derive(Debug, Clone)]
pub struct DeprecationDeclaration {
    /// The package it is about.
    pub package: String,
    /// What is deprecated.
    pub entries: Vec<DeprecationReference>,
    /// The whole document.
    pub place: Place,
}

/// One thing that is deprecated.
#[derive(Debug, Clone)]
pub struct DeprecationReference {
    /// `olm.package`, `olm.channel` or `olm.bundle`.
    pub schema: String,
    /// The name of the channel or bundle; empty for the package.
    pub name: String,
    /// What users should know.
    pub message: String,
    /// Where the reference is.
    pub place: Place,
}

/// A document of another schema.
#[derive(Debug, Clone)]
pub struct OtherDeclaration {
    /// Its schema.
    pub schema: String,
    /// The package it belongs to; empty when there is none.
    pub package: String,
    /// Its name; empty when there is none.
    pub name: String,
    /// The whole document.
    pub place: Place,
}
