//! A resolution as people see it: one row for each operator, and what has no answer.
//!
//! Texts are made here once, for every form of output; what is done is decided by the resolution.

use std::collections::BTreeSet;

use operon_catalog::Catalog;
use operon_lifecycle::views::{PreviewPlan, needs_action};
use operon_resolve::{
    Addition, FailureScope, Installed, Kept, Part, Reason, Resolution, SourceName,
};

use super::{
    notices::{PlanNotice, notices},
    situation::{Question, Situation},
    standing::{blocked_words, gone_words, standing_words},
};
use crate::explanation::Told;

/// What happens with an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// It is not there yet.
    Install,
    /// It takes the place of an older one.
    Upgrade,
    /// It stays as it is.
    Keep,
}

/// An operator of the answer.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) change: Change,
    /// Whether a person is asked first.
    pub(crate) waits: bool,
    /// The package, or else the name of an operator whose package is not known.
    pub(crate) package: String,
    pub(crate) name: String,
    /// The version that goes away.
    pub(crate) from: Option<String>,
    /// The version that is there then.
    pub(crate) version: String,
    pub(crate) channel: String,
    pub(crate) source: Option<SourceName>,
    /// Why it is there, in a few words.
    pub(crate) why: String,
    pub(crate) reasons: Vec<Reason>,
    /// What only bundles that are added have.
    pub(crate) addition: Option<Addition>,
}

impl Row {
    /// Makes the row of an operator that is added, in place of a version or of nothing.
    pub(crate) fn added(
        addition: &Addition,
        from: Option<String>,
        waits: bool,
        why: String,
    ) -> Self {
        Self {
            change: if from.is_some() { Change::Upgrade } else { Change::Install },
            waits,
            package: addition.package.clone(),
            name: addition.name.clone(),
            from,
            version: addition.version.clone(),
            channel: addition.channel.clone(),
            source: Some(addition.source.clone()),
            why,
            reasons: addition.reasons.clone(),
            addition: Some(addition.clone()),
        }
    }
}

/// A part of the namespace that has no answer.
#[derive(Debug, Clone)]
pub(crate) struct Unanswered {
    pub(crate) requests: Vec<String>,
    pub(crate) installed: Vec<String>,
    pub(crate) told: Told,
}

/// Why a Subscription does not move on: its name, a reason for programs, and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocked {
    pub(crate) subscription: String,
    pub(crate) reason: String,
    pub(crate) message: String,
}

/// The next state of a namespace as users see it.
#[derive(Debug, Clone)]
pub(crate) struct PlanView {
    /// What is installed, then what is upgraded, then what stays.
    pub(crate) rows: Vec<Row>,
    pub(crate) unanswered: Vec<Unanswered>,
    pub(crate) notices: Vec<PlanNotice>,
    /// The Subscriptions that have a solution.
    pub(crate) answered_requests: usize,
    /// The InstallPlans that the engine creates or has created; none without the contents of the bundles.
    pub(crate) plans: Vec<PreviewPlan>,
    /// The Subscriptions that are kept from moving on.
    pub(crate) held: Vec<Blocked>,
    /// The Subscriptions whose OperatorGroup, catalog or bundle has a problem.
    pub(crate) failed: Vec<Blocked>,
    /// The Subscriptions with an operation in progress.
    pub(crate) busy: Vec<String>,
    /// What is wrong with installed operators and with InstallPlans that are being executed.
    pub(crate) problems: Vec<String>,
}

impl PlanView {
    /// Describes a forecast.
    pub(crate) fn new(situation: &Situation, question: &Question<'_>) -> Self {
        let (resolution, preview) = (&question.resolution, &question.preview);
        let rows = rows(question, &situation.subscribed);
        let mut unanswered = Vec::new();
        let mut answered_requests = 0;
        for part in &resolution.parts {
            match &part.result {
                Ok(_) => answered_requests += part.requests.len(),
                Err(failure) => unanswered.push(Unanswered {
                    requests: part.requests.clone(),
                    installed: part.installed.clone(),
                    told: question.explain(failure),
                }),
            }
        }
        let blocked = |(subscription, reason, message): &(String, String, String)| Blocked {
            subscription: subscription.clone(),
            reason: reason.clone(),
            message: message.clone(),
        };
        let is_explained =
            |name: &String| unanswered.iter().any(|part| part.requests.contains(name));
        let failed = preview.failed.iter().filter(|(name, _, _)| !is_explained(name));
        // An upgrade replaces an operator with whatever is wrong with it.
        let is_replaced = |name: &String| {
            rows.iter().filter_map(|row| row.addition.as_ref()).any(|added| added.updates == *name)
        };
        let problems = preview.problems.iter().filter(|(name, _)| !is_replaced(name));
        let problems = problems.map(|(_, problem)| problem).chain(&preview.plan_problems);
        let problems: Vec<String> = problems.cloned().collect();
        Self {
            notices: notices(question, &rows),
            rows,
            failed: failed.map(blocked).collect(),
            unanswered,
            answered_requests,
            plans: preview.plans.clone(),
            held: preview.held.iter().map(blocked).collect(),
            busy: preview.busy.clone(),
            problems,
        }
    }

    /// Returns why plans would fail: their names and sentences.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = (&str, &str)> {
        self.plans.iter().flat_map(|plan| {
            plan.refusals.iter().map(|refusal| (plan.name.as_str(), refusal.as_str()))
        })
    }

    /// Returns `true` if something has no solution, is broken or would fail.
    pub(crate) fn has_problems(&self) -> bool {
        !self.unanswered.is_empty()
            || !self.failed.is_empty()
            || !self.problems.is_empty()
            || self.held.iter().any(|held| needs_action(&held.reason))
            || self.refusals().next().is_some()
    }

    pub(crate) fn count(&self, change: Change) -> usize {
        self.rows.iter().filter(|row| row.change == change).count()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.rows.iter().filter(|row| row.waits).count()
    }

    pub(crate) fn has_changes(&self) -> bool {
        self.rows.iter().any(|row| row.change != Change::Keep)
    }

    /// Sums the plan up, as `2 to install, 1 kept. Nothing needs approval.`
    pub(crate) fn summary(&self) -> String {
        let counted = [
            (self.count(Change::Install), "to install"),
            (self.count(Change::Upgrade), "to upgrade"),
            (self.count(Change::Keep), "kept"),
        ];
        let mut parts: Vec<String> = counted
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if !self.has_changes() {
            parts.insert(0, "nothing to do".to_owned());
        }
        let mut summary = parts.join(", ") + ".";
        if self.has_changes() {
            summary += &match self.waiting() {
                0 => " Nothing needs approval.".to_owned(),
                1 => " 1 waits for approval.".to_owned(),
                waiting => format!(" {waiting} wait for approval."),
            };
        }
        let count = |count: usize, one: &str, several: &str| match count {
            0 => String::new(),
            1 => format!(" 1 {one}."),
            count => format!(" {count} {several}."),
        };
        summary += &count(self.held.len(), "Subscription is blocked", "Subscriptions are blocked");
        let unanswered: usize = self.unanswered.iter().map(|part| part.requests.len()).sum();
        summary += &match unanswered {
            0 if !self.unanswered.is_empty() => " What runs here has no solution.".to_owned(),
            unanswered => {
                count(unanswered, "Subscription has no solution", "Subscriptions have no solution")
            }
        };
        summary += &count(self.failed.len(), "Subscription failed", "Subscriptions failed");
        summary += &count(self.refusals().count(), "check failed", "checks failed");
        summary += &count(self.problems.len(), "problem", "problems");
        summary
    }
}

/// Returns the package of an operator of the answer, or else its own name.
pub(crate) fn package_of<'r>(resolution: &'r Resolution, name: &'r str) -> &'r str {
    let answers = resolution.parts.iter().filter_map(|part| part.result.as_ref().ok());
    let packages = answers.flat_map(|answer| {
        let added = answer.additions.iter().map(|added| (&added.name, &added.package));
        added.chain(answer.kept.iter().map(|kept| (&kept.name, &kept.package)))
    });
    let mut found = packages.filter(|(known, package)| *known == name && !package.is_empty());
    found.next().map_or(name, |(_, package)| package)
}

fn rows(question: &Question<'_>, subscribed: &[String]) -> Vec<Row> {
    let (resolution, preview) = (&question.resolution, &question.preview);
    let mut rows = Vec::new();
    for part in &resolution.parts {
        let Ok(answer) = &part.result else { continue };
        let is_deferred = |addition: &&Addition| !preview.deferred.contains(&addition.name);
        for addition in answer.additions.iter().filter(is_deferred) {
            let waits = waits_for_approval(question, part, addition);
            let mut why = match question.installed(&addition.updates) {
                Some(before) => {
                    let catalog = question.catalog(&addition.source);
                    update_words(catalog, addition, &before.version.to_string())
                }
                None => why_words(&name_in(resolution), &addition.reasons, subscribed),
            };
            if let Some(passed) = passed_over(question, addition) {
                why += &format!("; {passed}");
            }
            rows.push(added_row(question, addition, waits, why));
        }
        for kept in &answer.kept {
            rows.push(kept_row(question, kept));
        }
    }
    // What is refused is shown, too: its plan is created, and then fails.
    for plan in preview.plans.iter().filter(|plan| !plan.refusals.is_empty()) {
        for operator in &plan.operators {
            let why = "would fail, see below".to_owned();
            rows.push(added_row(question, &operator.addition, plan.waits, why));
        }
    }
    let replaced = rows.iter().filter_map(|row| row.addition.as_ref());
    let replaced: BTreeSet<String> = replaced.map(|addition| addition.updates.clone()).collect();
    let shown: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).collect();
    let left = question.universe.installed.iter().filter(|installed| {
        !shown.contains(&installed.name) && !replaced.contains(&installed.name)
    });
    rows.extend(left.map(|installed| kept_row(question, &kept_as_it_is(question, installed))));
    let is_dependency =
        |row: &Row| !row.reasons.iter().any(|reason| matches!(reason, Reason::Requested(_)));
    rows.sort_by_cached_key(|row| {
        (row.change, is_dependency(row), row.package.clone(), row.name.clone())
    });
    rows
}

/// Returns an operator of which the resolution says nothing: its part has no solution, or is deferred.
fn kept_as_it_is(question: &Question<'_>, installed: &Installed) -> Kept {
    let request = question.requests.iter().find(|request| request.installed_csv == installed.name);
    let reason =
        request.map_or(Reason::Freestanding, |request| Reason::Requested(request.name.clone()));
    Kept {
        name: installed.name.clone(),
        package: request.map(|request| request.package.clone()).unwrap_or_default(),
        version: installed.version.to_string(),
        reasons: vec![reason],
    }
}

/// Says how many newer versions of the channel were passed over for a new operator.
fn passed_over(question: &Question<'_>, addition: &Addition) -> Option<String> {
    if !addition.updates.is_empty() || addition.is_starting {
        return None;
    }
    let entry = question.catalog(&addition.source)?.entry_by_id(addition.entry);
    let newer = entry.channel().order().position(|other| other.id() == entry.id())?;
    match newer {
        0 => None,
        1 => Some("1 newer version passed over".to_owned()),
        newer => Some(format!("{newer} newer versions passed over")),
    }
}

/// Returns `true` if an addition waits for an approval: the changes of a part are made together, so one
/// Subscription with manual approval holds all of them. Upstream: any such Subscription of the namespace does.
fn waits_for_approval(question: &Question<'_>, part: &Part, addition: &Addition) -> bool {
    let brings = |plan: &&PreviewPlan| {
        plan.operators.iter().any(|operator| operator.addition.name == addition.name)
    };
    if let Some(plan) = question.preview.plans.iter().find(brings) {
        return plan.waits;
    }
    // The engine creates no plan before it has the contents of its bundles.
    let moves = |request: &str| {
        let Ok(answer) = &part.result else { return false };
        let wanted = Reason::Requested(request.to_owned());
        answer.additions.iter().any(|addition| addition.reasons.contains(&wanted))
    };
    let parts = &question.resolution.parts;
    let counts = |name: &String| match question.semantics.failures {
        FailureScope::Part => part.requests.contains(name) && moves(name),
        FailureScope::Namespace => parts.iter().any(|part| part.requests.contains(name)),
    };
    question.requests.iter().any(|request| request.manual_approval && counts(&request.name))
}

fn added_row(question: &Question<'_>, addition: &Addition, waits: bool, why: String) -> Row {
    let before = question.installed(&addition.updates);
    Row::added(addition, before.map(|before| before.version.to_string()), waits, why)
}

fn kept_row(question: &Question<'_>, kept: &Kept) -> Row {
    let request = kept.reasons.iter().find_map(|reason| match reason {
        Reason::Requested(name) => question.request(name),
        Reason::Freestanding | Reason::Needed { .. } => None,
    });
    let followed = request.and_then(|request| {
        let source = request.source.as_ref()?;
        let package = question.catalog(source)?.package(&request.package)?;
        if request.channel.is_empty() {
            package.default_channel()
        } else {
            package.channel(&request.channel)
        }
    });
    let blocked = blocked_words(question, &kept.name, request);
    let why = match (blocked, request, followed) {
        (Some(blocked), _, _) => blocked,
        (None, Some(request), Some(channel)) => standing_words(question, kept, request, channel),
        (None, Some(request), None) => gone_words(question, request),
        (None, None, _) => why_words(&name_in(&question.resolution), &kept.reasons, &[]),
    };
    Row {
        change: Change::Keep,
        waits: false,
        package: if kept.package.is_empty() { kept.name.clone() } else { kept.package.clone() },
        name: kept.name.clone(),
        from: None,
        version: kept.version.clone(),
        channel: request.map(|request| request.channel.clone()).unwrap_or_default(),
        source: request.and_then(|request| request.source.clone()),
        why,
        reasons: kept.reasons.clone(),
        addition: None,
    }
}

/// Says how an addition updates what is installed, which has the version `label`.
fn update_words(catalog: Option<&Catalog>, addition: &Addition, label: &str) -> String {
    let entry = catalog.map(|catalog| catalog.entry_by_id(addition.entry));
    let Some(entry) = entry else { return format!("updates {label}") };
    if entry.replaces() == Some(addition.updates.as_str()) {
        return format!("replaces {label}");
    }
    if entry.skips().any(|skipped| skipped == addition.updates) {
        return format!("skips {label}");
    }
    match entry.skip_range() {
        Some(range) => format!("updates {range}"),
        None => format!("updates {label}"),
    }
}

/// Returns what operators of the answer are called in a sentence.
fn name_in(resolution: &Resolution) -> impl Fn(&str) -> String {
    |name| package_of(resolution, name).to_owned()
}

/// Says the first reason in a few words.
fn why_words(
    name_of: &dyn Fn(&str) -> String,
    reasons: &[Reason],
    subscribed: &[String],
) -> String {
    match reasons.first() {
        Some(Reason::Requested(name)) if subscribed.contains(name) => "you subscribed".to_owned(),
        Some(Reason::Requested(name)) => format!("Subscription {name}"),
        Some(Reason::Freestanding) => "runs without a Subscription".to_owned(),
        Some(Reason::Needed { by, requirement, message }) => {
            let by = name_of(by);
            let mut why = format!("{by} needs {requirement}");
            if !message.is_empty() && !requirement.contains(message.as_str()) {
                why += &format!(": \"{message}\"");
            }
            why
        }
        None => String::new(),
    }
}
