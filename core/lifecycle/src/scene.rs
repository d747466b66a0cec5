//! One namespace of a world: the objects that a decision about it looks at.

use std::{cell::OnceCell, collections::BTreeMap};

use operon_install::Authorizer;
use operon_kinds::{InstallPlan, OperatorGroup, PlanPhase, ServiceVersion, Subscription};
use operon_object::{
    Object,
    known::{self, OPERATORS_GROUP},
};
use operon_resolve::SourceName;

use crate::{
    Action, Authority, World, authority,
    ownership::{Claimant, is_same_package},
    plans::is_own,
};

/// What a decision about a namespace looks at.
#[derive(Debug)]
pub(crate) struct Scene<'w> {
    /// The whole world.
    pub(crate) world: &'w World<'w>,
    /// The namespace.
    pub(crate) namespace: &'w str,
    /// Its OperatorGroups.
    pub(crate) groups: Vec<OperatorGroup<'w>>,
    /// Its Subscriptions, sorted by name.
    pub(crate) subscriptions: Vec<Subscription<'w>>,
    /// Its operators without copies, sorted by name.
    pub(crate) operators: Vec<ServiceVersion<'w>>,
    /// Its plans, sorted by name.
    pub(crate) plans: Vec<InstallPlan<'w>>,
    /// The newest plan that moves each Subscription.
    newest_plans: BTreeMap<String, InstallPlan<'w>>,
    /// The operators that plans under way still have to bring, sorted by name.
    pub(crate) arriving: Vec<Object>,
    /// On whose authority operators are installed here.
    pub(crate) authority: Authority,
    /// The authority for Operon's own objects here.
    pub(crate) own: Authority,
    /// What accounts may do here, once that is asked.
    pub(crate) authorizer: OnceCell<Authorizer>,
}

impl<'w> Scene<'w> {
    /// Looks at a namespace.
    pub(crate) fn new(world: &'w World<'w>, namespace: &'w str) -> Self {
        let objects = world.objects;
        let is_alive = |object: &&Object| !object.is_deleting();
        let groups = objects.within(&known::OPERATOR_GROUP, namespace).filter(is_alive);
        let subscriptions = objects.within(&known::SUBSCRIPTION, namespace).filter(is_alive);
        let operators = objects.within(&known::CLUSTER_SERVICE_VERSION, namespace);
        let plans = objects.within(&known::INSTALL_PLAN, namespace).filter(is_alive);
        let operators: Vec<ServiceVersion<'_>> =
            operators.map(ServiceVersion::read).filter(|operator| !operator.is_copied()).collect();
        let plans: Vec<InstallPlan<'_>> = plans.map(InstallPlan::read).collect();
        let authority = authority::of_namespace(world, namespace);
        Self {
            world,
            namespace,
            own: authority.for_own_objects(),
            authority,
            newest_plans: newest_plans(&plans),
            arriving: arriving(&plans, &operators),
            groups: groups.map(OperatorGroup::read).collect(),
            subscriptions: subscriptions.map(Subscription::read).collect(),
            operators,
            plans,
            authorizer: OnceCell::new(),
        }
    }

    /// Tells whether there is nothing to decide about.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
            && self.subscriptions.is_empty()
            && self.operators.is_empty()
            && self.plans.is_empty()
    }

    /// Returns the only OperatorGroup.
    pub(crate) fn group(&self) -> Option<OperatorGroup<'w>> {
        match self.groups[..] {
            [group] => Some(group),
            _ => None,
        }
    }

    /// Returns the authority for something that is done for an operator. The controller writes Operon's
    /// own kinds, and CRDs that Operon created for the operator.
    pub(crate) fn authority_for(
        &self,
        operator: ServiceVersion<'_>,
        action: &Action,
    ) -> &Authority {
        let is_own = action.target().is_none_or(|target| {
            let definition = Some(&target)
                .filter(|target| target.kind == known::CUSTOM_RESOURCE_DEFINITION)
                .and_then(|target| self.world.objects.find(target));
            let claimant = || Claimant::new(self, operator.object);
            target.kind.group() == OPERATORS_GROUP
                || definition.is_some_and(|live| is_own(self, &claimant(), live))
        });
        if is_own { &self.own } else { &self.authority }
    }

    /// Returns an operator.
    pub(crate) fn operator(&self, name: &str) -> Option<ServiceVersion<'w>> {
        self.operators.iter().copied().find(|operator| operator.name() == name)
    }

    /// Tells whether a plan under way still has to bring an operator.
    pub(crate) fn is_arriving(&self, name: &str) -> bool {
        self.arriving.iter().any(|object| object.name() == name)
    }

    /// Returns the installed operator that another one replaces: the one that its `spec.replaces` names,
    /// if both are of the same package.
    pub(crate) fn replaced_by(&self, operator: &Object) -> Option<ServiceVersion<'w>> {
        let named = self.operator(operator.at(&["spec", "replaces"]).str())?;
        is_same_package(named.object, operator).then_some(named)
    }

    /// Returns the operators that replace another, sorted by name.
    pub(crate) fn replacing(&self, name: &str) -> impl Iterator<Item = ServiceVersion<'w>> {
        let named = self.operators.iter().copied().filter(move |other| other.replaces() == name);
        let replaced = self.operator(name);
        named.filter(move |other| {
            replaced.is_none_or(|replaced| is_same_package(replaced.object, other.object))
        })
    }

    /// Returns a plan.
    pub(crate) fn plan(&self, name: &str) -> Option<InstallPlan<'w>> {
        self.plans.iter().copied().find(|plan| plan.name() == name)
    }

    /// Returns the newest plan that moves a Subscription.
    pub(crate) fn newest_plan(&self, subscription: &str) -> Option<InstallPlan<'w>> {
        self.newest_plans.get(subscription).copied()
    }

    /// Returns the Subscription that an operator belongs to.
    pub(crate) fn subscription_of(&self, operator: &str) -> Option<Subscription<'w>> {
        let mut owners = self.subscriptions.iter().copied();
        owners.find(|subscription| subscription.installed_csv() == operator)
    }

    /// Tells whether a catalog is visible here.
    pub(crate) fn sees(&self, source: &SourceName) -> bool {
        let global = &self.world.settings.global_namespace;
        let sees_global = !self.group().is_some_and(OperatorGroup::excludes_global);
        source.namespace == self.namespace || (sees_global && source.namespace == *global)
    }
}

/// Finds the newest plan of every Subscription that one moves; each plan is read once.
fn newest_plans<'w>(plans: &[InstallPlan<'w>]) -> BTreeMap<String, InstallPlan<'w>> {
    let mut newest: BTreeMap<String, InstallPlan<'w>> = BTreeMap::new();
    let age = |plan: InstallPlan<'w>| (plan.generation(), plan.name());
    for plan in plans {
        for (subscription, _) in plan.targets() {
            let known = newest.entry(subscription).or_insert(*plan);
            if age(*known) < age(*plan) {
                *known = *plan;
            }
        }
    }
    newest
}

/// Returns the operators that plans under way bring and that are not there yet.
fn arriving(plans: &[InstallPlan<'_>], operators: &[ServiceVersion<'_>]) -> Vec<Object> {
    let under_way = plans.iter().filter(|plan| plan.phase() == PlanPhase::Installing);
    let steps = under_way
        .flat_map(|plan| plan.steps())
        .filter(|step| step.api_kind().kind == known::CLUSTER_SERVICE_VERSION)
        .filter(|step| !operators.iter().any(|operator| operator.name() == step.name()));
    let manifests = steps.filter_map(|step| step.manifest().ok());
    let mut arriving: Vec<Object> =
        manifests.filter_map(|manifest| Object::from_value(manifest).ok()).collect();
    arriving.sort_by(|left, right| left.name().cmp(right.name()));
    arriving.dedup_by(|second, first| second.name() == first.name());
    arriving
}
