//! How Operon stands, for people and for programs.

use std::time::Duration;

use super::{
    facts::{Catalog, Controllers, Facts, Lease, Pod, Problem},
    signatures::Signatures,
};
use crate::output::{Json, clean};

/// How wide the first column is.
const TITLE: usize = 12;

/// Prints how it stands for people.
pub(super) fn text(facts: &Facts) -> String {
    let mut out = line("cluster", &facts.place);
    if let Some(controllers) = &facts.controllers {
        let Controllers { namespace, version, image, rollout, .. } = controllers;
        let version = if version.is_empty() { "of unknown version" } else { version };
        out += &line(
            "controller",
            &format!(
                "{version} in namespace {namespace}, {} of {} ready, image {image}",
                rollout.ready, rollout.wanted
            ),
        );
        for pod in &controllers.pods {
            out += &line("", &pod_text(pod, facts.lease.as_ref()));
        }
    } else if let Some(lease) = &facts.lease {
        out += &line("controller", &format!("`{}` leads, outside of the cluster", lease.holder));
    }
    if let Some(signatures) = facts.signatures.text() {
        out += &line("signatures", &signatures);
    }
    let definitions = &facts.definitions;
    out += &line("CRDs", &format!("{} of {} served", definitions.served, definitions.wanted));
    for (index, Catalog { name, state }) in facts.catalogs.iter().enumerate() {
        out += &line(if index == 0 { "catalogs" } else { "" }, &format!("{name} {state}"));
    }
    let operators: Vec<String> =
        facts.operators.iter().map(|(phase, count)| format!("{count} {phase}")).collect();
    let operators = if operators.is_empty() { "none".to_owned() } else { operators.join(", ") };
    out += &line("operators", &operators);
    if let Some(first) = facts.waiting.first() {
        let count = facts.waiting.len();
        out += &line("plans", &format!("{count} to approve, such as {first}: operon approve"));
    }
    out.push('\n');
    for Problem { told, help } in &facts.problems {
        out += &format!("✕ {}\n  help: {}\n", clean(told), clean(help));
    }
    out += &match facts.problems.len() {
        0 => "all is well\n".to_owned(),
        1 => "1 thing is wrong\n".to_owned(),
        count => format!("{count} things are wrong\n"),
    };
    out
}

fn line(title: &str, text: &str) -> String {
    format!("{title:TITLE$}{}\n", clean(text))
}

fn pod_text(pod: &Pod, lease: Option<&Lease>) -> String {
    let name = &pod.name;
    let restarts = match pod.restarts {
        0 => String::new(),
        1 => ", started again once".to_owned(),
        count => format!(", started again {count} times"),
    };
    match lease {
        Some(lease) if lease.pod() == name && lease.is_valid => {
            format!("{name} leads since {} ({}){restarts}", lease.since, spoken(lease.held_for))
        }
        _ if pod.is_ready => format!("{name} is ready to take over{restarts}"),
        _ => format!("{name} is not ready{restarts}"),
    }
}

/// Says how long something lasts, roughly.
fn spoken(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7_200 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// Prints how it stands for programs.
pub(super) fn json(facts: &Facts) -> Json {
    let pod = |pod: &Pod| {
        let leads = facts.lease.as_ref().is_some_and(|l| l.is_valid && l.pod() == pod.name);
        Json::Object(vec![
            ("name", Json::text(&pod.name)),
            ("ready", Json::Bool(pod.is_ready)),
            ("restarts", Json::Number(pod.restarts)),
            ("leads", Json::Bool(leads)),
        ])
    };
    let controller = facts.controllers.as_ref().map_or(Json::Null, |controllers| {
        Json::Object(vec![
            ("namespace", Json::text(&controllers.namespace)),
            ("version", Json::text(&controllers.version)),
            ("image", Json::text(&controllers.image)),
            ("wanted", Json::Number(controllers.rollout.wanted)),
            ("ready", Json::Number(controllers.rollout.ready)),
            ("pods", Json::list(controllers.pods.iter().map(pod))),
        ])
    });
    let lease = facts.lease.as_ref().map_or(Json::Null, |lease| {
        Json::Object(vec![
            ("holder", Json::text(&lease.holder)),
            ("since", Json::text(&lease.since)),
            ("valid", Json::Bool(lease.is_valid)),
        ])
    });
    let signature_policy = match &facts.signatures {
        Signatures::VerifiedBy(file) => Json::text(file),
        Signatures::NotVerified | Signatures::LeftToProcess | Signatures::Unknown => Json::Null,
    };
    let catalog = |catalog: &Catalog| {
        Json::Object(vec![
            ("name", Json::text(&catalog.name)),
            ("state", Json::text(&catalog.state)),
        ])
    };
    let operators =
        facts.operators.iter().map(|(phase, count)| (phase.clone(), Json::number(*count)));
    let problem = |problem: &Problem| {
        Json::Object(vec![
            ("message", Json::text(&problem.told)),
            ("help", Json::text(&problem.help)),
        ])
    };
    Json::Object(vec![
        ("healthy", Json::Bool(facts.problems.is_empty())),
        ("cluster", Json::text(&facts.place)),
        ("controller", controller),
        ("lease", lease),
        ("signaturePolicy", signature_policy),
        (
            "crds",
            Json::Object(vec![
                ("wanted", Json::number(facts.definitions.wanted)),
                ("served", Json::number(facts.definitions.served)),
            ]),
        ),
        ("catalogs", Json::list(facts.catalogs.iter().map(catalog))),
        ("operators", Json::Map(operators.collect())),
        ("waitingPlans", Json::texts(&facts.waiting)),
        ("problems", Json::list(facts.problems.iter().map(problem))),
    ])
}
