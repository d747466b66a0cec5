//! Running scenarios.

use std::{fmt, time::Instant};

use operon_kinds::names;
use operon_object::{Object, ObjectKey, known, map};

use super::{Scenario, Stage, Step, expect::find};

/// Marks a phase that must not follow the phases before it in `saw`.
const NEVER: &str = "never ";

/// A step that did not come out as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The step, counted from the first.
    pub step: usize,
    /// What is otherwise than expected.
    pub reason: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "step {}: {}", self.step, self.reason)
    }
}

impl std::error::Error for Failure {}

/// Runs a scenario; the first step that does not come out as expected ends it.
pub fn run_scenario(scenario: &Scenario, stage: &mut impl Stage) -> Result<(), Failure> {
    for (index, step) in scenario.steps.iter().enumerate() {
        run_step(step, stage).map_err(|reason| Failure {
            step: index + 1,
            reason: format!("{}: {reason}", title(step)),
        })?;
    }
    Ok(())
}

fn title(step: &Step) -> String {
    match step {
        Step::Publish(name, _) => format!("publish {name}"),
        Step::Hinder(name, _) => format!("break {name}"),
        Step::HinderBundle(_, bundle, _) => format!("break-bundle {bundle}"),
        Step::Apply(object) => format!("apply {}", object.key()),
        Step::Patch { key, .. } => format!("edit {key}"),
        Step::Delete(key) => format!("delete {key}"),
        Step::Answer { namespace, is_yes: true } => format!("approve {namespace}"),
        Step::Answer { namespace, is_yes: false } => format!("reject {namespace}"),
        Step::Uninstall { namespace, name } => format!("uninstall {namespace} {name}"),
        Step::RollBack { namespace, name, .. } => format!("rollback {namespace} {name}"),
        Step::Settle => "settle".to_owned(),
        Step::Wait(duration) => format!("wait {duration:?}"),
        Step::Restart => "restart".to_owned(),
        Step::Expect(expectation) => format!("expect {}", expectation.key),
        Step::Saw { key, .. } => format!("saw {key}"),
    }
}

fn run_step(step: &Step, stage: &mut impl Stage) -> Result<(), String> {
    match step {
        Step::Publish(name, publication) => stage.publish(name, publication),
        Step::Hinder(name, reason) => stage.hinder(name, reason),
        Step::HinderBundle(name, bundle, reason) => stage.hinder_bundle(name, bundle, reason),
        Step::Apply(object) => stage.apply(object),
        Step::Patch { key, patch, is_status } => {
            let key = real_key(stage, key)?;
            stage.patch(&key, patch, *is_status)
        }
        Step::Delete(key) => {
            let key = real_key(stage, key)?;
            stage.delete(&key)
        }
        Step::Answer { namespace, is_yes } => answer(stage, namespace, *is_yes),
        Step::Uninstall { namespace, name } => stage.uninstall(namespace, name),
        Step::RollBack { namespace, name, to } => stage.roll_back(namespace, name, to.as_deref()),
        Step::Settle => stage.settle(),
        Step::Wait(duration) => stage.wait(*duration),
        Step::Restart => stage.restart(),
        Step::Expect(expectation) => {
            patiently(stage, |stage| expectation.check(&stage.list(&expectation.key.kind)?))
        }
        Step::Saw { key, phases } => patiently(stage, |stage| saw(stage, key, phases)),
    }
}

/// Returns the key that an object has, where scenarios may call it by another name.
fn real_key(stage: &mut impl Stage, key: &ObjectKey) -> Result<ObjectKey, String> {
    let objects = stage.list(&key.kind)?;
    Ok(find(key, &objects).map_or_else(|| key.clone(), Object::key))
}

/// Looks again, and settles in between, while the stage has patience.
fn patiently<S: Stage>(
    stage: &mut S,
    mut look: impl FnMut(&mut S) -> Result<(), String>,
) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        match look(stage) {
            Err(reason) if begun.elapsed() >= stage.patience() => return Err(reason),
            Err(_) => stage.settle()?,
            Ok(()) => return Ok(()),
        }
    }
}

fn answer(stage: &mut impl Stage, namespace: &str, is_yes: bool) -> Result<(), String> {
    let waits = |plan: &Object| {
        plan.namespace() == namespace && plan.status().get("phase").str() == "RequiresApproval"
    };
    let plans = stage.list(&known::INSTALL_PLAN)?;
    let waiting: Vec<&Object> = plans.iter().filter(|plan| waits(plan)).collect();
    if waiting.is_empty() {
        return Err("no plan waits for an answer".to_owned());
    }
    for plan in waiting {
        let patch = if is_yes {
            map! { "spec" => map! { "approved" => true } }
        } else {
            map! { "metadata" => map! { "annotations" => map! { names::REJECTED_ANNOTATION => "true" } } }
        };
        stage.patch(&plan.key(), &patch, false)?;
    }
    Ok(())
}

/// Requires phases in the given order, with any others between them. `never Pending` requires that
/// the phase was not seen after the ones before it.
fn saw(stage: &mut impl Stage, key: &ObjectKey, wanted: &[String]) -> Result<(), String> {
    let seen = stage.phases(key);
    let mut rest = seen.iter();
    for wanted in wanted {
        let is_match = |wanted: &str, seen: &str| {
            seen == wanted || seen.split_once('/').is_some_and(|(phase, _)| phase == wanted)
        };
        let (is_met, fault) = match wanted.strip_prefix(NEVER) {
            Some(unwanted) => {
                (!rest.clone().any(|seen| is_match(unwanted, seen)), "is not true of")
            }
            None => (rest.any(|seen| is_match(wanted, seen)), "was not seen in its turn in"),
        };
        if !is_met {
            return Err(format!("`{wanted}` {fault} {}", seen.join(", ")));
        }
    }
    Ok(())
}
