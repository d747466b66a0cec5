//! The answer as text.

use crate::{
    answer::{CaseAnswer, Outcome, PartAnswer},
    output::{clean, table},
};

/// Renders the outcome, the operators to add, explanations and notices.
pub(crate) fn render(answer: &CaseAnswer) -> String {
    let mut text = format!("{}\n", clean(&headline(answer)));
    if !answer.operators.is_empty() {
        text.push('\n');
        text.push_str(&operators(answer));
    }
    let unsatisfiable = |part: &&PartAnswer| part.outcome == Outcome::Unsatisfiable;
    let parts = answer.parts.iter().filter(unsatisfiable);
    for explanation in parts.filter_map(|part| part.explanation.as_ref()) {
        text.push_str(&format!("\n{}", explanation.text()));
    }
    if !answer.notices.is_empty() {
        text.push('\n');
    }
    for notice in &answer.notices {
        text.push_str(&format!("notice: {}\n", clean(&notice.text)));
        if !notice.help.is_empty() {
            text.push_str(&format!("  help: {}\n", clean(&notice.help)));
        }
    }
    text
}

fn headline(answer: &CaseAnswer) -> String {
    let namespace = &answer.namespace;
    let count = answer.operators.len();
    let plural = if count == 1 { "" } else { "s" };
    match answer.outcome {
        Outcome::Resolved if count == 0 => format!("{namespace}: resolved, nothing to do"),
        Outcome::Resolved => format!("{namespace}: resolved, {count} operator{plural} to add"),
        Outcome::Unsatisfiable if count > 0 => {
            format!(
                "{namespace}: no answer for a part of the namespace; {count} operator{plural} to add in the rest"
            )
        }
        Outcome::Unsatisfiable => format!("{namespace}: no answer, constraints not satisfiable"),
        Outcome::CatalogInvalid => format!("{namespace}: no answer, {}", answer.error),
        Outcome::Error | Outcome::NotACase => format!("no answer: {}", answer.error),
    }
}

fn operators(answer: &CaseAnswer) -> String {
    let rows = answer.operators.iter().map(|addition| {
        let replaces = if addition.updates.is_empty() { "-" } else { &addition.updates };
        let source = addition.source.to_string();
        [
            addition.package.as_str(),
            &addition.version,
            &addition.channel,
            &source,
            &addition.name,
            replaces,
        ]
        .map(str::to_owned)
    });
    let header = ["PACKAGE", "VERSION", "CHANNEL", "CATALOG", "BUNDLE", "REPLACES"];
    table(header, &rows.collect::<Vec<_>>())
}
