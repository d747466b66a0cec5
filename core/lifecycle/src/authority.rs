//! On whose authority Operon writes.
//!
//! An OperatorGroup may name a ServiceAccount. What is installed in its namespace is then written with
//! the permissions of that account, and never with more. [`of_namespace`] is the only place that
//! decides it, and whatever it cannot decide ends in [`Authority::Unknown`].
//!
//! Some objects are Operon's own business and hold nothing that a tenant chooses: its own kinds, the
//! records of generations, the labels of target namespaces, and the roles by which users reach provided
//! APIs. The controller writes these itself, but only while the authority of the namespace is known.

use operon_kinds::OperatorGroup;
use operon_object::{Object, ObjectKey, known};

use crate::World;

/// Whose permissions a write uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authority {
    /// The controller's own.
    Controller,
    /// Those of a ServiceAccount; the controller impersonates it.
    Account(ObjectKey),
    /// Nothing may be written, for the reason given. Only status and events are.
    Unknown(String),
}

impl Authority {
    /// Returns the authority for objects of Operon's own, which need the controller's permissions
    /// whoever installs.
    pub(crate) fn for_own_objects(&self) -> Self {
        match self {
            Self::Controller | Self::Account(_) => Self::Controller,
            Self::Unknown(reason) => Self::Unknown(reason.clone()),
        }
    }

    /// Returns why nothing may be written.
    pub(crate) fn unknown_reason(&self) -> Option<&str> {
        match self {
            Self::Controller | Self::Account(_) => None,
            Self::Unknown(reason) => Some(reason),
        }
    }
}

/// Decides on whose authority the operators of a namespace are installed, repaired and removed.
///
/// The wish in `spec.serviceAccountName` counts, not the status that follows from it: deleting the
/// account, or adding a second group, must not fall back to the controller. Groups that are being
/// deleted count until they are gone.
pub(crate) fn of_namespace(world: &World<'_>, namespace: &str) -> Authority {
    let groups: Vec<OperatorGroup<'_>> =
        world.objects.within(&known::OPERATOR_GROUP, namespace).map(OperatorGroup::read).collect();
    let Some(group) = groups.iter().find(|group| !group.service_account().is_empty()) else {
        let is_refused = world.settings.requires_service_account && !groups.is_empty();
        return match is_refused {
            true => Authority::Unknown(format!(
                "this installation requires every OperatorGroup to name a ServiceAccount, and \
                 OperatorGroup {namespace}/{} has no spec.serviceAccountName",
                groups[0].name()
            )),
            false => Authority::Controller,
        };
    };
    let name = group.service_account();
    if groups.len() > 1 {
        return Authority::Unknown(format!(
            "namespace {namespace} has {} OperatorGroups, and OperatorGroup {} names ServiceAccount \
             {name}: delete all but one",
            groups.len(),
            group.name()
        ));
    }
    let account = world.objects.get(&known::SERVICE_ACCOUNT, namespace, name);
    if account.is_none_or(Object::is_deleting) {
        // Upstream: the words of a refused plan.
        return Authority::Unknown(format!(
            "please make sure the service account exists. sa={name} operatorgroup={namespace}/{}",
            group.name()
        ));
    }
    if !group.has_status() {
        return Authority::Unknown(format!(
            "OperatorGroup {namespace}/{} has no status yet",
            group.name()
        ));
    }
    Authority::Account(known::SERVICE_ACCOUNT.key(namespace, name))
}
