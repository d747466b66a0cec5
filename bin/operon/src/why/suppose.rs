//! What if a Subscription wanted exactly this version: the question changed, and asked again.

use operon_catalog::Entry;
use operon_resolve::{Failure, Reason, Request, SourceName};

use crate::explanation::Told;
use crate::plan::{Change, PlanView, Question, Row};

/// What comes of a supposition.
pub(super) enum Supposed {
    /// It has an answer.
    Possible(PlanView),
    /// It has none.
    Impossible(Told),
}

/// Resolves again with a Subscription that takes exactly this entry, whatever runs for it now.
pub(super) fn suppose(
    question: &Question<'_>,
    plan: &PlanView,
    source: &SourceName,
    entry: Entry<'_>,
) -> Supposed {
    let mut changed = question.clone();
    let position = position_of(&mut changed, entry);
    let request = &mut changed.requests[position];
    let current = current_of(plan, request);
    // A Subscription starts with a version only where nothing of it runs.
    *request = Request {
        channel: entry.channel().name().to_owned(),
        source: Some(source.clone()),
        starting_csv: entry.name().to_owned(),
        installed_csv: String::new(),
        current_csv: String::new(),
        ..request.clone()
    };
    changed.universe.installed.retain(|installed| Some(&installed.name) != current.as_ref());
    ask(&changed, position)
}

/// Resolves again with a Subscription that follows the entry's channel.
pub(super) fn follow(question: &Question<'_>, source: &SourceName, entry: Entry<'_>) -> Supposed {
    let mut changed = question.clone();
    let position = position_of(&mut changed, entry);
    let request = &mut changed.requests[position];
    request.channel = entry.channel().name().to_owned();
    request.source = Some(source.clone());
    ask(&changed, position)
}

/// Returns the operator that runs for a request.
pub(super) fn current_of(plan: &PlanView, request: &Request) -> Option<String> {
    if !request.installed_csv.is_empty() {
        return Some(request.installed_csv.clone());
    }
    let wanted = Reason::Requested(request.name.clone());
    let row: &Row = plan.rows.iter().find(|row| row.reasons.contains(&wanted))?;
    match row.change {
        Change::Install => None,
        Change::Upgrade => row.addition.as_ref().map(|addition| addition.updates.clone()),
        Change::Keep => Some(row.name.clone()),
    }
}

/// Finds the Subscription to an entry's package, or makes one.
fn position_of(question: &mut Question<'_>, entry: Entry<'_>) -> usize {
    let package = entry.channel().package().name();
    let known = question.requests.iter().position(|request| request.package == package);
    known.unwrap_or_else(|| {
        let (name, package) = (package.to_owned(), package.to_owned());
        question.requests.push(Request { name, package, ..Request::default() });
        question.requests.len() - 1
    })
}

fn ask(question: &Question<'_>, position: usize) -> Supposed {
    let name = &question.requests[position].name;
    let resolution = question.resolve();
    let part = resolution.parts.iter().find(|part| part.requests.contains(name));
    match part.map(|part| &part.result) {
        Some(Err(failure)) => {
            let failure = about(failure, name);
            Supposed::Impossible(question.explain(&failure).without_ways_out())
        }
        Some(Ok(_)) | None => Supposed::Possible(PlanView::new(question, &resolution, &[])),
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
