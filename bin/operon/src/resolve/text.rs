//! The answer for people.

use super::answer::{Answered, PartAnswer, Verdict};
use crate::output::{Table, clean};

/// Prints the answer: the outcome, what to do or why not, and what else should be known.
pub(super) fn answer(answered: &Answered) -> String {
    let mut text = format!("{}\n", clean(&headline(answered)));
    if !answered.operators.is_empty() {
        text.push('\n');
        text.push_str(&operators(answered));
    }
    let unsatisfiable = |part: &&PartAnswer| part.outcome == Verdict::Unsatisfiable;
    let parts = answered.parts.iter().filter(unsatisfiable);
    for explanation in parts.filter_map(|part| part.explanation.as_ref()) {
        text.push_str(&format!("\n{}", explanation.text()));
    }
    if !answered.notices.is_empty() {
        text.push('\n');
    }
    for notice in &answered.notices {
        text.push_str(&format!("notice: {}\n", clean(&notice.text)));
        if !notice.help.is_empty() {
            text.push_str(&format!("  help: {}\n", clean(&notice.help)));
        }
    }
    text
}

fn headline(answered: &Answered) -> String {
    let namespace = &answered.namespace;
    let count = answered.operators.len();
    let plural = if count == 1 { "" } else { "s" };
    match answered.outcome {
        Verdict::Resolved if count == 0 => format!("{namespace}: resolved, nothing to do"),
        Verdict::Resolved => format!("{namespace}: resolved, {count} operator{plural} to add"),
        Verdict::Unsatisfiable if count > 0 => {
            format!(
                "{namespace}: no answer for a part of the namespace; {count} operator{plural} to add in the rest"
            )
        }
        Verdict::Unsatisfiable => format!("{namespace}: no answer, constraints not satisfiable"),
        Verdict::CatalogInvalid => format!("{namespace}: no answer, {}", answered.error),
        Verdict::Error | Verdict::NotACase => format!("no answer: {}", answered.error),
    }
}

fn operators(answered: &Answered) -> String {
    let mut table = Table::new(&["PACKAGE", "VERSION", "CHANNEL", "CATALOG", "BUNDLE", "REPLACES"]);
    for addition in &answered.operators {
        let replaces = if addition.updates.is_empty() { "-" } else { &addition.updates };
        table.row([
            addition.package.as_str(),
            &addition.version,
            &addition.channel,
            &addition.source.to_string(),
            &addition.name,
            replaces,
        ]);
    }
    table.render()
}
