//! A namespace of a cluster that lives, for questions to the resolver.
//!
//! What the cluster holds is taken as manifests; those of a directory are applied to a copy first.

use std::path::{Path, PathBuf};

use anyhow::bail;
use operon_api::{ManifestReader, Manifests};
use operon_driver::{Cluster, Driver, Interest};
use operon_image::{SourceCatalogs, is_path};
use operon_kinds::{CatalogSource, Subscription};
use operon_object::known;

use super::arguments::CatalogArgument;
use crate::{
    cluster::{
        ClusterArguments, DEFAULT_GLOBAL_NAMESPACE, DEFAULT_KUBE_VERSION, Reached, Reader, engine,
        look_well, now,
    },
    fetching::FetchOptions,
    output::stderr_line,
    up,
};

/// What a cluster holds, and the catalogs that it reads.
pub(super) struct Described {
    pub(super) manifests: Manifests,
    pub(super) catalogs: Vec<CatalogArgument>,
    /// What the engine looks at and the resolver does not: a namespace, and a sentence.
    pub(super) remarks: Vec<(String, String)>,
}

/// Reads a cluster that lives.
pub(super) fn read(
    cluster: &ClusterArguments,
    fetching: &FetchOptions,
) -> anyhow::Result<Described> {
    let Some(directory) = &cluster.dir else {
        let reached = cluster.reach()?;
        let Reached::Real(real) = &reached else { bail!("bug: no directory, no cluster") };
        let global = DEFAULT_GLOBAL_NAMESPACE;
        let engine = Reader::engine(real, global, fetching.fetcher()?)?;
        return describe(engine, Path::new("."));
    };
    let (scratch, problems) = up::rehearse(directory, now())?;
    for problem in problems {
        stderr_line!("warning: not applied: {problem}");
    }
    describe(engine(scratch, directory, fetching, DEFAULT_KUBE_VERSION)?, directory)
}

fn describe<C: Cluster>(
    mut engine: Driver<C, SourceCatalogs>,
    directory: &Path,
) -> anyhow::Result<Described> {
    look_well(&mut engine)?;
    let interests = Interest::all_of([
        known::SUBSCRIPTION,
        known::CLUSTER_SERVICE_VERSION,
        known::OPERATOR_GROUP,
        known::CATALOG_SOURCE,
    ]);
    let mut reader = ManifestReader::default();
    let mut catalogs = Vec::new();
    let mut remarks = Vec::new();
    for object in engine.cluster().list(&interests)?.objects {
        reader.read_text(&object.key().to_string(), object.value().to_string().as_bytes());
        if object.kind() == known::SUBSCRIPTION {
            let subscription = Subscription::read(&object);
            let word = match (subscription.is_paused(), subscription.pin()) {
                (true, _) => "paused",
                (false, Some(_)) => "pinned",
                (false, None) => continue,
            };
            let told = format!(
                "Subscription {} is {word}, which is not looked at here; operon up does",
                subscription.name()
            );
            remarks.push((object.namespace().to_owned(), told));
        }
        if object.kind() != known::CATALOG_SOURCE {
            continue;
        }
        let source = CatalogSource::read(&object);
        let name = source.source_name();
        if engine.catalogs().opened(&name).is_some() {
            catalogs.push(CatalogArgument {
                namespace: Some(name.namespace),
                name: Some(name.name),
                path: place(source, directory),
            });
        }
    }
    Ok(Described { manifests: reader.finish(), catalogs, remarks })
}

/// Says where the catalog of a CatalogSource is.
fn place(source: CatalogSource<'_>, directory: &Path) -> PathBuf {
    match source.image() {
        "" => PathBuf::from(format!("grpc://{}", source.address())),
        image if is_path(image) => directory.join(image.trim_start_matches("./")),
        image => PathBuf::from(image),
    }
}
