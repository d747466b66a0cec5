//! How much changed, as numbers and as one line.

use std::fmt;

use super::{CatalogDiff, Stranding, UserChange};

/// How much changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiffCounts {
    /// Packages that only the second catalog has.
    pub packages_added: usize,
    /// Packages that only the first catalog has.
    pub packages_removed: usize,
    /// Packages that both have, with different content.
    pub packages_changed: usize,
    /// Channels added to changed packages.
    pub channels_added: usize,
    /// Channels removed from changed packages.
    pub channels_removed: usize,
    /// Channels with another head.
    pub heads_moved: usize,
    /// Bundles added to changed packages.
    pub bundles_added: usize,
    /// Bundles removed from changed packages.
    pub bundles_removed: usize,
    /// Bundles with different content.
    pub bundles_changed: usize,
    /// Entries with different edges.
    pub entries_changed: usize,
    /// Versions, counted in each channel, that lost the way to the head.
    pub versions_stranded: usize,
    /// Versions, counted in each channel, that got a way to the head.
    pub versions_freed: usize,
    /// Bundles, channels and packages that became deprecated.
    pub newly_deprecated: usize,
    /// Documents of other schemas that only the second catalog has.
    pub others_added: usize,
    /// Documents of other schemas that only the first catalog has.
    pub others_removed: usize,
}

impl DiffCounts {
    /// Counts the differences.
    pub fn of(diff: &CatalogDiff<'_>) -> Self {
        let mut counts = Self {
            packages_added: diff.added.len(),
            packages_removed: diff.removed.len(),
            packages_changed: diff.changed.len(),
            others_added: diff.others_added.len(),
            others_removed: diff.others_removed.len(),
            ..Self::default()
        };
        for package in &diff.changed {
            counts.channels_added += package.channels_added.len();
            counts.channels_removed += package.channels_removed.len();
            counts.bundles_added += package.bundles_added.len();
            counts.bundles_removed += package.bundles_removed.len();
            counts.bundles_changed += package.bundles_changed.len();
            let bundles = package.bundles_changed.iter().map(|bundle| bundle.deprecation);
            let channels = package.channels_changed.iter().map(|channel| channel.deprecation);
            let deprecations = bundles.chain(channels).chain([package.deprecation]).flatten();
            counts.newly_deprecated +=
                deprecations.filter(|change| change.before.is_none()).count();
            for channel in &package.channels_changed {
                counts.heads_moved += usize::from(channel.head.is_some());
                counts.entries_changed += channel.entries_changed.len();
            }
            for users in &package.users {
                let stranding = |wanted: Stranding| {
                    let is_wanted = |change: &&UserChange<'_>| change.stranding == Some(wanted);
                    users.changes.iter().filter(is_wanted).count()
                };
                counts.versions_stranded += stranding(Stranding::Stranded);
                counts.versions_freed += stranding(Stranding::Freed);
            }
        }
        counts
    }
}

/// Prints a line such as "3 packages changed: 2 bundles added, 1 head moved, 1 version stranded".
impl fmt::Display for DiffCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |number: usize, nouns: [&str; 2], verb: &str| match number {
            0 => None,
            number => Some(format!("{number} {} {verb}", nouns[usize::from(number != 1)])),
        };
        let [package, channel, bundle, head, entry, version, deprecation, document] = [
            ["package", "packages"],
            ["channel", "channels"],
            ["bundle", "bundles"],
            ["head", "heads"],
            ["entry", "entries"],
            ["version", "versions"],
            ["deprecation", "deprecations"],
            ["other document", "other documents"],
        ];
        let packages = [
            part(self.packages_added, package, "added"),
            part(self.packages_removed, package, "removed"),
            part(self.packages_changed, package, "changed"),
        ];
        let details = [
            part(self.channels_added, channel, "added"),
            part(self.channels_removed, channel, "removed"),
            part(self.bundles_added, bundle, "added"),
            part(self.bundles_removed, bundle, "removed"),
            part(self.bundles_changed, bundle, "changed"),
            part(self.heads_moved, head, "moved"),
            part(self.entries_changed, entry, "with other edges"),
            part(self.versions_stranded, version, "stranded"),
            part(self.versions_freed, version, "freed"),
            part(self.newly_deprecated, deprecation, "added"),
            part(self.others_added, document, "added"),
            part(self.others_removed, document, "removed"),
        ];
        let join = |parts: &[Option<String>]| {
            parts.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        match (join(&packages), join(&details)) {
            (packages, details) if packages.is_empty() && details.is_empty() => {
                write!(formatter, "no differences")
            }
            (packages, details) if packages.is_empty() => write!(formatter, "{details}"),
            (packages, details) if details.is_empty() => write!(formatter, "{packages}"),
            (packages, details) => write!(formatter, "{packages}: {details}"),
        }
    }
}
