//! What if a Subscription were different: the situation changed, and the engine asked again.

use operon_catalog::Entry;
use operon_kinds::{Subscription, names};
use operon_object::{Object, known};
use operon_resolve::{Failure, Reason, Request, SourceName};

use crate::{
    explanation::Told,
    plan::{Change, PlanView, Question, Row, Situation, follow, new_subscription, subscriptions},
};

/// The answer to a hypothetical question.
pub(super) enum Supposed {
    /// There is a solution.
    Possible(PlanView),
    /// There is none.
    Impossible(Told),
    /// The engine resolves nothing here, and why.
    Blocked(String),
}

/// Asks again with a Subscription that takes exactly this entry, whatever is installed for it now.
pub(super) fn suppose(
    situation: &Situation,
    plan: &PlanView,
    source: &SourceName,
    entry: Entry<'_>,
) -> Supposed {
    let mut changed = situation.clone();
    let mut object = subscription_to(situation, source, entry);
    let current = current_of(plan, Subscription::read(&object));
    follow(&mut object, entry.channel().name(), source);
    object.set(&["spec", "startingCSV"], entry.name());
    // A Subscription starts with a version only where nothing of it is installed.
    for field in ["installedCSV", "currentCSV"] {
        object.set(&["status", field], "");
    }
    lift_limits(&mut object);
    if let Some(current) = current {
        let key = known::CLUSTER_SERVICE_VERSION.key(&situation.namespace, &current);
        changed.objects_mut().remove(&key);
    }
    ask(changed, object)
}

/// Asks again with a Subscription that follows the entry's channel.
pub(super) fn suppose_followed(
    situation: &Situation,
    source: &SourceName,
    entry: Entry<'_>,
) -> Supposed {
    let mut object = subscription_to(situation, source, entry);
    follow(&mut object, entry.channel().name(), source);
    ask(situation.clone(), object)
}

/// Returns the situation without the pin and the pause of a Subscription.
pub(super) fn without_limits(situation: &Situation, subscription: &str) -> Situation {
    let mut changed = situation.clone();
    let key = known::SUBSCRIPTION.key(&situation.namespace, subscription);
    if let Some(mut object) = situation.world().objects.find(&key).cloned() {
        lift_limits(&mut object);
        changed.objects_mut().insert(object);
    }
    changed
}

fn lift_limits(subscription: &mut Object) {
    subscription.remove_annotation(names::PIN_ANNOTATION);
    subscription.remove_annotation(names::PAUSE_ANNOTATION);
}

/// Returns the operator that is installed for a Subscription.
fn current_of(plan: &PlanView, subscription: Subscription<'_>) -> Option<String> {
    match subscription.installed_csv() {
        "" => current_in(plan, subscription.name()),
        installed => Some(installed.to_owned()),
    }
}

/// Returns the operator that is installed for a request.
pub(super) fn current_of_request(plan: &PlanView, request: &Request) -> Option<String> {
    match request.installed_csv.as_str() {
        "" => current_in(plan, &request.name),
        installed => Some(installed.to_owned()),
    }
}

fn current_in(plan: &PlanView, request: &str) -> Option<String> {
    let wanted = Reason::Requested(request.to_owned());
    let row: &Row = plan.rows.iter().find(|row| row.reasons.contains(&wanted))?;
    match row.change {
        Change::Install => None,
        Change::Upgrade => row.addition.as_ref().map(|addition| addition.updates.clone()),
        Change::Keep => Some(row.name.clone()),
    }
}

/// Returns the Subscription to an entry's package, or a new one.
fn subscription_to(situation: &Situation, source: &SourceName, entry: Entry<'_>) -> Object {
    let package = entry.channel().package().name();
    let known = subscriptions(situation, package).next().cloned();
    known.unwrap_or_else(|| new_subscription(situation, package, entry.channel().name(), source))
}

fn ask(mut situation: Situation, subscription: Object) -> Supposed {
    let name = subscription.name().to_owned();
    situation.objects_mut().insert(subscription);
    let world = situation.world();
    let question: Question<'_> = situation.question(&world);
    let part = question.resolution.parts.iter().find(|part| part.requests.contains(&name));
    match part.map(|part| &part.result) {
        Some(Err(failure)) => {
            let failure = about(failure, &name);
            Supposed::Impossible(question.explain(&failure).without_ways_out())
        }
        Some(Ok(_)) => Supposed::Possible(PlanView::new(&situation, &question)),
        None => {
            let failed = question.preview.failed.iter().find(|(failed, _, _)| *failed == name);
            match failed {
                Some((_, _, message)) => Supposed::Blocked(message.clone()),
                None => Supposed::Possible(PlanView::new(&situation, &question)),
            }
        }
    }
}

/// Leaves out conflicts that other Subscriptions have without this one.
fn about(failure: &Failure, request: &String) -> Failure {
    match failure {
        Failure::Conflicts(conflicts)
            if conflicts.iter().any(|conflict| conflict.requests.contains(request)) =>
        {
            let own = conflicts.iter().filter(|conflict| conflict.requests.contains(request));
            Failure::Conflicts(own.cloned().collect())
        }
        other => other.clone(),
    }
}
