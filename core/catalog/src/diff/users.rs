//! What changes for someone who runs a version of the first catalog and follows a channel.
//!
//! Every entry of the channel is taken for installed, and its updates are asked for in both
//! catalogs. What happens to users of a removed channel is plain and not worked out here.

use super::Change;
use crate::{
    Channel, Entry,
    graph::Rules,
    journey::{Installed, Routes, Survey},
};

/// What changes for the users of a channel.
#[derive(Debug)]
pub struct Users<'a> {
    /// The channel's name.
    pub channel: &'a str,
    /// A change for each version whose users notice something, the oldest version first.
    pub changes: Vec<UserChange<'a>>,
    /// Whether all versions were looked at; `false` only for channels beyond
    /// [`MAX_SURVEY_STEPS`](crate::journey::MAX_SURVEY_STEPS).
    pub complete: bool,
}

/// What changes for someone who runs a version.
#[derive(Debug)]
pub struct UserChange<'a> {
    /// The entry of the first catalog.
    pub entry: Entry<'a>,
    /// The update that is offered.
    pub next: Option<Change<Option<&'a str>>>,
    /// Where automatic updates end: the version itself when none is offered.
    pub end: Option<Change<&'a str>>,
    /// Whether the way to the head was lost or found.
    pub stranding: Option<Stranding>,
    /// The message, when the version became deprecated.
    pub deprecated: Option<&'a str>,
    /// Whether the channel no longer has the version.
    pub removed: bool,
}

/// A change of the way to the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stranding {
    /// Updates led to the head, and no longer do.
    Stranded,
    /// Updates did not lead to the head, and now do.
    Freed,
}

/// Compares what users of a channel experience; `None` when nobody notices anything.
pub(super) fn compare<'a>(
    before: Channel<'a>,
    after: Channel<'a>,
    rules: Rules,
) -> Option<Users<'a>> {
    let old_routes = Routes::of_channel(before, rules);
    let new_routes = Routes::of_channel(after, rules);
    let surveys = Survey::new(&old_routes).zip(Survey::new(&new_routes));
    let Some((old, new)) = surveys else {
        return Some(Users { channel: before.name(), changes: Vec::new(), complete: false });
    };
    let mut entries: Vec<Entry<'a>> = before.entries().collect();
    entries.sort_by_key(|entry| {
        (entry.bundle().map_or(0, |bundle| bundle.version_rank()), entry.name())
    });
    let changes: Vec<UserChange<'a>> =
        entries.into_iter().filter_map(|entry| compare_entry(entry, after, &old, &new)).collect();
    (!changes.is_empty()).then_some(Users { channel: before.name(), changes, complete: true })
}

fn compare_entry<'a>(
    entry: Entry<'a>,
    after: Channel<'a>,
    old: &Survey<'_, 'a>,
    new: &Survey<'_, 'a>,
) -> Option<UserChange<'a>> {
    let installed =
        entry.bundle().map_or_else(|| Installed::mentioned(entry.name()), Installed::published);
    let was = old.standing(&installed);
    let is = new.standing(&installed);
    let old_name = |place: usize| old.routes().places()[place];
    let new_name = |place: usize| new.routes().places()[place];
    let same_bundle = after.package().bundle(entry.name());
    let change = UserChange {
        entry,
        next: Change::between(was.next.map(old_name), is.next.map(new_name)),
        end: Change::between(
            was.end.map_or(entry.name(), old_name),
            is.end.map_or(entry.name(), new_name),
        ),
        stranding: match (was.reaches_head, is.reaches_head) {
            (true, false) => Some(Stranding::Stranded),
            (false, true) => Some(Stranding::Freed),
            (true, true) | (false, false) => None,
        },
        deprecated: match entry.bundle().and_then(|bundle| bundle.deprecation()) {
            Some(_) => None,
            None => same_bundle.and_then(|bundle| bundle.deprecation()),
        },
        removed: after.entry(entry.name()).is_none(),
    };
    let is_noticed = change.next.is_some()
        || change.end.is_some()
        || change.stranding.is_some()
        || change.deprecated.is_some()
        || change.removed;
    is_noticed.then_some(change)
}
