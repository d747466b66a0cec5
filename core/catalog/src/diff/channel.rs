//! What changed in a channel that both catalogs have: its head, its entries, their edges.

use std::collections::BTreeMap;

use super::{Change, only_distinct};
use crate::{Channel, Entry, GroupVersionKind};

/// The differences of a channel.
#[derive(Debug)]
pub struct ChannelDiff<'a> {
    /// The channel's name.
    pub name: &'a str,
    /// The entry that a fresh installation gets.
    pub head: Option<Change<Option<&'a str>>>,
    /// Entries that only the second catalog has.
    pub entries_added: Vec<Entry<'a>>,
    /// Entries that only the first catalog has.
    pub entries_removed: Vec<Entry<'a>>,
    /// Entries whose edges differ.
    pub entries_changed: Vec<EntryDiff<'a>>,
    /// APIs that the head provides only in the second catalog.
    pub apis_gained: Vec<GroupVersionKind>,
    /// APIs that the head provides only in the first catalog.
    pub apis_lost: Vec<GroupVersionKind>,
    /// Why the channel should no longer be followed.
    pub deprecation: Option<Change<Option<&'a str>>>,
}

/// The differences of an entry.
#[derive(Debug)]
pub struct EntryDiff<'a> {
    /// The entry's name.
    pub name: &'a str,
    /// The name it replaces.
    pub replaces: Option<Change<Option<&'a str>>>,
    /// Names it skips only in the second catalog.
    pub skips_added: Vec<&'a str>,
    /// Names it skips only in the first catalog.
    pub skips_removed: Vec<&'a str>,
    /// The range of versions it can replace directly.
    pub skip_range: Option<Change<Option<&'a str>>>,
}

impl<'a> ChannelDiff<'a> {
    /// Compares a channel of two catalogs; `None` when its content is equal.
    pub(super) fn between(before: Channel<'a>, after: Channel<'a>) -> Option<Self> {
        let old = by_name(before);
        let new = by_name(after);
        let missing = |from: &BTreeMap<&'a str, Entry<'a>>,
                       other: &BTreeMap<&'a str, Entry<'a>>| {
            let entries = from.iter().filter(|(name, _)| !other.contains_key(*name));
            entries.map(|(_, entry)| *entry).collect::<Vec<_>>()
        };
        let both = old.iter().filter_map(|(name, entry)| Some((*entry, *new.get(name)?)));
        let (apis_lost, apis_gained) = only_distinct(head_apis(before), head_apis(after));
        let head = |channel: Channel<'a>| channel.head().map(|head| head.name());
        let diff = Self {
            name: before.name(),
            head: Change::between(head(before), head(after)),
            entries_added: missing(&new, &old),
            entries_removed: missing(&old, &new),
            entries_changed: both.filter_map(|(old, new)| EntryDiff::between(old, new)).collect(),
            apis_gained,
            apis_lost,
            deprecation: Change::between(before.deprecation(), after.deprecation()),
        };
        (!diff.is_empty()).then_some(diff)
    }

    fn is_empty(&self) -> bool {
        self.head.is_none()
            && self.entries_added.is_empty()
            && self.entries_removed.is_empty()
            && self.entries_changed.is_empty()
            && self.apis_gained.is_empty()
            && self.apis_lost.is_empty()
            && self.deprecation.is_none()
    }
}

impl<'a> EntryDiff<'a> {
    fn between(before: Entry<'a>, after: Entry<'a>) -> Option<Self> {
        let (skips_removed, skips_added) = only_distinct(before.skips(), after.skips());
        let diff = Self {
            name: before.name(),
            replaces: Change::between(before.replaces(), after.replaces()),
            skips_added,
            skips_removed,
            skip_range: Change::between(before.skip_range(), after.skip_range()),
        };
        let is_empty = diff.replaces.is_none()
            && diff.skips_added.is_empty()
            && diff.skips_removed.is_empty()
            && diff.skip_range.is_none();
        (!is_empty).then_some(diff)
    }
}

fn by_name(channel: Channel<'_>) -> BTreeMap<&str, Entry<'_>> {
    channel.entries().map(|entry| (entry.name(), entry)).collect()
}

fn head_apis(channel: Channel<'_>) -> Vec<GroupVersionKind> {
    let bundle = channel.head().and_then(|head| head.bundle());
    bundle.into_iter().flat_map(|bundle| bundle.provided_apis()).map(|api| api.name()).collect()
}
