//! A removal for people: what goes, what stays, and the command that does it.

use unicode_width::UnicodeWidthStr;

use operon_object::known;

use super::{Shown, Uninstall};
use crate::{cluster::kind_words, output::clean};

/// The indent of everything.
const INDENT: &str = "  ";

/// Prints what would happen, and how to let it happen.
pub(super) fn plan(command: &Uninstall, shown: &Shown) -> String {
    let mut out = String::new();
    if !shown.harm.is_empty() && !command.with_dependants {
        for why in &shown.harm {
            out += &line(&format!("{why}."));
        }
        let whom = if shown.harm.len() == 1 { "it" } else { "them" };
        out += &line(&format!("Removing {} alone would break {whom}.", command.name()));
        out.push('\n');
    }
    out += &goes(shown);
    for (key, why) in &shown.removal.dependants {
        let namespace = &key.namespace;
        out +=
            &line(&format!("! {why}, and is in namespace {namespace}: take it away there first"));
    }
    out += "\n";
    out += &line("- remove  = keep");
    out.push('\n');
    let id = &shown.removal.name;
    let count = shown.removal.operators.len();
    let told = if shown.removal.dependants.is_empty() {
        let rest = options(command, shown);
        format!("To do it: operon uninstall {}{rest} --approve {id}", command.name())
    } else {
        "It cannot be done now.".to_owned()
    };
    out + &line(&format!("Plan {id}: {count} to remove. {told}"))
}

/// Prints what goes and what stays.
pub(super) fn goes(shown: &Shown) -> String {
    let mut out = String::new();
    let operators = &shown.removal.operators;
    let names: Vec<String> = operators.iter().map(|operator| clean(&operator.key.name)).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    for (operator, name) in operators.iter().zip(&names) {
        let mut counts = operator.objects.clone();
        if !operator.subscriptions.is_empty() {
            counts.insert(known::SUBSCRIPTION, operator.subscriptions.len());
        }
        let blanks = " ".repeat(width - name.width());
        out += &line(&format!("- {name}{blanks}  {}", kind_words(&counts)));
    }
    let definitions = shown.removal.definitions.iter().map(|definition| {
        let told = match shown.resources.get(&definition.kind).copied().unwrap_or(0) {
            0 => "no custom resource exists".to_owned(),
            1 => "1 custom resource exists".to_owned(),
            count => format!("{count} custom resources exist"),
        };
        format!("CRD {} ({told})", definition.name)
    });
    for definition in definitions {
        out += &line(&format!("= {definition}"));
    }
    let leftovers = &shown.removal.leftovers;
    for name in leftovers {
        out += &line(&format!(
            "= {name}: it came along and nobody else needs it; --with-leftovers takes it away too"
        ));
    }
    for unknown in &shown.removal.unknown {
        out += &line(&format!("note: cannot tell whether others need what goes: {unknown}"));
    }
    for (place, key) in &shown.asking {
        out += &line(&format!(
            "note: {place} asks for {key}: take it out there too, or operon up brings it back"
        ));
    }
    out
}

/// Returns the options that a command needs to mean the same, each with a blank before it.
pub(super) fn options(command: &Uninstall, shown: &Shown) -> String {
    let mut options = String::new();
    if command.with_dependants || !shown.harm.is_empty() {
        options += " --with-dependants";
    }
    if command.with_leftovers {
        options += " --with-leftovers";
    }
    if command.namespace.namespace.is_some() {
        options += &format!(" -n {}", shown.namespace);
    }
    options + &command.cluster.option()
}

fn line(text: &str) -> String {
    format!("{INDENT}{}\n", clean(text))
}
