//! The name of an API: group, version and kind.
//!
//! Plural names and scopes are not part of it: requirements know neither.

/// The group, version and kind that name an API.
///
/// The order (group, then kind, then version) keeps the versions of one kind together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct GroupVersionKind {
    /// Such as `etcd.database.coreos.com`.
    pub group: String,
    /// Such as `v1beta2`.
    pub version: String,
    /// Such as `EtcdCluster`.
    pub kind: String,
}

impl GroupVersionKind {
    fn sort_key(&self) -> (&str, &str, &str) {
        (&self.group, &self.kind, &self.version)
    }
}

impl PartialOrd for GroupVersionKind {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for GroupVersionKind {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.sort_key().cmp(&other.sort_key())
    }
}
