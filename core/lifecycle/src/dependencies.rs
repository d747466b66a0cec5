//! The operators that run, what each requires, and which of them meet it.
//!
//! Requirements are read by `operon_constraint` and judged by the checker of `operon_resolve`. Within a
//! namespace operators meet each other's requirements in every way. Of operators in other namespaces only
//! their APIs count, since CRDs are there for the whole cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    ptr,
};

use operon_constraint::{Constraint, GroupVersionKind, Property, stated_packages};
use operon_kinds::{
    ApiDefinition, ServiceVersion, Subscription, lower_service_version, lower_subscription,
    provided_apis, required_apis,
};
use operon_object::{Object, Value, known, map};
use operon_resolve::{
    Budget, Installed, InstalledProperties, Limits, Request, RunningOperator, RunningSet, Spent,
};

use crate::Objects;

/// Limits the steps for the requirements of one operator in a view: a tenth of a second, so that one that
/// is expensive does not keep users from seeing the others.
const MAX_STEPS_PER_OPERATOR: u64 = 4_000_000;

/// An operator and what it requires.
#[derive(Debug)]
pub(crate) struct Operator<'o> {
    /// Its ClusterServiceVersion.
    pub(crate) service_version: ServiceVersion<'o>,
    /// What it provides and requires.
    pub(crate) running: RunningOperator,
    /// What it requires that cannot be read, each in a sentence.
    pub(crate) unreadable: Vec<String>,
}

/// Operators that run at the same time.
#[derive(Debug)]
pub(crate) struct OperatorSet<'d> {
    operators: Vec<&'d Operator<'d>>,
    namespaces: BTreeMap<&'d str, Namespace<'d>>,
    /// The APIs that requirements of every namespace may rely on.
    apis: BTreeSet<GroupVersionKind>,
}

#[derive(Debug)]
struct Namespace<'d> {
    operators: Vec<&'d Operator<'d>>,
    running: RunningSet<'d>,
}

/// What takes part in meeting a requirement.
#[derive(Debug)]
pub(crate) struct Providers<'d> {
    /// The operators, those of the same namespace first.
    pub(crate) operators: Vec<&'d Operator<'d>>,
    /// Whether an API takes part that no operator provides.
    pub(crate) is_cluster: bool,
}

/// What a change of the operators that run takes away.
#[derive(Debug, Default)]
pub(crate) struct Losses<'d> {
    /// The operators with a requirement that is met before and not after.
    pub(crate) lost: Vec<(&'d Operator<'d>, &'d Constraint)>,
    /// The operators whose requirements are too expensive to judge.
    pub(crate) undecided: Vec<&'d Operator<'d>>,
}

impl<'o> Operator<'o> {
    /// Reads an operator; `subscriptions` are those of its namespace.
    pub(crate) fn read(
        service_version: ServiceVersion<'o>,
        subscriptions: &[Request],
        budget: &mut Budget,
    ) -> Result<Self, Spent> {
        let (installed, unreadable) = installed(service_version);
        let running = RunningOperator::read(&installed, subscriptions, budget)?;
        Ok(Self::new(service_version, running, unreadable))
    }

    /// Reads an operator within the limits of a view.
    pub(crate) fn read_limited(
        service_version: ServiceVersion<'o>,
        subscriptions: &[Request],
    ) -> Self {
        let (installed, mut unreadable) = installed(service_version);
        let running = RunningOperator::read(&installed, subscriptions, &mut limited_budget());
        let running = running.unwrap_or_else(|_| {
            let name = service_version.name();
            unreadable.push(format!("what {name} requires is too expensive to read"));
            RunningOperator::without_requirements(&installed, subscriptions)
        });
        Self::new(service_version, running, unreadable)
    }

    fn new(
        service_version: ServiceVersion<'o>,
        running: RunningOperator,
        mut unreadable: Vec<String>,
    ) -> Self {
        let malformed = running.malformed().iter();
        unreadable.extend(malformed.map(|stated| format!("{} requires {stated}", running.name())));
        Self { service_version, running, unreadable }
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &'o str {
        self.service_version.name()
    }

    /// Returns its namespace.
    pub(crate) fn namespace(&self) -> &'o str {
        self.service_version.object.namespace()
    }

    fn provides(&self, api: &GroupVersionKind) -> bool {
        self.running.provided_apis().contains(api)
    }
}

impl<'d> OperatorSet<'d> {
    /// Puts operators together with the APIs that they provide, and further ones.
    pub(crate) fn new(
        operators: impl IntoIterator<Item = &'d Operator<'d>>,
        further: impl IntoIterator<Item = GroupVersionKind>,
    ) -> Self {
        let operators: Vec<&Operator<'_>> = operators.into_iter().collect();
        let provided = operators.iter().flat_map(|operator| operator.running.provided_apis());
        let apis = provided.cloned().chain(further).collect();
        Self::with_apis(operators, apis)
    }

    /// Puts operators together where requirements may rely on these APIs alone across namespaces.
    pub(crate) fn with_apis(
        operators: Vec<&'d Operator<'d>>,
        apis: BTreeSet<GroupVersionKind>,
    ) -> Self {
        let mut by_namespace: BTreeMap<&str, Vec<&Operator<'_>>> = BTreeMap::new();
        for operator in &operators {
            by_namespace.entry(operator.namespace()).or_default().push(operator);
        }
        let namespaces = by_namespace.into_iter().map(|(name, operators)| {
            let running = RunningSet::new(operators.iter().map(|operator| &operator.running));
            (name, Namespace { operators, running })
        });
        Self { namespaces: namespaces.collect(), operators, apis }
    }

    /// Returns the operators.
    pub(crate) fn operators(&self) -> &[&'d Operator<'d>] {
        &self.operators
    }

    /// Returns the requirements of an operator that are not met.
    pub(crate) fn unmet(
        &self,
        operator: &'d Operator<'d>,
        budget: &mut Budget,
    ) -> Result<Vec<&'d Constraint>, Spent> {
        match self.namespaces.get(operator.namespace()) {
            Some(namespace) => namespace.running.unmet(&operator.running, &self.apis, budget),
            None => Ok(operator.running.requirements().iter().collect()),
        }
    }

    /// Returns what takes part in meeting a requirement of an operator; `None` if it is not met. Operators of
    /// other namespaces take part only where those of the same namespace do not suffice.
    pub(crate) fn providers(
        &self,
        operator: &Operator<'_>,
        requirement: &Constraint,
        budget: &mut Budget,
    ) -> Result<Option<Providers<'d>>, Spent> {
        let Some(namespace) = self.namespaces.get(operator.namespace()) else { return Ok(None) };
        let alone = namespace.running.fulfilment(requirement, &BTreeSet::new(), budget)?;
        let found = match alone {
            Some(found) => Some(found),
            None => namespace.running.fulfilment(requirement, &self.apis, budget)?,
        };
        let Some(found) = found else { return Ok(None) };
        let own = found.operators.iter().map(|&place| namespace.operators[place]);
        let mut providers = Providers { operators: own.collect(), is_cluster: false };
        for api in &found.apis {
            match self.operators.iter().find(|operator| operator.provides(api)) {
                Some(elsewhere) if contains(&providers.operators, elsewhere) => {}
                Some(elsewhere) => providers.operators.push(elsewhere),
                None => providers.is_cluster = true,
            }
        }
        Ok(Some(providers))
    }

    /// Returns what the operators that run after a change lose by it.
    pub(crate) fn losses(&self, after: &Self) -> Losses<'d> {
        let mut losses = Losses::default();
        for operator in &after.operators {
            let mut budget = limited_budget();
            match self.lost(after, operator, &mut budget) {
                Ok(lost) => losses.lost.extend(lost.into_iter().map(|lost| (*operator, lost))),
                Err(_) => losses.undecided.push(operator),
            }
        }
        losses
    }

    /// Returns the requirements of an operator that are met here and not after a change.
    pub(crate) fn lost(
        &self,
        after: &Self,
        operator: &'d Operator<'d>,
        budget: &mut Budget,
    ) -> Result<Vec<&'d Constraint>, Spent> {
        let mut lost = after.unmet(operator, budget)?;
        if !lost.is_empty() {
            let unmet = self.unmet(operator, budget)?;
            lost.retain(|requirement| !unmet.iter().any(|unmet| ptr::eq(*unmet, *requirement)));
        }
        Ok(lost)
    }
}

/// Returns a budget for the requirements of one operator in a view.
pub(crate) fn limited_budget() -> Budget {
    Budget::new(&Limits { steps: MAX_STEPS_PER_OPERATOR, ..Limits::default() })
}

/// Returns `true` if an operator is among others.
pub(crate) fn contains(operators: &[&Operator<'_>], operator: &Operator<'_>) -> bool {
    operators.iter().any(|other| ptr::addr_eq(*other, operator))
}

/// Returns every operator of a cluster that is no copy and is not being deleted, sorted by namespace and name.
pub(crate) fn running(objects: &Objects) -> impl Iterator<Item = ServiceVersion<'_>> {
    objects
        .all(&known::CLUSTER_SERVICE_VERSION)
        .map(ServiceVersion::read)
        .filter(|operator| !operator.is_copied() && !operator.object.is_deleting())
}

/// Reads every running operator of a cluster.
pub(crate) fn running_operators(objects: &Objects) -> Vec<Operator<'_>> {
    let mut subscriptions: BTreeMap<&str, Vec<Request>> = BTreeMap::new();
    let mut operators = Vec::new();
    for operator in running(objects) {
        let namespace = operator.object.namespace();
        let known = subscriptions.entry(namespace).or_insert_with(|| requests(objects, namespace));
        operators.push(Operator::read_limited(operator, known));
    }
    operators
}

/// Returns the Subscriptions of a namespace as a resolution sees them.
pub(crate) fn requests(objects: &Objects, namespace: &str) -> Vec<Request> {
    let subscriptions = objects.within(&known::SUBSCRIPTION, namespace);
    subscriptions.map(Subscription::read).map(lower_subscription).collect()
}

/// Returns the package of an operator, where it names one.
pub(crate) fn package_of(operator: ServiceVersion<'_>) -> Option<String> {
    let InstalledProperties::Annotated(properties) = lower_service_version(operator).properties
    else {
        return None;
    };
    let properties: Vec<Property> =
        properties.iter().map(|(kind, value)| Property::from_text(kind, value)).collect();
    stated_packages(&properties).next().map(|[name, _]| name.to_owned())
}

/// Returns the APIs that a CRD serves.
pub(crate) fn served_apis(definition: &Object) -> BTreeSet<GroupVersionKind> {
    let spec = definition.spec();
    let is_served = |version: &&Value| version.get("served").as_bool() == Some(true);
    let api = |version: &Value| GroupVersionKind {
        group: spec.get("group").str().to_owned(),
        version: version.get("name").str().to_owned(),
        kind: spec.at(&["names", "kind"]).str().to_owned(),
    };
    spec.get("versions").elements().iter().filter(is_served).map(api).collect()
}

/// Returns an operator as a resolution sees it, and what of it cannot be read. What its spec owns and
/// requires counts, too: it does not run without that.
fn installed(operator: ServiceVersion<'_>) -> (Installed, Vec<String>) {
    let spec = operator.object.spec();
    let apis = |listed: Result<BTreeSet<ApiDefinition>, String>| -> Vec<GroupVersionKind> {
        // A name that cannot be read makes everything below unreadable, which is reported.
        listed.unwrap_or_default().into_iter().map(|listed| listed.api).collect()
    };
    let (owned, required) = (apis(provided_apis(spec)), apis(required_apis(spec)));
    let mut installed = lower_service_version(operator);
    let mut unreadable = Vec::new();
    match &mut installed.properties {
        InstalledProperties::Annotated(properties) => {
            let owned = owned.iter().map(|api| ("olm.gvk", api));
            let required = required.iter().map(|api| ("olm.gvk.required", api));
            properties
                .extend(owned.chain(required).map(|(kind, api)| (kind.to_owned(), json(api))));
        }
        InstalledProperties::Derived { .. } => {}
        InstalledProperties::Unreadable(reason) => {
            let name = operator.name();
            unreadable.push(format!("what {name} requires cannot be read: {reason}"));
            installed.properties = InstalledProperties::Derived { owned, required };
        }
    }
    (installed, unreadable)
}

fn json(api: &GroupVersionKind) -> String {
    let GroupVersionKind { group, version, kind } = api;
    map! { "group" => group.as_str(), "version" => version.as_str(), "kind" => kind.as_str() }
        .to_string()
}
