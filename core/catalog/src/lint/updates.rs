//! Updates that the two generations of upstream see differently.

use crate::{
    Channel, Diagnostic, Findings, Package, Rule,
    graph::Rules,
    journey::{Installed, Routes},
};

/// Channels with more entries than this are not compared: the search is quadratic.
const MAX_COMPARED_ENTRIES: usize = 2_000;

/// How many versions a message names before it counts the rest.
const NAMED_VERSIONS: usize = 3;

/// Checks where automatic updates of a package end.
pub(super) fn check(package: Package<'_>, findings: &mut Findings) {
    for channel in package.channels() {
        check_channel(channel, findings);
    }
}

fn check_channel(channel: Channel<'_>, findings: &mut Findings) {
    if channel.entries().len() > MAX_COMPARED_ENTRIES || channel.head().is_none() {
        return;
    }
    let [old_rules, new_rules] =
        [Rules::V0, Rules::V1].map(|rules| Routes::of_channel(channel, rules));
    let end = |routes: &Routes<'_>, installed: &Installed| {
        let hops = routes.automatic(installed).hops;
        hops.last().map_or(installed.name.clone(), |last| last.entry.name().to_owned())
    };
    let differing: Vec<(&str, String, String)> = channel
        .entries()
        .filter_map(|entry| {
            let installed = Installed::published(entry.bundle()?);
            let (old, new) = (end(&old_rules, &installed), end(&new_rules, &installed));
            (old != new).then_some((entry.name(), old, new))
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
        channel.entries().len(),
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
