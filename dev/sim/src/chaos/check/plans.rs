//! No plan is made twice.
//!
//! A plan that waits for a person may stand beside its successor for a moment, until it is removed: of
//! two such plans the older is never carried out. Two that are carried out never stand side by side.

use std::collections::BTreeMap;

use operon_object::{Object, ObjectKey, Timestamp, Value, known};

use super::{Objects, Sight, all, phase, within};
use crate::Author;

#[derive(Debug, Default)]
pub(super) struct Plans {
    /// Plans that were carried out: namespace and content, with the identity of the first one and when it
    /// was made.
    done: BTreeMap<(String, String), (String, Timestamp)>,
    /// When operators were last removed: what is gone may be planned again.
    removed: BTreeMap<ObjectKey, Timestamp>,
}

impl Plans {
    pub(super) fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        if sight.key.kind == known::CLUSTER_SERVICE_VERSION && sight.after.is_none() {
            self.removed.insert(sight.key.clone(), sight.time);
        }
        if sight.key.kind != known::INSTALL_PLAN || sight.author != Author::Engine {
            return Ok(());
        }
        let Some(plan) = sight.after else { return Ok(()) };
        if phase(plan) == "Complete"
            && sight.before.is_none_or(|before| phase(before) != "Complete")
        {
            self.note_end(plan, sight)?;
        }
        for other in within(sight.objects, &known::INSTALL_PLAN, plan.namespace()) {
            let is_twin = content(other) == content(plan);
            let clash = is_carried_out(plan) && is_carried_out(other) && meets(plan, other);
            if other.name() != plan.name() && is_open(plan) && is_open(other) && (is_twin || clash)
            {
                let why = if is_twin { "with equal content" } else { "for the same Subscription" };
                return Err(format!("{} is made beside {} {why}", sight.key, other.key()));
            }
        }
        Ok(())
    }

    fn note_end(&mut self, plan: &Object, sight: &Sight<'_>) -> Result<(), String> {
        let made = plan.created().unwrap_or(sight.time);
        let place = (plan.namespace().to_owned(), content(plan).to_owned());
        let Some((uid, first)) = self.done.insert(place, (plan.uid().to_owned(), made)) else {
            return Ok(());
        };
        let mut operators = plan.spec().get("clusterServiceVersionNames").iter_texts();
        let was_removed = operators.any(|name| {
            let key = known::CLUSTER_SERVICE_VERSION.key(plan.namespace(), name);
            self.removed.get(&key).is_some_and(|removed| *removed >= first)
        });
        if uid == plan.uid() || was_removed {
            return Ok(());
        }
        Err(format!("{} was carried out before", sight.key))
    }
}

/// Looks at a cluster in which nothing is left to do.
pub(super) fn at_rest(objects: &Objects) -> Result<(), String> {
    for plan in all(objects, &known::INSTALL_PLAN).filter(|plan| is_open(plan)) {
        let others = within(objects, &known::INSTALL_PLAN, plan.namespace());
        let mut twins = others
            .filter(|other| is_open(other) && other.name() > plan.name() && meets(plan, other));
        if let Some(twin) = twins.next() {
            return Err(format!("{} and {} wait for the same", plan.key(), twin.key()));
        }
    }
    Ok(())
}

fn is_open(plan: &Object) -> bool {
    !matches!(phase(plan), "Complete" | "Failed") && !plan.is_deleting()
}

/// Tells whether a plan is approved and not one that waits for a person: such a one is not begun any more
/// when there is another.
fn is_carried_out(plan: &Object) -> bool {
    plan.spec().get("approved").as_bool() == Some(true) && phase(plan) != "RequiresApproval"
}

fn content(plan: &Object) -> &str {
    plan.annotation(operon_kinds::names::CONTENT_ANNOTATION).unwrap_or_default()
}

/// Tells whether two plans move the same Subscription.
fn meets(plan: &Object, other: &Object) -> bool {
    let targets = |plan: &Object| {
        let text = plan.annotation(operon_kinds::names::TARGETS_ANNOTATION).unwrap_or_default();
        Value::parse_json(text).unwrap_or_default()
    };
    let (mine, theirs) = (targets(plan), targets(other));
    mine.entries().any(|(name, _)| theirs.entries().any(|(other, _)| other == name))
}
