//! Who an object belongs to.
//!
//! Only what references say is read here; removing what nobody owns any more is a cluster's work.

use crate::{Value, map};

/// A reference from an object to one that it goes away with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerReference {
    /// The owner's `apiVersion`.
    pub api_version: String,
    /// The owner's kind.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's identity.
    pub uid: String,
    /// Says that the owner is the one that manages the object.
    pub controller: Option<bool>,
    /// Says that the owner stays until the object is gone.
    pub block_owner_deletion: Option<bool>,
}

impl OwnerReference {
    /// Reads a reference.
    pub fn read(value: &Value) -> Self {
        let text = |name| value.get(name).str().to_owned();
        Self {
            api_version: text("apiVersion"),
            kind: text("kind"),
            name: text("name"),
            uid: text("uid"),
            controller: value.get("controller").as_bool(),
            block_owner_deletion: value.get("blockOwnerDeletion").as_bool(),
        }
    }

    /// Tells whether two references name the same object; who manages it may differ.
    pub fn is_same_owner(&self, other: &Self) -> bool {
        (&self.kind, &self.name, &self.uid) == (&other.kind, &other.name, &other.uid)
            && self.api_version == other.api_version
    }
}

impl From<&OwnerReference> for Value {
    fn from(owner: &OwnerReference) -> Self {
        let mut value = map! {
            "apiVersion" => owner.api_version.as_str(),
            "kind" => owner.kind.as_str(),
            "name" => owner.name.as_str(),
            "uid" => owner.uid.as_str(),
        };
        let flags =
            [("controller", owner.controller), ("blockOwnerDeletion", owner.block_owner_deletion)];
        for (name, flag) in flags {
            if let Some(flag) = flag {
                value.set(&[name], flag);
            }
        }
        value
    }
}
