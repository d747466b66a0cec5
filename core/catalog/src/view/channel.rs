//! Channels and their entries.

use operon_version::VersionRange;

use super::{Bundle, Catalog, Package};
use crate::{
    Place,
    graph::{GraphEntry, Upgrades},
    image::{
        Section,
        columns::{channel, entry},
    },
};

/// The number of a channel in its catalog, ordered by package and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

/// The number of a channel entry in its catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

/// A channel of a package.
#[derive(Debug, Clone, Copy)]
pub struct Channel<'a> {
    catalog: &'a Catalog,
    row: u32,
}

impl<'a> Channel<'a> {
    pub(super) fn new(catalog: &'a Catalog, row: u32) -> Self {
        Self { catalog, row }
    }

    /// Returns the channel's number in its catalog.
    pub fn id(self) -> ChannelId {
        ChannelId(self.row)
    }

    /// Returns the channel's name.
    pub fn name(self) -> &'a str {
        self.catalog.image.text_cell(Section::Channels, self.row, channel::NAME)
    }

    /// Returns the package it belongs to.
    pub fn package(self) -> Package<'a> {
        let row = self.catalog.image.cell(Section::Channels, self.row, channel::PACKAGE);
        Package::new(self.catalog, row)
    }

    /// Tells whether it is its package's default channel.
    pub fn is_default(self) -> bool {
        self.package().default_channel_name() == self.name()
    }

    /// Returns why the channel should no longer be followed.
    pub fn deprecation(self) -> Option<&'a str> {
        self.catalog.image.optional_text(Section::Channels, self.row, channel::DEPRECATION)
    }

    /// Returns the entries in the order they are written.
    pub fn entries(self) -> impl ExactSizeIterator<Item = Entry<'a>> + Clone {
        let catalog = self.catalog;
        catalog
            .image
            .range(Section::Channels, self.row, channel::ENTRIES)
            .map(move |row| Entry::new(catalog, row))
    }

    /// Returns the entry of this name.
    pub fn entry(self, name: &str) -> Option<Entry<'a>> {
        match self.package().bundle(name) {
            Some(bundle) => bundle.entries().find(|entry| entry.channel().id() == self.id()),
            // Entries without a bundle are in no index; they occur in defective catalogs only.
            None => self.entries().find(|entry| entry.name() == name),
        }
    }

    /// Returns the head: the entry that a fresh installation gets; none in a malformed channel.
    pub fn head(self) -> Option<Entry<'a>> {
        let row = self.catalog.image.optional(Section::Channels, self.row, channel::HEAD)?;
        Some(Entry::new(self.catalog, row))
    }

    /// Returns the entries a resolver may choose from, the preferred one first: the chain from the
    /// head without skipped entries. Empty in a channel without a single head.
    pub fn order(self) -> impl ExactSizeIterator<Item = Entry<'a>> + Clone {
        let catalog = self.catalog;
        catalog
            .image
            .range(Section::Channels, self.row, channel::ORDER)
            .map(move |row| Entry::new(catalog, catalog.image.cell(Section::Order, row, 0)))
    }

    /// Returns the updates this channel offers.
    pub fn upgrades(self) -> Upgrades<'a> {
        Upgrades::new(self.entries().map(Entry::graph_entry).collect())
    }

    /// Returns where the channel is declared.
    pub fn place(self) -> Place {
        self.catalog.place(Section::Channels, self.row, channel::FILE)
    }
}

/// An entry of a channel: a bundle's name and the updates into it.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    catalog: &'a Catalog,
    row: u32,
}

impl<'a> Entry<'a> {
    pub(super) fn new(catalog: &'a Catalog, row: u32) -> Self {
        Self { catalog, row }
    }

    fn optional_text(self, column: usize) -> Option<&'a str> {
        self.catalog.image.optional_text(Section::Entries, self.row, column)
    }

    /// Returns the entry's number in its catalog.
    pub fn id(self) -> EntryId {
        EntryId(self.row)
    }

    /// Returns the name of the bundle.
    pub fn name(self) -> &'a str {
        self.catalog.image.text_cell(Section::Entries, self.row, entry::NAME)
    }

    /// Returns the channel it belongs to.
    pub fn channel(self) -> Channel<'a> {
        let row = self.catalog.image.cell(Section::Entries, self.row, entry::CHANNEL);
        Channel::new(self.catalog, row)
    }

    /// Returns the bundle; `None` when the catalog has no content of this name.
    pub fn bundle(self) -> Option<Bundle<'a>> {
        let row = self.catalog.image.optional(Section::Entries, self.row, entry::BUNDLE)?;
        Some(Bundle::new(self.catalog, row))
    }

    /// Returns the name it replaces.
    pub fn replaces(self) -> Option<&'a str> {
        self.optional_text(entry::REPLACES)
    }

    /// Returns the names it skips.
    pub fn skips(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        let catalog = self.catalog;
        catalog
            .image
            .range(Section::Entries, self.row, entry::SKIPS)
            .map(move |row| catalog.image.text_cell(Section::Skips, row, 0))
    }

    /// Returns the range of installed versions it can replace directly, as written.
    pub fn skip_range(self) -> Option<&'a str> {
        self.optional_text(entry::SKIP_RANGE)
    }

    /// Returns the entry as the upgrade graph sees it.
    pub fn graph_entry(self) -> GraphEntry<'a> {
        let bundle = self.bundle();
        GraphEntry {
            name: self.name(),
            replaces: self.replaces().unwrap_or_default(),
            skips: self.skips().collect(),
            skip_range: self.skip_range().and_then(|range| VersionRange::parse(range).ok()),
            version: bundle.and_then(Bundle::version),
            deprecated: bundle.is_some_and(|bundle| bundle.deprecation().is_some()),
        }
    }

    /// Returns where the entry is declared.
    pub fn place(self) -> Place {
        self.catalog.place(Section::Entries, self.row, entry::FILE)
    }
}
