//! Bundles, their properties, and the APIs they provide and require.

use operon_version::Version;

use super::{Catalog, Entry, Package};
use crate::{
    GroupVersionKind, Place,
    image::{
        Section,
        columns::{api, bundle, bundle_property, property, related_image, required_package},
    },
};

/// The number of a bundle in its catalog, ordered by package and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BundleId(pub u32);

/// A bundle: one version of an operator.
#[derive(Debug, Clone, Copy)]
pub struct Bundle<'a> {
    catalog: &'a Catalog,
    row: u32,
}

/// A property of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Property<'a> {
    /// Its type, such as `olm.gvk`.
    pub kind: &'a str,
    /// Its value as compact JSON with sorted keys.
    pub value: &'a str,
}

impl<'a> Bundle<'a> {
    pub(super) fn new(catalog: &'a Catalog, row: u32) -> Self {
        Self { catalog, row }
    }

    fn text(self, column: usize) -> &'a str {
        self.catalog.image.text_cell(Section::Bundles, self.row, column)
    }

    fn optional_text(self, column: usize) -> Option<&'a str> {
        self.catalog.image.optional_text(Section::Bundles, self.row, column)
    }

    fn number(self, column: usize) -> u32 {
        self.catalog.image.cell(Section::Bundles, self.row, column)
    }

    fn rows(self, column: usize) -> std::ops::Range<u32> {
        self.catalog.image.range(Section::Bundles, self.row, column)
    }

    /// Returns the bundle's number in its catalog.
    pub fn id(self) -> BundleId {
        BundleId(self.row)
    }

    /// Returns the bundle's name, which is the name of its ClusterServiceVersion.
    pub fn name(self) -> &'a str {
        self.text(bundle::NAME)
    }

    /// Returns the package it belongs to.
    pub fn package(self) -> Package<'a> {
        Package::new(self.catalog, self.number(bundle::PACKAGE))
    }

    /// Returns the version as written; empty when the bundle does not give one.
    pub fn version_text(self) -> &'a str {
        self.optional_text(bundle::VERSION).unwrap_or_default()
    }

    /// Returns the version, if it can be read.
    pub fn version(self) -> Option<Version> {
        Version::parse(self.version_text()).ok()
    }

    /// Returns the release of the version.
    pub fn release(self) -> Option<&'a str> {
        self.optional_text(bundle::RELEASE)
    }

    /// Returns the bundle's place among the versions of its package: higher is newer, 0 is unreadable.
    pub fn version_rank(self) -> u32 {
        self.number(bundle::VERSION_RANK)
    }

    /// Returns the image reference.
    pub fn image(self) -> Option<&'a str> {
        self.optional_text(bundle::IMAGE)
    }

    /// Returns why the bundle should no longer be used.
    pub fn deprecation(self) -> Option<&'a str> {
        self.optional_text(bundle::DEPRECATION)
    }

    /// Returns its properties in order, without inlined manifests and metadata, which are bodies.
    pub fn properties(self) -> impl ExactSizeIterator<Item = Property<'a>> + Clone {
        let image = &self.catalog.image;
        self.rows(bundle::PROPERTIES).map(move |position| {
            let row = image.cell(Section::BundleProperties, position, 0);
            Property {
                kind: image.text_cell(Section::Properties, row, property::KIND),
                value: image.text_cell(Section::Properties, row, property::VALUE),
            }
        })
    }

    /// Returns where each of its properties is declared, in the order of [`Bundle::properties`].
    pub fn property_places(self) -> impl ExactSizeIterator<Item = Place> + Clone {
        let image = &self.catalog.image;
        let file = self.place().file;
        self.rows(bundle::PROPERTIES).map(move |row| Place {
            file,
            start: image.cell(Section::BundleProperties, row, bundle_property::START),
            end: image.cell(Section::BundleProperties, row, bundle_property::END),
        })
    }

    /// Returns the APIs it provides, as often as it lists them.
    pub fn provided_apis(self) -> impl ExactSizeIterator<Item = Api<'a>> + Clone {
        self.apis(bundle::PROVIDED)
    }

    /// Returns the APIs it requires, as often as it lists them.
    pub fn required_apis(self) -> impl ExactSizeIterator<Item = Api<'a>> + Clone {
        self.apis(bundle::REQUIRED)
    }

    fn apis(self, column: usize) -> impl ExactSizeIterator<Item = Api<'a>> + Clone {
        let catalog = self.catalog;
        self.rows(column)
            .map(move |row| Api::new(catalog, catalog.image.cell(Section::BundleApis, row, 0)))
    }

    /// Returns the packages it requires: name and version range as written.
    pub fn required_packages(self) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> + Clone {
        let image = &self.catalog.image;
        self.rows(bundle::REQUIRED_PACKAGES).map(move |row| {
            let cell = |column| image.text_cell(Section::RequiredPackages, row, column);
            (cell(required_package::NAME), cell(required_package::RANGE))
        })
    }

    /// Returns the images it says its operator uses: name and reference.
    pub fn related_images(self) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> + Clone {
        let image = &self.catalog.image;
        self.rows(bundle::IMAGES).map(move |row| {
            let cell = |column| image.text_cell(Section::RelatedImages, row, column);
            (cell(related_image::NAME), cell(related_image::IMAGE))
        })
    }

    /// Returns the channel entries that name it, in the order of channels.
    pub fn entries(self) -> impl ExactSizeIterator<Item = Entry<'a>> + Clone {
        let catalog = self.catalog;
        self.rows(bundle::ENTRIES)
            .map(move |row| Entry::new(catalog, catalog.image.cell(Section::BundleEntries, row, 0)))
    }

    /// Returns the operator's name for people; may be empty.
    pub fn display_name(self) -> &'a str {
        self.text(bundle::DISPLAY_NAME)
    }

    /// Returns who provides the operator; may be empty.
    pub fn provider(self) -> &'a str {
        self.text(bundle::PROVIDER)
    }

    /// Returns the author's keywords, joined by commas; may be empty.
    pub fn keywords(self) -> &'a str {
        self.text(bundle::KEYWORDS)
    }

    /// Returns the one-line text of a catalog card; may be empty.
    pub fn blurb(self) -> &'a str {
        self.text(bundle::BLURB)
    }

    /// Returns how many manifests are inlined.
    pub fn object_count(self) -> u32 {
        self.number(bundle::OBJECTS)
    }

    /// Returns how many `olm.csv.metadata` properties it has.
    pub fn metadata_count(self) -> u32 {
        self.number(bundle::METADATAS)
    }

    /// Returns where the bundle is declared; its bodies are found there again.
    pub fn place(self) -> Place {
        self.catalog.place(Section::Bundles, self.row, bundle::FILE)
    }
}

/// The number of an API in its catalog, in the order of group, kind, version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiId(pub u32);

/// An API that bundles provide or require.
#[derive(Debug, Clone, Copy)]
pub struct Api<'a> {
    catalog: &'a Catalog,
    row: u32,
}

impl<'a> Api<'a> {
    pub(super) fn new(catalog: &'a Catalog, row: u32) -> Self {
        Self { catalog, row }
    }

    fn text(self, column: usize) -> &'a str {
        self.catalog.image.text_cell(Section::Apis, self.row, column)
    }

    /// Returns the API's number in its catalog, in the order of group, kind, version.
    pub fn id(self) -> ApiId {
        ApiId(self.row)
    }

    /// Returns the API's group.
    pub fn group(self) -> &'a str {
        self.text(api::GROUP)
    }

    /// Returns the API's version.
    pub fn version(self) -> &'a str {
        self.text(api::VERSION)
    }

    /// Returns the API's kind.
    pub fn kind(self) -> &'a str {
        self.text(api::KIND)
    }

    /// Returns the API's name as a value of its own.
    pub fn name(self) -> GroupVersionKind {
        GroupVersionKind {
            group: self.group().to_owned(),
            version: self.version().to_owned(),
            kind: self.kind().to_owned(),
        }
    }

    /// Returns the bundles that provide it, in the order of packages and names.
    pub fn providers(self) -> impl ExactSizeIterator<Item = Bundle<'a>> + Clone {
        self.bundles(api::PROVIDERS)
    }

    /// Returns the bundles that require it, in the order of packages and names.
    pub fn requirers(self) -> impl ExactSizeIterator<Item = Bundle<'a>> + Clone {
        self.bundles(api::REQUIRERS)
    }

    fn bundles(self, column: usize) -> impl ExactSizeIterator<Item = Bundle<'a>> + Clone {
        let catalog = self.catalog;
        catalog
            .image
            .range(Section::Apis, self.row, column)
            .map(move |row| Bundle::new(catalog, catalog.image.cell(Section::ApiBundles, row, 0)))
    }
}
