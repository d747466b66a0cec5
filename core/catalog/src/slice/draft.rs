//! A catalog as slicing sees it: packages, channels and edges, without anything else.
//!
//! The result of a decision is a draft again, so the same decision can be made about it.

use std::collections::BTreeMap;

use super::Cause;
use crate::{Bundle, Catalog, Channel, Entry, EntryId, Package, graph::GraphEntry};

/// Packages by name.
#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    pub(super) packages: BTreeMap<&'a str, PackageDraft<'a>>,
    /// The position of every entry that a resolver may choose in its channel, 0 for the head.
    pub(super) ranks: BTreeMap<EntryId, usize>,
}

/// A package with its channels by name.
#[derive(Debug)]
pub(super) struct PackageDraft<'a> {
    pub(super) package: Package<'a>,
    pub(super) default_channel: &'a str,
    pub(super) channels: BTreeMap<&'a str, ChannelDraft<'a>>,
}

/// A channel.
#[derive(Debug)]
pub(super) struct ChannelDraft<'a> {
    pub(super) channel: Channel<'a>,
    pub(super) entries: Vec<EntryDraft<'a>>,
    /// Positions in `entries`, head first; empty when the channel has no order.
    pub(super) order: Vec<usize>,
}

/// An entry, with the edges it has after repairs.
#[derive(Debug, Clone)]
pub(super) struct EntryDraft<'a> {
    pub(super) entry: Entry<'a>,
    pub(super) replaces: Option<&'a str>,
    pub(super) added_skips: Vec<&'a str>,
    pub(super) cause: Cause,
}

impl<'a> EntryDraft<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.entry.name()
    }

    pub(super) fn skips(&self) -> impl Iterator<Item = &'a str> {
        self.entry.skips().chain(self.added_skips.iter().copied())
    }

    pub(super) fn version_rank(&self) -> u32 {
        self.entry.bundle().map_or(0, Bundle::version_rank)
    }

    /// Returns the entry as the upgrade graph sees it.
    pub(super) fn graph_entry(&self) -> GraphEntry<'a> {
        GraphEntry {
            replaces: self.replaces.unwrap_or_default(),
            skips: self.skips().collect(),
            ..self.entry.graph_entry()
        }
    }
}

impl<'a> Draft<'a> {
    /// Returns a catalog as a draft.
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        let mut draft = Self::default();
        for package in catalog.packages() {
            let channels = package.channels().map(|channel| (channel.name(), whole(channel)));
            draft.insert(PackageDraft {
                package,
                default_channel: package.default_channel_name(),
                channels: channels.collect(),
            });
        }
        draft
    }

    /// Adds a package.
    pub(super) fn insert(&mut self, package: PackageDraft<'a>) {
        for channel in package.channels.values() {
            for (rank, &position) in channel.order.iter().enumerate() {
                self.ranks.insert(channel.entries[position].entry.id(), rank);
            }
        }
        self.packages.insert(package.package.name(), package);
    }

    /// Counts packages, channels and entries.
    pub(super) fn size(&self) -> (usize, usize, usize) {
        let channels = || self.packages.values().flat_map(|package| package.channels.values());
        let entries = channels().map(|channel| channel.entries.len()).sum();
        (self.packages.len(), channels().count(), entries)
    }
}

fn whole(channel: Channel<'_>) -> ChannelDraft<'_> {
    let entries: Vec<EntryDraft<'_>> = channel
        .entries()
        .map(|entry| EntryDraft {
            entry,
            replaces: entry.replaces(),
            added_skips: Vec::new(),
            cause: Cause::Asked,
        })
        .collect();
    let positions: BTreeMap<EntryId, usize> =
        entries.iter().enumerate().map(|(position, entry)| (entry.entry.id(), position)).collect();
    let order = channel.order().filter_map(|entry| positions.get(&entry.id()).copied()).collect();
    ChannelDraft { channel, entries, order }
}
