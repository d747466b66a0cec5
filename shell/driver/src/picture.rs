//! The picture of a cluster that decisions rest on.

use std::collections::BTreeSet;

use operon_lifecycle::{ErrorKind, Objects};
use operon_object::{Kind, Object, known};

use crate::{Change, Cluster, ClusterError, Cursor, touched::Touched};

/// The kinds that every decision looks at.
const KINDS: &[Kind] = &[
    known::NAMESPACE,
    known::SERVICE_ACCOUNT,
    known::SECRET,
    known::CONFIG_MAP,
    known::SERVICE,
    known::DEPLOYMENT,
    known::CONTROLLER_REVISION,
    known::ROLE,
    known::ROLE_BINDING,
    known::CLUSTER_ROLE,
    known::CLUSTER_ROLE_BINDING,
    known::CUSTOM_RESOURCE_DEFINITION,
    known::VALIDATING_WEBHOOK_CONFIGURATION,
    known::MUTATING_WEBHOOK_CONFIGURATION,
    known::API_SERVICE,
    known::NETWORK_POLICY,
    known::POD_DISRUPTION_BUDGET,
    known::PRIORITY_CLASS,
    known::CLUSTER_SERVICE_VERSION,
    known::INSTALL_PLAN,
    known::SUBSCRIPTION,
    known::CATALOG_SOURCE,
    known::OPERATOR_GROUP,
    known::OPERATOR_CONDITION,
    known::OLM_CONFIG,
    known::OPERATOR,
];

/// The objects of a cluster as they were last seen.
#[derive(Debug)]
pub(crate) struct Picture {
    /// The objects.
    pub(crate) objects: Objects,
    /// The kinds of users' objects that are seen beside [`KINDS`].
    pub(crate) seen: BTreeSet<Kind>,
    kinds: BTreeSet<Kind>,
    cursor: Option<Cursor>,
}

impl Picture {
    pub(crate) fn new() -> Self {
        Self {
            objects: Objects::default(),
            seen: BTreeSet::new(),
            kinds: KINDS.iter().cloned().collect(),
            cursor: None,
        }
    }

    /// Looks at another kind from now on.
    pub(crate) fn watch(&mut self, kind: Kind) {
        if self.kinds.insert(kind.clone()) {
            self.cursor = None;
        }
        self.seen.insert(kind);
    }

    /// Brings the picture up to date, and notes what changed.
    pub(crate) fn refresh(
        &mut self,
        cluster: &impl Cluster,
        touched: &mut Touched,
    ) -> Result<(), ClusterError> {
        if let Some(cursor) = &self.cursor {
            match cluster.changes(&self.kinds, cursor) {
                Ok(changes) => {
                    for change in changes.changes {
                        self.take(change, touched);
                    }
                    self.cursor = Some(changes.cursor);
                    return Ok(());
                }
                Err(error) if error.kind == ErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        let listing = cluster.list(&self.kinds)?;
        self.objects = Objects::default();
        for object in listing.objects {
            self.objects.insert(object);
        }
        self.cursor = Some(listing.cursor);
        touched.touch_everything();
        Ok(())
    }

    /// Takes in what the cluster answered to a write, so that the next decision knows of it.
    pub(crate) fn take_answer(&mut self, object: Object, touched: &mut Touched) {
        if self.kinds.contains(&object.kind()) {
            self.take(Change::Is(object), touched);
        }
    }

    fn take(&mut self, change: Change, touched: &mut Touched) {
        match change {
            Change::Is(object) => {
                let known = self.objects.find(&object.key());
                if known.is_some_and(|known| is_newer(known, &object)) {
                    return;
                }
                touched.touch(&object, known);
                self.objects.insert(object);
            }
            Change::Gone(object) => {
                let known = self.objects.find(&object.key());
                // The name may have been taken by another object meanwhile.
                if known.is_some_and(|known| known.uid() == object.uid()) {
                    self.objects.remove(&object.key());
                }
                touched.touch(&object, None);
            }
        }
    }
}

/// Tells whether what is known is newer than what was heard. Versions are numbers wherever the same
/// object is compared with itself.
fn is_newer(known: &Object, heard: &Object) -> bool {
    let version = |object: &Object| object.resource_version().parse::<u64>().ok();
    known.uid() == heard.uid()
        && match (version(known), version(heard)) {
            (Some(known), Some(heard)) => known > heard,
            _ => false,
        }
}
