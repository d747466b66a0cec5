//! The catalogs of a case, opened: each by the name of its CatalogSource.

use std::{collections::BTreeMap, path::PathBuf};

use operon_api::CatalogSource;
use operon_catalog::{Catalog, Severity};
use operon_fbc::{MemoryFile, read_catalog};
use operon_image::OpenedCatalog;
use operon_resolve::SourceName;

use crate::{case::CatalogOrigin, fetching::FetchOptions};

/// Errors of a catalog that are listed in a message.
const MAX_LISTED_ERRORS: usize = 3;

/// File name of a catalog in memory in diagnostics: the member that holds it.
const MEMORY_FILE: &str = "fbc";

/// Locations of the catalogs of a case in a directory.
#[derive(Debug)]
pub(crate) struct CatalogDirectories {
    /// Paths below the directory, or locations, by `namespace/name` of the CatalogSource.
    pub(crate) named: BTreeMap<String, String>,
    /// The directory of the case; `catalogs` in it holds `namespace__name` or `name`.
    pub(crate) directory: PathBuf,
}

/// The catalogs of a case, opened.
#[derive(Debug, Default)]
pub(crate) struct Catalogs {
    catalogs: BTreeMap<SourceName, Result<CatalogHandle, String>>,
}

/// A catalog, opened from files or read from memory.
#[derive(Debug)]
enum CatalogHandle {
    Opened(Box<OpenedCatalog>),
    Memory(Catalog),
}

impl CatalogHandle {
    fn catalog(&self) -> &Catalog {
        match self {
            CatalogHandle::Opened(opened) => opened.catalog(),
            CatalogHandle::Memory(catalog) => catalog,
        }
    }
}

impl Catalogs {
    /// Opens the catalogs of these CatalogSources.
    pub(crate) fn open(
        origin: CatalogOrigin,
        sources: &[&CatalogSource],
        fetching: &FetchOptions,
        fetches: bool,
    ) -> Self {
        let open = |origin: &mut CatalogOrigin, source: &CatalogSource| match origin {
            CatalogOrigin::Memory(texts) => {
                let content = texts.remove(&source_name(source))?;
                let file = MemoryFile { path: MEMORY_FILE.to_owned(), content };
                Some(Ok(CatalogHandle::Memory(read_catalog(&[file]))))
            }
            CatalogOrigin::Directories(directories) => {
                let opened = directories.open(source, fetching, fetches)?;
                let handle = opened.map(|opened| CatalogHandle::Opened(Box::new(opened)));
                Some(handle.map_err(|error| error.to_string()))
            }
        };
        let mut origin = origin;
        let mut catalogs = BTreeMap::new();
        for &source in sources {
            let name = source_name(source);
            let handle = open(&mut origin, source).unwrap_or_else(|| {
                Err(format!("no registry client established for catalogsource {name}"))
            });
            catalogs.insert(name, handle);
        }
        Self { catalogs }
    }

    /// Returns a catalog; the error says why it cannot be read.
    pub(crate) fn get(&self, source: &SourceName) -> Result<&Catalog, String> {
        match self.catalogs.get(source) {
            Some(Ok(handle)) => Ok(handle.catalog()),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err(format!("no registry client established for catalogsource {source}")),
        }
    }

    /// Returns the errors of each catalog that upstream's tools reject, sorted by name.
    pub(crate) fn rejected(&self) -> Vec<(&SourceName, String)> {
        let readable = self
            .catalogs
            .iter()
            .filter_map(|(source, handle)| Some((source, handle.as_ref().ok()?.catalog())));
        readable.filter_map(|(source, catalog)| Some((source, errors_of(catalog)?))).collect()
    }
}

/// Returns the name of a CatalogSource.
pub(crate) fn source_name(source: &CatalogSource) -> SourceName {
    let metadata = &source.metadata;
    SourceName { namespace: metadata.namespace.clone(), name: metadata.name.clone() }
}

impl CatalogDirectories {
    /// Opens the catalog of a CatalogSource: the one that the settings name, else the one in the
    /// case, else, with `fetches`, the one that the CatalogSource itself names.
    fn open(
        &self,
        source: &CatalogSource,
        fetching: &FetchOptions,
        fetches: bool,
    ) -> Option<anyhow::Result<OpenedCatalog>> {
        let name = source_name(source);
        if let Some(location) = self.named.get(&name.to_string()) {
            let path = self.directory.join(location);
            return Some(if path.exists() {
                fetching.open_path(&path)
            } else {
                fetching.open_location(location)
            });
        }
        if let Some(path) = self.in_case(&name) {
            return Some(fetching.open_path(&path));
        }
        let location = match (source.address.as_str(), source.image.as_str()) {
            _ if !fetches => return None,
            ("", "") => return None,
            ("", image) => image.to_owned(),
            (address, _) => format!("grpc://{address}"),
        };
        Some(fetching.open_location(&location))
    }

    /// Returns the directory of the case that holds the catalog.
    fn in_case(&self, source: &SourceName) -> Option<PathBuf> {
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

/// Returns the errors for which upstream's tools reject a catalog, in one sentence.
fn errors_of(catalog: &Catalog) -> Option<String> {
    let errors: Vec<String> = catalog
        .diagnostics()
        .filter(|diagnostic| diagnostic.severity() == Severity::Error)
        .map(|diagnostic| match diagnostic.place {
            Some(place) => format!("{}: {}", catalog.file_path(place.file), diagnostic.message),
            None => diagnostic.message,
        })
        .collect();
    let listed = errors.iter().take(MAX_LISTED_ERRORS).cloned().collect::<Vec<_>>().join("; ");
    match errors.len() {
        0 => None,
        count if count > MAX_LISTED_ERRORS => {
            Some(format!("{listed}; and {} more", count - MAX_LISTED_ERRORS))
        }
        _ => Some(listed),
    }
}
