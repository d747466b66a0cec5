//! The plan as a value: what will be written, for whom, and why.

use std::collections::{BTreeMap, BTreeSet};

use operon_kinds::{InstallPlan, Step};
use operon_object::{Object, Value, go_json, map, sha256_hex};
use operon_resolve::{Addition, Answer, Request, SourceName, Universe, steps};

use crate::{
    BundleContents, PlanFault,
    steps::{PlannedStep, operator_steps, subscription_step},
};

/// Everything that a plan will write.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The namespace.
    pub namespace: String,
    /// The operators that are added, in the order of the answer.
    pub operators: Vec<PlannedOperator>,
    /// Which Subscription moves to which operator.
    pub targets: BTreeMap<String, String>,
    /// What is written, in order.
    pub steps: Vec<PlannedStep>,
    /// The Subscriptions for which a person has to approve it.
    pub manual: Vec<String>,
    /// The hash of everything above that can be seen on a cluster.
    pub content: String,
}

/// An operator that a plan adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedOperator {
    /// What the resolution says about it.
    pub addition: Addition,
    /// The properties of its bundle, as they are noted on its ClusterServiceVersion.
    pub properties: Vec<(String, String)>,
}

impl Draft {
    /// Returns the catalogs that operators come from.
    pub fn sources(&self) -> BTreeSet<&SourceName> {
        self.operators.iter().map(|operator| &operator.addition.source).collect()
    }
}

/// Drafts the plan that carries out answers for parts of a namespace; there is none when they
/// change nothing.
pub fn draft<'c>(
    universe: &Universe<'_>,
    requests: &[Request],
    answers: &[&Answer],
    contents: impl Fn(&Addition) -> Option<&'c BundleContents>,
) -> Result<Option<Draft>, PlanFault> {
    let mut draft = Draft {
        namespace: universe.namespace.clone(),
        operators: Vec::new(),
        targets: BTreeMap::new(),
        steps: Vec::new(),
        manual: Vec::new(),
        content: String::new(),
    };
    let mut missing = Vec::new();
    let mut subscriptions = Vec::new();
    for answer in answers {
        let outcome = steps(universe, requests, answer);
        let noted: BTreeMap<&str, &Vec<(String, String)>> = outcome
            .bundle_lookups
            .iter()
            .map(|lookup| (lookup.identifier.as_str(), &lookup.properties))
            .collect();
        let is_new = |addition: &&Addition| {
            noted.contains_key(addition.name.as_str())
                || outcome.inline.iter().any(|inline| inline.name == addition.name)
        };
        for addition in answer.additions.iter().filter(is_new) {
            let Some(bundle) = contents(addition) else {
                missing.push(addition.name.clone());
                continue;
            };
            let properties = universe.noted_properties(addition);
            let operator = PlannedOperator { addition: addition.clone(), properties };
            draft.steps.extend(operator_steps(&universe.namespace, &operator, bundle)?);
            draft.operators.push(operator);
        }
        let moved = outcome.updated_subscriptions.into_iter();
        draft.targets.extend(moved.map(|moved| (moved.request, moved.current_csv)));
        subscriptions.extend(outcome.new_subscriptions);
    }
    if !missing.is_empty() {
        return Err(PlanFault::Missing { bundles: missing });
    }
    if draft.operators.is_empty() {
        return Ok(None);
    }
    let new = subscriptions.iter().map(|new| subscription_step(&universe.namespace, new));
    draft.steps.extend(new);
    draft.manual = requests
        .iter()
        .filter(|request| request.manual_approval && draft.targets.contains_key(&request.name))
        .map(|request| request.name.clone())
        .collect();
    draft.content = content_hash(&draft);
    Ok(Some(draft))
}

/// Drafts the plan that brings the given operators, whatever a resolution says.
pub fn draft_operators(
    namespace: &str,
    operators: Vec<(PlannedOperator, &BundleContents)>,
    targets: BTreeMap<String, String>,
) -> Result<Draft, PlanFault> {
    let mut draft = Draft {
        namespace: namespace.to_owned(),
        operators: Vec::new(),
        targets,
        steps: Vec::new(),
        manual: Vec::new(),
        content: String::new(),
    };
    for (operator, contents) in operators {
        draft.steps.extend(operator_steps(namespace, &operator, contents)?);
        draft.operators.push(operator);
    }
    draft.content = content_hash(&draft);
    Ok(draft)
}

/// Hashes what an approval is about: who moves where, and every object that is written.
fn content_hash(draft: &Draft) -> String {
    let steps = draft.steps.iter().map(|step| hashed_step(&step.resolving, step.object.value()));
    hash(&draft.namespace, &draft.targets, steps)
}

/// Hashes the content that an InstallPlan holds now. It equals the recorded one unless the plan's
/// targets or steps were edited. The error names the step that cannot be read, or whose manifest is of
/// another kind or name than the step says.
pub fn content_of(plan: InstallPlan<'_>) -> Result<String, String> {
    let mut steps = Vec::new();
    for step in plan.steps() {
        let object = object_of(step)?;
        steps.push(hashed_step(step.resolving(), object.value()));
    }
    Ok(hash(plan.object.namespace(), &plan.targets(), steps))
}

/// Reads the object that a step writes; the error says why it is not what the step names.
pub fn object_of(step: Step<'_>) -> Result<Object, String> {
    let kind = step.api_kind();
    let name = format!("{} {}", kind.kind.name(), step.name());
    let damaged = |error| format!("the manifest of step {name} is damaged: {error}");
    let manifest = step.manifest().map_err(damaged)?;
    let object = Object::from_value(manifest).map_err(|error| damaged(error.to_string()))?;
    let found = object.api_kind();
    let is_same_kind = found.kind.group() == kind.kind.group()
        && found.version == kind.version
        && operon_install::step_kind(found.kind.name()) == kind.kind.name();
    if is_same_kind && object.name() == step.name() {
        return Ok(object);
    }
    Err(format!("step {name} holds a manifest of {} {}", found.kind.name(), object.name()))
}

/// What an operator's step says: whose it is decides whose objects it may change.
fn hashed_step(operator: &str, object: &Value) -> Value {
    map! { "operator" => operator, "object" => object.clone() }
}

fn hash(
    namespace: &str,
    targets: &BTreeMap<String, String>,
    steps: impl IntoIterator<Item = Value>,
) -> String {
    let targets = targets.iter().map(|(name, csv)| (name, Value::text(csv)));
    let content = map! {
        "namespace" => namespace,
        "targets" => Value::map(targets),
        "steps" => Value::list(steps),
    };
    sha256_hex(go_json(&content))
}
