//! How an operator was chosen among those that would do.
//!
//! The order of preference is the resolver's; here it is only seen which of its criteria tell the
//! chosen operator from the others.

use std::collections::BTreeSet;

use operon_catalog::{
    Api, Bundle, Catalog, Channel, Entry, Package,
    journey::{Installed as Standing, Origin, Routes},
};
use operon_constraint::{Candidate, Constraint, Property, Requirement, matches, parse_property};
use operon_resolve::{Addition, InstalledProperties, Reason, Request, words};

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
    let constraint = needs_of(question, needing)
        .into_iter()
        .find(|constraint| words::need(constraint) == requirement)?;
    match &constraint.requirement {
        Requirement::Gvk(_)
        | Requirement::Package { .. }
        | Requirement::Label(_)
        | Requirement::Cel(_) => {}
        // Several operators may meet parts of it together: there is no one list to choose from.
        Requirement::All(_) | Requirement::Any(_) | Requirement::Not(_) => return None,
    }
    let offers = offers(situation, &constraint);
    let Some(addition) = &row.addition else {
        return Some(format!(
            "{} runs already and meets this; what runs is preferred to {}.",
            label(row),
            counted(offers.len(), "bundle in the catalogs", "bundles in the catalogs")
        ));
    };
    let packages: BTreeSet<&str> =
        offers.iter().map(|(_, bundle)| bundle.package().name()).collect();
    let catalogs: BTreeSet<usize> = offers.iter().map(|(catalog, _)| *catalog).collect();
    let criteria = criteria(situation, question, addition, needing, &offers);
    let mut sentence = format!(
        "Of {} of {} in {} that meet this, {} was taken",
        counted(offers.len(), "bundle", "bundles"),
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
    offers: &[(usize, Bundle<'_>)],
) -> Vec<String> {
    let mut criteria = Vec::new();
    let Some(catalog) = question.catalog(&addition.source) else { return criteria };
    let entry = catalog.entry_by_id(addition.entry);
    let is_of = |catalog: usize| situation.catalogs[catalog].name == addition.source;
    if offers.iter().any(|(catalog, _)| !is_of(*catalog)) {
        let home = needing.addition.as_ref().map(|needing| &needing.source);
        let name = situation.short_name(&addition.source);
        if home == Some(&addition.source) {
            criteria.push(format!("from the same catalog as {}", needing.package));
        } else {
            criteria.push(format!("from {name}, which comes first by priority and name"));
        }
    }
    let here: Vec<Bundle<'_>> =
        offers.iter().filter(|(catalog, _)| is_of(*catalog)).map(|(_, bundle)| *bundle).collect();
    let channels: BTreeSet<_> =
        here.iter().flat_map(|bundle| bundle.entries()).map(|entry| entry.channel().id()).collect();
    if channels.len() > 1 && entry.channel().is_default() {
        criteria.push(format!("from its default channel {}", entry.channel().name()));
    }
    let offered = |other: Entry<'_>| {
        other.bundle().is_some_and(|bundle| here.iter().any(|known| known.id() == bundle.id()))
    };
    let in_channel: Vec<Entry<'_>> =
        entry.channel().order().filter(|other| offered(*other)).collect();
    match in_channel.iter().position(|other| other.id() == entry.id()) {
        Some(0) if in_channel.len() > 1 => criteria.push("the newest version".to_owned()),
        Some(newer) if newer > 0 => criteria.push(format!(
            "{} passed over",
            counted(newer, "newer version was", "newer versions were")
        )),
        Some(_) | None => {}
    }
    criteria
}

/// Returns the installable bundles of all readable catalogs that meet a need.
fn offers<'s>(situation: &'s Situation, constraint: &Constraint) -> Vec<(usize, Bundle<'s>)> {
    let mut offers = Vec::new();
    for (number, visible) in situation.catalogs.iter().enumerate() {
        let Some(catalog) = visible.catalog() else { continue };
        for bundle in likely(catalog, constraint) {
            let is_listed =
                |channel: Channel<'_>| channel.order().any(|entry| entry.name() == bundle.name());
            if meets(bundle, constraint) && bundle.entries().any(|entry| is_listed(entry.channel()))
            {
                offers.push((number, bundle));
            }
        }
    }
    offers
}

/// Returns the bundles that may meet a need, as few as indexes can tell.
fn likely<'c>(catalog: &'c Catalog, constraint: &Constraint) -> Vec<Bundle<'c>> {
    match &constraint.requirement {
        Requirement::Gvk(api) => {
            let mut bundles: Vec<Bundle<'c>> =
                catalog.api(api).into_iter().flat_map(Api::providers).collect();
            bundles.dedup_by_key(|bundle| bundle.id());
            bundles
        }
        Requirement::Package { name, .. } => {
            catalog.package(name).into_iter().flat_map(Package::bundles).collect()
        }
        Requirement::Label(label) => catalog.with_label(label).collect(),
        Requirement::Cel(_) | Requirement::All(_) | Requirement::Any(_) | Requirement::Not(_) => {
            catalog.bundles().collect()
        }
    }
}

fn meets(bundle: Bundle<'_>, constraint: &Constraint) -> bool {
    let version = bundle.version();
    let properties: Vec<Property> = bundle
        .properties()
        .map(|property| Property::from_text(property.kind, property.value))
        .collect();
    let candidate = Candidate {
        name: bundle.name(),
        package: bundle.package().name(),
        version: version.as_ref(),
        properties: &properties,
    };
    matches(constraint, &candidate)
}

/// Returns what an operator of the plan needs.
fn needs_of(question: &Question<'_>, row: &Row) -> Vec<Constraint> {
    let dialect = question.semantics.constraint_dialect;
    let read = |kind: &str, value: &str| {
        let parsed = parse_property(kind, value, dialect).ok().flatten();
        parsed.map(|parsed| parsed.constraint)
    };
    if let Some(addition) = &row.addition {
        let catalog = question.catalog(&addition.source);
        let bundle = catalog.and_then(|catalog| catalog.entry_by_id(addition.entry).bundle());
        let properties = bundle.into_iter().flat_map(Bundle::properties);
        return properties.filter_map(|property| read(property.kind, property.value)).collect();
    }
    match question.installed(&row.name).map(|installed| &installed.properties) {
        Some(InstalledProperties::Annotated(properties)) => {
            properties.iter().filter_map(|(kind, value)| read(kind, value)).collect()
        }
        Some(InstalledProperties::Derived { required, .. }) => required
            .iter()
            .map(|api| Constraint {
                failure_message: None,
                requirement: Requirement::Gvk(api.clone()),
            })
            .collect(),
        Some(InstalledProperties::Unreadable(_)) | None => Vec::new(),
    }
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
