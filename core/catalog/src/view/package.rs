//! A package of a catalog.

use super::{Bundle, Catalog, Channel, Entry};
use crate::{
    Place,
    image::{Section, columns::package},
};

/// The number of a package in its catalog, in the order of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageId(pub u32);

/// A package of a catalog.
#[derive(Debug, Clone, Copy)]
pub struct Package<'a> {
    catalog: &'a Catalog,
    row: u32,
}

impl<'a> Package<'a> {
    pub(super) fn new(catalog: &'a Catalog, row: u32) -> Self {
        Self { catalog, row }
    }

    fn text(self, column: usize) -> &'a str {
        self.catalog.image.text_cell(Section::Packages, self.row, column)
    }

    /// Returns the package's number in its catalog.
    pub fn id(self) -> PackageId {
        PackageId(self.row)
    }

    /// Returns the package's name.
    pub fn name(self) -> &'a str {
        self.text(package::NAME)
    }

    /// Returns the name of the default channel; empty when none is set.
    pub fn default_channel_name(self) -> &'a str {
        self.text(package::DEFAULT_CHANNEL)
    }

    /// Returns the default channel, if it exists.
    pub fn default_channel(self) -> Option<Channel<'a>> {
        self.channel(self.default_channel_name())
    }

    /// Returns what the package says it is, in markdown; may be empty.
    pub fn description(self) -> &'a str {
        self.text(package::DESCRIPTION)
    }

    /// Returns why the package should no longer be used.
    pub fn deprecation(self) -> Option<&'a str> {
        self.catalog.image.optional_text(Section::Packages, self.row, package::DEPRECATION)
    }

    /// Tells whether the package has an icon.
    pub fn has_icon(self) -> bool {
        self.catalog.image.cell(Section::Packages, self.row, package::HAS_ICON) != 0
    }

    /// Returns the channels in the order of their names.
    pub fn channels(self) -> impl ExactSizeIterator<Item = Channel<'a>> + Clone {
        let catalog = self.catalog;
        catalog
            .image
            .range(Section::Packages, self.row, package::CHANNELS)
            .map(move |row| Channel::new(catalog, row))
    }

    /// Returns the channel of this name.
    pub fn channel(self, name: &str) -> Option<Channel<'a>> {
        let rows = self.catalog.image.range(Section::Packages, self.row, package::CHANNELS);
        let column = crate::image::columns::channel::NAME;
        let row = self.catalog.image.find(Section::Channels, rows, column, name)?;
        Some(Channel::new(self.catalog, row))
    }

    /// Returns the bundles in the order of their names.
    pub fn bundles(self) -> impl ExactSizeIterator<Item = Bundle<'a>> + Clone {
        let catalog = self.catalog;
        catalog
            .image
            .range(Section::Packages, self.row, package::BUNDLES)
            .map(move |row| Bundle::new(catalog, row))
    }

    /// Returns the bundles from the highest version to the lowest; those without a readable version
    /// come last.
    pub fn bundles_by_version(self) -> Vec<Bundle<'a>> {
        let mut bundles: Vec<Bundle<'a>> = self.bundles().collect();
        bundles.sort_by_key(|bundle| std::cmp::Reverse(bundle.version_rank()));
        bundles
    }

    /// Returns the bundle of this name.
    pub fn bundle(self, name: &str) -> Option<Bundle<'a>> {
        let rows = self.catalog.image.range(Section::Packages, self.row, package::BUNDLES);
        let column = crate::image::columns::bundle::NAME;
        let row = self.catalog.image.find(Section::Bundles, rows, column, name)?;
        Some(Bundle::new(self.catalog, row))
    }

    /// Returns the head of the default channel, which stands for the package where one bundle must.
    pub fn default_head(self) -> Option<Entry<'a>> {
        self.default_channel()?.head()
    }

    /// Returns where the package is declared.
    pub fn place(self) -> Place {
        self.catalog.place(Section::Packages, self.row, package::FILE)
    }
}
