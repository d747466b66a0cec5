//! Finding what a person names, and the nearest name when there is no such thing.
//!
//! Nothing here guesses: a near name is only suggested, never taken.

use std::cmp::Reverse;

use anyhow::{Error, anyhow};
use operon_catalog::{Bundle, Catalog, Channel, Entry, Package, nearest};
use operon_version::Version;

use crate::{catalog::cells::counted, output::clean};

/// How many names a hint lists.
const MAX_HINTED_NAMES: usize = 8;

/// Finds a package by its name.
pub(in crate::catalog) fn find_package<'a>(
    catalog: &'a Catalog,
    name: &str,
) -> anyhow::Result<Package<'a>> {
    catalog.package(name).ok_or_else(|| {
        let near = nearest(name, catalog.packages().map(Package::name));
        let hint = match near {
            Some(near) => format!("did you mean `{}`?", clean(near)),
            None => format!("this catalog has {}", counted(catalog.packages().len(), "package")),
        };
        anyhow!("no package `{name}` in this catalog\nhint: {hint}")
    })
}

/// Finds a channel of a package by its name.
pub(crate) fn find_channel<'a>(package: Package<'a>, name: &str) -> anyhow::Result<Channel<'a>> {
    package.channel(name).ok_or_else(|| no_such_channel(name, &[package]))
}

/// Says that none of these packages has such a channel.
pub(in crate::catalog) fn no_such_channel(name: &str, packages: &[Package<'_>]) -> Error {
    let channels = || packages.iter().flat_map(|package| package.channels()).map(Channel::name);
    let place = match packages {
        [package] => format!("in package `{}`", clean(package.name())),
        _ => "in any of these packages".to_owned(),
    };
    let mut hint =
        nearest(name, channels()).map(|near| format!("\nhint: did you mean `{}`?", clean(near)));
    if let (None, [package]) = (&hint, packages) {
        let names = hinted_names(package.channels().map(Channel::name));
        hint = Some(match names.as_str() {
            "" => "\nhint: it has no channels".to_owned(),
            names => format!("\nhint: its channels are {names}"),
        });
    }
    anyhow!("no channel `{name}` {place}{}", hint.unwrap_or_default())
}

/// Finds a bundle of a package by its name or its version.
pub(crate) fn find_bundle<'a>(package: Package<'a>, name: &str) -> anyhow::Result<Bundle<'a>> {
    if let Some(bundle) = package.bundle(name) {
        return Ok(bundle);
    }
    let text = name.strip_prefix('v').unwrap_or(name);
    let is_written_so = |bundle: &Bundle<'_>| !text.is_empty() && bundle.version_text() == text;
    let mut found: Vec<Bundle<'a>> = package.bundles().filter(is_written_so).collect();
    if let (true, Ok(version)) = (found.is_empty(), Version::parse(text)) {
        found
            .extend(package.bundles().filter(|bundle| bundle.version().as_ref() == Some(&version)));
    }
    match found.as_slice() {
        [bundle] => Ok(*bundle),
        [] => Err(no_such_bundle(package, name)),
        several => {
            let names = hinted_names(several.iter().map(|bundle| bundle.name()));
            Err(anyhow!(
                "package `{}` has several bundles of version `{text}`\nhint: name one of {names}",
                clean(package.name())
            ))
        }
    }
}

fn no_such_bundle(package: Package<'_>, name: &str) -> Error {
    let newest_first = package.bundles_by_version();
    let names = newest_first.iter().map(|bundle| bundle.name());
    let versions = newest_first.iter().map(|bundle| bundle.version_text());
    let hint = match nearest(name, versions.clone().chain(names)) {
        Some(near) => format!("did you mean `{}`?", clean(near)),
        None => match hinted_names(versions.filter(|version| !version.is_empty())).as_str() {
            "" => "it has no bundles with a version".to_owned(),
            versions => format!("its versions are {versions}"),
        },
    };
    anyhow!("no bundle `{name}` in package `{}`\nhint: {hint}", clean(package.name()))
}

fn hinted_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown: Vec<String> =
        names.iter().take(MAX_HINTED_NAMES).map(|name| format!("`{}`", clean(name))).collect();
    match names.len().saturating_sub(MAX_HINTED_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the version of an entry as written, when it has a bundle.
pub(in crate::catalog) fn version_of(entry: Option<Entry<'_>>) -> Option<&str> {
    entry.and_then(Entry::bundle).map(Bundle::version_text)
}

/// Returns the bundle that speaks for a package: the head of its default channel, or else its newest.
pub(in crate::catalog) fn face(package: Package<'_>) -> Option<Bundle<'_>> {
    let head = package.default_head().and_then(Entry::bundle);
    head.or_else(|| {
        package.bundles().max_by_key(|bundle| (bundle.version_rank(), Reverse(bundle.id())))
    })
}
