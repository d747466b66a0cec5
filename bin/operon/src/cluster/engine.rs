//! The engine on the cluster of a directory, as `operon up` runs it.
//!
//! Every command that asks the engine sets it up here, so that what one previews another does.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use anyhow::anyhow;
use clap::Args;
use operon_constraint::GroupVersionKind;
use operon_driver::{Catalogs, Cluster, ClusterError, Driver, Interest};
use operon_image::SourceCatalogs;
use operon_kube::KubeCluster;
use operon_lifecycle::{BundleKey, BundleState, Objects, Settings};
use operon_local::{Access, SOCKET_FILE, serve};
use operon_object::known::{VIRTUAL_APIS, built_in_kinds};
use operon_version::Version;

use super::{Reached, now, state_directory, stop_wish};
use crate::{fetching::FetchOptions, output::stderr_line, up};

/// The Kubernetes version that the embedded cluster says it has, unless another one is asked for.
pub(crate) const DEFAULT_KUBE_VERSION: &str = "v1.33.0";

/// The namespace whose catalogs are visible everywhere, unless the controller is told otherwise.
pub(crate) const DEFAULT_GLOBAL_NAMESPACE: &str = "olm";

/// How soon it is looked again whether a catalog has come. Fetching ends by itself: every wait for a
/// registry has a limit of its own.
pub(crate) const FETCH_LOOK: Duration = Duration::from_millis(20);

/// How long a bundle is waited for.
pub(crate) const LONGEST_FETCH: Duration = Duration::from_secs(600);

/// How the engine is set up.
#[derive(Debug, Args)]
pub(crate) struct EngineArguments {
    /// The Kubernetes version that the embedded cluster says it has
    #[arg(long, value_name = "VERSION", default_value = DEFAULT_KUBE_VERSION)]
    pub(crate) kube_version: String,
    #[command(flatten)]
    pub(crate) fetching: FetchOptions,
}

impl EngineArguments {
    /// Sets the engine up for a cluster.
    pub(crate) fn engine(&self, cluster: Reached) -> anyhow::Result<Engine> {
        match &cluster {
            Reached::Embedded { directory, .. } => {
                let directory = directory.clone();
                engine(cluster, &directory, &self.fetching, &self.kube_version)
            }
            Reached::Real(real) => {
                let settings = settings_of_real(real, DEFAULT_GLOBAL_NAMESPACE)?;
                let catalogs = SourceCatalogs::of_strangers(self.fetching.fetcher()?);
                Ok(Driver::new(cluster, catalogs, settings))
            }
        }
    }

    /// Refuses what is no version.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        check_version(&self.kube_version)
    }
}

/// Refuses what is no version of Kubernetes.
pub(crate) fn check_version(text: &str) -> anyhow::Result<()> {
    Version::parse_tolerant(text.trim_start_matches('v'))
        .map(drop)
        .map_err(|error| anyhow!("`{text}` is no version such as `v1.33.0`: {error}"))
}

/// The engine, the cluster it looks after, and its catalogs.
pub(crate) type Engine = Driver<Reached, SourceCatalogs>;

/// Asks a real cluster what the engine has to know of it.
pub(crate) fn settings_of_real(
    real: &KubeCluster,
    global_namespace: &str,
) -> Result<Settings, ClusterError> {
    Ok(Settings {
        global_namespace: global_namespace.to_owned(),
        kube_version: real.server_version()?,
        native_apis: Some(real.native_apis()?),
        ..Settings::default()
    })
}

/// Sets the engine up for the cluster of a directory.
pub(crate) fn engine<C: Cluster>(
    cluster: C,
    directory: &Path,
    fetching: &FetchOptions,
    kube_version: &str,
) -> anyhow::Result<Driver<C, SourceCatalogs>> {
    let settings = Settings {
        kube_version: kube_version.to_owned(),
        native_apis: Some(built_in_apis()),
        ..Settings::default()
    };
    let catalogs = SourceCatalogs::new(directory, fetching.fetcher()?);
    Ok(Driver::new(cluster, catalogs, settings))
}

/// Looks at the cluster and its catalogs, and waits for those that are being fetched.
pub(crate) fn look_well<C: Cluster>(
    engine: &mut Driver<C, SourceCatalogs>,
) -> Result<(), ClusterError> {
    loop {
        engine.look(now())?;
        if !engine.catalog_states().values().any(|state| state.is_being_read) {
            return Ok(());
        }
        thread::sleep(FETCH_LOOK);
    }
}

/// Returns the contents of a bundle, and waits while they are being fetched.
pub(crate) fn wait_for_bundle(catalogs: &SourceCatalogs, key: &BundleKey) -> BundleState {
    let start = Instant::now();
    loop {
        match catalogs.bundle(key) {
            BundleState::Pending { .. } if start.elapsed() < LONGEST_FETCH => {
                thread::sleep(FETCH_LOOK);
            }
            state => return state,
        }
    }
}

/// Returns the objects that are of interest, for a look at them.
pub(crate) fn look_at(
    cluster: &Reached,
    interests: &BTreeSet<Interest>,
) -> Result<Objects, ClusterError> {
    let listed = cluster.list(interests)?.objects;
    let mut objects = Objects::default();
    listed.into_iter().for_each(|object| objects.insert(object));
    Ok(objects)
}

/// Lets the engine act until everything is settled, if this process has the cluster to itself;
/// whoever shares it acts otherwise. The manifests of the directory are not applied.
pub(crate) fn act(engine: Engine) -> anyhow::Result<()> {
    let (cluster, directory) = match engine.cluster() {
        Reached::Embedded { access: Access::Local(cluster), directory } => {
            (Arc::clone(cluster), directory.clone())
        }
        Reached::Embedded { access: Access::Remote(_), .. } => {
            stderr_line!("hint: the running operon up does the rest");
            return Ok(());
        }
        Reached::Real(_) => {
            stderr_line!("hint: the controller does the rest");
            return Ok(());
        }
    };
    let directory = directory.as_path();
    let stop: Arc<AtomicBool> = stop_wish()?;
    let service = serve(Arc::clone(&cluster), &state_directory(directory).join(SOCKET_FILE))?;
    let settled = up::settle(cluster, engine, directory, &stop);
    drop(service);
    settled
}

/// Returns the APIs that every cluster provides by itself.
pub(crate) fn built_in_apis() -> BTreeSet<GroupVersionKind> {
    let stored =
        built_in_kinds().map(|known| (known.kind.group(), known.version, known.kind.name()));
    stored
        .chain(VIRTUAL_APIS.iter().copied())
        .map(|(group, version, kind)| GroupVersionKind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        })
        .collect()
}
