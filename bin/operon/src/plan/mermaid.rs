//! A plan as a Mermaid flowchart: who asks for what, and who needs whom.
//!
//! Nodes are numbered, so that no name from a catalog is ever part of the syntax; names appear only
//! inside quoted, escaped labels.

use std::fmt::Write;

use operon_resolve::Reason;

use super::view::{Change, PlanView, Row};
use crate::output::clean;

/// The look of each kind of node; fills are pale and texts dark, to be read on white and on dark pages.
const CLASSES: &str = "  classDef install fill:#D7F2DD,stroke:#1A7F37,color:#1F2328
  classDef upgrade fill:#D6EBF7,stroke:#0072B2,color:#1F2328
  classDef keep fill:#F0F1F3,stroke:#6E7781,color:#1F2328
  classDef waits fill:#FFF4D9,stroke:#B87A00,color:#1F2328
  classDef subscription fill:#FFFFFF,stroke:#6E7781,color:#1F2328
  classDef unanswered fill:#FBE4D8,stroke:#D55E00,color:#1F2328,stroke-width:3px
";

/// Returns a plan as a Mermaid flowchart.
pub(super) fn render(plan: &PlanView) -> String {
    let mut out = String::from("graph LR\n");
    for one in &plan.plans {
        push(&mut out, format_args!("  %% Plan {}", clean(&one.name)));
    }
    out.push_str(CLASSES);
    let requests = requests(plan);
    for (number, request) in requests.iter().enumerate() {
        let label = escaped(&format!("Subscription {request}"));
        let failed = plan.unanswered.iter().any(|part| part.requests.contains(request));
        let class = if failed { "unanswered" } else { "subscription" };
        push(&mut out, format_args!("  s{number}([\"{label}\"]):::{class}"));
    }
    for (number, row) in plan.rows.iter().enumerate() {
        let (label, class) = (label(row), class(row));
        push(&mut out, format_args!("  o{number}[\"{label}\"]:::{class}"));
    }
    for (number, row) in plan.rows.iter().enumerate() {
        for reason in &row.reasons {
            edge(&mut out, plan, &requests, number, reason);
        }
    }
    out
}

/// Returns the requests that are drawn: those that an operator is there for, and the unanswered.
fn requests(plan: &PlanView) -> Vec<String> {
    let mut names: Vec<String> =
        plan.unanswered.iter().flat_map(|part| part.requests.clone()).collect();
    for reason in plan.rows.iter().flat_map(|row| &row.reasons) {
        match reason {
            Reason::Requested(name) => names.push(name.clone()),
            Reason::Freestanding | Reason::Needed { .. } => {}
        }
    }
    names.sort();
    names.dedup();
    names
}

fn edge(out: &mut String, plan: &PlanView, requests: &[String], to: usize, reason: &Reason) {
    match reason {
        Reason::Requested(name) => {
            if let Ok(from) = requests.binary_search(name) {
                push(out, format_args!("  s{from} --> o{to}"));
            }
        }
        Reason::Needed { by, requirement, .. } => {
            if let Some(from) = plan.rows.iter().position(|row| row.name == *by) {
                let label = escaped(requirement);
                push(out, format_args!("  o{from} -->|\"{label}\"| o{to}"));
            }
        }
        Reason::Freestanding => {}
    }
}

fn label(row: &Row) -> String {
    let (package, version) = (escaped(&row.package), escaped(&row.version));
    match (row.change, &row.from) {
        (Change::Install, _) => format!("{package}<br/>+ {version}"),
        (Change::Upgrade, Some(from)) => format!("{package}<br/>{} → {version}", escaped(from)),
        (Change::Upgrade, None) => format!("{package}<br/>→ {version}"),
        (Change::Keep, _) => format!("{package}<br/>= {version}"),
    }
}

fn class(row: &Row) -> &'static str {
    match (row.waits, row.change) {
        (true, _) => "waits",
        (false, Change::Install) => "install",
        (false, Change::Upgrade) => "upgrade",
        (false, Change::Keep) => "keep",
    }
}

/// Returns the text with everything that Mermaid, Markdown or HTML could read written as a code.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in clean(text).chars() {
        match character {
            ' ' | '.' | ',' | ':' | '+' | '-' | '=' | '/' | '(' | ')' => escaped.push(character),
            _ if character.is_ascii_punctuation() => {
                let _ = write!(escaped, "#{};", u32::from(character));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Writing to a `String` cannot fail, so there is no error to hand on.
fn push(out: &mut String, line: std::fmt::Arguments) {
    let _ = out.write_fmt(line);
    out.push('\n');
}
