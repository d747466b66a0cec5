//! Updates that the two generations of upstream see differently.

use crate::{Channel, Diagnostic, Package, Rule, graph::Rules};

/// Channels with more entries than this are not compared: the search is quadratic.
const MAX_COMPARED_ENTRIES: usize = 2_000;

/// How many versions a message names before it counts the rest.
const NAMED_VERSIONS: usize = 3;

/// Checks where automatic updates of a package end.
pub(super) fn check(package: Package<'_>, findings: &mut Vec<Diagnostic>) {
    for channel in package.channels() {
        check_channel(channel, findings);
    }
}

fn check_channel(channel: Channel<'_>, findings: &mut Vec<Diagnostic>) {
    if channel.entries().len() > MAX_COMPARED_ENTRIES || channel.head().is_none() {
        return;
    }
    let upgrades = channel.upgrades();
    let end = |name: &str, version, rules| {
        let path = upgrades.automatic_path(name, version, rules);
        path.last().map(|&last| upgrades.entries()[last].name)
    };
    let differing: Vec<(&str, &str, &str)> = upgrades
        .entries()
        .iter()
        .filter_map(|entry| {
            let version = entry.version.as_ref();
            let old = end(entry.name, version, Rules::V0).unwrap_or(entry.name);
            let new = end(entry.name, version, Rules::V1).unwrap_or(entry.name);
            (old != new).then_some((entry.name, old, new))
        })
        .collect();
    let Some((_, old, new)) = differing.first() else {
        return;
    };
    let named: Vec<&str> = differing.iter().map(|(from, ..)| *from).take(NAMED_VERSIONS).collect();
    let rest = if differing.len() > NAMED_VERSIONS { " …" } else { "" };
    let message = format!(
        "from {} of {} versions in channel {:?} of package {:?}, OLM v0 and v1 update to different ends: {}{rest}",
        differing.len(),
        upgrades.entries().len(),
        channel.name(),
        channel.package().name(),
        named.join(", "),
    );
    findings.push(
        Diagnostic::new(Rule::VersionsDifferByGeneration, message)
            .at(channel.place())
            .why(format!("the first of them ends at {old} under v0 and at {new} under v1"))
            .help("`operon catalog matrix` shows all of them"),
    );
}
