//! What other namespaces need of this one.
//!
//! CRDs are there for the whole cluster, while a namespace is resolved alone: an update that takes an
//! API away, or stops to serve a version of it, is held while an operator elsewhere needs it. When that
//! operator in turn waits for this one, neither can go first; on request both go together.

use std::collections::{BTreeMap, BTreeSet};

use operon_constraint::{Constraint, GroupVersionKind};
use operon_kinds::{
    ApiDefinition, InstallPlan, ServiceVersion, Subscription, names, provided_apis,
};
use operon_object::{Value, known};
use operon_plan::Draft;
use operon_resolve::{Budget, Limits, Spent};

use crate::{
    World,
    dependencies::{Operator, OperatorSet, requests, served_apis},
    outlook::{Cost, Hold, Outlook, TOO_EXPENSIVE},
    scene::Scene,
};

/// What other namespaces say about a draft.
pub(crate) enum Neighbours {
    /// It harms nobody.
    Unharmed,
    /// It goes together with drafts of other namespaces: their contents, by namespace.
    Joined(BTreeMap<String, String>),
    /// It has to wait.
    Held(Hold),
}

/// An operator elsewhere with a requirement that would not be met any more.
struct Harm {
    namespace: String,
    operator: String,
    requirement: String,
}

/// What a draft would do to operators of other namespaces.
struct Impact<'w> {
    /// The operators of other namespaces, copies left out.
    elsewhere: Vec<Operator<'w>>,
    /// The APIs that requirements may rely on now.
    before: BTreeSet<GroupVersionKind>,
    /// Those that are left.
    after: BTreeSet<GroupVersionKind>,
}

/// Asks the other namespaces about a draft. Resolving them draws on the steps of the same decision, of
/// which `cost` is spent.
pub(crate) fn ask(scene: &Scene<'_>, draft: &Draft, cost: &mut Cost) -> Neighbours {
    match weigh(scene, draft, cost) {
        Ok(neighbours) => neighbours,
        Err(Spent::Steps | Spent::Bytes) => Neighbours::Held(Hold {
            reason: TOO_EXPENSIVE,
            message: format!(
                "{} would take APIs away, and whether operators of other namespaces need them is too \
                 expensive to evaluate",
                added(draft)
            ),
        }),
    }
}

fn weigh(scene: &Scene<'_>, draft: &Draft, cost: &mut Cost) -> Result<Neighbours, Spent> {
    let Some(impact) = charged(scene, cost, |budget| Impact::of(scene, draft, budget))? else {
        return Ok(Neighbours::Unharmed);
    };
    let harms = charged(scene, cost, |budget| impact.harms(budget))?;
    if harms.is_empty() {
        return Ok(Neighbours::Unharmed);
    }
    if let Some(contents) = awaited(scene, draft, &harms) {
        return Ok(Neighbours::Joined(contents));
    }
    let told: Vec<String> = harms.iter().map(Harm::tell).collect();
    let message =
        format!("{} would take away what runs elsewhere: {}", added(draft), told.join("; "));
    let Some(partners) = deadlock(scene, draft, &impact, &harms, cost)? else {
        return Ok(Neighbours::Held(Hold { reason: "NeededElsewhere", message }));
    };
    let wants = |namespace: &str, draft: &Draft| wants_to_join(scene.world, namespace, draft);
    let is_wanted = wants(scene.namespace, draft)
        && partners.iter().all(|(namespace, partner)| wants(namespace, partner));
    if is_wanted {
        let contents =
            partners.into_iter().map(|(namespace, partner)| (namespace, partner.content));
        return Ok(Neighbours::Joined(contents.collect()));
    }
    let others: Vec<&str> = partners.keys().map(String::as_str).collect();
    Ok(Neighbours::Held(Hold {
        reason: "Deadlock",
        message: format!(
            "{message}. They wait for this one in turn, so that neither can go first: to move both at \
             once, annotate the Subscriptions here and in {} with {}=true",
            others.join(", "),
            names::JOINT_ANNOTATION
        ),
    }))
}

/// Names the operators that a draft adds.
fn added(draft: &Draft) -> String {
    let names = draft.operators.iter().map(|operator| operator.addition.name.as_str());
    names.collect::<Vec<_>>().join(" and ")
}

/// Does some work with what is left of a decision's steps, and charges what it takes.
fn charged<T>(
    scene: &Scene<'_>,
    cost: &mut Cost,
    work: impl FnOnce(&mut Budget) -> Result<T, Spent>,
) -> Result<T, Spent> {
    let settings = scene.world.settings;
    let steps = settings.limits.steps.saturating_sub(cost.steps);
    let limits = Limits { steps, ..settings.limits };
    let mut budget = Budget::with_cache(&limits, settings.memory.rules.clone());
    let result = work(&mut budget);
    cost.add(Cost { steps: budget.steps_spent(), was_cut: budget.was_cut() });
    result
}

impl Harm {
    fn tell(&self) -> String {
        let Self { namespace, operator, requirement } = self;
        format!("{operator} in namespace {namespace} needs {requirement}")
    }
}

impl<'w> Impact<'w> {
    /// Works out what a draft would do; `None` if it takes no API away.
    fn of(scene: &Scene<'w>, draft: &Draft, budget: &mut Budget) -> Result<Option<Self>, Spent> {
        let lost = lost_apis(scene, draft);
        if lost.is_empty() {
            return Ok(None);
        }
        let objects = scene.world.objects;
        let others = objects
            .all(&known::CLUSTER_SERVICE_VERSION)
            .map(ServiceVersion::read)
            .filter(|operator| !operator.is_copied());
        let mut elsewhere = Vec::new();
        let mut subscriptions = BTreeMap::new();
        for operator in others {
            let namespace = operator.object.namespace();
            if namespace != scene.namespace {
                let subscriptions =
                    subscriptions.entry(namespace).or_insert_with(|| requests(objects, namespace));
                elsewhere.push(Operator::read(operator, subscriptions, budget)?);
            }
        }
        let provided: BTreeSet<GroupVersionKind> = elsewhere
            .iter()
            .flat_map(|operator| operator.running.provided_apis())
            .cloned()
            .collect();
        let native = scene.world.settings.native_apis.iter().flatten();
        let served = objects.all(&known::CUSTOM_RESOURCE_DEFINITION).flat_map(served_apis);
        let own = scene.operators.iter();
        let own = own.flat_map(|operator| apis(provided_apis(operator.object.spec())));
        let before: BTreeSet<GroupVersionKind> =
            served.chain(own).chain(native.chain(&provided).chain(&lost).cloned()).collect();
        let is_left = |api: &&GroupVersionKind| !lost.contains(api) || provided.contains(api);
        let after = before.iter().filter(is_left).cloned().collect();
        Ok(Some(Self { elsewhere, before, after }))
    }

    /// Returns the requirements that would not be met any more. One that cannot be read is met by nothing,
    /// so that nothing takes that away.
    fn harms(&self, budget: &mut Budget) -> Result<Vec<Harm>, Spent> {
        let operators: Vec<&Operator<'_>> = self.elsewhere.iter().collect();
        let lost = self.lost(&operators, &operators, budget)?;
        let harm = |(operator, requirement): (&Operator<'_>, &Constraint)| Harm {
            namespace: operator.namespace().to_owned(),
            operator: operator.name().to_owned(),
            requirement: requirement.to_string(),
        };
        Ok(lost.into_iter().map(harm).collect())
    }

    /// Returns the requirements of some operators that are met with the APIs before and not after, where
    /// `operators` run elsewhere.
    fn lost<'d>(
        &self,
        operators: &[&'d Operator<'d>],
        judged: &[&'d Operator<'d>],
        budget: &mut Budget,
    ) -> Result<Vec<(&'d Operator<'d>, &'d Constraint)>, Spent> {
        let set = |apis: &BTreeSet<GroupVersionKind>| {
            OperatorSet::with_apis(operators.to_vec(), apis.clone())
        };
        let (before, after) = (set(&self.before), set(&self.after));
        let mut lost = Vec::new();
        for operator in judged {
            let of_operator = before.lost(&after, operator, budget)?;
            lost.extend(of_operator.into_iter().map(|requirement| (*operator, requirement)));
        }
        Ok(lost)
    }

    /// Returns `true` if a draft of another namespace moves an operator to one that loses nothing.
    fn is_relieved_by(
        &self,
        world: &World<'_>,
        partner: &Draft,
        operator: &str,
        budget: &mut Budget,
    ) -> Result<bool, Spent> {
        let namespace = partner.namespace.as_str();
        let subscriptions = requests(world.objects, namespace);
        let mut planned = Vec::new();
        for object in partner.steps.iter().map(|step| &step.object) {
            if object.kind() == known::CLUSTER_SERVICE_VERSION {
                let service_version = ServiceVersion::read(object);
                planned.push(Operator::read(service_version, &subscriptions, budget)?);
            }
        }
        let updates: Vec<(&str, &str)> = partner
            .operators
            .iter()
            .map(|planned| (planned.addition.updates.as_str(), planned.addition.name.as_str()))
            .collect();
        let goes = |other: &&Operator<'_>| {
            other.namespace() == namespace
                && updates.iter().any(|(updated, _)| *updated == other.name())
        };
        let staying = self.elsewhere.iter().filter(|other| !goes(other));
        let operators: Vec<&Operator<'_>> = staying.chain(&planned).collect();
        for (_, name) in updates.iter().filter(|(updated, _)| *updated == operator) {
            let new: Vec<&Operator<'_>> =
                planned.iter().filter(|planned| planned.name() == *name).collect();
            if !new.is_empty() && self.lost(&operators, &new, budget)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Finds the plans of other namespaces that wait for a draft, or go on with it; nothing unless there is
/// one for each namespace.
fn awaited(scene: &Scene<'_>, draft: &Draft, harms: &[Harm]) -> Option<BTreeMap<String, String>> {
    let namespaces: BTreeSet<&str> = harms.iter().map(|harm| harm.namespace.as_str()).collect();
    let found = namespaces.into_iter().map(|namespace| {
        let plans = scene.world.objects.within(&known::INSTALL_PLAN, namespace);
        let mut open = plans.map(InstallPlan::read).filter(|plan| !plan.is_finished());
        let awaiting = open.find(|plan| {
            let partners = plan.object.annotation(names::JOINT_PLANS_ANNOTATION);
            let partners = Value::parse_json(partners.unwrap_or("{}")).unwrap_or_default();
            partners.get(scene.namespace).str() == draft.content
        })?;
        Some((namespace.to_owned(), awaiting.content().to_owned()))
    });
    found.collect()
}

/// Finds the drafts of other namespaces that end all harm of a draft and are held because of it; nothing
/// unless there is one for each namespace.
fn deadlock(
    scene: &Scene<'_>,
    draft: &Draft,
    impact: &Impact<'_>,
    harms: &[Harm],
    cost: &mut Cost,
) -> Result<Option<BTreeMap<String, Draft>>, Spent> {
    let mut partners = BTreeMap::new();
    let namespaces: BTreeSet<&str> = harms.iter().map(|harm| harm.namespace.as_str()).collect();
    for namespace in namespaces {
        let theirs = Scene::new(scene.world, namespace);
        let left = scene.world.settings.limits.steps.saturating_sub(cost.steps);
        let outlook = Outlook::looking_away(&theirs, left);
        cost.add(outlook.cost);
        let here: Vec<&Harm> = harms.iter().filter(|harm| harm.namespace == namespace).collect();
        let mut found = None;
        for partner in outlook.drafts {
            let is_partner = charged(scene, cost, |budget| {
                Ok(relieves(scene.world, &partner, impact, &here, budget)?
                    && is_held_by(&theirs, &partner, scene.namespace, draft, budget)?)
            })?;
            if is_partner {
                found = Some(partner);
                break;
            }
        }
        let Some(partner) = found else { return Ok(None) };
        partners.insert(namespace.to_owned(), partner);
    }
    Ok(Some(partners))
}

/// Returns `true` if a draft moves every operator that another one harms to one that it does not harm.
fn relieves(
    world: &World<'_>,
    partner: &Draft,
    impact: &Impact<'_>,
    harms: &[&Harm],
    budget: &mut Budget,
) -> Result<bool, Spent> {
    for harm in harms {
        if !impact.is_relieved_by(world, partner, &harm.operator, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns `true` if a draft harms only operators that another draft moves on.
fn is_held_by(
    theirs: &Scene<'_>,
    partner: &Draft,
    namespace: &str,
    draft: &Draft,
    budget: &mut Budget,
) -> Result<bool, Spent> {
    let Some(impact) = Impact::of(theirs, partner, budget)? else { return Ok(false) };
    let harms = impact.harms(budget)?;
    let harms: Vec<&Harm> = harms.iter().collect();
    Ok(!harms.is_empty()
        && harms.iter().all(|harm| harm.namespace == namespace)
        && relieves(theirs.world, draft, &impact, &harms, budget)?)
}

/// Tells whether all Subscriptions of a draft ask to go together with others.
fn wants_to_join(world: &World<'_>, namespace: &str, draft: &Draft) -> bool {
    draft.targets.keys().all(|name| {
        let object = world.objects.get(&known::SUBSCRIPTION, namespace, name);
        object.is_some_and(|object| Subscription::read(object).wants_to_join())
    })
}

/// Returns the APIs that are provided or served now and would not be any more.
fn lost_apis(scene: &Scene<'_>, draft: &Draft) -> BTreeSet<GroupVersionKind> {
    let written = draft.steps.iter().map(|step| &step.object);
    let operators =
        written.clone().filter(|object| object.kind() == known::CLUSTER_SERVICE_VERSION);
    let gained: BTreeSet<GroupVersionKind> =
        operators.flat_map(|object| apis(provided_apis(object.spec()))).collect();
    let replaced =
        draft.operators.iter().filter_map(|operator| scene.operator(&operator.addition.updates));
    let mut lost: BTreeSet<GroupVersionKind> = replaced
        .flat_map(|operator| apis(provided_apis(operator.object.spec())))
        .filter(|api| !gained.contains(api))
        .collect();
    for definition in written.filter(|object| object.kind() == known::CUSTOM_RESOURCE_DEFINITION) {
        let live =
            scene.world.objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", definition.name());
        let Some(live) = live else { continue };
        let served = served_apis(definition);
        lost.extend(served_apis(live).into_iter().filter(|api| !served.contains(api)));
    }
    lost
}

fn apis(
    definitions: Result<BTreeSet<ApiDefinition>, String>,
) -> impl Iterator<Item = GroupVersionKind> {
    definitions.unwrap_or_default().into_iter().map(|definition| definition.api)
}
