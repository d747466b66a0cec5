//! How an operator was chosen among those that would do.
//!
//! The order of preference is the resolver's; here it is only seen which of its criteria tell the
//! chosen operator from the others.

use std::collections::BTreeSet;

use operon_catalog::{
    Bundle, Entry,
    journey::{Installed as Standing, Origin, Routes},
};
use operon_resolve::{Addition, Operator, Reason, Request, SourceName};

use super::label;
use crate::plan::{Change, PlanView, Question, Row, Situation};

/// Tells how an operator was chosen, for each of its reasons.
pub(super) fn sentences(
    situation: &Situation,
    question: &Question<'_>,
    plan: &PlanView,
    row: &Row,
) -> Vec<String> {
    let request = row.reasons.iter().find_map(|reason| match reason {
        Reason::Requested(name) => question.request(name),
        Reason::Needed { .. } | Reason::Freestanding => None,
    });
    // A Subscription leaves less to choose than a need does, so it decides.
    if let Some(request) = request {
        return of_request(question, row, request).into_iter().collect();
    }
    let mut sentences: Vec<String> = Vec::new();
    for reason in &row.reasons {
        let Reason::Needed { by, requirement, .. } = reason else { continue };
        let needing = plan.rows.iter().find(|row| row.name == *by);
        let sentence =
            needing.and_then(|needing| of_need(situation, question, row, needing, requirement));
        if let Some(sentence) = sentence
            && !sentences.contains(&sentence)
        {
            sentences.push(sentence);
        }
    }
    sentences
}

/// Tells where an operator stands in the channel that its Subscription follows.
fn of_request(question: &Question<'_>, row: &Row, request: &Request) -> Option<String> {
    let followed = if request.channel.is_empty() {
        format!("any channel of {}", request.package)
    } else {
        format!("channel {}", request.channel)
    };
    let Some(addition) = &row.addition else {
        return Some(format!(
            "It stays as it is: Subscription {} follows {followed}, {}.",
            request.name, row.why
        ));
    };
    let entry = question.catalog(&addition.source)?.entry_by_id(addition.entry);
    let place = standing(entry);
    Some(match row.change {
        Change::Upgrade => update(question, row, addition, entry),
        Change::Install | Change::Keep if addition.is_starting => {
            format!("Subscription {} says that it starts with this version.", request.name)
        }
        Change::Install | Change::Keep => {
            format!(
                "Subscription {} follows {followed}, and {} is {place}.",
                request.name, row.version
            )
        }
    })
}

/// Tells how an addition updates what runs, and which other updates there are.
fn update(question: &Question<'_>, row: &Row, addition: &Addition, entry: Entry<'_>) -> String {
    let from = row.from.as_deref().unwrap_or_default();
    let channel = entry.channel();
    let standing = Standing {
        name: addition.updates.clone(),
        version: question.installed(&addition.updates).map(|before| before.version.clone()),
        origin: Origin::Unknown,
    };
    let routes = Routes::v0(channel);
    let (name, why) = (channel.name(), &row.why);
    let mut sentence = format!("In channel {name} it {why}, and {} {from} runs now", row.package);
    let others: Vec<String> = routes
        .successors(&standing)
        .into_iter()
        .filter(|&place| routes.places()[place] != addition.name)
        .map(|place| routes.at(place).label())
        .collect();
    match others.as_slice() {
        [] => sentence += "; no other version there updates it",
        _ => sentence += &format!("; {} would update it too", others.join(", ")),
    }
    match channel.head() {
        Some(head) if head.name() == entry.name() => sentence += "; it is the head.",
        Some(head) => {
            let version = head.bundle().map_or_else(|| head.name(), Bundle::version_text);
            sentence += &format!("; the head is {version}.");
        }
        None => sentence.push('.'),
    }
    sentence
}

/// Says where an entry stands in its channel.
fn standing(entry: Entry<'_>) -> String {
    let channel = entry.channel();
    let name = channel.name();
    match channel.order().position(|other| other.id() == entry.id()) {
        Some(0) => format!("the head of {name}"),
        Some(newer) => {
            let plural = if newer == 1 { "version was" } else { "versions were" };
            let first = channel.order().next().and_then(Entry::bundle);
            let version = first.map_or("", |bundle| bundle.version_text());
            let package = channel.package().name();
            format!(
                "in {name}, where {newer} newer {plural} passed over (operon why-not \
                 {package}@{version} tells why)"
            )
        }
        None => format!("in {name}"),
    }
}

/// Tells how many operators meet a need, and what speaks for the chosen one.
fn of_need(
    situation: &Situation,
    question: &Question<'_>,
    row: &Row,
    needing: &Row,
    requirement: &str,
) -> Option<String> {
    let candidates = operon_resolve::candidates(
        &question.universe,
        &question.requests,
        &question.semantics,
        &mut question.budget.borrow_mut(),
        &needing.name,
        requirement,
    );
    // Several operators may meet parts of it together: there is no one list to choose from.
    if candidates.is_empty() || candidates.iter().any(|candidate| candidate.way != 0) {
        return None;
    }
    let offers: Vec<(&SourceName, &Operator)> = candidates
        .iter()
        .filter_map(|candidate| Some((candidate.source.as_ref()?, candidate)))
        .collect();
    let bundles: BTreeSet<_> = offers.iter().map(|(source, offer)| (source, &offer.name)).collect();
    let Some(addition) = &row.addition else {
        return Some(format!(
            "{} runs already and meets this; what runs is preferred to {}.",
            label(row),
            counted(bundles.len(), "bundle in the catalogs", "bundles in the catalogs")
        ));
    };
    if bundles.len() == 1 {
        return Some("Nothing else in the catalogs meets this.".to_owned());
    }
    let packages: BTreeSet<&str> = offers.iter().map(|(_, offer)| offer.package.as_str()).collect();
    let catalogs: BTreeSet<&SourceName> = offers.iter().map(|(source, _)| *source).collect();
    let criteria = criteria(situation, question, addition, needing, &offers);
    let mut sentence = format!(
        "Of {} of {} in {} that meet this, {} was taken",
        counted(bundles.len(), "bundle", "bundles"),
        counted(packages.len(), "operator", "operators"),
        counted(catalogs.len(), "catalog", "catalogs"),
        label(row)
    );
    if !criteria.is_empty() {
        sentence += &format!(": {}", criteria.join(", "));
    }
    Some(sentence + ".")
}

/// Returns what tells the chosen bundle from other offers, the strongest criterion first.
fn criteria(
    situation: &Situation,
    question: &Question<'_>,
    addition: &Addition,
    needing: &Row,
    offers: &[(&SourceName, &Operator)],
) -> Vec<String> {
    let mut criteria = Vec::new();
    let Some(catalog) = question.catalog(&addition.source) else { return criteria };
    let entry = catalog.entry_by_id(addition.entry);
    if offers.iter().any(|(source, _)| **source != addition.source) {
        let home = needing.addition.as_ref().map(|needing| &needing.source);
        let name = situation.short_name(&addition.source);
        if home == Some(&addition.source) {
            criteria.push(format!("from the same catalog as {}", needing.package));
        } else {
            criteria.push(format!("from {name}, which comes first by priority and name"));
        }
    }
    let here: Vec<&Operator> = offers
        .iter()
        .filter(|(source, _)| **source == addition.source)
        .map(|(_, offer)| *offer)
        .collect();
    let channels: BTreeSet<(&str, &str)> =
        here.iter().map(|offer| (offer.package.as_str(), offer.channel.as_str())).collect();
    if channels.len() > 1 && entry.channel().is_default() {
        criteria.push(format!("from its default channel {}", entry.channel().name()));
    }
    let in_channel: Vec<&&Operator> = here
        .iter()
        .filter(|offer| offer.package == addition.package && offer.channel == addition.channel)
        .collect();
    match in_channel.iter().position(|offer| offer.name == addition.name) {
        Some(0) if in_channel.len() > 1 => criteria.push("the newest version".to_owned()),
        Some(newer) if newer > 0 => criteria.push(format!(
            "{} passed over",
            counted(newer, "newer version was", "newer versions were")
        )),
        Some(_) | None => {}
    }
    criteria
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
