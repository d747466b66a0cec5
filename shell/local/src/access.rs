//! The cluster of a directory, wherever it is kept at the moment.
//!
//! Only one process can have the file of a cluster open; whoever comes second asks the first.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use operon_driver::{Changes, Cluster, ClusterError, Cursor, Interest, Listing};
use operon_object::{Object, ObjectKey};

use crate::{
    LocalCluster, OpenError, Options, RemoteCluster, file::secure_directory, remote::ConnectError,
};

/// The file in a directory that holds its cluster.
pub const STORE_FILE: &str = "operon.redb";

/// The socket in a directory that shares its cluster.
pub const SOCKET_FILE: &str = "operon.sock";

/// How long to wait for a program that has the file open and does not share it: commands have it for
/// a moment, and `operon up` until it listens.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two looks at the file.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// The cluster of a directory: kept here or by another process.
#[derive(Debug, Clone)]
pub enum Access {
    /// This process has the file open.
    Local(Arc<LocalCluster>),
    /// Another process has it open, and shares it.
    Remote(Arc<RemoteCluster>),
}

/// Reaches the cluster of a directory through its socket, or opens its file.
///
/// The directory must not be a link; one that other users can enter is made private.
pub fn connect_or_open(directory: &Path, options: &Options) -> Result<Access, OpenError> {
    secure_directory(directory, &options.notify)?;
    let (file, socket) = (directory.join(STORE_FILE), directory.join(SOCKET_FILE));
    let begun = Instant::now();
    loop {
        match RemoteCluster::connect(&socket, &options.manager) {
            Ok(cluster) => return Ok(Access::Remote(Arc::new(cluster))),
            Err(ConnectError::Nobody { .. }) => {}
            // It may be on its way out, and then the file can be opened.
            Err(ConnectError::NoAnswer { .. }) if begun.elapsed() < LOCK_PATIENCE => {}
            Err(error) => return Err(OpenError::Unreachable { source: error }),
        }
        match LocalCluster::open(&file, options.clone()) {
            Ok(cluster) => return Ok(Access::Local(Arc::new(cluster))),
            Err(OpenError::Locked { .. }) if begun.elapsed() < LOCK_PATIENCE => {
                thread::sleep(LOCK_PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
}

impl Access {
    /// Waits until something has changed since a point, for so long at most; tells whether to look.
    pub fn wait_for_change(&self, since: &Cursor, at_most: Duration) -> bool {
        match self {
            Self::Local(cluster) => cluster.wait_for_change(since, at_most),
            Self::Remote(cluster) => cluster.wait_for_change(since, at_most),
        }
    }

    /// Does what [`Cluster::apply`] does in the name of somebody else, whose fields stay apart from
    /// those of Operon.
    pub fn apply_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        match self {
            Self::Local(cluster) => cluster.apply_as(object, manager),
            Self::Remote(cluster) => cluster.apply_as(object, manager),
        }
    }

    fn cluster(&self) -> &dyn Cluster {
        match self {
            Self::Local(cluster) => &**cluster,
            Self::Remote(cluster) => &**cluster,
        }
    }
}

impl Cluster for Access {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        self.cluster().list(interests)
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
