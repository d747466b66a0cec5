//! What an object is and where it lies.
//!
//! A kind is told by group and name; the version only says in which form it is written. Whether a
//! kind lies in namespaces, and what its plural is, only a cluster knows.

use std::{borrow::Cow, fmt};

/// Names a kind of objects, whatever version it is written in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    group: Cow<'static, str>,
    name: Cow<'static, str>,
}

/// Names a kind in one of its versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiKind {
    /// The kind.
    pub kind: Kind,
    /// The version, such as `v1alpha1`.
    pub version: String,
}

/// Names one object of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// What it is.
    pub kind: Kind,
    /// Where it lies; empty for what lies in no namespace.
    pub namespace: String,
    /// What it is called.
    pub name: String,
}

impl Kind {
    /// Names a kind that is known when this is written.
    pub const fn known(group: &'static str, name: &'static str) -> Self {
        Self { group: Cow::Borrowed(group), name: Cow::Borrowed(name) }
    }

    /// Names a kind.
    pub fn new(group: impl Into<String>, name: impl Into<String>) -> Self {
        Self { group: Cow::Owned(group.into()), name: Cow::Owned(name.into()) }
    }

    /// Returns the group, such as `apps`; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Returns the name, such as `Deployment`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names an object of this kind.
    pub fn key(&self, namespace: &str, name: &str) -> ObjectKey {
        ObjectKey { kind: self.clone(), namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

impl ApiKind {
    /// Names a kind in a version that an object gives as its `apiVersion`.
    pub fn from_api_version(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { kind: Kind::new(group, kind), version: version.to_owned() }
    }

    /// Returns what an object writes as its `apiVersion`.
    pub fn api_version(&self) -> String {
        match self.kind.group() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }
}

/// Shows a kind as `Deployment.apps`.
impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group() {
            "" => formatter.write_str(self.name()),
            group => write!(formatter, "{}.{group}", self.name()),
        }
    }
}

/// Shows a key as `Deployment shop/etcd-operator`.
impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name } = self;
        match namespace.as_str() {
            "" => write!(formatter, "{} {name}", kind.name()),
            namespace => write!(formatter, "{} {namespace}/{name}", kind.name()),
        }
    }
}
