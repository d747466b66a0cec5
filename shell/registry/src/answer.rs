//! The answers of the registry, as functions of a catalog.
//!
//! Where upstream answers in the order of a hash, the order here is that of names. Nothing here
//! reads a document or knows the network.

use operon_catalog::{Catalog, Channel, Entry, GroupVersionKind};
use operon_fbc::{ServedApi, ServedBundle, ServedDependency};

use crate::{api, shelf::Shelf};

/// Something that was asked for is not in the catalog, in upstream's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotFound(pub(crate) String);

/// Answers `GetPackage`.
pub(crate) fn package(shelf: &Shelf, name: &str) -> Result<api::Package, NotFound> {
    let package = find_package(shelf, name, || format!("package {name:?} not found"))?;
    Ok(api::Package {
        name: package.name().to_owned(),
        channels: package.channels().map(channel).collect(),
        default_channel_name: package.default_channel_name().to_owned(),
        deprecation: deprecation(package.deprecation()),
    })
}

fn channel(channel: Channel<'_>) -> api::Channel {
    api::Channel {
        name: channel.name().to_owned(),
        csv_name: channel.head().map(Entry::name).unwrap_or_default().to_owned(),
        deprecation: deprecation(channel.deprecation()),
    }
}

fn deprecation(message: Option<&str>) -> Option<api::Deprecation> {
    message.map(|message| api::Deprecation { message: message.to_owned() })
}

/// Finds a package that is served; one that is left out is not found either, and the answer says why.
fn find_package<'s>(
    shelf: &'s Shelf,
    name: &str,
    not_found: impl FnOnce() -> String,
) -> Result<operon_catalog::Package<'s>, NotFound> {
    match shelf.catalog().package(name) {
        None => Err(NotFound(not_found())),
        Some(package) => match shelf.reason(package) {
            None => Ok(package),
            Some(reason) => {
                Err(NotFound(format!("{}: it is left out because {reason}", not_found())))
            }
        },
    }
}

fn find_channel<'s>(
    shelf: &'s Shelf,
    package_name: &str,
    channel_name: &str,
    package_not_found: impl FnOnce() -> String,
) -> Result<Channel<'s>, NotFound> {
    let package = find_package(shelf, package_name, package_not_found)?;
    package.channel(channel_name).ok_or_else(|| {
        NotFound(format!("package {package_name:?}, channel {channel_name:?} not found"))
    })
}

/// Finds the bundle that `GetBundle` answers with.
pub(crate) fn bundle<'s>(
    shelf: &'s Shelf,
    asked: &api::GetBundleRequest,
) -> Result<Entry<'s>, NotFound> {
    let api::GetBundleRequest { pkg_name, channel_name, csv_name } = asked;
    let missing = || format!("package {pkg_name:?} not found");
    find_channel(shelf, pkg_name, channel_name, missing)?.entry(csv_name).ok_or_else(|| {
        let place = format!("package {pkg_name:?}, channel {channel_name:?}");
        NotFound(format!("{place}, bundle {csv_name:?} not found"))
    })
}

/// Finds the bundle that `GetBundleForChannel` answers with.
pub(crate) fn head<'s>(
    shelf: &'s Shelf,
    asked: &api::GetBundleInChannelRequest,
) -> Result<Entry<'s>, NotFound> {
    let api::GetBundleInChannelRequest { pkg_name, channel_name } = asked;
    let missing = || format!("package {pkg_name:?} not found");
    find_channel(shelf, pkg_name, channel_name, missing)?.head().ok_or_else(|| {
        NotFound(format!("package {pkg_name:?}, channel {channel_name:?} not found"))
    })
}

/// Finds the bundle that `GetBundleThatReplaces` answers with.
///
/// If several entries replace or skip the bundle, the one nearest to the head is chosen, and among
/// those that no chain from the head reaches, the first by name.
pub(crate) fn replacement<'s>(
    shelf: &'s Shelf,
    asked: &api::GetReplacementRequest,
) -> Result<Entry<'s>, NotFound> {
    let api::GetReplacementRequest { csv_name, pkg_name, channel_name } = asked;
    // Upstream: this call alone does not quote the name of a package that is missing.
    let missing = || format!("package {pkg_name} not found");
    let channel = find_channel(shelf, pkg_name, channel_name, missing)?;
    let replaces = |entry: &Entry<'_>| replaces_or_skips(*entry, csv_name);
    let nearest = channel.order().find(|entry| replaces(entry));
    nearest
        .or_else(|| channel.entries().filter(|entry| replaces(entry)).min_by_key(|e| e.name()))
        .ok_or_else(|| {
            let place = format!("package {pkg_name:?}, channel {channel_name:?}");
            NotFound(format!("no entry found for {place}"))
        })
}

fn replaces_or_skips(entry: Entry<'_>, name: &str) -> bool {
    // Upstream: an entry that replaces nothing counts as one that replaces the name "".
    entry.replaces().unwrap_or_default() == name || entry.skips().any(|skip| skip == name)
}

/// Answers `GetChannelEntriesThatReplace`.
pub(crate) fn replacements(shelf: &Shelf, name: &str) -> Result<Vec<api::ChannelEntry>, NotFound> {
    let mut entries: Vec<Entry<'_>> = shelf
        .packages()
        .flat_map(operon_catalog::Package::channels)
        .flat_map(Channel::entries)
        .filter(|entry| replaces_or_skips(*entry, name))
        .collect();
    entries.sort_by_key(place_in_catalog);
    let mut rows = Vec::new();
    for entry in entries {
        let replaces = entry.replaces().unwrap_or_default();
        // Upstream: a skip is listed too, with what the entry replaces, once for each time it is
        // written.
        let named = if replaces == name { 1 } else { entry.skips().filter(|s| *s == name).count() };
        rows.extend((0..named).map(|_| row(entry, replaces)));
    }
    non_empty(rows, || format!("no channel entries found that replace {name}"))
}

/// Answers `GetChannelEntriesThatProvide`.
pub(crate) fn providers(
    shelf: &Shelf,
    api: &GroupVersionKind,
) -> Result<Vec<api::ChannelEntry>, NotFound> {
    let rows = provider_entries(shelf, api).into_iter().flat_map(|entry| rows(entry, |_| true));
    non_empty(rows.collect(), || none_provides(api))
}

/// Answers `GetLatestChannelEntriesThatProvide`.
pub(crate) fn latest_providers(
    shelf: &Shelf,
    api: &GroupVersionKind,
) -> Result<Vec<api::ChannelEntry>, NotFound> {
    let heads = provider_entries(shelf, api).into_iter().filter(|entry| is_head(*entry));
    let rows = heads.flat_map(|entry| {
        // Upstream: here, and only here, a skip must be in the channel.
        rows(entry, move |skip| entry.channel().entry(skip).is_some())
    });
    non_empty(rows.collect(), || none_provides(api))
}

/// Finds the bundle that `GetDefaultBundleThatProvides` answers with.
pub(crate) fn default_provider<'s>(
    shelf: &'s Shelf,
    api: &GroupVersionKind,
) -> Result<Entry<'s>, NotFound> {
    let heads: Vec<Entry<'_>> =
        provider_entries(shelf, api).into_iter().filter(|entry| is_head(*entry)).collect();
    if heads.is_empty() {
        return Err(NotFound(none_provides(api)));
    }
    heads
        .into_iter()
        .find(|head| head.channel().is_default())
        .ok_or_else(|| NotFound(format!("no entry found that provides {}", in_words(api))))
}

fn is_head(entry: Entry<'_>) -> bool {
    entry.channel().head().is_some_and(|head| head.id() == entry.id())
}

/// Returns the entries of bundles that provide an API, ordered by package, channel and bundle.
fn provider_entries<'s>(shelf: &'s Shelf, api: &GroupVersionKind) -> Vec<Entry<'s>> {
    let catalog: &Catalog = shelf.catalog();
    let mut entries: Vec<Entry<'_>> = catalog
        .api(api)
        .into_iter()
        .flat_map(operon_catalog::Api::providers)
        .filter(|bundle| shelf.reason(bundle.package()).is_none())
        .flat_map(operon_catalog::Bundle::entries)
        .collect();
    entries.sort_by_key(place_in_catalog);
    // A bundle that lists an API twice provides it once.
    entries.dedup_by_key(|entry| entry.id());
    entries
}

fn place_in_catalog<'s>(entry: &Entry<'s>) -> (&'s str, &'s str, &'s str) {
    (entry.channel().package().name(), entry.channel().name(), entry.name())
}

/// Returns one row for what an entry replaces and one for each skip that counts.
fn rows<'e>(
    entry: Entry<'e>,
    counts: impl Fn(&str) -> bool + 'e,
) -> impl Iterator<Item = api::ChannelEntry> {
    let replaces = entry.replaces().unwrap_or_default();
    let skips = entry.skips().filter(move |skip| *skip != replaces && counts(skip));
    std::iter::once(replaces).chain(skips).map(move |name| row(entry, name))
}

fn row(entry: Entry<'_>, replaces: &str) -> api::ChannelEntry {
    api::ChannelEntry {
        package_name: entry.channel().package().name().to_owned(),
        channel_name: entry.channel().name().to_owned(),
        bundle_name: entry.name().to_owned(),
        replaces: replaces.to_owned(),
    }
}

fn non_empty(
    rows: Vec<api::ChannelEntry>,
    not_found: impl FnOnce() -> String,
) -> Result<Vec<api::ChannelEntry>, NotFound> {
    if rows.is_empty() { Err(NotFound(not_found())) } else { Ok(rows) }
}

fn none_provides(api: &GroupVersionKind) -> String {
    format!("no channel entries found that provide {}", in_words(api))
}

fn in_words(api: &GroupVersionKind) -> String {
    format!("group:{:?} version:{:?} kind:{:?}", api.group, api.version, api.kind)
}

/// Puts what is served for a bundle into the message that carries it.
pub(crate) fn message(served: ServedBundle) -> api::Bundle {
    let pairs =
        |pairs: Vec<ServedDependency>| pairs.into_iter().map(|pair| (pair.kind, pair.value));
    api::Bundle {
        csv_name: served.csv_name,
        package_name: served.package_name,
        channel_name: served.channel_name,
        csv_json: served.csv_json,
        object: served.objects,
        bundle_path: served.bundle_path,
        provided_apis: served.provided_apis.into_iter().map(api_message).collect(),
        required_apis: served.required_apis.into_iter().map(api_message).collect(),
        version: served.version,
        skip_range: served.skip_range,
        dependencies: pairs(served.dependencies)
            .map(|(r#type, value)| api::Dependency { r#type, value })
            .collect(),
        properties: pairs(served.properties)
            .map(|(r#type, value)| api::Property { r#type, value })
            .collect(),
        replaces: served.replaces,
        skips: served.skips,
        deprecation: served.deprecation.map(|message| api::Deprecation { message }),
    }
}

fn api_message(api: ServedApi) -> api::GroupVersionKind {
    let ServedApi { group, version, kind } = api;
    api::GroupVersionKind { group, version, kind, plural: String::new() }
}
