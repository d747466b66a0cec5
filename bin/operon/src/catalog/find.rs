//! Finding what a person names, and the nearest name when there is no such thing.
//!
//! Nothing here guesses: a near name is only suggested, never taken.

use std::cmp::Reverse;

use anyhow::{Error, anyhow};
use operon_catalog::{Bundle, Catalog, Channel, Entry, Package};
use operon_version::Version;

use crate::catalog::cells::counted;

/// A name longer than this is no misspelling of a Kubernetes name, which has at most 253 characters.
const MAX_NAME_LENGTH: usize = 300;

/// How many letters may be wrong in a long name; with more, another name is meant.
const MAX_MISSPELT: usize = 3;

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
            Some(near) => format!("did you mean `{near}`?"),
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
        [package] => format!("in package `{}`", package.name()),
        _ => "in any of these packages".to_owned(),
    };
    let mut hint = nearest(name, channels()).map(|near| format!("\nhint: did you mean `{near}`?"));
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
                package.name()
            ))
        }
    }
}

fn no_such_bundle(package: Package<'_>, name: &str) -> Error {
    let newest_first = package.bundles_by_version();
    let names = newest_first.iter().map(|bundle| bundle.name());
    let versions = newest_first.iter().map(|bundle| bundle.version_text());
    let hint = match nearest(name, versions.clone().chain(names)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => match hinted_names(versions.filter(|version| !version.is_empty())).as_str() {
            "" => "it has no bundles with a version".to_owned(),
            versions => format!("its versions are {versions}"),
        },
    };
    anyhow!("no bundle `{name}` in package `{}`\nhint: {hint}", package.name())
}

fn hinted_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown: Vec<String> =
        names.iter().take(MAX_HINTED_NAMES).map(|name| format!("`{name}`")).collect();
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

/// Returns the candidate that the name is most likely a misspelling of; of equals, the first.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let folded: Vec<char> = name.to_lowercase().chars().collect();
    if folded.len() > MAX_NAME_LENGTH || folded.is_empty() {
        return None;
    }
    let text: String = folded.iter().collect();
    let tolerated = (folded.len() / 4).clamp(1, MAX_MISSPELT);
    let judge = |(position, candidate): (usize, &'n str)| {
        let other = candidate.to_lowercase();
        let characters: Vec<char> = other.chars().take(MAX_NAME_LENGTH).collect();
        let distance = distance(&folded, &characters);
        let is_part = folded.len() >= 3 && other.contains(&text);
        let is_near = distance <= tolerated;
        (is_near || is_part).then_some((!is_near, distance, position, candidate))
    };
    candidates.enumerate().filter_map(judge).min().map(|(.., candidate)| candidate)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, from) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, to) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(from != to);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *from == right[column - 1] && left[row - 1] == *to {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_a_misspelling_or_holds_the_word() {
        let names = ["cert-manager", "etcd", "grafana-operator", "kiali", "prometheus"];
        let claims = [
            ("ectd", Some("etcd")),
            ("Kiali", Some("kiali")),
            ("grafana", Some("grafana-operator")),
            ("certmanager", Some("cert-manager")),
            ("promethues", Some("prometheus")),
            ("grafana-operators", Some("grafana-operator")),
            ("galaxy-operator", None),
            ("zzz", None),
            ("", None),
        ];
        for (typed, expected) in claims {
            assert_eq!(nearest(typed, names.into_iter()), expected, "{typed}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), names.into_iter()), None);
    }
}
