//! What people ask for beyond manifests: taking an operator away, and going back.
//!
//! Both are first shown and then done; what is done is what was shown.

use std::sync::Arc;

use operon_kinds::names;
use operon_lifecycle::views::{Removal, Rollback, RollbackError, rollback};
use operon_object::{Timestamp, known};

use crate::{Catalogs, Cluster, ClusterError, Driver};

impl<C: Cluster, S: Catalogs> Driver<C, S> {
    /// Shows what going back means for an operator.
    pub fn show_rollback(
        &mut self,
        namespace: &str,
        name: &str,
        to: Option<&str>,
        now: Timestamp,
    ) -> Result<Rollback, RollbackError> {
        match rollback(&self.world(now), namespace, name, to) {
            Err(RollbackError::Wanted(key)) => {
                let state = self.catalogs.bundle(&key);
                Arc::make_mut(&mut self.bundles).insert(key, state);
                rollback(&self.world(now), namespace, name, to)
            }
            shown => shown,
        }
    }

    /// Goes back. The Subscription is pinned first, so that an interruption leaves it where it is.
    pub fn roll_back(&mut self, rollback: &Rollback) -> Result<(), ClusterError> {
        let namespace = rollback.plan.namespace();
        let key = known::SUBSCRIPTION.key(namespace, &rollback.subscription);
        if let Some(mut subscription) = self.cluster.get(&key)? {
            subscription.set_annotation(names::PIN_ANNOTATION, &rollback.version);
            self.cluster.update(&subscription)?;
        }
        let mut plan = self.cluster.create(&rollback.plan)?;
        plan.set(&["status"], rollback.status.clone());
        self.cluster.update_status(&plan)?;
        Ok(())
    }

    /// Takes operators away: first their Subscriptions, or they would come back.
    pub fn remove(&mut self, removal: &Removal) -> Result<(), ClusterError> {
        for operator in &removal.operators {
            for (key, uid) in &operator.subscriptions {
                self.cluster.delete(key, uid)?;
            }
            self.cluster.delete(&operator.key, &operator.uid)?;
        }
        Ok(())
    }
}
