//! What a request may choose from: a channel's entries for a fresh installation, updates and the
//! operator itself for an installed one.

use operon_catalog::{Catalog, Channel, Entry};
use operon_version::{Version, VersionRange};

use super::installed::InstalledOperator;
use super::{NodeId, SourceIndex, Space};
use crate::conflict::Missing;
use crate::resolution::{Notice, NoticeKind};
use crate::semantics::UpdateSources;
use crate::universe::{Content, Request, SourceName};
use crate::words;

/// What a request may choose from.
pub(super) enum Options {
    /// These entries of catalogs in order of preference, and last of all what is installed.
    Some { entries: Vec<NodeId>, current: Option<usize> },
    /// Nothing, because something that the request names does not exist.
    Missing(Missing),
}

/// Finds what a request may choose from.
pub(super) fn options(space: &mut Space<'_>, number: usize, fresh: &mut Vec<NodeId>) -> Options {
    let request = space.requests[number];
    let current = space.currents[number];
    if let Some(position) = current
        && space.installed[position].held
    {
        return Options::Some { entries: Vec::new(), current };
    }
    let own = own_channels(space, request, current.is_none());
    let mut found = match &own {
        Ok((source, channels)) => match current {
            None => fresh_entries(request, *source, channels),
            Some(position) => updates(space, *source, channels, &space.installed[position]),
        },
        Err(_) => Vec::new(),
    };
    if let Some(position) = current
        && space.semantics.updates == UpdateSources::AllVisible
        && !matches!(own, Err(Missing::Unavailable { .. }))
    {
        found.extend(updates_elsewhere(space, request, &space.installed[position]));
    }
    if let Some(allowed) = &request.allowed {
        let offered = found.len();
        found.retain(|found| allowed.bundles.contains(space.bundle_name(*found)));
        if found.is_empty() && offered > 0 && current.is_none() {
            let (package, because) = (request.package.clone(), allowed.because.clone());
            return Options::Missing(Missing::Allowed { package, because });
        }
    }
    if let Err(missing) = own {
        if current.is_none() || !space.semantics.keep_vanished {
            return Options::Missing(missing);
        }
        let name = &space.installed[current.unwrap_or_default()].installed.name;
        space.notices.push(Notice {
            request: request.name.clone(),
            kind: NoticeKind::Vanished,
            text: format!("{name} stays as it is: {}", words::missing(&missing)),
        });
    }
    let nodes = found
        .into_iter()
        .map(|found| space.entry_node(found.source, found.entry, found.bundle, fresh))
        .collect();
    // Upstream: its texts name an option as often as it was found.
    let entries = if space.semantics.tell_as_upstream { nodes } else { without_repetitions(nodes) };
    Options::Some { entries, current }
}

#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) source: SourceIndex,
    pub(super) entry: operon_catalog::EntryId,
    bundle: operon_catalog::BundleId,
}

fn found(source: SourceIndex, entry: Entry<'_>) -> Option<Found> {
    Some(Found { source, entry: entry.id(), bundle: entry.bundle()?.id() })
}

impl Space<'_> {
    fn bundle_name(&self, found: Found) -> &str {
        let catalog = self.sources[found.source.0 as usize].catalog;
        catalog.entry_by_id(found.entry).name()
    }
}

fn without_repetitions(nodes: Vec<NodeId>) -> Vec<NodeId> {
    let mut seen = std::collections::HashSet::new();
    nodes.into_iter().filter(|&node| seen.insert(node)).collect()
}

/// Returns the channels a request follows in the catalog it names, the preferred one first.
fn own_channels<'u>(
    space: &Space<'u>,
    request: &Request,
    is_new: bool,
) -> Result<(SourceIndex, Vec<Channel<'u>>), Missing> {
    let index = space.sources.iter().position(|ready| Some(ready.name) == request.source.as_ref());
    let Some(index) = index else { return Err(missing_source(space, request)) };
    let source = SourceIndex(index as u32);
    let catalog: &'u Catalog = space.sources[index].catalog;
    if catalog.counts().entries == 0 {
        return Err(missing_source(space, request));
    }
    let package = catalog
        .package(&request.package)
        .filter(|package| package.channels().any(|channel| channel.entries().len() > 0));
    let Some(package) = package else {
        return Err(Missing::Package { package: request.package.clone() });
    };
    let mut channels: Vec<Channel<'u>> = package
        .channels()
        .filter(|channel| request.channel.is_empty() || channel.name() == request.channel)
        .filter(|channel| channel.entries().len() > 0)
        .collect();
    channels.sort_by_key(|channel| (!channel.is_default(), channel.id()));
    if channels.is_empty() {
        let (package, channel) = (request.package.clone(), request.channel.clone());
        return Err(Missing::Channel { package, channel });
    }
    let starts = |channel: &Channel<'_>| channel.entry(&request.starting_csv).is_some();
    if is_new && !request.starting_csv.is_empty() && !channels.iter().any(starts) {
        return Err(Missing::Start {
            package: request.package.clone(),
            channel: request.channel.clone(),
            starting_csv: request.starting_csv.clone(),
        });
    }
    Ok((source, channels))
}

fn missing_source(space: &Space<'_>, request: &Request) -> Missing {
    let name = request
        .source
        .clone()
        .unwrap_or_else(|| SourceName { namespace: String::new(), name: String::new() });
    let known = space.universe.sources.iter().find(|source| source.name == name);
    match known.map(|source| &source.content) {
        Some(Content::Unavailable(reason)) => {
            Missing::Unavailable { source: name, reason: reason.clone() }
        }
        Some(Content::Ready(_)) | None => Missing::Catalog { source: name },
    }
}

/// Returns what a fresh installation may choose from, the head first.
fn fresh_entries(request: &Request, source: SourceIndex, channels: &[Channel<'_>]) -> Vec<Found> {
    let mut entries = Vec::new();
    for channel in channels {
        if request.starting_csv.is_empty() {
            entries.extend(channel.order());
        } else {
            entries.extend(channel.entry(&request.starting_csv));
        }
    }
    in_all_channels(request, source, &entries)
}

/// Without a channel, a bundle counts in every channel that lists it, as soon as one of them is
/// asked.
fn in_all_channels(request: &Request, source: SourceIndex, entries: &[Entry<'_>]) -> Vec<Found> {
    if !request.channel.is_empty() {
        return entries.iter().filter_map(|&entry| found(source, entry)).collect();
    }
    let mut all = Vec::new();
    for entry in entries {
        let Some(bundle) = entry.bundle() else { continue };
        let mut siblings: Vec<Entry<'_>> = bundle.entries().collect();
        siblings.sort_by_key(|sibling| {
            let channel = sibling.channel();
            (channel.id() != entry.channel().id(), !channel.is_default(), channel.id())
        });
        all.extend(siblings.into_iter().filter_map(|sibling| found(source, sibling)));
    }
    all
}

/// How an entry updates what is installed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It replaces or skips it by name.
    Named,
    /// Its skipRange contains the installed version.
    Range,
}

fn way_from(entry: Entry<'_>, name: &str, version: &Version) -> Option<Way> {
    if entry.replaces() == Some(name) || entry.skips().any(|skipped| skipped == name) {
        return Some(Way::Named);
    }
    let range = VersionRange::parse(entry.skip_range()?).ok()?;
    range.contains(version).then_some(Way::Range)
}

/// Returns the updates of an installed operator that channels offer, the preferred one first.
pub(super) fn updates(
    space: &Space<'_>,
    source: SourceIndex,
    channels: &[Channel<'_>],
    current: &InstalledOperator<'_>,
) -> Vec<Found> {
    let (name, version) = (current.installed.name.as_str(), &current.installed.version);
    let mut entries: Vec<(u8, Entry<'_>)> = Vec::new();
    for channel in channels {
        for (place, entry) in channel.order().enumerate() {
            let Some(way) = way_from(entry, name, version) else { continue };
            if space.semantics.updates == UpdateSources::OwnOnly {
                entries.push((0, entry));
                continue;
            }
            let is_back = entry.bundle().and_then(|bundle| bundle.version());
            let is_back = is_back.is_some_and(|offered| offered < *version);
            if entry.name() == name || (way == Way::Range && is_back) {
                continue;
            }
            // The head if its range allows it, then what replaces the installed one, then the rest.
            let precedence = match (place, way) {
                (0, Way::Range) => 0,
                (_, Way::Named) => 1,
                (_, Way::Range) => 2,
            };
            entries.push((precedence, entry));
        }
    }
    entries.sort_by_key(|(precedence, _)| *precedence);
    let entries: Vec<Entry<'_>> = entries.into_iter().map(|(_, entry)| entry).collect();
    let request = current.request.map(|number| space.requests[number]);
    match request {
        Some(request) => in_all_channels(request, source, &entries),
        None => entries.into_iter().filter_map(|entry| found(source, entry)).collect(),
    }
}

/// Returns the updates that other visible catalogs offer in the same package and channel.
pub(super) fn updates_elsewhere(
    space: &Space<'_>,
    request: &Request,
    current: &InstalledOperator<'_>,
) -> Vec<Found> {
    let mut all = Vec::new();
    for (index, ready) in space.sources.iter().enumerate() {
        if Some(ready.name) == request.source.as_ref() {
            continue;
        }
        let Some(package) = ready.catalog.package(&request.package) else { continue };
        let mut channels: Vec<Channel<'_>> = package
            .channels()
            .filter(|channel| request.channel.is_empty() || channel.name() == request.channel)
            .collect();
        channels.sort_by_key(|channel| (!channel.is_default(), channel.id()));
        all.extend(updates(space, SourceIndex(index as u32), &channels, current));
    }
    all
}
