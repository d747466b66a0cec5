//! Nothing of a plan that nobody approved is written.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, ObjectKey, Timestamp, Value, known};

use super::{EXCUSED, Sight, within};
use crate::Author;

#[derive(Debug, Default)]
pub(super) struct Approval {
    /// What approved plans write.
    approved: BTreeSet<ObjectKey>,
    /// Approved plans that are gone: the namespace, when, and their operators.
    gone: Vec<(String, Timestamp, Vec<String>)>,
    /// Since when a Subscription asks a person.
    manual: BTreeMap<ObjectKey, Timestamp>,
}

impl Approval {
    pub(super) fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        if sight.key.kind == known::SUBSCRIPTION {
            self.note_subscription(sight);
        }
        if sight.key.kind == known::INSTALL_PLAN {
            return self.look_at_plan(sight);
        }
        if sight.author != Author::Engine || sight.before.is_some() {
            return Ok(());
        }
        self.look_at_creation(sight)
    }

    fn note_subscription(&mut self, sight: &Sight<'_>) {
        let is_manual = sight
            .after
            .is_some_and(|after| after.spec().get("installPlanApproval").str() == "Manual");
        if is_manual {
            self.manual.entry(sight.key.clone()).or_insert(sight.time);
        } else {
            self.manual.remove(sight.key);
        }
    }

    fn look_at_plan(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let Some(plan) = sight.after else {
            if let Some(plan) = sight.before.filter(|plan| is_approved(plan)) {
                let operators = operators(plan).map(str::to_owned).collect();
                self.gone.push((plan.namespace().to_owned(), sight.time, operators));
            }
            return Ok(());
        };
        let was_approved = sight.before.is_some_and(is_approved);
        if sight.author == Author::Engine && is_approved(plan) && !was_approved {
            if sight.before.is_some() {
                return Err(format!("the engine approved {}", sight.key));
            }
            let targets = plan.annotation(operon_kinds::names::TARGETS_ANNOTATION);
            let targets = Value::parse_json(targets.unwrap_or_default()).unwrap_or_default();
            for (name, _) in targets.entries() {
                let key = known::SUBSCRIPTION.key(plan.namespace(), name);
                let since = self.manual.get(&key);
                if since.is_some_and(|since| sight.time.since(*since) > EXCUSED) {
                    return Err(format!("{} is approved, but {key} asks a person", sight.key));
                }
            }
        }
        if is_approved(plan) {
            self.approved.extend(written_by(plan));
        }
        Ok(())
    }

    fn look_at_creation(&self, sight: &Sight<'_>) -> Result<(), String> {
        let key = sight.key;
        if key.kind == known::CLUSTER_SERVICE_VERSION {
            let mut plans = within(sight.objects, &known::INSTALL_PLAN, &key.namespace);
            let is_planned =
                plans.any(|plan| is_approved(plan) && operators(plan).any(|name| name == key.name));
            let was_planned = self.gone.iter().any(|(namespace, time, operators)| {
                *namespace == key.namespace
                    && sight.time.since(*time) <= EXCUSED
                    && operators.contains(&key.name)
            });
            if !is_planned && !was_planned {
                return Err(format!("{key} was made, and no approved plan brings it"));
            }
        }
        let plans = sight.objects.iter().filter(|(plan, _)| plan.kind == known::INSTALL_PLAN);
        for (plan_key, plan) in plans.filter(|(_, plan)| !is_approved(plan)) {
            if !self.approved.contains(key) && written_by(plan).any(|written| written == *key) {
                return Err(format!("{key} of {plan_key} was made, which nobody approved"));
            }
        }
        Ok(())
    }
}

fn is_approved(plan: &Object) -> bool {
    plan.spec().get("approved").as_bool() == Some(true)
}

fn operators(plan: &Object) -> impl Iterator<Item = &str> {
    plan.spec().get("clusterServiceVersionNames").iter_texts()
}

/// Returns what the steps of a plan write.
fn written_by(plan: &Object) -> impl Iterator<Item = ObjectKey> {
    plan.status().get("plan").elements().iter().map(|step| {
        let resource = step.get("resource");
        let name = match resource.get("kind").str() {
            "BundleSecret" => "Secret",
            name => name,
        };
        let kind = operon_object::Kind::new(resource.get("group").str(), name);
        let is_namespaced = known::known_kind(&kind).is_none_or(|known| known.is_namespaced);
        let namespace = if is_namespaced { plan.namespace() } else { "" };
        kind.key(namespace, resource.get("name").str())
    })
}
