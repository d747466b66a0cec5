//! Going back to the operator before.
//!
//! A rollback is a plan like any other, in which the older operator takes the place of the newer one; its
//! Subscription is pinned, or it would be updated again at once. CRDs stay as they are: objects may be
//! stored in versions that the older CRD does not know. What can go wrong is listed before anything is done.

mod dangers;

use std::{collections::BTreeMap, fmt};

use operon_kinds::{InstallPlan, Phase, ServiceVersion, Subscription, names};
use operon_object::{Object, Value, known, map};
use operon_plan::{
    BundleContents, Draft, PlannedOperator, draft_operators, lift_plan, lift_status, plan_name,
};
use operon_resolve::{Addition, Reason, SourceName};

use self::dangers::dangers;
use super::history::{GenerationChange, history};
use crate::{
    BundleKey, Objects, World,
    dependencies::{package_of, running},
};

/// What going back means.
#[derive(Debug, Clone)]
pub struct Rollback {
    /// The operator that runs.
    pub from: String,
    /// The operator before it.
    pub to: String,
    /// The version before.
    pub version: String,
    /// The Subscription that is pinned to it.
    pub subscription: String,
    /// What can go wrong, each in a sentence.
    pub dangers: Vec<String>,
    /// The plan that does it, without its status.
    pub plan: Object,
    /// The status that the plan begins with.
    pub status: Value,
}

/// Why there is no way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RollbackError {
    /// There is no such operator.
    Unknown(String),
    /// It does not belong to a Subscription.
    Freestanding(String),
    /// It is on its way somewhere else.
    UnderWay(String),
    /// A plan that rolls it back is being executed.
    InProgress {
        /// The operator.
        name: String,
        /// The InstallPlan.
        plan: String,
    },
    /// Nothing went before it.
    First(String),
    /// The version that was asked for did not run before it.
    NeverRan {
        /// The operator.
        name: String,
        /// The version that was asked for.
        version: String,
        /// The versions that ran before, the newest first.
        known: Vec<String>,
    },
    /// The catalogs do not have the one before any more.
    NotOffered {
        /// The operator before.
        name: String,
    },
    /// The contents of the one before are wanted.
    Wanted(BundleKey),
    /// The contents cannot be planned.
    Fault(String),
}

impl fmt::Display for RollbackError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(formatter, "there is no operator, package or Subscription {name} here")
            }
            Self::Freestanding(name) => write!(formatter, "{name} belongs to no Subscription"),
            Self::UnderWay(name) => {
                write!(formatter, "{name} is being changed; wait until it has settled")
            }
            Self::InProgress { name, plan } => {
                write!(formatter, "InstallPlan {plan} already rolls {name} back")
            }
            Self::First(name) => write!(formatter, "nothing is known to have been before {name}"),
            Self::NeverRan { name, version, known } => {
                let known = known.join(", ");
                write!(formatter, "version {version} did not run before {name}; these did: {known}")
            }
            Self::NotOffered { name } => {
                write!(formatter, "no catalog offers {name} any more")
            }
            Self::Wanted(key) => write!(formatter, "the contents of {} are not here yet", key.name),
            Self::Fault(reason) => formatter.write_str(reason),
        }
    }
}

impl std::error::Error for RollbackError {}

/// Works out what going back means for an operator of a namespace, named by its own name, its package or
/// its Subscription: to the version that ran before it, or to an earlier one. The contents of that one may
/// have to be asked for first.
pub fn rollback(
    world: &World<'_>,
    namespace: &str,
    name: &str,
    to: Option<&str>,
) -> Result<Rollback, RollbackError> {
    let objects = world.objects;
    let (operator, subscription) = find(objects, namespace, name)?;
    let waiting = running(objects)
        .find(|other| other.object.namespace() == namespace && other.name() == operator.replaces());
    let is_moving = waiting.is_some_and(|_| {
        matches!(operator.phase(), Phase::Succeeded | Phase::Replacing | Phase::Deleting)
    });
    if is_moving || operator.object.is_deleting() {
        return Err(RollbackError::UnderWay(operator.name().to_owned()));
    }
    if let Some(plan) = open_rollback(objects, namespace, operator.name()) {
        let name = operator.name().to_owned();
        return Err(RollbackError::InProgress { name, plan: plan.name().to_owned() });
    }
    let before = target(world, namespace, operator, waiting, to)?;
    // One that still waits to be replaced stays, and replaces nothing.
    let replaced = match waiting {
        Some(waiting) if waiting.name() == before => "",
        _ => operator.name(),
    };
    let planned = offered(world, &before, replaced, subscription)
        .ok_or_else(|| RollbackError::NotOffered { name: before.clone() })?;
    let addition = planned.addition.clone();
    let contents = contents(world, &addition)?;
    let written = with_live_definitions(world, &contents);
    let targets = BTreeMap::from([(subscription.name().to_owned(), addition.name.clone())]);
    let draft: Draft = draft_operators(namespace, vec![(planned, &written)], targets)
        .map_err(|fault| RollbackError::Fault(fault.to_string()))?;
    let dangers = dangers(world, operator, &contents, &draft);
    let plans = objects.within(&known::INSTALL_PLAN, namespace);
    let generation = plans
        .filter_map(|plan| plan.spec().get("generation").as_integer())
        .chain([subscription.plan_generation()])
        .max()
        .unwrap_or(0)
        + 1;
    let because = format!("{}: rolled back from {}", addition.name, operator.name());
    let owners = [subscription.object.owner_reference()];
    let name = plan_name(&draft, generation);
    let mut plan = lift_plan(&draft, &name, generation, &owners, &because);
    plan.set_annotation(names::ROLLBACK_ANNOTATION, operator.name());
    let status = lift_status(&draft, true);
    Ok(Rollback {
        from: operator.name().to_owned(),
        to: addition.name,
        version: addition.version,
        subscription: subscription.name().to_owned(),
        dangers,
        plan,
        status,
    })
}

/// Returns the plan that rolls an operator back and has not finished.
fn open_rollback<'o>(
    objects: &'o Objects,
    namespace: &str,
    operator: &str,
) -> Option<InstallPlan<'o>> {
    let plans = objects.within(&known::INSTALL_PLAN, namespace).map(InstallPlan::read);
    let rolls_back = |plan: &InstallPlan<'_>| {
        plan.object.annotation(names::ROLLBACK_ANNOTATION) == Some(operator)
    };
    plans.filter(|plan| !plan.is_finished()).find(rolls_back)
}

/// Finds the operator that is meant, which no other replaces, and its Subscription.
fn find<'o>(
    objects: &'o Objects,
    namespace: &str,
    name: &str,
) -> Result<(ServiceVersion<'o>, Subscription<'o>), RollbackError> {
    let here: Vec<ServiceVersion<'o>> =
        running(objects).filter(|operator| operator.object.namespace() == namespace).collect();
    let subscriptions: Vec<Subscription<'o>> =
        objects.within(&known::SUBSCRIPTION, namespace).map(Subscription::read).collect();
    let subscription_of = |operator: &ServiceVersion<'_>| {
        let names = [operator.name(), operator.replaces()];
        let is_owner = |subscription: &&Subscription<'_>| {
            [subscription.installed_csv(), subscription.current_csv()]
                .iter()
                .any(|csv| !csv.is_empty() && names.contains(csv))
        };
        subscriptions.iter().find(is_owner).copied()
    };
    let is_meant = |operator: &&ServiceVersion<'_>| {
        operator.name() == name
            || package_of(**operator).is_some_and(|package| package == name)
            || subscription_of(operator).is_some_and(|found| found.name() == name)
    };
    let is_replaced = |operator: &ServiceVersion<'_>| {
        here.iter().any(|other| other.replaces() == operator.name())
    };
    let meant: Vec<&ServiceVersion<'_>> = here.iter().filter(is_meant).collect();
    let newest = meant.iter().find(|operator| !is_replaced(operator));
    let operator = match (newest, meant.first()) {
        (Some(newest), _) => **newest,
        (None, Some(replaced)) => {
            return Err(RollbackError::UnderWay(replaced.name().to_owned()));
        }
        (None, None) => return Err(RollbackError::Unknown(name.to_owned())),
    };
    let subscription = subscription_of(&operator)
        .ok_or_else(|| RollbackError::Freestanding(operator.name().to_owned()))?;
    Ok((operator, subscription))
}

/// Names the operator to go back to: the one that waits to be replaced or that ran last, or the one of a
/// version that ran earlier.
fn target(
    world: &World<'_>,
    namespace: &str,
    operator: ServiceVersion<'_>,
    waiting: Option<ServiceVersion<'_>>,
    to: Option<&str>,
) -> Result<String, RollbackError> {
    let changes: Vec<GenerationChange> = history(world.objects, namespace)
        .into_iter()
        .flat_map(|generation| generation.changes)
        .collect();
    let mut earlier: Vec<(String, String)> = Vec::new();
    let mut next = waiting.map_or_else(
        || ran_before(&changes, operator.name()),
        |waiting| Some(waiting.name().to_owned()),
    );
    while let Some(name) =
        next.filter(|name| name != operator.name() && !earlier.iter().any(|(seen, _)| seen == name))
    {
        let change = changes.iter().find(|change| change.name == name);
        let version = match (change, waiting) {
            (_, Some(waiting)) if waiting.name() == name => waiting.version_text().to_owned(),
            (Some(change), _) => change.version.clone(),
            (None, _) => String::new(),
        };
        next = ran_before(&changes, &name);
        earlier.push((name, version));
    }
    let found = match to {
        None => earlier.first(),
        Some(version) => earlier.iter().find(|(_, known)| known == version),
    };
    match (found, to) {
        (Some((name, _)), _) => Ok(name.clone()),
        (None, Some(version)) if !earlier.is_empty() => Err(RollbackError::NeverRan {
            name: operator.name().to_owned(),
            version: version.to_owned(),
            known: earlier.into_iter().map(|(_, version)| version).collect(),
        }),
        (None, _) => Err(RollbackError::First(operator.name().to_owned())),
    }
}

/// Returns the operator that one took the place of when it last came.
fn ran_before(changes: &[GenerationChange], name: &str) -> Option<String> {
    let mut changes = changes.iter();
    let change = changes.find(|change| change.name == name && !change.replaces.is_empty())?;
    Some(change.replaces.clone())
}

/// Finds the operator before in the catalogs, the Subscription's own first.
fn offered(
    world: &World<'_>,
    name: &str,
    replaces: &str,
    subscription: Subscription<'_>,
) -> Option<PlannedOperator> {
    let own = subscription.source();
    let mut sources: Vec<&SourceName> = world.catalogs.keys().collect();
    sources.sort_by_key(|source| Some(*source) != own.as_ref());
    for source in sources {
        let catalog = world.catalogs.get(source).and_then(|state| state.catalog.as_deref());
        let package = catalog.and_then(|catalog| catalog.package(subscription.package()));
        let Some(package) = package else { continue };
        let entries = package.channels().filter_map(|channel| channel.entry(name));
        let Some(entry) = entries.into_iter().find(|entry| entry.bundle().is_some()) else {
            continue;
        };
        let Some(bundle) = entry.bundle() else { continue };
        let addition = Addition {
            name: name.to_owned(),
            package: subscription.package().to_owned(),
            channel: entry.channel().name().to_owned(),
            source: source.clone(),
            entry: entry.id(),
            version: bundle.version_text().to_owned(),
            replaces: replaces.to_owned(),
            updates: replaces.to_owned(),
            image: bundle.image().unwrap_or_default().to_owned(),
            is_starting: false,
            reasons: vec![Reason::Requested(subscription.name().to_owned())],
        };
        let properties = bundle
            .properties()
            .map(|property| (property.kind.to_owned(), property.value.to_owned()))
            .collect();
        return Some(PlannedOperator { addition, properties });
    }
    None
}

fn contents(world: &World<'_>, addition: &Addition) -> Result<BundleContents, RollbackError> {
    let source = &addition.source;
    let digest = world.catalogs.get(source).map(|state| state.digest.clone()).unwrap_or_default();
    let key = BundleKey {
        source: source.clone(),
        name: addition.name.clone(),
        image: addition.image.clone(),
        digest,
    };
    match world.bundles.get(&key) {
        Some(crate::BundleState::Ready(contents)) => Ok((**contents).clone()),
        Some(crate::BundleState::Failed { message, .. }) => {
            Err(RollbackError::Fault(message.clone()))
        }
        Some(crate::BundleState::Pending { .. }) | None => Err(RollbackError::Wanted(key)),
    }
}

/// Replaces the CRDs of a bundle by those that are there.
fn with_live_definitions(world: &World<'_>, contents: &BundleContents) -> BundleContents {
    let mut contents = contents.clone();
    for object in &mut contents.objects {
        if object.kind() != known::CUSTOM_RESOURCE_DEFINITION {
            continue;
        }
        let live = world.objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", object.name());
        if let Some(live) = live {
            object.set(&["spec"], live.spec().clone());
        }
    }
    contents
}

impl Rollback {
    /// Returns the patch that pins the Subscription, so that it is not updated again at once.
    pub fn pin(&self) -> Value {
        map! { "metadata" => map! { "annotations" => map! { names::PIN_ANNOTATION => self.version.as_str() } } }
    }
}
