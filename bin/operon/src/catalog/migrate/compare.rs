//! Whether two catalogs hold the same: packages, channels, bundles, deprecations and other documents.
//!
//! Bodies are not compared, since a migration exchanges them.

use std::cmp::Ordering;

use operon_catalog::Catalog;

/// Returns the first thing that only one of two catalogs holds.
pub(super) fn first_difference(before: &Catalog, after: &Catalog) -> Option<String> {
    let (before, after) = (contents(before), contents(after));
    let (mut left, mut right) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => left.cmp(right),
        };
        match order {
            Ordering::Less => return left.next().map(|thing| format!("{thing} is missing")),
            Ordering::Greater => return right.next().map(|thing| format!("{thing} is new")),
            Ordering::Equal => {
                left.next();
                right.next();
            }
        }
    }
}

/// Describes everything in a catalog, one line each, sorted.
fn contents(catalog: &Catalog) -> Vec<String> {
    let deprecated = |message: Option<&str>| match message {
        Some(message) => format!(", deprecated with {message:?}"),
        None => String::new(),
    };
    let mut lines = Vec::new();
    for package in catalog.packages() {
        let name = package.name();
        let channel = package.default_channel_name();
        let deprecation = deprecated(package.deprecation());
        lines.push(format!("package `{name}` with default channel `{channel}`{deprecation}"));
        for channel in package.channels() {
            let entries = channel.entries().len();
            let deprecation = deprecated(channel.deprecation());
            let channel = channel.name();
            lines.push(format!(
                "channel `{channel}` of `{name}` with {entries} entries{deprecation}"
            ));
        }
    }
    for bundle in catalog.bundles() {
        lines.push(format!(
            "bundle `{}` of `{}` with version `{}` and {} properties{}",
            bundle.name(),
            bundle.package().name(),
            bundle.version_text(),
            bundle.properties().len(),
            deprecated(bundle.deprecation()),
        ));
    }
    for other in catalog.others() {
        let (schema, package, name) = (other.schema, other.package, other.name);
        lines.push(format!("document `{name}` of `{package}` with schema `{schema}`"));
    }
    lines.sort();
    lines
}
