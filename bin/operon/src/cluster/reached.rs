//! The cluster that a command is about: a real one, or the embedded one of a directory.
//!
//! Commands do not notice which: they say the same of both.

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::bail;
use clap::Args;
use operon_driver::{Changes, Cluster, ClusterError, Cursor, Interest, Listing};
use operon_kube::{KubeCluster, Options as KubeOptions, Place};
use operon_local::{Access, connect_or_open};
use operon_object::{Object, ObjectKey};

use super::{Appliable, PERSON, options, rights, state_directory};
use crate::output::stderr_line;

/// The cluster that a command is about.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ClusterArguments {
    /// The directory of an embedded cluster, as it is given to `operon up` [default: the cluster of the
    /// kubeconfig; without one, this directory]
    #[arg(
        long,
        visible_alias = "local",
        value_name = "DIR",
        conflicts_with_all = ["kubeconfig", "context"]
    )]
    pub(crate) dir: Option<PathBuf>,
    /// The kubeconfig of a real cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

impl ClusterArguments {
    /// Means the embedded cluster of a directory.
    pub(crate) fn of_directory(directory: &Path) -> Self {
        Self { dir: Some(directory.to_owned()), ..Self::default() }
    }

    /// Reaches the cluster as a person; it must exist.
    pub(crate) fn reach(&self) -> anyhow::Result<Reached> {
        self.reach_as(PERSON)
    }

    /// Reaches the cluster under the name of a manager; it must exist.
    pub(crate) fn reach_as(&self, manager: &str) -> anyhow::Result<Reached> {
        if let Some(place) = self.place() {
            let options = KubeOptions { manager: manager.to_owned(), ..KubeOptions::default() };
            return Ok(Reached::Real(Arc::new(KubeCluster::connect(&place, options)?)));
        }
        let directory = self.dir.clone().unwrap_or_else(|| ".".into());
        let state = state_directory(&directory);
        let display = directory.display();
        if !state.is_dir() {
            bail!(
                "there is no cluster in `{display}`\nhint: operon up {display} begins one; --dir names another directory, --kubeconfig a real cluster"
            );
        }
        let access = connect_or_open(&state, &options(manager))?;
        Ok(Reached::Embedded { access, directory })
    }

    /// Says where the real cluster is that is meant, if one is.
    pub(crate) fn place(&self) -> Option<Place> {
        match (&self.dir, &self.kubeconfig, &self.context) {
            (Some(_), _, _) => None,
            (None, None, None) => has_kubeconfig().then_some(Place::Default),
            (None, file, context) => {
                Some(Place::Kubeconfig { file: file.clone(), context: context.clone() })
            }
        }
    }

    /// Returns how a command that is told to a person names the cluster, with a blank before it.
    pub(crate) fn option(&self) -> String {
        let mut text = String::new();
        match self.dir.as_ref().map(|directory| directory.display().to_string()) {
            Some(directory) if directory != "." || has_kubeconfig() => {
                text.push_str(&format!(" --dir {directory}"));
            }
            Some(_) | None => {}
        }
        if let Some(file) = &self.kubeconfig {
            text.push_str(&format!(" --kubeconfig {}", file.display()));
        }
        if let Some(context) = &self.context {
            text.push_str(&format!(" --context {context}"));
        }
        text
    }
}

/// Tells whether this user has a kubeconfig.
fn has_kubeconfig() -> bool {
    let named = env::var_os("KUBECONFIG").is_some_and(|files| !files.is_empty());
    named || env::home_dir().is_some_and(|home| home.join(".kube/config").exists())
}

/// A cluster that a command has reached.
#[derive(Debug, Clone)]
pub(crate) enum Reached {
    /// The embedded one of a directory.
    Embedded {
        /// How it is spoken to.
        access: Access,
        /// The directory.
        directory: PathBuf,
    },
    /// A real one.
    Real(Arc<KubeCluster>),
}

impl Reached {
    /// Returns the directory of an embedded cluster.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match self {
            Self::Embedded { directory, .. } => Some(directory),
            Self::Real(_) => None,
        }
    }

    /// Tells whether nobody looks after the cluster, as far as that is known.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self, Self::Embedded { access: Access::Local(_), .. })
    }

    /// Says that nobody acts on a change, if so.
    pub(crate) fn hint_at_up(&self) {
        if let (true, Some(directory)) = (self.is_idle(), self.directory()) {
            stderr_line!("hint: operon up {} acts on it", directory.display());
        }
    }

    /// Waits until something has changed since a point, for so long at most.
    pub(crate) fn wait_for_change(&self, since: &Cursor, at_most: Duration) {
        match self {
            Self::Embedded { access, .. } => access.wait_for_change(since, at_most),
            Self::Real(cluster) => cluster.wait(at_most),
        };
    }

    fn cluster(&self) -> &dyn Cluster {
        match self {
            Self::Embedded { access, .. } => access,
            Self::Real(cluster) => &**cluster,
        }
    }
}

impl Appliable for Reached {
    fn apply_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        match self {
            Self::Embedded { access, .. } => access.apply_as(object, manager),
            Self::Real(cluster) => cluster.apply_as(object, manager),
        }
    }
}

impl Cluster for Reached {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        let listed = self.cluster().list(interests);
        match self {
            Self::Embedded { .. } => listed,
            Self::Real(cluster) => listed.map_err(|error| rights::told(cluster, error, interests)),
        }
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        self.cluster().changes(interests, since)
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.cluster().get(key)
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.cluster().create(object)
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.cluster().update(object)
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.cluster().update_status(object)
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.cluster().apply(object)
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        self.cluster().delete(key, uid)
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        self.cluster().delete_unchanged(object)
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        self.cluster().impersonating(account)
    }
}
