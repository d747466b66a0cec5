//! A resolution as people see it: one row for each operator, and what has no answer.
//!
//! Texts are made here once, for every form of output; what is done is decided by the resolution.

use operon_catalog::{
    Catalog, Channel,
    journey::{Installed as Standing, Origin, Routes},
};
use operon_resolve::{Addition, FailureScope, Kept, Part, Reason, Resolution, SourceName};

use super::{
    identity,
    notices::{PlanNotice, notices},
    situation::Question,
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

/// A resolution as people see it.
#[derive(Debug, Clone)]
pub(crate) struct PlanView {
    /// What is installed, then what is upgraded, then what stays.
    pub(crate) rows: Vec<Row>,
    pub(crate) unanswered: Vec<Unanswered>,
    pub(crate) notices: Vec<PlanNotice>,
    /// The Subscriptions that have an answer.
    pub(crate) answered_requests: usize,
    pub(crate) id: String,
}

impl PlanView {
    /// Describes a resolution; `subscribed` are the requests of the command line.
    pub(crate) fn new(
        question: &Question<'_>,
        resolution: &Resolution,
        subscribed: &[String],
    ) -> Self {
        let rows = rows(question, resolution, subscribed);
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
        Self {
            id: identity::plan_id(question, &rows),
            notices: notices(question, resolution, &rows),
            rows,
            unanswered,
            answered_requests,
        }
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
        match self.unanswered.iter().map(|part| part.requests.len()).sum() {
            0 if self.unanswered.is_empty() => {}
            0 => summary += " What runs here has no answer.",
            1 => summary += " 1 Subscription has no answer.",
            count => summary += &format!(" {count} Subscriptions have no answer."),
        }
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

fn rows(question: &Question<'_>, resolution: &Resolution, subscribed: &[String]) -> Vec<Row> {
    let mut rows = Vec::new();
    for part in &resolution.parts {
        let Ok(answer) = &part.result else { continue };
        let waits = waits_for_approval(question, resolution, part);
        for addition in &answer.additions {
            let why = match question.installed(&addition.updates) {
                Some(before) => {
                    let catalog = question.catalog(&addition.source);
                    update_words(catalog, addition, &before.version.to_string())
                }
                None => why_words(&name_in(resolution), &addition.reasons, subscribed),
            };
            rows.push(added_row(question, addition, waits, why));
        }
        for kept in &answer.kept {
            rows.push(kept_row(question, resolution, kept));
        }
    }
    let is_dependency =
        |row: &Row| !row.reasons.iter().any(|reason| matches!(reason, Reason::Requested(_)));
    rows.sort_by_cached_key(|row| {
        (row.change, is_dependency(row), row.package.clone(), row.name.clone())
    });
    rows
}

/// Tells whether the changes of a part wait for a person: they are done together, so one request
/// that moves by hand holds all of them. Upstream: any such request of the namespace does.
fn waits_for_approval(question: &Question<'_>, resolution: &Resolution, part: &Part) -> bool {
    let moves = |request: &str| {
        let Ok(answer) = &part.result else { return false };
        let wanted = Reason::Requested(request.to_owned());
        answer.additions.iter().any(|addition| addition.reasons.contains(&wanted))
    };
    let counts = |name: &String| match question.semantics.failures {
        FailureScope::Part => part.requests.contains(name) && moves(name),
        FailureScope::Namespace => resolution.parts.iter().any(|part| part.requests.contains(name)),
    };
    question.requests.iter().any(|request| request.manual_approval && counts(&request.name))
}

fn added_row(question: &Question<'_>, addition: &Addition, waits: bool, why: String) -> Row {
    let before = question.installed(&addition.updates);
    Row::added(addition, before.map(|before| before.version.to_string()), waits, why)
}

fn kept_row(question: &Question<'_>, resolution: &Resolution, kept: &Kept) -> Row {
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
    let why = match (request, followed) {
        (Some(_), Some(channel)) => standing_words(question, kept, channel),
        (Some(request), None) => format!("kept for Subscription {}", request.name),
        (None, _) => why_words(&name_in(resolution), &kept.reasons, &[]),
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

/// Says where in its channel an operator stands that is not updated.
fn standing_words(question: &Question<'_>, kept: &Kept, channel: Channel<'_>) -> String {
    if channel.head().is_some_and(|head| head.name() == kept.name) {
        return "at the head".to_owned();
    }
    let standing = Standing {
        name: kept.name.clone(),
        version: question.installed(&kept.name).map(|installed| installed.version.clone()),
        origin: Origin::Unknown,
    };
    let routes = Routes::v0(channel);
    match routes.next(&standing) {
        None => "no update in this channel".to_owned(),
        Some(next) => {
            let label = routes.at(next).label();
            format!("its update {label} does not go with the rest")
        }
    }
}

/// Says how an addition updates what is installed, which has the version `label`.
pub(super) fn update_words(catalog: Option<&Catalog>, addition: &Addition, label: &str) -> String {
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
pub(super) fn why_words(
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
