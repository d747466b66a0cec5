//! What the driver needs of the outside.
//!
//! The embedded cluster, a real API server and the simulator stand behind the same [`Cluster`]; the
//! contract that all of them keep is written down as tests in `contract`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use operon_install::ServingCertificate;
use operon_lifecycle::{
    BundleKey, BundleState, CatalogState, CertificateRequest, EffectError, ErrorKind,
};
use operon_object::{Object, ObjectKey, Timestamp};
use operon_resolve::SourceName;

use crate::Interest;

/// A cluster.
pub trait Cluster {
    /// Returns the objects that are of interest as they are now, each once. A kind that the cluster does
    /// not have has no objects.
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError>;

    /// Returns what happened since a point to objects that are of interest, oldest first. An object that
    /// is of interest no longer is told as gone. All interests were listed before the point, or later
    /// and [joined](Cursor::join) to it; others may be left out from now on. The error is
    /// [`ErrorKind::Conflict`] when that is no longer known and has to be listed again.
    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError>;

    /// Returns an object as the cluster itself has it.
    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError>;

    /// Makes an object; fails when one of its name exists.
    fn create(&self, object: &Object) -> Result<Object, ClusterError>;

    /// Changes everything but the status; fails when the object is not the one, or not as it was, that
    /// the given one names.
    fn update(&self, object: &Object) -> Result<Object, ClusterError>;

    /// Changes the status; fails as [`Cluster::update`] does.
    fn update_status(&self, object: &Object) -> Result<Object, ClusterError>;

    /// Makes an object have the given fields, and takes away those that were given before and are not
    /// any more; fields of others stay, unless they are among the given ones.
    fn apply(&self, object: &Object) -> Result<Object, ClusterError>;

    /// Removes an object, if it is the one of the given identity.
    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError>;

    /// Returns the same cluster with the permissions of a ServiceAccount, for writes. Where that is not
    /// possible it is an error: a caller never falls back to its own permissions.
    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError>;

    /// Removes an object, if it is exactly as it was seen.
    ///
    /// A cluster that can ask for both in one request overrides this.
    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        match self.get(&object.key())? {
            Some(live) if live.resource_version() == object.resource_version() => {
                self.delete(&object.key(), object.uid())
            }
            Some(_) => Err(ClusterError {
                kind: ErrorKind::Conflict,
                message: format!("{} was changed meanwhile", object.key()),
            }),
            None => Ok(()),
        }
    }
}

/// Lets a pointer to a cluster stand for it.
macro_rules! forward_cluster {
    ($pointer:ty) => {
        impl<C: Cluster + ?Sized> Cluster for $pointer {
            fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
                (**self).list(interests)
            }

            fn changes(
                &self,
                interests: &BTreeSet<Interest>,
                since: &Cursor,
            ) -> Result<Changes, ClusterError> {
                (**self).changes(interests, since)
            }

            fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
                (**self).get(key)
            }

            fn create(&self, object: &Object) -> Result<Object, ClusterError> {
                (**self).create(object)
            }

            fn update(&self, object: &Object) -> Result<Object, ClusterError> {
                (**self).update(object)
            }

            fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
                (**self).update_status(object)
            }

            fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
                (**self).apply(object)
            }

            fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
                (**self).delete(key, uid)
            }

            fn impersonating(
                &self,
                account: &ObjectKey,
            ) -> Result<Box<dyn Cluster + '_>, ClusterError> {
                (**self).impersonating(account)
            }

            fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
                (**self).delete_unchanged(object)
            }
        }
    };
}

forward_cluster!(Arc<C>);
forward_cluster!(&C);

/// Where catalogs, bundles and certificates come from.
pub trait Catalogs {
    /// Returns the catalogs of CatalogSources; called often, so that what did not change is not read
    /// again, and what takes long is fetched while others go on.
    fn read(
        &self,
        requests: &[CatalogRequest<'_>],
        now: Timestamp,
    ) -> BTreeMap<SourceName, CatalogState>;

    /// Returns the contents of a bundle, as far as they are known.
    fn bundle(&self, key: &BundleKey) -> BundleState;

    /// Makes a certificate, and says when it is to be made anew.
    fn certify(
        &self,
        request: &CertificateRequest,
        now: Timestamp,
    ) -> Result<(ServingCertificate, Timestamp), ClusterError>;
}

impl<S: Catalogs + ?Sized> Catalogs for Arc<S> {
    fn read(
        &self,
        requests: &[CatalogRequest<'_>],
        now: Timestamp,
    ) -> BTreeMap<SourceName, CatalogState> {
        (**self).read(requests, now)
    }

    fn bundle(&self, key: &BundleKey) -> BundleState {
        (**self).bundle(key)
    }

    fn certify(
        &self,
        request: &CertificateRequest,
        now: Timestamp,
    ) -> Result<(ServingCertificate, Timestamp), ClusterError> {
        (**self).certify(request, now)
    }
}

/// A CatalogSource whose catalog is wanted, with the objects that it names.
#[derive(Debug, Clone)]
pub struct CatalogRequest<'o> {
    /// The CatalogSource.
    pub source: &'o Object,
    /// The ConfigMap that it is read from, if it names one that exists.
    pub config_map: Option<&'o Object>,
    /// The Secrets with credentials for its images, as far as they exist.
    pub pull_secrets: Vec<&'o Object>,
}

/// Catalogs that are served at an address.
pub trait CatalogServers: Send + Sync + std::fmt::Debug {
    /// Writes the documents of the catalog at an address; equal catalogs give equal documents.
    fn fetch(
        &self,
        address: &str,
        documents: &mut dyn std::io::Write,
    ) -> Result<(), CatalogServerError>;
}

/// Why a server gave no catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogServerError {
    /// The whole reason for an administrator: a sentence that names the address.
    pub message: String,
    /// What tenants may read in a status: it does not reveal how a connection failed or what a server said.
    pub summary: String,
    /// Whether the server could not be reached, or did not answer in time.
    pub is_unreachable: bool,
}

/// A point in the history of a cluster; only the cluster can read it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cursor(pub BTreeMap<String, String>);

impl Cursor {
    /// Adds the point of a further listing, of other interests. What both speak of stays as it was: it is
    /// the older one, so that nothing is left out, and some of the further objects may be told again.
    pub fn join(&mut self, further: Self) {
        for (name, value) in further.0 {
            self.0.entry(name).or_insert(value);
        }
    }
}

/// The objects of a cluster at a point.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The objects.
    pub objects: Vec<Object>,
    /// The point.
    pub cursor: Cursor,
}

/// What happened after a point.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// What happened, oldest first.
    pub changes: Vec<Change>,
    /// The point after it.
    pub cursor: Cursor,
}

/// What happened to an object.
#[derive(Debug, Clone)]
pub enum Change {
    /// It is now like this.
    Is(Object),
    /// It is gone, or of interest no longer. At least its identity is told.
    Gone(Object),
}

/// Why a cluster did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterError {
    /// What sort of failure it is.
    pub kind: ErrorKind,
    /// The cluster's words.
    pub message: String,
}

impl std::fmt::Display for ClusterError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ClusterError {}

impl From<ClusterError> for EffectError {
    fn from(error: ClusterError) -> Self {
        Self { kind: error.kind, message: error.message }
    }
}
