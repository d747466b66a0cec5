//! A catalog made ready to be served: what is left out, and in which order the rest is listed.
//!
//! Upstream refuses a catalog with any error. Here a package with an error is left out and the rest
//! is served. No document is read before it is asked for.

use std::{collections::BTreeMap, fmt, sync::Arc};

use operon_catalog::{
    Bundle, Catalog, Channel, Entry, EntryId, Package, PackageId, Place, Severity,
};

use crate::{Content, LeftOut};

/// A catalog that is being served.
pub(crate) struct Shelf {
    content: Arc<dyn Content>,
    left_out: BTreeMap<PackageId, String>,
    /// The entries that are listed, ordered by channel, package and bundle.
    listed: Vec<EntryId>,
}

impl fmt::Debug for Shelf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shelf").field("listed", &self.listed.len()).finish_non_exhaustive()
    }
}

impl Shelf {
    /// Makes a catalog ready.
    pub(crate) fn new(content: Arc<dyn Content>) -> Self {
        let left_out = left_out(content.catalog());
        let listed = listed(content.catalog(), &left_out);
        Self { content, left_out, listed }
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        self.content.catalog()
    }

    /// Reads a document; blocks.
    pub(crate) fn document(&self, place: Place) -> Result<String, String> {
        self.content.document(place)
    }

    /// Returns the packages that are left out, in the order of their names.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        let named = |(package, reason): (&PackageId, &String)| LeftOut {
            package: self.catalog().package_by_id(*package).name().to_owned(),
            reason: reason.clone(),
        };
        self.left_out.iter().map(named).collect()
    }

    /// Returns why a package is left out.
    pub(crate) fn reason(&self, package: Package<'_>) -> Option<&str> {
        self.left_out.get(&package.id()).map(String::as_str)
    }

    /// Returns the packages that are served, in the order of their names.
    pub(crate) fn packages(&self) -> impl Iterator<Item = Package<'_>> {
        self.catalog().packages().filter(|package| self.reason(*package).is_none())
    }

    /// Returns the entry at a position of the list of all bundles.
    pub(crate) fn listed(&self, position: usize) -> Option<Entry<'_>> {
        self.listed.get(position).map(|id| self.catalog().entry_by_id(*id))
    }
}

/// Finds the packages that upstream would not serve, with the first reason.
fn left_out(catalog: &Catalog) -> BTreeMap<PackageId, String> {
    let mut left_out = BTreeMap::new();
    for package in catalog.packages() {
        if let Some(reason) = defect(package) {
            left_out.insert(package.id(), reason);
        }
    }
    if catalog.is_valid() {
        return left_out;
    }
    let documents = documents(catalog);
    for finding in catalog.diagnostics() {
        if finding.severity() != Severity::Error {
            continue;
        }
        let places = finding.place.into_iter().chain(finding.related.iter().map(|(at, _)| *at));
        for package in places.filter_map(|place| owner(&documents, place)) {
            left_out.entry(package).or_insert_with(|| finding.message.clone());
        }
    }
    left_out
}

/// Says why a package cannot be served at all; findings say the same and more, but are limited in
/// number.
fn defect(package: Package<'_>) -> Option<String> {
    if package.default_channel().is_none() {
        return Some(format!("package {:?} has no default channel", package.name()));
    }
    let headless = package.channels().find(|channel| channel.head().is_none());
    if let Some(channel) = headless {
        return Some(format!("channel {:?} has no single head", channel.name()));
    }
    let missing =
        package.channels().flat_map(Channel::entries).find(|entry| entry.bundle().is_none());
    if let Some(entry) = missing {
        return Some(format!("bundle {:?} has no content", entry.name()));
    }
    let doubled = package.bundles().find(|bundle| bundle.metadata_count() > 1)?;
    Some(format!("bundle {:?} has two properties `olm.csv.metadata`", doubled.name()))
}

/// Returns the documents of all packages, ordered by place.
fn documents(catalog: &Catalog) -> Vec<(Place, PackageId)> {
    let mut documents: Vec<(Place, PackageId)> = Vec::new();
    for package in catalog.packages() {
        let channels = package.channels().map(Channel::place);
        let bundles = package.bundles().map(Bundle::place);
        let places = std::iter::once(package.place()).chain(channels).chain(bundles);
        documents.extend(places.map(|place| (place, package.id())));
    }
    documents.sort_unstable();
    documents
}

/// Returns the package whose document holds a place.
fn owner(documents: &[(Place, PackageId)], place: Place) -> Option<PackageId> {
    let after = documents.partition_point(|(document, _)| {
        (document.file, document.start) <= (place.file, place.start)
    });
    let (document, package) = documents.get(after.checked_sub(1)?)?;
    let holds = document.file == place.file && place.start < document.end;
    holds.then_some(*package)
}

fn listed(catalog: &Catalog, left_out: &BTreeMap<PackageId, String>) -> Vec<EntryId> {
    let mut entries: Vec<Entry<'_>> = catalog
        .packages()
        .filter(|package| !left_out.contains_key(&package.id()))
        .flat_map(Package::channels)
        .flat_map(Channel::entries)
        .collect();
    entries.sort_by_key(|entry| {
        (entry.channel().name(), entry.channel().package().name(), entry.name())
    });
    entries.into_iter().map(Entry::id).collect()
}
