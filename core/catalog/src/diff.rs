//! What changed between two catalogs, and what that means for someone who runs a version.
//!
//! Content is compared, never text: the order of files, documents, entries, skips and properties
//! plays no part. The bodies of metadata and inlined manifests are not held by a catalog, so of them
//! only the number and what people see of them is compared.

mod bundle;
mod channel;
mod count;
mod package;
mod users;

use std::collections::BTreeSet;

pub use self::{
    bundle::{BundleDiff, TextField},
    channel::{ChannelDiff, EntryDiff},
    count::DiffCounts,
    package::PackageDiff,
    users::{Stranding, UserChange, Users},
};

use crate::{Catalog, Package, graph::Rules};

/// A value before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<T> {
    /// In the first catalog.
    pub before: T,
    /// In the second catalog.
    pub after: T,
}

impl<T: PartialEq> Change<T> {
    /// Returns the change, or `None` when both values are equal.
    pub fn between(before: T, after: T) -> Option<Self> {
        (before != after).then_some(Self { before, after })
    }
}

/// A document of another schema: its schema, package and name.
pub type OtherName<'a> = (&'a str, &'a str, &'a str);

/// The differences between two catalogs; nothing in it when their content is equal.
#[derive(Debug, Default)]
pub struct CatalogDiff<'a> {
    /// Packages that only the second catalog has.
    pub added: Vec<Package<'a>>,
    /// Packages that only the first catalog has.
    pub removed: Vec<Package<'a>>,
    /// Packages that both have, with different content.
    pub changed: Vec<PackageDiff<'a>>,
    /// Documents of other schemas that only the second catalog has.
    pub others_added: Vec<OtherName<'a>>,
    /// Documents of other schemas that only the first catalog has.
    pub others_removed: Vec<OtherName<'a>>,
}

impl CatalogDiff<'_> {
    /// Tells whether nothing differs.
    pub fn is_empty(&self) -> bool {
        let Self { added, removed, changed, others_added, others_removed } = self;
        added.is_empty()
            && removed.is_empty()
            && changed.is_empty()
            && others_added.is_empty()
            && others_removed.is_empty()
    }
}

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub struct DiffOptions<'o> {
    /// Only the package of this name; `None` compares everything.
    pub package: Option<&'o str>,
    /// Whose updates users are told about.
    pub rules: Rules,
}

/// Compares two catalogs.
pub fn diff<'a>(
    before: &'a Catalog,
    after: &'a Catalog,
    options: &DiffOptions<'_>,
) -> CatalogDiff<'a> {
    let is_wanted = |name: &str| options.package.is_none_or(|wanted| wanted == name);
    let mut diff = CatalogDiff::default();
    for package in after.packages().filter(|package| is_wanted(package.name())) {
        if before.package(package.name()).is_none() {
            diff.added.push(package);
        }
    }
    for package in before.packages().filter(|package| is_wanted(package.name())) {
        match after.package(package.name()) {
            None => diff.removed.push(package),
            Some(other) => {
                let changes = PackageDiff::between(package, other, options.rules);
                diff.changed.extend((!changes.is_empty()).then_some(changes));
            }
        }
    }
    let names = |catalog: &'a Catalog| -> Vec<OtherName<'a>> {
        let wanted = catalog.others().filter(|other| is_wanted(other.package));
        wanted.map(|other| (other.schema, other.package, other.name)).collect()
    };
    (diff.others_removed, diff.others_added) = only(names(before), names(after));
    diff
}

/// Returns what only the first and what only the second list has, counting repetitions, sorted.
fn only<T: Ord>(before: Vec<T>, after: Vec<T>) -> (Vec<T>, Vec<T>) {
    let sorted = |mut list: Vec<T>| {
        list.sort_unstable();
        list.into_iter().peekable()
    };
    let (mut left, mut right) = (sorted(before), sorted(after));
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    loop {
        match (left.peek(), right.peek()) {
            (Some(first), Some(second)) => match first.cmp(second) {
                std::cmp::Ordering::Less => removed.extend(left.next()),
                std::cmp::Ordering::Greater => added.extend(right.next()),
                std::cmp::Ordering::Equal => {
                    left.next();
                    right.next();
                }
            },
            (Some(_), None) => removed.extend(left.next()),
            (None, Some(_)) => added.extend(right.next()),
            (None, None) => return (removed, added),
        }
    }
}

/// Returns what only the first and what only the second list has, sorted; repetitions do not count.
fn only_distinct<T: Ord>(
    before: impl IntoIterator<Item = T>,
    after: impl IntoIterator<Item = T>,
) -> (Vec<T>, Vec<T>) {
    let distinct = |list: BTreeSet<T>| list.into_iter().collect();
    only(distinct(before.into_iter().collect()), distinct(after.into_iter().collect()))
}
