//! The catalogs of a case, opened: each by the name of its CatalogSource.
//!
//! Which of them a namespace sees is not decided here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use operon_api::CatalogSource;
use operon_catalog::{Catalog, Severity};
use operon_fbc::{MemoryFile, read_catalog};
use operon_image::OpenedCatalog;
use operon_resolve::SourceName;

use super::case::CatalogOrigin;
use crate::{
    catalog::open::{open_location, open_path},
    fetching::FetchOptions,
};

/// How many errors of a catalog are told in one sentence.
const TOLD_ERRORS: usize = 3;

/// What findings about a catalog in memory call its file, after the member that holds it.
const MEMORY_FILE: &str = "fbc";

/// Where the catalogs of a case in a directory may be.
#[derive(Debug)]
pub(super) struct CatalogDirectories {
    /// Paths below the directory, or locations, by `namespace/name` of the CatalogSource.
    pub(super) named: BTreeMap<String, String>,
    /// The directory of the case; `catalogs` in it holds `namespace__name` or `name`.
    pub(super) directory: PathBuf,
}

/// The catalogs of a case, opened.
#[derive(Debug, Default)]
pub(super) struct Catalogs {
    catalogs: BTreeMap<SourceName, Result<Held, String>>,
}

/// A catalog, however it is held.
#[derive(Debug)]
enum Held {
    Opened(Box<OpenedCatalog>),
    Memory(Catalog),
}

impl Held {
    fn catalog(&self) -> &Catalog {
        match self {
            Held::Opened(opened) => opened.catalog(),
            Held::Memory(catalog) => catalog,
        }
    }
}

impl Catalogs {
    /// Opens the catalogs of these CatalogSources.
    pub(super) fn open(
        origin: CatalogOrigin,
        sources: &[&CatalogSource],
        fetching: &FetchOptions,
        fetches: bool,
    ) -> Self {
        let open = |origin: &mut CatalogOrigin, source: &CatalogSource| match origin {
            CatalogOrigin::Memory(texts) => {
                let content = texts.remove(&source_name(source))?;
                let file = MemoryFile { path: MEMORY_FILE.to_owned(), content };
                Some(Ok(Held::Memory(read_catalog(&[file]))))
            }
            CatalogOrigin::Directories(directories) => {
                let opened = directories.open(source, fetching, fetches)?;
                let held = opened.map(|opened| Held::Opened(Box::new(opened)));
                Some(held.map_err(|error| error.to_string()))
            }
        };
        let mut origin = origin;
        let mut catalogs = BTreeMap::new();
        for &source in sources {
            let name = source_name(source);
            let held = open(&mut origin, source).unwrap_or_else(|| {
                Err(format!("no registry client established for catalogsource {name}"))
            });
            catalogs.insert(name, held);
        }
        Self { catalogs }
    }

    /// Returns a catalog, or why it cannot be read.
    pub(super) fn get(&self, source: &SourceName) -> Result<&Catalog, String> {
        match self.catalogs.get(source) {
            Some(Ok(held)) => Ok(held.catalog()),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err(format!("no registry client established for catalogsource {source}")),
        }
    }

    /// Says what is wrong with each catalog that upstream's tools refuse, in the order of names.
    pub(super) fn refused(&self) -> Vec<(&SourceName, String)> {
        let readable = self
            .catalogs
            .iter()
            .filter_map(|(source, held)| held.as_ref().ok().map(|held| (source, held.catalog())));
        readable.filter_map(|(source, catalog)| Some((source, errors_of(catalog)?))).collect()
    }
}

/// Names a CatalogSource.
pub(super) fn source_name(source: &CatalogSource) -> SourceName {
    let metadata = &source.metadata;
    SourceName { namespace: metadata.namespace.clone(), name: metadata.name.clone() }
}

impl CatalogDirectories {
    /// Opens the catalog that the case names for a CatalogSource, or has for it, or where it is fetched that
    /// the CatalogSource itself names.
    fn open(
        &self,
        source: &CatalogSource,
        fetching: &FetchOptions,
        fetches: bool,
    ) -> Option<anyhow::Result<OpenedCatalog>> {
        let name = source_name(source);
        let cache = fetching.cache();
        if let Some(place) = self.named.get(&name.to_string()) {
            let path = self.directory.join(place);
            return Some(if path.exists() {
                open_path(&path, cache.as_ref())
            } else {
                open_location(Path::new(place), fetching)
            });
        }
        if let Some(path) = self.beside(&name) {
            return Some(open_path(&path, cache.as_ref()));
        }
        let place = match (source.address.as_str(), source.image.as_str()) {
            _ if !fetches => return None,
            ("", "") => return None,
            ("", image) => image.to_owned(),
            (address, _) => format!("grpc://{address}"),
        };
        Some(open_location(Path::new(&place), fetching))
    }

    /// Finds the catalog that lies in the case.
    fn beside(&self, source: &SourceName) -> Option<PathBuf> {
        // Names of objects have no slashes; one that has must not lead out of the case.
        if source.namespace.contains('/')
            || source.name.contains('/')
            || source.name.starts_with('.')
        {
            return None;
        }
        let SourceName { namespace, name } = source;
        let candidates = [format!("{namespace}__{name}"), name.clone()];
        candidates
            .map(|candidate| self.directory.join("catalogs").join(candidate))
            .into_iter()
            .find(|path| path.is_dir())
    }
}

/// Says what upstream's tools refuse a catalog for, in one sentence.
fn errors_of(catalog: &Catalog) -> Option<String> {
    let errors: Vec<String> = catalog
        .diagnostics()
        .filter(|diagnostic| diagnostic.severity() == Severity::Error)
        .map(|diagnostic| match diagnostic.place {
            Some(place) => format!("{}: {}", catalog.file_path(place.file), diagnostic.message),
            None => diagnostic.message,
        })
        .collect();
    let told = errors.iter().take(TOLD_ERRORS).cloned().collect::<Vec<_>>().join("; ");
    match errors.len() {
        0 => None,
        count if count > TOLD_ERRORS => Some(format!("{told}; and {} more", count - TOLD_ERRORS)),
        _ => Some(told),
    }
}
