//! The answer for programs: the members that upstream's tools have, and a few of our own.

use operon_api::Subscription;
use operon_document::json::canonical_string;
use operon_resolve::{Addition, BundleLookup, NewSubscription};

use super::answer::{Answered, PartAnswer, StepsToTake, Told, Verdict};
use crate::output::Json;

type Members = Vec<(&'static str, Json)>;

/// Returns the answer as a value; members without content are left out.
pub(super) fn answer(answered: &Answered) -> Json {
    let mut members = Members::new();
    push_text(&mut members, "id", &answered.id);
    push_text(&mut members, "namespace", &answered.namespace);
    members.push(("outcome", Json::text(answered.outcome.word())));
    if answered.outcome == Verdict::Resolved || !answered.operators.is_empty() {
        members.push(("operators", Json::list(answered.operators.iter().map(operator))));
    }
    push_text(&mut members, "error", &answered.error);
    if !answered.conflicts.is_empty() {
        members.push(("conflicts", Json::texts(&answered.conflicts)));
    }
    if let Some(steps) = &answered.steps {
        members.push(("steps", steps_value(steps)));
    }
    push_list(&mut members, "parts", answered.parts.iter().map(part));
    push_list(&mut members, "notices", answered.notices.iter().map(notice));
    if answered.is_case() {
        let timing = answered.timing;
        let nanoseconds = |duration: std::time::Duration| Json::number(duration.as_nanos());
        let timing = vec![
            ("cacheBuildNs", nanoseconds(timing.catalogs)),
            ("resolveNs", nanoseconds(timing.resolve)),
            ("resolveStepsNs", nanoseconds(timing.resolve_steps)),
        ];
        members.push(("timing", Json::Object(timing)));
    }
    Json::Object(members)
}

fn operator(addition: &Addition) -> Json {
    let mut members = vec![
        ("name", Json::text(&addition.name)),
        ("package", Json::text(&addition.package)),
        ("channel", Json::text(&addition.channel)),
        ("catalog", Json::text(&addition.source.name)),
        ("catalogNamespace", Json::text(&addition.source.namespace)),
    ];
    push_text(&mut members, "version", &addition.version);
    push_text(&mut members, "replaces", &addition.replaces);
    if addition.is_starting {
        push_text(&mut members, "startingCSV", &addition.name);
    }
    push_text(&mut members, "bundlePath", &addition.image);
    Json::Object(members)
}

fn steps_value(steps: &StepsToTake) -> Json {
    let updated = steps.updated_subscriptions.iter();
    let mut members = vec![
        ("bundleLookups", Json::list(steps.bundle_lookups.iter().map(lookup))),
        ("newSubscriptions", Json::list(steps.new_subscriptions.iter().map(new_subscription))),
        (
            "updatedSubscriptions",
            Json::list(updated.map(|(subscription, csv)| updated_subscription(subscription, csv))),
        ),
    ];
    // The manifests of these bundles are applied as they are; upstream lists each of them.
    let inline = steps.inline.iter().map(|addition| Json::text(&addition.name));
    push_list(&mut members, "inlineBundles", inline);
    Json::Object(members)
}

fn lookup(lookup: &BundleLookup) -> Json {
    let mut members =
        vec![("identifier", Json::text(&lookup.identifier)), ("path", Json::text(&lookup.path))];
    push_text(&mut members, "replaces", &lookup.replaces);
    members.push(("catalog", Json::text(&lookup.source.name)));
    members.push(("catalogNamespace", Json::text(&lookup.source.namespace)));
    let properties = lookup
        .properties
        .iter()
        .map(|(kind, value)| format!("{{\"type\":{},\"value\":{value}}}", canonical_string(kind)));
    let properties = properties.collect::<Vec<_>>().join(",");
    members.push(("properties", Json::Raw(format!("{{\"properties\":[{properties}]}}"))));
    Json::Object(members)
}

fn new_subscription(subscription: &NewSubscription) -> Json {
    Json::Object(vec![
        ("name", Json::text(&subscription.name)),
        ("package", Json::text(&subscription.package)),
        ("channel", Json::text(&subscription.channel)),
        ("source", Json::text(&subscription.source.name)),
        ("sourceNamespace", Json::text(&subscription.source.namespace)),
        ("startingCSV", Json::text(&subscription.starting_csv)),
        ("installPlanApproval", Json::text("Automatic")),
    ])
}

fn updated_subscription(subscription: &Subscription, current_csv: &str) -> Json {
    let mut members = vec![("name", Json::text(&subscription.metadata.name))];
    for (name, text) in [
        ("package", &subscription.package),
        ("channel", &subscription.channel),
        ("source", &subscription.source),
        ("sourceNamespace", &subscription.source_namespace),
        ("startingCSV", &subscription.starting_csv),
        ("installPlanApproval", &subscription.install_plan_approval),
    ] {
        push_text(&mut members, name, text);
    }
    members.push(("currentCSV", Json::text(current_csv)));
    Json::Object(members)
}

fn part(part: &PartAnswer) -> Json {
    let mut members = vec![("outcome", Json::text(part.outcome.word()))];
    push_list(&mut members, "subscriptions", part.requests.iter().map(Json::text));
    push_list(&mut members, "installed", part.installed.iter().map(Json::text));
    push_list(&mut members, "operators", part.operators.iter().map(Json::text));
    push_list(&mut members, "kept", part.kept.iter().map(Json::text));
    push_text(&mut members, "error", &part.error);
    push_list(&mut members, "conflicts", part.conflicts.iter().map(Json::texts));
    let explanation = part.explanation.as_ref().map(|told| Json::Object(told.members()));
    members.extend(explanation.map(|explanation| ("explanation", explanation)));
    Json::Object(members)
}

fn notice(told: &Told) -> Json {
    let mut members = vec![("kind", Json::text(told.kind))];
    push_text(&mut members, "subscription", &told.request);
    push_text(&mut members, "text", &told.text);
    push_text(&mut members, "help", &told.help);
    Json::Object(members)
}

fn push_text(members: &mut Members, name: &'static str, text: &str) {
    if !text.is_empty() {
        members.push((name, Json::text(text)));
    }
}

fn push_list(members: &mut Members, name: &'static str, values: impl Iterator<Item = Json>) {
    let values: Vec<Json> = values.collect();
    if !values.is_empty() {
        members.push((name, Json::List(values)));
    }
}
