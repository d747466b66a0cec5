//! Changes that would give an answer, each tried by resolving again.

use std::collections::BTreeSet;

use operon_catalog::nearest;

use crate::budget::Budget;
use crate::conflict::{Conflict, Fact, Missing};
use crate::resolution::Failure;
use crate::resolve::resolve_briefly;
use crate::semantics::Semantics;
use crate::universe::{Content, Request, SourceName, Universe};

/// More ways than this are not shown.
pub const MAX_WAYS_OUT: usize = 4;

/// More ways than this are not tried.
pub const MAX_WAYS_TRIED: usize = 40;

/// Steps for all ways that are tried: about a second of work.
const STEPS_FOR_WAYS_OUT: u64 = 10_000_000;

/// Steps for finding out which requests still have no answer after a change.
const CONFLICT_STEPS_FOR_A_WAY: u64 = 300_000;

/// A change that gives an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayOut {
    /// What to do, in words.
    pub text: String,
    /// What to do, as data.
    pub change: Change,
    /// Whether resolving again with the change gave an answer.
    pub checked: bool,
}

/// A change that a person can make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Ask for another package, channel, catalog or starting bundle.
    Subscription {
        /// The Subscription's name.
        request: String,
        /// The package to ask for.
        package: String,
        /// The channel to follow.
        channel: String,
        /// The catalog to take it from.
        source: Option<SourceName>,
        /// The bundle to start with; empty for none.
        starting_csv: String,
    },
    /// Let a Subscription move to every version again.
    Unpin {
        /// The Subscription's name.
        request: String,
    },
    /// Remove a Subscription, and the operator it installed.
    RemoveSubscription {
        /// The Subscription's name.
        request: String,
    },
    /// Remove an installed operator.
    RemoveOperator {
        /// The name of its ClusterServiceVersion.
        name: String,
    },
    /// Make a catalog readable again.
    RepairCatalog {
        /// The catalog.
        source: SourceName,
    },
    /// Make a catalog visible that has what is missing.
    AddCatalog {
        /// What is missing, in words.
        need: String,
    },
}

/// Finds changes that give an answer for what a conflict is about.
pub(super) fn find(
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    budget: &mut Budget,
    conflict: &Conflict,
) -> Vec<WayOut> {
    let mut ways = budget.within(STEPS_FOR_WAYS_OUT, |budget| {
        let concerned = names(conflict);
        let before = broken(universe, requests, semantics, budget);
        let mut ways = Vec::new();
        let proposals = proposals(universe, requests, conflict);
        for (text, change) in proposals.into_iter().take(MAX_WAYS_TRIED) {
            if ways.len() == MAX_WAYS_OUT || budget.steps_left() == 0 {
                break;
            }
            let (changed, changed_requests) = apply(universe, requests, &change);
            let after = broken(&changed, &changed_requests, semantics, budget);
            let is_new = |name: &String| !before.contains(name);
            if after.is_disjoint(&concerned) && !after.iter().any(is_new) {
                ways.push(WayOut { text, change, checked: true });
            }
        }
        ways
    });
    ways.extend(unchecked(universe, conflict));
    ways.truncate(MAX_WAYS_OUT);
    ways
}

/// Names what has no answer: requests and freestanding operators that conflicts are about.
fn broken(
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    budget: &mut Budget,
) -> BTreeSet<String> {
    let resolution =
        resolve_briefly(universe, requests, semantics, budget, CONFLICT_STEPS_FOR_A_WAY);
    let mut broken = BTreeSet::new();
    for part in resolution.parts {
        match part.result {
            Ok(_) => {}
            Err(Failure::Conflicts(conflicts)) => broken.extend(conflicts.iter().flat_map(names)),
            Err(Failure::Error(_) | Failure::TooExpensive(_) | Failure::Defect(_)) => {
                broken.extend(part.requests);
                broken.extend(part.installed);
            }
        }
    }
    broken
}

fn names(conflict: &Conflict) -> BTreeSet<String> {
    let freestanding = conflict.facts.iter().filter_map(|fact| match fact {
        Fact::Freestanding { operator } => Some(operator.name.clone()),
        _ => None,
    });
    conflict.requests.iter().cloned().chain(freestanding).collect()
}

fn proposals(
    universe: &Universe<'_>,
    requests: &[Request],
    conflict: &Conflict,
) -> Vec<(String, Change)> {
    let mut proposals = Vec::new();
    for fact in &conflict.facts {
        if let Fact::NotFound { request, missing } = fact
            && let Some(request) = requests.iter().find(|asked| asked.name == *request)
        {
            propose_what_exists(universe, request, missing, &mut proposals);
        }
    }
    for name in &conflict.requests {
        if let Some(request) = requests.iter().find(|request| request.name == *name) {
            propose_less(&universe.namespace, request, &mut proposals);
            propose_other_channels(universe, request, conflict, &mut proposals);
        }
    }
    for fact in &conflict.facts {
        if let Fact::Freestanding { operator } = fact {
            let name = operator.name.clone();
            let text = format!(
                "remove the operator {name}, which has no Subscription: kubectl delete csv {name} -n {}",
                universe.namespace
            );
            proposals.push((text, Change::RemoveOperator { name }));
        }
    }
    let is_new = |request: &&Request| request.installed_csv.is_empty();
    let concerned = || {
        conflict
            .requests
            .iter()
            .filter_map(|name| requests.iter().find(|request| request.name == *name))
    };
    // Taking back what is new harms nothing that runs.
    for request in concerned().filter(is_new).chain(concerned().filter(|request| !is_new(request)))
    {
        let what = if is_new(&request) { "" } else { " and its operator" };
        let text = format!("remove Subscription {}{what}", request.name);
        proposals.push((text, Change::RemoveSubscription { request: request.name.clone() }));
    }
    let mut proposed = Vec::new();
    proposals.retain(|(_, change)| {
        let is_new = !proposed.contains(change);
        proposed.push(change.clone());
        is_new
    });
    proposals
}

/// Says what a person does to make a Subscription ask for something else: all of it, because this is what
/// is tried.
fn words(request: &Request, change: &Change) -> String {
    let Change::Subscription { request: name, package, channel, source, starting_csv } = change
    else {
        return String::new();
    };
    let mut parts = Vec::new();
    if *package != request.package {
        parts.push(format!("ask for package {package}"));
    }
    let other = source.as_ref().filter(|source| Some(*source) != request.source.as_ref());
    match other {
        Some(source) if *channel == request.channel => {
            parts.push(format!("name the catalog {source}"));
        }
        Some(source) => parts.push(format!("follow channel {channel} of catalog {source}")),
        None if *channel == request.channel => {}
        None => parts.push(format!("follow channel {channel}")),
    }
    if *starting_csv != request.starting_csv {
        parts.push("leave out startingCSV".to_owned());
    }
    let last = parts.pop().unwrap_or_default();
    let first = if parts.is_empty() { String::new() } else { parts.join(", ") + " and " };
    format!("{first}{last} in Subscription {name}")
}

/// Proposes to ask for less: for any version to start with, and for any to move to.
fn propose_less(namespace: &str, request: &Request, proposals: &mut Vec<(String, Change)>) {
    if !request.starting_csv.is_empty() && request.installed_csv.is_empty() {
        let change = Change::Subscription {
            request: request.name.clone(),
            package: request.package.clone(),
            channel: request.channel.clone(),
            source: request.source.clone(),
            starting_csv: String::new(),
        };
        proposals.push((words(request, &change), change));
    }
    // A Subscription that only keeps what it has, because it is paused or blocked, has no pin.
    if request.allowed.as_ref().is_some_and(|allowed| !allowed.because.is_empty()) {
        let name = &request.name;
        let text = format!(
            "remove the pin of Subscription {name}: operon pin {name} --off -n {namespace}"
        );
        proposals.push((text, Change::Unpin { request: name.clone() }));
    }
}

fn propose_what_exists(
    universe: &Universe<'_>,
    request: &Request,
    missing: &Missing,
    proposals: &mut Vec<(String, Change)>,
) {
    let keep = |package: &str, channel: &str, source: &SourceName, start: &str| {
        let change = Change::Subscription {
            request: request.name.clone(),
            package: package.to_owned(),
            channel: channel.to_owned(),
            source: Some(source.clone()),
            starting_csv: start.to_owned(),
        };
        (words(request, &change), change)
    };
    for source in &universe.sources {
        let Content::Ready(catalog) = source.content else { continue };
        let own = request.source.as_ref() == Some(&source.name);
        match missing {
            Missing::Package { package } if own => {
                let names = catalog.packages().map(|package| package.name());
                let Some(near) = nearest(package, names) else { continue };
                let channel =
                    catalog.package(near).map_or("", |package| package.default_channel_name());
                proposals.push(keep(near, channel, &source.name, ""));
            }
            Missing::Start { package, channel, .. } if own => {
                proposals.push(keep(package, channel, &source.name, ""));
            }
            Missing::Package { .. }
            | Missing::Start { .. }
            | Missing::Allowed { .. }
            | Missing::Channel { .. }
            | Missing::Catalog { .. }
            | Missing::Unavailable { .. } => {
                if !own && catalog.package(&request.package).is_some() {
                    proposals.push(keep(
                        &request.package,
                        &request.channel,
                        &source.name,
                        &request.starting_csv,
                    ));
                }
            }
        }
    }
}

fn propose_other_channels(
    universe: &Universe<'_>,
    request: &Request,
    conflict: &Conflict,
    proposals: &mut Vec<(String, Change)>,
) {
    let freestanding: Vec<&str> = conflict
        .facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Freestanding { operator } => Some(operator.name.as_str()),
            _ => None,
        })
        .collect();
    for source in &universe.sources {
        let Content::Ready(catalog) = source.content else { continue };
        let own = request.source.as_ref() == Some(&source.name);
        let Some(package) = catalog.package(&request.package) else { continue };
        let mut channels: Vec<_> = package.channels().collect();
        channels.sort_by_key(|channel| (!channel.is_default(), channel.id()));
        for channel in channels {
            if proposals.len() >= MAX_WAYS_TRIED {
                return;
            }
            if own && channel.name() == request.channel {
                continue;
            }
            let listed = freestanding.iter().find(|name| channel.entry(name).is_some());
            let adopts = listed.map(|name| format!(", which lists {name} and so takes it over"));
            let change = Change::Subscription {
                request: request.name.clone(),
                package: request.package.clone(),
                channel: channel.name().to_owned(),
                source: Some(source.name.clone()),
                starting_csv: String::new(),
            };
            let text = words(request, &change) + &adopts.unwrap_or_default();
            proposals.push((text, change));
        }
    }
}

/// Returns what a universe and requests would be after a change.
fn apply<'u>(
    universe: &Universe<'u>,
    requests: &[Request],
    change: &Change,
) -> (Universe<'u>, Vec<Request>) {
    let mut universe = universe.clone();
    let mut requests = requests.to_vec();
    match change {
        Change::Subscription { request, package, channel, source, starting_csv } => {
            for changed in requests.iter_mut().filter(|asked| asked.name == *request) {
                changed.package.clone_from(package);
                changed.channel.clone_from(channel);
                changed.source.clone_from(source);
                changed.starting_csv.clone_from(starting_csv);
            }
        }
        Change::Unpin { request } => {
            for changed in requests.iter_mut().filter(|asked| asked.name == *request) {
                changed.allowed = None;
            }
        }
        Change::RemoveSubscription { request } => {
            let removed = requests.iter().find(|asked| asked.name == *request);
            let name = removed.map(|asked| asked.installed_csv.clone()).unwrap_or_default();
            universe.installed.retain(|operator| operator.name != name);
            requests.retain(|asked| asked.name != *request);
        }
        Change::RemoveOperator { name } => {
            universe.installed.retain(|operator| operator.name != *name);
        }
        Change::RepairCatalog { .. } | Change::AddCatalog { .. } => {}
    }
    (universe, requests)
}

/// Names what could help but cannot be tried, because the catalog is not here.
fn unchecked(universe: &Universe<'_>, conflict: &Conflict) -> Vec<WayOut> {
    let mut ways = Vec::new();
    for source in &universe.sources {
        if let Content::Unavailable(reason) = &source.content {
            ways.push(WayOut {
                text: format!(
                    "bring the catalog {} back, it may have what is missing ({reason})",
                    source.name
                ),
                change: Change::RepairCatalog { source: source.name.clone() },
                checked: false,
            });
        }
    }
    for fact in &conflict.facts {
        if let Fact::Needs { constraint, candidates, .. } = fact
            && candidates.is_empty()
            && ways.len() < MAX_WAYS_OUT
        {
            let need = constraint.to_string();
            let text = format!("add a catalog that offers {need}");
            let way = WayOut { text, change: Change::AddCatalog { need }, checked: false };
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    ways
}
