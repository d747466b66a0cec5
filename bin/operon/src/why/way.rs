//! Which updates lie between what runs and a version, and which versions are never installed.

use operon_catalog::{
    Entry,
    journey::{Installed as Standing, NoWay, Origin, Routes},
};
use operon_version::Version;

/// The updates from what runs to an entry.
pub(super) enum Way {
    /// The names of the entries to pass, the wanted one last.
    Steps(Vec<String>),
    /// There are none, and why.
    None(String),
}

/// Finds the shortest way in the entry's channel.
pub(super) fn way(current: &str, version: Option<Version>, entry: Entry<'_>) -> Way {
    let routes = Routes::v0(entry.channel());
    if !routes.is_searchable() {
        return Way::None("the channel has too many entries to be searched".to_owned());
    }
    let standing = Standing { name: current.to_owned(), version, origin: Origin::Unknown };
    let found = routes.place(entry.name()).and_then(|place| routes.shortest(&standing, place));
    match found {
        Some(hops) => Way::Steps(hops.iter().map(|hop| hop.entry.name().to_owned()).collect()),
        None => {
            let to = match entry.bundle() {
                Some(bundle) => Standing::published(bundle),
                None => Standing::mentioned(entry.name()),
            };
            Way::None(NoWay::explain(&routes, &standing, &to).to_string())
        }
    }
}

/// Tells whether installations may get an entry.
pub(super) fn is_offered(entry: Entry<'_>) -> bool {
    entry.channel().order().any(|other| other.id() == entry.id())
}

/// Says why installations never get an entry; call it only when they do not.
pub(super) fn never_installed(entry: Entry<'_>) -> String {
    let channel = entry.channel();
    let skips = |other: &Entry<'_>| other.skips().any(|name| name == entry.name());
    let skipping: Vec<&str> = channel.entries().filter(skips).map(Entry::name).collect();
    let (name, channel) = (entry.name(), channel.name());
    match skipping.as_slice() {
        [] => {
            format!("{name} is not on the chain of channel {channel}, so it is never installed.")
        }
        [only] => format!("In channel {channel}, {only} skips {name}, so it is never installed."),
        several => format!(
            "In channel {channel}, {} skip {name}, so it is never installed.",
            several.join(", ")
        ),
    }
}
