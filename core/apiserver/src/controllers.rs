//! The controllers that the engine relies on, driven by what changes and by time.
//!
//! Every change puts the objects it concerns into a queue; a step takes some work out and makes
//! one commit of it. Nothing here scans the cluster, except once when a server is restored.

mod aggregation;
mod collect;
mod namespaces;
mod queue;
mod workload;

use std::collections::BTreeSet;

use operon_object::{Object, ObjectKey, Timestamp, known};

pub use self::workload::{WORKLOAD_ANNOTATION, WorkloadReport, workload_report};
use self::{aggregation::RoleIndex, queue::Queue};
use crate::{
    Commit, Settings, definition,
    draft::Draft,
    names::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER},
    store::{Past, Store, owner_uids},
};

/// Something to look at. The order is the order of work: what owners leave behind is collected
/// before the kinds that say who they were go away.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    /// An object whose owners, or whose dependents, changed.
    Collect(ObjectKey),
    /// A namespace that may lack its default ServiceAccount.
    Account(String),
    /// A ClusterRole whose rules come from others.
    Aggregate(String),
    /// A Deployment.
    Workload(ObjectKey),
    /// A namespace that may be on its way out.
    Namespace(String),
    /// A CustomResourceDefinition.
    Definition(String),
}

/// Says when to look at something again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// When it changes.
    Done,
    /// In the next step.
    Again,
    /// At this time, or when it changes.
    At(Timestamp),
}

/// What a step did.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) commit: Option<Commit>,
    pub(crate) handled: Vec<(Work, Next)>,
}

/// The memory of the controllers; all of it can be derived from the objects.
#[derive(Debug, Default)]
pub(crate) struct Controllers {
    queue: Queue,
    roles: RoleIndex,
}

impl Controllers {
    /// Returns when there is work, at the earliest.
    pub(crate) fn next_wake(&self, now: Timestamp) -> Option<Timestamp> {
        self.queue.next_wake(now)
    }

    /// Works on what is due, without touching the store; nothing if nothing is due.
    pub(crate) fn step(&self, store: &Store, settings: &Settings, now: Timestamp) -> Option<Step> {
        let mut draft = Draft::new(store, settings, now);
        let mut handled = Vec::new();
        let limit = settings.limits.step_writes.max(1);
        for work in self.queue.due(now).take(limit) {
            let next = self.handle(&mut draft, work);
            handled.push((work.clone(), next));
            // What a definition brings is visible to others only after it is stored.
            if draft.len() >= limit || matches!(work, Work::Definition(_)) {
                break;
            }
        }
        if handled.is_empty() {
            return None;
        }
        Some(Step { commit: draft.finish(), handled })
    }

    /// Notes what became of the work of a step.
    pub(crate) fn settle(&mut self, handled: Vec<(Work, Next)>) {
        for (work, next) in handled {
            self.queue.settle(work, next);
        }
    }

    /// Puts what a change concerns into the queue.
    pub(crate) fn observe(&mut self, store: &Store, past: &Past) {
        let Some(object) = past.after.as_ref().or(past.before.as_ref()) else { return };
        let key = object.key();
        self.observe_owners(store, &key, past);
        self.observe_place(store, &key, past);
        if key.kind == known::CLUSTER_ROLE {
            self.observe_role(past);
        }
        if key.kind == known::DEPLOYMENT && past.after.is_some() {
            self.queue.add(Work::Workload(key.clone()));
        }
        if key.kind == known::CUSTOM_RESOURCE_DEFINITION {
            self.observe_definition(store, &key, past);
        }
        let definition = store.registry.kind(&key.kind).and_then(|info| {
            info.definition.as_ref().filter(|_| info.is_terminating && past.after.is_none())
        });
        if let Some(definition) = definition {
            self.queue.add(Work::Definition(definition.clone()));
        }
    }

    fn handle(&self, draft: &mut Draft<'_>, work: &Work) -> Next {
        match work {
            Work::Collect(key) => collect::reconcile(draft, key),
            Work::Account(namespace) => namespaces::reconcile_account(draft, namespace),
            Work::Aggregate(name) => aggregation::reconcile(draft, &self.roles, name),
            Work::Workload(key) => workload::reconcile(draft, key),
            Work::Namespace(name) => namespaces::reconcile(draft, name),
            Work::Definition(name) => definition::reconcile(draft, name),
        }
    }

    fn observe_owners(&mut self, store: &Store, key: &ObjectKey, past: &Past) {
        let references = |object: &Option<Object>| {
            object.as_ref().map(|object| object.metadata("ownerReferences").clone())
        };
        let is_waiting = |object: &Object| {
            let waits = |name: &str| matches!(name, ORPHAN_FINALIZER | FOREGROUND_FINALIZER);
            object.is_deleting() && object.finalizers().any(waits)
        };
        let changed = references(&past.before) != references(&past.after);
        if let Some(after) = &past.after {
            if changed && owner_uids(after).next().is_some() {
                self.queue.add(Work::Collect(key.clone()));
            }
            if is_waiting(after) {
                self.queue.add(Work::Collect(key.clone()));
            }
        }
        // Those who depend on something that goes, or begins to wait for them.
        let begins_to_wait = past.after.as_ref().is_some_and(is_waiting)
            && !past.before.as_ref().is_some_and(is_waiting);
        if let Some(object) = past.after.as_ref().or(past.before.as_ref())
            && (past.after.is_none() || begins_to_wait)
        {
            let dependents = store.dependents(object.uid()).cloned();
            dependents.for_each(|dependent| self.queue.add(Work::Collect(dependent)));
        }
        // Those who wait for something that changed.
        if let Some(before) = &past.before
            && (changed || past.after.is_none())
        {
            let owners = owner_uids(before).filter_map(|uid| store.with_uid(uid));
            let waiting: BTreeSet<ObjectKey> =
                owners.filter(|owner| is_waiting(owner)).map(Object::key).collect();
            waiting.into_iter().for_each(|owner| self.queue.add(Work::Collect(owner)));
        }
    }

    fn observe_place(&mut self, store: &Store, key: &ObjectKey, past: &Past) {
        let is_gone = past.after.is_none();
        if key.kind == known::NAMESPACE && !is_gone {
            self.queue.add(Work::Namespace(key.name.clone()));
            if past.before.is_none() {
                self.queue.add(Work::Account(key.name.clone()));
            }
        }
        if is_gone && key.kind == known::SERVICE_ACCOUNT {
            self.queue.add(Work::Account(key.namespace.clone()));
        }
        let namespace = store.object(&known::NAMESPACE.key("", &key.namespace));
        if is_gone && namespace.is_some_and(Object::is_deleting) {
            self.queue.add(Work::Namespace(key.namespace.clone()));
        }
    }

    fn observe_role(&mut self, past: &Past) {
        for name in self.roles.follow(past.before.as_ref(), past.after.as_ref()) {
            self.queue.add(Work::Aggregate(name));
        }
    }

    fn observe_definition(&mut self, store: &Store, key: &ObjectKey, past: &Past) {
        if past.after.is_some() {
            self.queue.add(Work::Definition(key.name.clone()));
            return;
        }
        // Its names are free again.
        for other in store.of_kind(&known::CUSTOM_RESOURCE_DEFINITION) {
            self.queue.add(Work::Definition(other.name().to_owned()));
        }
    }
}
