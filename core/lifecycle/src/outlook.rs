//! What a namespace should become next: its resolution, what holds it back, and drafts of plans.
//!
//! Nothing is written here. Parts of a namespace that have nothing to do with each other are looked
//! at alone: what holds one back does not touch the others.

mod hold;
mod pinned;
mod universe;

use std::collections::{BTreeMap, BTreeSet};

use operon_kinds::OperatorGroup;
use operon_plan::{BundleContents, Draft, PlanFault, draft};
use operon_resolve::{
    Addition, Allowed, Answer, Budget, Failure, Limits, NoticeKind, Part, Reason, Request,
    Resolution, Universe,
    explain::{explain, render_line},
};

use crate::{
    BundleKey, BundleState,
    neighbours::{self, Neighbours},
    scene::Scene,
};

pub(crate) use self::{hold::Hold, universe::universe};

/// The reason why there is no answer when something could not be read.
pub(crate) const UNREAD: &str = "ErrorPreventedResolution";

/// The reason why there is no answer when finding one takes more than a decision may cost.
pub(crate) const TOO_EXPENSIVE: &str = "ResolutionTooExpensive";

/// What a namespace should become next.
#[derive(Debug, Default)]
pub(crate) struct Outlook {
    /// What is in sight for each Subscription.
    pub(crate) prospects: BTreeMap<String, Prospect>,
    /// The plans that should exist now.
    pub(crate) drafts: Vec<Draft>,
    /// The bundles whose contents are wanted.
    pub(crate) wanted: BTreeSet<BundleKey>,
    /// The bundles whose contents are looked at, those that are wanted among them.
    pub(crate) used: BTreeSet<BundleKey>,
    /// The contents of other namespaces' plans that a draft is carried out with, by its own content.
    pub(crate) joined: BTreeMap<String, BTreeMap<String, String>>,
    /// Whether other namespaces were asked, and had something to say.
    pub(crate) looks_elsewhere: bool,
    /// The cost of resolving, other namespaces that were asked included.
    pub(crate) cost: Cost,
    /// The additions of the resolution that are not installed now: an operation is in progress, or they are
    /// blocked.
    pub(crate) deferred: BTreeSet<String>,
    asks_neighbours: bool,
}

/// The input of a resolution, with pins, pauses and blocked updates applied, and its result.
#[derive(Debug)]
pub(crate) struct Resolved<'w> {
    pub(crate) universe: Universe<'w>,
    pub(crate) requests: Vec<Request>,
    pub(crate) resolution: Resolution,
}

/// What resolving took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) steps: u64,
    /// Whether work was left out for lack of steps or bytes.
    pub(crate) was_cut: bool,
}

impl Cost {
    pub(crate) fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.was_cut |= other.was_cut;
    }
}

/// What is in sight for a Subscription.
#[derive(Debug, Default)]
pub(crate) struct Prospect {
    /// Why there is no answer for it: one word, and a sentence.
    pub(crate) failure: Option<(&'static str, String)>,
    /// Why an answer is not carried out.
    pub(crate) hold: Option<Hold>,
    /// What is waited for while contents of bundles are read.
    pub(crate) unpacking: Option<String>,
    /// Why contents of bundles cannot be read.
    pub(crate) unpack_failure: Option<String>,
    /// The operator that it takes over.
    pub(crate) adopts: Option<String>,
    /// Whether it is under way, so that nothing new is said about it.
    pub(crate) is_busy: bool,
}

impl Outlook {
    /// Looks ahead for a namespace.
    pub(crate) fn of(scene: &Scene<'_>) -> Self {
        Self::look(scene, true, &scene.world.settings.limits).0
    }

    /// Looks ahead for a namespace, and returns the resolution too.
    pub(crate) fn with_resolution<'w>(scene: &Scene<'w>) -> (Self, Resolved<'w>) {
        let (outlook, resolved) = Self::look(scene, true, &scene.world.settings.limits);
        let unresolved = || Resolved {
            universe: universe(scene),
            requests: Vec::new(),
            resolution: Resolution::default(),
        };
        (outlook, resolved.unwrap_or_else(unresolved))
    }

    /// Looks ahead for a namespace without a look at what others need of it, within `steps`.
    pub(crate) fn looking_away(scene: &Scene<'_>, steps: u64) -> Self {
        Self::look(scene, false, &Limits { steps, ..scene.world.settings.limits }).0
    }

    fn look<'w>(
        scene: &Scene<'w>,
        asks_neighbours: bool,
        limits: &Limits,
    ) -> (Self, Option<Resolved<'w>>) {
        let mut outlook = Self { asks_neighbours, ..Self::default() };
        for subscription in &scene.subscriptions {
            outlook.prospects.insert(subscription.name().to_owned(), Prospect::default());
        }
        if scene.subscriptions.is_empty() {
            return (outlook, None);
        }
        let Some(group) = scene.group() else {
            outlook.fail_all(UNREAD, &group_problem(scene));
            return (outlook, None);
        };
        if scene.operators.iter().any(|operator| operator.object.is_deleting()) {
            // What is going away is neither here nor gone; the next world will tell.
            outlook.prospects.values_mut().for_each(|prospect| prospect.is_busy = true);
            return (outlook, None);
        }
        let universe = universe(scene);
        let mut requests = universe::requests(scene, &universe, &mut outlook);
        let settings = scene.world.settings;
        // One budget for the whole decision: freezing again and explaining draw on it, too.
        let mut budget = Budget::with_cache(limits, settings.memory.rules.clone());
        let resolution = loop {
            let (memory, semantics) = (&settings.memory, &settings.semantics);
            let found = memory.resolve(scene.world, &universe, &requests, semantics, &mut budget);
            if !outlook.freeze(scene, &mut requests, &found) {
                break found;
            }
        };
        outlook.note_adoptions(&resolution);
        let mut answers = Vec::new();
        for part in &resolution.parts {
            match &part.result {
                Ok(answer) if answer.additions.is_empty() => {}
                Ok(answer) => answers.push(answer),
                Err(failure) => {
                    outlook.note_failure(scene, &universe, &requests, part, failure, &mut budget);
                }
            }
        }
        outlook.cost = Cost { steps: budget.steps_spent(), was_cut: budget.was_cut() };
        outlook.draft(scene, group, &universe, &requests, &answers);
        (outlook, Some(Resolved { universe, requests, resolution }))
    }

    /// Lets the Subscriptions whose operators cannot be moved on now keep what they have; tells whether
    /// there was one, so that the others have to be asked again. Each is frozen once, so this ends.
    fn freeze(
        &mut self,
        scene: &Scene<'_>,
        requests: &mut [Request],
        resolution: &Resolution,
    ) -> bool {
        let answers = resolution.parts.iter().filter_map(|part| part.result.as_ref().ok());
        let updates = answers.flat_map(|answer| &answer.additions);
        let mut has_frozen = false;
        for addition in updates.filter(|addition| !addition.updates.is_empty()) {
            let weight = match scene.operator(&addition.updates) {
                Some(operator) => hold::weigh_update(scene, addition, operator),
                None if scene.is_arriving(&addition.updates) => hold::Weight::Busy,
                None => continue,
            };
            let is_moved = |request: &&mut Request| {
                request.package == addition.package
                    && request.allowed.as_ref().is_none_or(|allowed| !allowed.bundles.is_empty())
            };
            if matches!(weight, hold::Weight::Free) {
                continue;
            }
            for request in requests.iter_mut().filter(is_moved) {
                request.allowed = Some(Allowed::default());
                has_frozen = true;
                let Some(prospect) = self.prospects.get_mut(&request.name) else { continue };
                match &weight {
                    hold::Weight::Free => {}
                    hold::Weight::Busy => prospect.is_busy = true,
                    hold::Weight::Held(hold) => prospect.hold = Some(hold.clone()),
                }
            }
        }
        has_frozen
    }

    fn fail_all(&mut self, reason: &'static str, message: &str) {
        for prospect in self.prospects.values_mut() {
            prospect.failure = Some((reason, message.to_owned()));
        }
    }

    fn note_adoptions(&mut self, resolution: &Resolution) {
        let adopted: BTreeSet<&str> = resolution
            .notices
            .iter()
            .filter(|notice| notice.kind == NoticeKind::Adopted)
            .map(|notice| notice.request.as_str())
            .collect();
        let answers = resolution.parts.iter().filter_map(|part| part.result.as_ref().ok());
        for kept in answers.flat_map(|answer| &answer.kept) {
            for reason in &kept.reasons {
                if let Reason::Requested(request) = reason
                    && adopted.contains(request.as_str())
                    && let Some(prospect) = self.prospects.get_mut(request)
                {
                    prospect.adopts = Some(kept.name.clone());
                }
            }
        }
    }

    fn note_failure(
        &mut self,
        scene: &Scene<'_>,
        universe: &Universe<'_>,
        requests: &[Request],
        part: &Part,
        failure: &Failure,
        budget: &mut Budget,
    ) {
        let settings = scene.world.settings;
        let (reason, default, told) = match failure {
            Failure::Conflicts(conflicts) => {
                let mut told = BTreeMap::new();
                for conflict in conflicts {
                    let explanation =
                        explain(universe, requests, &settings.semantics, budget, conflict);
                    let line = render_line(&explanation);
                    for request in &conflict.requests {
                        told.entry(request.clone()).or_insert_with(|| line.clone());
                    }
                    told.entry(String::new()).or_insert(line);
                }
                let default = told.remove("").unwrap_or_default();
                ("ConstraintsNotSatisfiable", default, told)
            }
            Failure::Error(text) => (UNREAD, text.clone(), BTreeMap::new()),
            Failure::TooExpensive(expense) => (TOO_EXPENSIVE, expense.to_string(), BTreeMap::new()),
            Failure::Defect(text) => (
                UNREAD,
                format!("an answer was found and refused by the checker: {text}"),
                BTreeMap::new(),
            ),
        };
        for request in &part.requests {
            if let Some(prospect) = self.prospects.get_mut(request) {
                let message = told.get(request).unwrap_or(&default);
                prospect.failure = Some((reason, message.clone()));
            }
        }
    }

    fn draft(
        &mut self,
        scene: &Scene<'_>,
        group: OperatorGroup<'_>,
        universe: &Universe<'_>,
        requests: &[Request],
        answers: &[&Answer],
    ) {
        let together: Vec<Vec<&Answer>> = if group.plans_by_namespace() {
            vec![answers.to_vec()]
        } else {
            answers.iter().map(|answer| vec![*answer]).collect()
        };
        for answers in together {
            self.want_contents(scene, requests, &answers);
            let drafted = draft(universe, requests, &answers, |addition| {
                ready_contents(scene, &bundle_key(scene, addition))
            });
            match drafted {
                Ok(None) | Err(PlanFault::Missing { .. }) => {}
                Ok(Some(mut draft)) => {
                    if group.plans_by_namespace() {
                        // Upstream: one Subscription that waits for a person makes all wait.
                        draft.manual = manual_subscriptions(scene);
                    }
                    self.keep_or_hold(scene, draft);
                }
                Err(fault @ PlanFault::Rules { .. }) => {
                    let additions = answers.iter().flat_map(|answer| &answer.additions);
                    self.deferred.extend(additions.map(|addition| addition.name.clone()));
                    for name in subscriptions_of(requests, &answers) {
                        if let Some(prospect) = self.prospects.get_mut(name) {
                            prospect.unpack_failure = Some(fault.to_string());
                        }
                    }
                }
            }
        }
    }

    /// Keeps a draft, unless a plan of the same content failed or was refused.
    fn keep_or_hold(&mut self, scene: &Scene<'_>, draft: Draft) {
        let mut weight = hold::weigh_draft(scene, &draft);
        if self.asks_neighbours && matches!(weight, hold::Weight::Free) {
            match neighbours::ask(scene, &draft, &mut self.cost) {
                Neighbours::Unharmed => {}
                Neighbours::Joined(contents) => {
                    self.looks_elsewhere = true;
                    self.joined.insert(draft.content.clone(), contents);
                }
                Neighbours::Held(hold) => {
                    self.looks_elsewhere = true;
                    weight = hold::Weight::Held(hold);
                }
            }
        }
        if !matches!(weight, hold::Weight::Free) {
            let names = draft.operators.iter().map(|operator| operator.addition.name.clone());
            self.deferred.extend(names);
        }
        match weight {
            hold::Weight::Free => self.drafts.push(draft),
            hold::Weight::Busy => {
                for name in draft.targets.keys() {
                    if let Some(prospect) = self.prospects.get_mut(name) {
                        prospect.is_busy = true;
                    }
                }
            }
            hold::Weight::Held(hold) => {
                for name in draft.targets.keys() {
                    if let Some(prospect) = self.prospects.get_mut(name) {
                        prospect.hold = Some(hold.clone());
                    }
                }
            }
        }
    }

    /// Asks for the contents of bundles, and notes how far they have come.
    fn want_contents(&mut self, scene: &Scene<'_>, requests: &[Request], answers: &[&Answer]) {
        let mut waiting = Vec::new();
        let mut failed = Vec::new();
        for addition in answers.iter().flat_map(|answer| &answer.additions) {
            let key = bundle_key(scene, addition);
            self.used.insert(key.clone());
            match scene.world.bundles.get(&key) {
                None => waiting.push(String::new()),
                Some(BundleState::Pending { message }) => waiting.push(message.clone()),
                Some(BundleState::Ready(_)) => continue,
                Some(BundleState::Failed { reason, message, .. }) => {
                    self.deferred.insert(addition.name.clone());
                    failed.push(format!("Bundle unpacking failed - {reason}: {message}"));
                }
            }
            self.wanted.insert(key);
        }
        for name in subscriptions_of(requests, answers) {
            let Some(prospect) = self.prospects.get_mut(name) else { continue };
            if let Some(message) = failed.first() {
                prospect.unpack_failure = Some(message.clone());
            } else if !waiting.is_empty() {
                let known = waiting.iter().find(|message| !message.is_empty());
                prospect.unpacking = Some(known.cloned().unwrap_or_default());
            }
        }
    }
}

/// Names the contents of an addition's bundle.
fn bundle_key(scene: &Scene<'_>, addition: &Addition) -> BundleKey {
    let state = scene.world.catalogs.get(&addition.source);
    BundleKey {
        source: addition.source.clone(),
        name: addition.name.clone(),
        image: addition.image.clone(),
        digest: state.map(|state| state.digest.clone()).unwrap_or_default(),
    }
}

fn ready_contents<'w>(scene: &Scene<'w>, key: &BundleKey) -> Option<&'w BundleContents> {
    match scene.world.bundles.get(key)? {
        BundleState::Ready(contents) => Some(contents),
        BundleState::Pending { .. } | BundleState::Failed { .. } => None,
    }
}

/// Returns the Subscriptions whose answer has additions.
fn subscriptions_of<'r>(requests: &'r [Request], answers: &[&Answer]) -> BTreeSet<&'r str> {
    let reasons = answers.iter().flat_map(|answer| &answer.additions);
    let asked: BTreeSet<&String> = reasons
        .flat_map(|addition| &addition.reasons)
        .filter_map(|reason| match reason {
            Reason::Requested(request) => Some(request),
            Reason::Freestanding | Reason::Needed { .. } => None,
        })
        .collect();
    requests
        .iter()
        .map(|request| &request.name)
        .filter(|name| asked.contains(name))
        .map(String::as_str)
        .collect()
}

fn manual_subscriptions(scene: &Scene<'_>) -> Vec<String> {
    let manual = scene.subscriptions.iter().filter(|subscription| subscription.is_manual());
    manual.map(|subscription| subscription.name().to_owned()).collect()
}

fn group_problem(scene: &Scene<'_>) -> String {
    let Scene { namespace, groups, .. } = scene;
    if groups.is_empty() {
        return format!(
            "found 0 operatorGroups, expected 1: create an OperatorGroup in namespace {namespace}"
        );
    }
    let names: Vec<&str> = groups.iter().map(|group| group.name()).collect();
    format!(
        "found {} operatorGroups, expected 1: delete all but one of {}",
        groups.len(),
        names.join(", ")
    )
}
