//! The removal of Operon itself, for people: what goes, what stays, and the command that does it.

use std::collections::BTreeMap;

use operon_object::{Kind, Object};

use super::{Found, SelfRemoval};
use crate::{cluster::kind_words, output::clean};

/// Prints what would happen, and how to let it happen.
pub(super) fn plan(asked: &SelfRemoval<'_>, found: &Found, plan: &str) -> String {
    let mut out = goes(asked, found);
    let count = found.parts.len() + if asked.with_crds { found.definitions.len() } else { 0 };
    let objects: usize = found.objects.values().sum();
    let agreement = match asked.with_crds && objects > 0 {
        true => "--yes".to_owned(),
        false => format!("--approve {plan}"),
    };
    out += "\n  - remove  = keep\n\n";
    out += &format!(
        "  Plan {plan}: {count} objects to remove. To do it: operon uninstall --self{} {agreement}\n",
        options(asked)
    );
    out
}

/// Prints what goes and what stays.
pub(super) fn goes(asked: &SelfRemoval<'_>, found: &Found) -> String {
    let mut out = String::new();
    let mut line = |text: String| out += &format!("  {}\n", clean(&text));
    let counts = |objects: &[Object]| {
        let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
        objects.iter().for_each(|object| *counts.entry(object.kind()).or_default() += 1);
        counts
    };
    if !found.parts.is_empty() {
        let words = kind_words(&counts(&found.parts));
        line(format!("- Operon in namespace {}  {words}", found.namespace));
    }
    let of_kinds: BTreeMap<Kind, usize> = found
        .objects
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(k, c)| (k.clone(), *c))
        .collect();
    let objects = match of_kinds.is_empty() {
        true => "no object is of their kinds".to_owned(),
        false => kind_words(&of_kinds),
    };
    let definitions = found.definitions.len();
    match (asked.with_crds, definitions) {
        (_, 0) => {}
        (true, _) => line(format!("- {definitions} CRDs  {objects}")),
        (false, _) => line(format!("= {definitions} CRDs  {objects}")),
    }
    match (found.operators, asked.with_crds) {
        (0, _) => {}
        (count, true) => line(format!("- {} stop, and go", operators(count))),
        (count, false) => {
            line(format!("= {} keep running; nobody looks after them then", operators(count)));
        }
    }
    let namespaces: Vec<&str> = found.namespaces.iter().map(Object::name).collect();
    if !namespaces.is_empty() {
        let word = if namespaces.len() == 1 { "Namespace" } else { "Namespaces" };
        line(format!("= {word} {}", namespaces.join(", ")));
    }
    out
}

fn operators(count: usize) -> String {
    if count == 1 { "1 operator".to_owned() } else { format!("{count} operators") }
}

/// Returns the options that a command needs to mean the same, each with a blank before it.
pub(super) fn options(asked: &SelfRemoval<'_>) -> String {
    let mut options = String::new();
    if asked.with_crds {
        options += " --with-crds";
    }
    if let Some(namespace) = asked.namespace {
        options += &format!(" -n {namespace}");
    }
    options + &asked.cluster.option()
}

/// Says how it ended.
pub(super) fn end(found: &Found, has_ended: bool, are_gone: bool) -> String {
    let mut out = String::new();
    if !has_ended {
        let namespace = &found.namespace;
        out += &format!("a controller has not ended yet: kubectl get pods -n {namespace}\n");
    }
    if !are_gone {
        out += "a CRD is not gone yet: something holds its objects; kubectl get csv -A -o yaml shows their finalizers\n";
    }
    if has_ended && are_gone {
        out += "Operon is gone\n";
    }
    out
}
