//! What changes for a cluster when one bundle takes the place of another.
//!
//! Every change is one value, so that people and programs are told the same. What a cluster holds is
//! not known here: of objects, only the examples of the old bundle are tried on the new CRDs.

mod definitions;
mod fields;
mod parts;
mod rights;

use crate::{BundleSource, BundleSummary};

pub use self::fields::MAX_COMPARED_FIELDS;

/// What a change is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// The bundle itself: version, channels, the Kubernetes it needs.
    Bundle,
    /// An API it brings.
    ProvidedApi,
    /// An API it needs.
    RequiredApi,
    /// A CRD: its versions and fields.
    Definition,
    /// A right of one of its accounts.
    Right,
    /// An install mode.
    InstallMode,
    /// Another need: a package, a constraint.
    Dependency,
    /// A webhook.
    Webhook,
    /// A deployment.
    Deployment,
    /// An image that a deployment runs.
    Image,
    /// An image that is mirrored along.
    RelatedImage,
    /// Another object of the bundle.
    Object,
}

impl Topic {
    /// Every topic, in the order of a report.
    pub const ALL: [Self; 12] = [
        Self::Bundle,
        Self::ProvidedApi,
        Self::RequiredApi,
        Self::Definition,
        Self::Right,
        Self::InstallMode,
        Self::Dependency,
        Self::Webhook,
        Self::Deployment,
        Self::Image,
        Self::RelatedImage,
        Self::Object,
    ];

    /// Returns the stable name that programs read, such as `provided-api`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::ProvidedApi => "provided-api",
            Self::RequiredApi => "required-api",
            Self::Definition => "crd",
            Self::Right => "right",
            Self::InstallMode => "install-mode",
            Self::Dependency => "dependency",
            Self::Webhook => "webhook",
            Self::Deployment => "deployment",
            Self::Image => "image",
            Self::RelatedImage => "related-image",
            Self::Object => "object",
        }
    }
}

/// What happened to the subject of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Only the new bundle has it.
    Added,
    /// Only the old bundle has it.
    Removed,
    /// Both have it, but not alike.
    Changed,
}

impl ChangeKind {
    /// Returns the word that programs read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// One difference between two bundles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What it is about.
    pub topic: Topic,
    /// What happened.
    pub kind: ChangeKind,
    /// What it happened to, such as `etcdclusters.etcd.database.coreos.com`.
    pub subject: String,
    /// What was before; empty where that says nothing.
    pub before: String,
    /// What is now; empty where that says nothing.
    pub after: String,
    /// Why somebody should look before it is approved, as sentences without full stops.
    pub attention: Vec<String>,
}

impl Change {
    fn new(topic: Topic, kind: ChangeKind, subject: impl Into<String>) -> Self {
        let (before, after) = (String::new(), String::new());
        Self { topic, kind, subject: subject.into(), before, after, attention: Vec::new() }
    }

    fn changed(topic: Topic, subject: impl Into<String>, before: &str, after: &str) -> Self {
        let (before, after) = (before.to_owned(), after.to_owned());
        Self { before, after, ..Self::new(topic, ChangeKind::Changed, subject) }
    }

    fn attend(mut self, reason: impl Into<String>) -> Self {
        self.attention.push(reason.into());
        self
    }
}

/// A bundle that is compared: as it was read, and its summary.
pub type Side<'a> = (&'a BundleSource, &'a BundleSummary);

/// Compares two bundles; the changes are in the order of topics and subjects.
pub fn compare(before: Side<'_>, after: Side<'_>) -> Vec<Change> {
    let mut changes = parts::compare(before.1, after.1);
    changes.extend(parts::compare_objects(before.0, after.0));
    changes.extend(definitions::compare(before.0, after.0));
    changes.extend(rights::compare(before, after));
    changes.sort_by(|left, right| {
        (left.topic, &left.subject, left.kind).cmp(&(right.topic, &right.subject, right.kind))
    });
    changes
}
