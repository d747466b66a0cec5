//! What a plan leads to: its answer is taken as done and asked again, until nothing changes.
//!
//! Every operator is taken to come up at once; what happens when one fails is not looked at here.

use operon_catalog::Bundle;
use operon_resolve::{
    Addition, Answer, Installed, InstalledProperties, Reason, Request, Resolution, steps,
};
use operon_version::Version;

use super::{situation::Question, view::PlanView};

/// The most generations that are looked at: real channels have a few hundred entries, and each
/// generation takes at least one step in one of them.
const MAX_GENERATIONS: usize = 1000;

/// The plans of a namespace, one after another.
pub(crate) struct Generations {
    /// At least one; the last one changes nothing if they settle.
    pub(crate) plans: Vec<PlanView>,
    pub(crate) ending: Ending,
}

/// How generations end.
pub(crate) enum Ending {
    /// Nothing changes any more.
    Settled,
    /// The last generation leads back to what was there before this one, counted from 0.
    Circle { back_to: usize },
    /// There are more than are looked at.
    TooMany,
}

/// Plans again and again, each time as if the plan before were done.
pub(crate) fn generations(question: &Question<'_>, subscribed: &[String]) -> Generations {
    let mut question = question.with_new_budget();
    let mut plans = Vec::new();
    let mut seen = vec![state(&question)];
    loop {
        let resolution = question.resolve();
        let plan = PlanView::new(&question, &resolution, subscribed);
        let has_changes = plan.has_changes();
        plans.push(plan);
        if !has_changes {
            return Generations { plans, ending: Ending::Settled };
        }
        if plans.len() >= MAX_GENERATIONS {
            return Generations { plans, ending: Ending::TooMany };
        }
        question = done(&question, &resolution).with_new_budget();
        let state = state(&question);
        if let Some(back_to) = seen.iter().position(|before| *before == state) {
            return Generations { plans, ending: Ending::Circle { back_to } };
        }
        seen.push(state);
    }
}

/// What runs, and which Subscription it belongs to.
type State = (Vec<String>, Vec<(String, String)>);

fn state(question: &Question<'_>) -> State {
    let running = question.universe.installed.iter().map(|installed| installed.name.clone());
    let wanted = question.requests.iter();
    let wanted = wanted.map(|request| (request.name.clone(), request.installed_csv.clone()));
    let (mut running, mut wanted): State = (running.collect(), wanted.collect());
    running.sort();
    wanted.sort();
    (running, wanted)
}

/// Returns the question that is asked when a resolution has been done.
fn done<'s>(question: &Question<'s>, resolution: &Resolution) -> Question<'s> {
    let mut next = question.clone();
    let mut whole = Answer::default();
    let mut left_alone: Vec<&String> = Vec::new();
    for part in &resolution.parts {
        match &part.result {
            Ok(answer) => {
                whole.additions.extend(answer.additions.iter().cloned());
                whole.kept.extend(answer.kept.iter().cloned());
            }
            Err(_) => left_alone.extend(&part.installed),
        }
    }
    next.universe.installed.retain(|installed| {
        left_alone.contains(&&installed.name)
            || whole.kept.iter().any(|kept| kept.name == installed.name)
    });
    for addition in &whole.additions {
        next.universe.installed.push(installed(question, addition));
    }
    let reached = whole.additions.iter().map(|addition| (&addition.name, &addition.reasons));
    let reached = reached.chain(whole.kept.iter().map(|kept| (&kept.name, &kept.reasons)));
    for (name, reasons) in reached {
        for request in next.requests.iter_mut().filter(|request| asks(reasons, &request.name)) {
            request.installed_csv.clone_from(name);
            request.current_csv.clone_from(name);
        }
    }
    next.requests.extend(dependency_requests(question, &whole));
    next
}

fn asks(reasons: &[Reason], request: &str) -> bool {
    reasons.iter().any(|reason| match reason {
        Reason::Requested(name) => name == request,
        Reason::Freestanding | Reason::Needed { .. } => false,
    })
}

/// Returns the Subscriptions that are created for dependencies.
fn dependency_requests(question: &Question<'_>, whole: &Answer) -> Vec<Request> {
    let is_asked_for = |name: &str| {
        let mut added = whole.additions.iter().filter(|addition| addition.name == name);
        added.any(|addition| {
            addition.reasons.iter().any(|reason| matches!(reason, Reason::Requested(_)))
        })
    };
    let created = steps(&question.universe, &question.requests, whole).new_subscriptions;
    created
        .into_iter()
        .filter(|created| !is_asked_for(&created.starting_csv))
        .map(|created| Request {
            name: created.name,
            package: created.package,
            channel: created.channel,
            source: Some(created.source),
            installed_csv: created.starting_csv.clone(),
            current_csv: created.starting_csv.clone(),
            starting_csv: created.starting_csv,
            manual_approval: false,
            allowed: None,
        })
        .collect()
}

/// Returns an addition as it is found when it has been installed.
fn installed(question: &Question<'_>, addition: &Addition) -> Installed {
    let catalog = question.catalog(&addition.source);
    let bundle = catalog.and_then(|catalog| catalog.entry_by_id(addition.entry).bundle());
    Installed {
        name: addition.name.clone(),
        version: bundle.and_then(Bundle::version).unwrap_or_else(|| Version::new(0, 0, 0)),
        replaces: addition.replaces.clone(),
        phase: "Succeeded".to_owned(),
        properties: InstalledProperties::Annotated(
            bundle
                .into_iter()
                .flat_map(Bundle::properties)
                .map(|property| (property.kind.to_owned(), property.value.to_owned()))
                .collect(),
        ),
    }
}
