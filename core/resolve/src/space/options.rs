//! What a request may choose from: a channel's entries for a fresh installation, updates and the
//! operator itself for an installed one.

use std::collections::HashSet;

use operon_catalog::{Catalog, Channel, Entry};
use operon_version::{Version, VersionRange};

use super::installed::InstalledOperator;
use super::{NodeId, SourceIndex, Space};
use crate::budget::{BYTES_FOR_A_MEMBER, Budget, Spent};
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
pub(super) fn options(
    space: &mut Space<'_>,
    number: usize,
    fresh: &mut Vec<NodeId>,
    budget: &mut Budget,
) -> Result<Options, Spent> {
    let request = space.requests[number];
    let current = space.currents[number];
    if let Some(position) = current
        && space.installed[position].held
    {
        return Ok(Options::Some { entries: Vec::new(), current });
    }
    let own = own_channels(space, request, current.is_none());
    let mut found = match &own {
        Ok((source, channels)) => match current {
            None => {
                let entries = fresh_entries(request, channels);
                in_all_channels(space, request, *source, &entries, budget)?
            }
            Some(position) => {
                let current = &space.installed[position];
                let entries = updates(space, channels, current);
                found_updates(space, current, *source, &entries, budget)?
            }
        },
        Err(_) => Vec::new(),
    };
    if let Some(position) = current
        && space.semantics.updates == UpdateSources::AllVisible
        && !matches!(own, Err(Missing::Unavailable { .. }))
    {
        let current = &space.installed[position];
        for (source, entries) in updates_elsewhere(space, request, current) {
            found.extend(found_updates(space, current, source, &entries, budget)?);
        }
    }
    if let Some(allowed) = &request.allowed {
        let offered = found.len();
        found.retain(|found| allowed.bundles.contains(space.bundle_name(*found)));
        if found.is_empty() && offered > 0 && current.is_none() {
            let (package, because) = (request.package.clone(), allowed.because.clone());
            return Ok(Options::Missing(Missing::Allowed { package, because }));
        }
    }
    if let Err(missing) = own {
        if current.is_none() || !space.semantics.keep_vanished {
            return Ok(Options::Missing(missing));
        }
        let name = &space.installed[current.unwrap_or_default()].installed.name;
        space.notices.push(Notice {
            request: request.name.clone(),
            kind: NoticeKind::Vanished,
            text: format!("{name} stays as it is: {}", words::missing(&missing)),
        });
    }
    budget.spend(found.len() as u64)?;
    budget.occupy(found.len() as u64 * BYTES_FOR_A_MEMBER)?;
    let nodes = found
        .into_iter()
        .map(|found| space.entry_node(found.source, found.entry, found.bundle, fresh))
        .collect();
    // Upstream: its texts name an option as often as it was found.
    let entries = if space.semantics.tell_as_upstream { nodes } else { without_repetitions(nodes) };
    Ok(Options::Some { entries, current })
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
    let mut seen = HashSet::new();
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
fn fresh_entries<'u>(request: &Request, channels: &[Channel<'u>]) -> Vec<Entry<'u>> {
    let mut entries = Vec::new();
    for channel in channels {
        if request.starting_csv.is_empty() {
            entries.extend(channel.order());
        } else {
            entries.extend(channel.entry(&request.starting_csv));
        }
    }
    entries
}

/// Without a channel, a bundle counts in every channel that lists it, as soon as one of them is
/// asked.
fn in_all_channels(
    space: &Space<'_>,
    request: &Request,
    source: SourceIndex,
    entries: &[Entry<'_>],
    budget: &mut Budget,
) -> Result<Vec<Found>, Spent> {
    budget.spend(entries.len() as u64)?;
    if !request.channel.is_empty() {
        return Ok(entries.iter().filter_map(|&entry| found(source, entry)).collect());
    }
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    for entry in entries {
        let Some(bundle) = entry.bundle() else { continue };
        // Upstream: its texts name an option as often as it was found.
        if !seen.insert(bundle.id()) && !space.semantics.tell_as_upstream {
            continue;
        }
        let mut siblings: Vec<Entry<'_>> = bundle.entries().collect();
        budget.spend(siblings.len() as u64)?;
        budget.occupy(siblings.len() as u64 * BYTES_FOR_A_MEMBER)?;
        siblings.sort_by_key(|sibling| {
            let channel = sibling.channel();
            (channel.id() != entry.channel().id(), !channel.is_default(), channel.id())
        });
        all.extend(siblings.into_iter().filter_map(|sibling| found(source, sibling)));
    }
    Ok(all)
}

/// Finds updates in the channels that the request of the installed operator asks for.
fn found_updates(
    space: &Space<'_>,
    current: &InstalledOperator<'_>,
    source: SourceIndex,
    entries: &[Entry<'_>],
    budget: &mut Budget,
) -> Result<Vec<Found>, Spent> {
    match current.request {
        Some(number) => in_all_channels(space, space.requests[number], source, entries, budget),
        None => Ok(entries.iter().filter_map(|&entry| found(source, entry)).collect()),
    }
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
pub(super) fn updates<'u>(
    space: &Space<'_>,
    channels: &[Channel<'u>],
    current: &InstalledOperator<'_>,
) -> Vec<Entry<'u>> {
    let (name, version) = (current.installed.name.as_str(), &current.installed.version);
    let mut entries: Vec<(u8, Entry<'u>)> = Vec::new();
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
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns the updates that other visible catalogs offer in the same package and channel.
pub(super) fn updates_elsewhere<'u>(
    space: &Space<'u>,
    request: &Request,
    current: &InstalledOperator<'_>,
) -> Vec<(SourceIndex, Vec<Entry<'u>>)> {
    let mut all = Vec::new();
    for (index, ready) in space.sources.iter().enumerate() {
        if Some(ready.name) == request.source.as_ref() {
            continue;
        }
        let catalog: &'u Catalog = ready.catalog;
        let Some(package) = catalog.package(&request.package) else { continue };
        let mut channels: Vec<Channel<'u>> = package
            .channels()
            .filter(|channel| request.channel.is_empty() || channel.name() == request.channel)
            .collect();
        channels.sort_by_key(|channel| (!channel.is_default(), channel.id()));
        all.push((SourceIndex(index as u32), updates(space, &channels, current)));
    }
    all
}
