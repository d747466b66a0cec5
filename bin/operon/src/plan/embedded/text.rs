//! What would happen in a directory, for people, in the layout of every plan.

use operon_lifecycle::views::{NewRight, PreviewPlan};
use operon_resolve::SourceName;

use super::{NamespaceOutlook, Outlook};
use crate::{
    output::clean,
    plan::text::{DIGEST_DIGITS, INDENT, Signs, legend, lines},
};

/// Prints what would happen.
pub(super) fn render(outlook: &Outlook, width: usize) -> String {
    let mut out = String::new();
    for problem in &outlook.problems {
        out += &line(&format!("not applied: {problem}"));
    }
    if !outlook.problems.is_empty() {
        out.push('\n');
    }
    if outlook.namespaces.is_empty() {
        return out + &line("Nothing is asked for: there is no Subscription.");
    }
    for namespace in &outlook.namespaces {
        out += &namespace_text(outlook, namespace, width);
    }
    // What only waits for a person is not moved on by `operon up`.
    let changes = |namespace: &NamespaceOutlook| {
        let mut plans = namespace.preview.plans.iter();
        plans.any(|plan| !plan.exists || !namespace.waiting.contains(&plan.name))
    };
    if outlook.namespaces.iter().any(changes) {
        out += &line(&match &outlook.acts {
            Some(command) => {
                format!("Next: {command}, which goes on until nothing is left to do.")
            }
            None => "The controller does it as soon as it looks.".to_owned(),
        });
    }
    out
}

fn namespace_text(outlook: &Outlook, namespace: &NamespaceOutlook, width: usize) -> String {
    let signs = Signs::of_terminal();
    let short = |name: &SourceName| short_name(namespace, name);
    let mut out = header(namespace, signs);
    let rows = &namespace.view.rows;
    out += &lines(&short, rows, width, signs);
    if !rows.is_empty() {
        out.push('\n');
    }
    let rights = namespace.preview.plans.iter().flat_map(|plan| &plan.rights);
    out += &block(rights.map(|right| rights_words(right, &namespace.name)));
    let held = namespace.preview.held.iter();
    out += &block(held.map(|(name, reason, told)| format!("held: {name}: {told} ({reason})")));
    let failed = namespace.preview.failed.iter();
    out += &block(failed.map(|(name, _, told)| format!("no answer: {name}: {told}")));
    out += &legend(rows, signs);
    out += &block(namespace.preview.plans.iter().map(|plan| plan_words(outlook, namespace, plan)));
    out + &line(&format!("{}: {}", namespace.name, summary(namespace))) + "\n"
}

/// Sums a namespace up.
pub(super) fn summary(namespace: &NamespaceOutlook) -> String {
    let mut summary = namespace.view.summary();
    match namespace.preview.held.len() {
        0 => {}
        1 => summary += " 1 Subscription is held.",
        count => summary += &format!(" {count} Subscriptions are held."),
    }
    match namespace.preview.failed.len() {
        0 => {}
        1 => summary += " 1 Subscription has no answer.",
        count => summary += &format!(" {count} Subscriptions have no answer."),
    }
    summary
}

fn header(namespace: &NamespaceOutlook, signs: Signs) -> String {
    let catalogs: Vec<String> = namespace
        .catalogs
        .iter()
        .map(|(name, state)| {
            let name = short_name(namespace, name);
            match state {
                Ok(digest) => format!("{name}@{}", digest.get(..DIGEST_DIGITS).unwrap_or(digest)),
                Err(reason) => format!("{name} (not available: {reason})"),
            }
        })
        .collect();
    let noun = match catalogs.len() {
        0 => "no catalog is named",
        1 => "catalog",
        _ => "catalogs",
    };
    let told = format!("namespace {} {} {noun} {}", namespace.name, signs.dot, catalogs.join(", "));
    line(told.trim_end()) + "\n"
}

/// Returns the name of a catalog as people call it: without the namespace where that is plain.
fn short_name(namespace: &NamespaceOutlook, name: &SourceName) -> String {
    let same = namespace.catalogs.iter().filter(|(other, _)| other.name == name.name).count();
    if same > 1 { name.to_string() } else { name.name.clone() }
}

fn rights_words(right: &NewRight, namespace: &str) -> String {
    let [kind, place] = if right.is_cluster_wide {
        ["ClusterRole", "in all namespaces"].map(str::to_owned)
    } else {
        ["Role".to_owned(), format!("in namespace {namespace}")]
    };
    let rules = match right.rules {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    };
    let operator = &right.operator;
    match right.notable.as_slice() {
        [] => format!("new rights: {operator} gets a {kind} of {rules} {place}"),
        notable => {
            format!("new rights: {operator} may {} {place} ({kind}, {rules})", notable.join(", "))
        }
    }
}

fn plan_words(outlook: &Outlook, namespace: &NamespaceOutlook, plan: &PreviewPlan) -> String {
    let operators: Vec<&str> =
        plan.operators.iter().map(|operator| operator.addition.name.as_str()).collect();
    let told = format!("Plan {}: {}", plan.name, operators.join(", "));
    if !namespace.waiting.contains(&plan.name) {
        return told;
    }
    let Outlook { option, acts, .. } = outlook;
    let first = match acts {
        Some(command) if !plan.exists => format!("{command}, then "),
        Some(_) | None => String::new(),
    };
    let command = format!("operon approve {} -n {}{option}", plan.name, namespace.name);
    format!("{told} waits for approval: {first}{command}")
}

/// Writes lines and a blank one, or nothing.
fn block(texts: impl Iterator<Item = String>) -> String {
    let lines: String = texts.map(|text| line(&text)).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

fn line(text: &str) -> String {
    format!("{INDENT}{}\n", clean(text))
}
