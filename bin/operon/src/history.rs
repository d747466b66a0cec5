//! `operon history`: every generation of a namespace, what changed in it, and why.
//!
//! What the engine wrote down is shown; nothing is concluded from what runs now.

use std::collections::BTreeSet;

use clap::Args;
use operon_lifecycle::views::{Generation, GenerationChange, history};
use operon_object::known;

use crate::{
    cluster::{ClusterArguments, NamespaceArguments, look_at},
    exit::Outcome,
    output::{Json, OutputOptions, Table, print, stderr_line, terminal},
};

/// Shows what changed in the cluster, when and why, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon history
  operon history -n harbour -o json --dir ./harbour")]
pub(crate) struct History {
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(command: &History) -> anyhow::Result<Outcome> {
    let cluster = command.cluster.reach()?;
    let objects =
        look_at(&cluster, &[command.namespace.interest(known::CONTROLLER_REVISION)].into())?;
    let revisions = objects.all(&known::CONTROLLER_REVISION);
    let namespaces: BTreeSet<&str> = revisions.map(|revision| revision.namespace()).collect();
    let mut generations: Vec<Generation> =
        namespaces.iter().flat_map(|namespace| history(&objects, namespace)).collect();
    let with_namespace = namespaces.len() > 1;
    if with_namespace {
        // Numbers count within a namespace; across namespaces only time tells what was first.
        generations.sort_by(|left, right| right.when.cmp(&left.when));
    }
    let is_empty = generations.is_empty();
    print(
        command.output.output,
        || if is_empty { String::new() } else { table(&generations, with_namespace) },
        || Json::list(generations.iter().map(value)),
    )?;
    if is_empty {
        stderr_line!("nothing was installed or updated yet");
    }
    Ok(Outcome::Done)
}

fn table(generations: &[Generation], with_namespace: bool) -> String {
    let mut header = vec!["GEN", "WHEN", "WHAT", "BECAUSE"];
    if with_namespace {
        header.insert(0, "NAMESPACE");
    }
    let mut table = Table::new(&header);
    for generation in generations {
        let what = what(generation, generations);
        let mut cells =
            vec![generation.number.to_string(), when(&generation.when), what, because(generation)];
        if with_namespace {
            cells.insert(0, generation.namespace.clone());
        }
        table.row(cells);
    }
    table.render()
}

/// Returns a time as people write it, to the minute.
fn when(text: &str) -> String {
    let minute = text.get(..16).unwrap_or(text);
    minute.replacen('T', " ", 1)
}

fn what(generation: &Generation, all: &[Generation]) -> String {
    let came = generation.changes.iter();
    let came = came.map(|change| change_words(change, &generation.namespace, all));
    let gone = generation.removed.iter();
    let gone = gone.map(|(name, version)| format!("- {} {version}", stem(name, version)));
    let words: Vec<String> = came.chain(gone).collect();
    let failed = match (generation.failure.as_str(), generation.failed_later.as_str()) {
        ("", "") => "",
        ("", _) => " (failed later)",
        _ => " (failed)",
    };
    format!("{}{failed}", words.join(", "))
}

fn change_words(change: &GenerationChange, namespace: &str, all: &[Generation]) -> String {
    let stem = stem(&change.name, &change.version);
    if change.replaces.is_empty() {
        return format!("+ {stem} {}", change.version);
    }
    let known = all
        .iter()
        .filter(|generation| generation.namespace == namespace)
        .flat_map(|generation| &generation.changes)
        .find(|other| other.name == change.replaces);
    // What went before the first generation that is remembered is known by its name alone.
    let before = match known {
        Some(other) => other.version.as_str(),
        None => change.replaces.strip_prefix(&format!("{stem}.v")).unwrap_or(&change.replaces),
    };
    let arrow = if terminal::has_unicode() { "→" } else { "->" };
    format!("{stem} {before} {arrow} {}", change.version)
}

/// Returns the name of an operator without its version.
fn stem<'n>(whole: &'n str, version: &str) -> &'n str {
    let name = whole.strip_suffix(version).unwrap_or(whole);
    let name = name.strip_suffix(".v").or_else(|| name.strip_suffix('.')).unwrap_or(name);
    if name.is_empty() { whole } else { name }
}

fn because(generation: &Generation) -> String {
    let alone = match generation.changes.as_slice() {
        [only] => generation.because.strip_prefix(&format!("{}: ", only.name)),
        _ => None,
    };
    let mut told = alone.unwrap_or(&generation.because).to_owned();
    if generation.was_approved {
        told += "; approved";
    }
    if !generation.failure.is_empty() {
        told += &format!("; failed: {}", generation.failure);
    }
    if !generation.failed_later.is_empty() {
        told += &format!("; failed later: {}", generation.failed_later);
    }
    told
}

fn value(generation: &Generation) -> Json {
    let changes = generation.changes.iter().map(|change| {
        Json::Object(vec![
            ("name", Json::text(&change.name)),
            ("version", Json::text(&change.version)),
            ("replaces", Json::text(&change.replaces)),
            ("catalog", Json::text(&change.catalog)),
        ])
    });
    let removed = generation.removed.iter().map(|(name, version)| {
        Json::Object(vec![("name", Json::text(name)), ("version", Json::text(version))])
    });
    Json::Object(vec![
        ("namespace", Json::text(&generation.namespace)),
        ("generation", Json::Number(generation.number)),
        ("when", Json::text(&generation.when)),
        ("changes", Json::list(changes)),
        ("removed", Json::list(removed)),
        ("because", Json::text(&generation.because)),
        ("approved", Json::Bool(generation.was_approved)),
        ("failure", Json::text(&generation.failure)),
        ("failedLater", Json::text(&generation.failed_later)),
    ])
}
