//! What other namespaces need of this one.
//!
//! CRDs are there for the whole cluster, while a namespace is resolved alone: an update that takes an
//! API away, or stops to serve a version of it, is held while an operator elsewhere needs it. When that
//! operator in turn waits for this one, neither can go first; on request both go together.

use std::collections::{BTreeMap, BTreeSet};

use operon_constraint::GroupVersionKind;
use operon_kinds::{
    InstallPlan, ServiceVersion, Subscription, names, provided_apis, required_apis,
};
use operon_object::{Object, Value, known};
use operon_plan::Draft;

use crate::{
    World,
    outlook::{Cost, Hold, Outlook},
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

/// An operator elsewhere that would lack an API.
struct Harm {
    namespace: String,
    operator: String,
    api: GroupVersionKind,
}

/// Asks the other namespaces about a draft. Resolving them draws on the steps of the same decision, of
/// which `cost` is spent.
pub(crate) fn ask(scene: &Scene<'_>, draft: &Draft, cost: &mut Cost) -> Neighbours {
    let harms = harms(scene, draft);
    if harms.is_empty() {
        return Neighbours::Unharmed;
    }
    if let Some(contents) = awaited(scene, draft, &harms) {
        return Neighbours::Joined(contents);
    }
    let told: Vec<String> = harms.iter().map(Harm::tell).collect();
    let names: Vec<&str> =
        draft.operators.iter().map(|operator| operator.addition.name.as_str()).collect();
    let message =
        format!("{} would take away what runs elsewhere: {}", names.join(" and "), told.join("; "));
    let Some(partners) = deadlock(scene, draft, &harms, cost) else {
        return Neighbours::Held(Hold { reason: "NeededElsewhere", message });
    };
    let wants = |namespace: &str, draft: &Draft| wants_to_join(scene.world, namespace, draft);
    let is_wanted = wants(scene.namespace, draft)
        && partners.iter().all(|(namespace, partner)| wants(namespace, partner));
    if is_wanted {
        let contents =
            partners.into_iter().map(|(namespace, partner)| (namespace, partner.content));
        return Neighbours::Joined(contents.collect());
    }
    let others: Vec<&str> = partners.keys().map(String::as_str).collect();
    Neighbours::Held(Hold {
        reason: "Deadlock",
        message: format!(
            "{message}. They wait for this one in turn, so that neither can go first: to move both at \
             once, annotate the Subscriptions here and in {} with {}=true",
            others.join(", "),
            names::JOINT_ANNOTATION
        ),
    })
}

impl Harm {
    fn tell(&self) -> String {
        let Self { namespace, operator, api } = self;
        let GroupVersionKind { group, version, kind } = api;
        format!("{operator} in namespace {namespace} needs API {kind}.{version} ({group})")
    }
}

/// Returns what a draft would take away from operators of other namespaces.
fn harms(scene: &Scene<'_>, draft: &Draft) -> Vec<Harm> {
    let lost = lost_apis(scene, draft);
    if lost.is_empty() {
        return Vec::new();
    }
    let elsewhere: Vec<ServiceVersion<'_>> = scene
        .world
        .objects
        .all(&known::CLUSTER_SERVICE_VERSION)
        .filter(|object| object.namespace() != scene.namespace)
        .map(ServiceVersion::read)
        .filter(|operator| !operator.is_copied())
        .collect();
    let mut harms = Vec::new();
    for operator in &elsewhere {
        for api in apis(required_apis(operator.object.spec())) {
            if lost.contains(&api) && !elsewhere.iter().any(|other| provides(*other, &api)) {
                harms.push(Harm {
                    namespace: operator.object.namespace().to_owned(),
                    operator: operator.name().to_owned(),
                    api,
                });
            }
        }
    }
    harms
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
    harms: &[Harm],
    cost: &mut Cost,
) -> Option<BTreeMap<String, Draft>> {
    let mut partners = BTreeMap::new();
    let namespaces: BTreeSet<&str> = harms.iter().map(|harm| harm.namespace.as_str()).collect();
    for namespace in namespaces {
        let theirs = Scene::new(scene.world, namespace);
        let left = scene.world.settings.limits.steps.saturating_sub(cost.steps);
        let outlook = Outlook::looking_away(&theirs, left);
        cost.add(outlook.cost);
        let drafts = outlook.drafts;
        let here = || harms.iter().filter(|harm| harm.namespace == namespace);
        let partner = drafts.into_iter().find(|partner| {
            here().all(|harm| relieves(partner, &harm.operator, &harm.api))
                && is_held_by(&theirs, partner, scene.namespace, draft)
        });
        partners.insert(namespace.to_owned(), partner?);
    }
    Some(partners)
}

/// Tells whether a draft moves an operator to one that does not need an API.
fn relieves(draft: &Draft, operator: &str, api: &GroupVersionKind) -> bool {
    draft.operators.iter().filter(|planned| planned.addition.updates == operator).any(|planned| {
        let object = draft.steps.iter().map(|step| &step.object).find(|object| {
            object.kind() == known::CLUSTER_SERVICE_VERSION
                && object.name() == planned.addition.name
        });
        object.is_some_and(|object| !apis(required_apis(object.spec())).any(|need| need == *api))
    })
}

/// Tells whether a draft harms only operators that another draft moves on.
fn is_held_by(theirs: &Scene<'_>, partner: &Draft, namespace: &str, draft: &Draft) -> bool {
    let harms = harms(theirs, partner);
    !harms.is_empty()
        && harms
            .iter()
            .all(|harm| harm.namespace == namespace && relieves(draft, &harm.operator, &harm.api))
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
        let served = served_versions(definition);
        lost.extend(served_versions(live).into_iter().filter(|api| !served.contains(api)));
    }
    lost
}

fn served_versions(definition: &Object) -> BTreeSet<GroupVersionKind> {
    let spec = definition.spec();
    let is_served = |version: &&Value| version.get("served").as_bool() == Some(true);
    let api = |version: &Value| GroupVersionKind {
        group: spec.get("group").str().to_owned(),
        version: version.get("name").str().to_owned(),
        kind: spec.at(&["names", "kind"]).str().to_owned(),
    };
    spec.get("versions").elements().iter().filter(is_served).map(api).collect()
}

fn provides(operator: ServiceVersion<'_>, api: &GroupVersionKind) -> bool {
    apis(provided_apis(operator.object.spec())).any(|provided| provided == *api)
}

fn apis(
    definitions: Result<BTreeSet<operon_kinds::ApiDefinition>, String>,
) -> impl Iterator<Item = GroupVersionKind> {
    definitions.unwrap_or_default().into_iter().map(|definition| definition.api)
}
