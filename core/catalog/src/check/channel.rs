//! Rules about a channel and its graph.

use std::collections::BTreeMap;

use operon_version::{RangeError, VersionRange};

use super::{BundleDraft, ChannelDraft};
use crate::{
    Diagnostic, EntryDeclaration, Findings, Rule,
    graph::{self, ChainDefect, GraphEntry},
};

/// How many places of one defect are pointed at; more would bury the message.
const MAX_RELATED_PLACES: usize = 8;

/// Checks a channel and works out its order.
pub(super) fn check(
    channel: &mut ChannelDraft<'_>,
    bundles: &BTreeMap<&str, BundleDraft<'_>>,
    findings: &mut Findings,
) {
    let declaration = channel.declaration;
    let title =
        format!("channel {:?} of package {:?}", declaration.name.value, declaration.package);
    if channel.entries.is_empty() {
        findings.push(
            Diagnostic::new(Rule::ChannelEmpty, format!("{title} has no entries"))
                .at(declaration.name.place)
                .help("add an entry for each bundle the channel offers, or remove the channel"),
        );
        return;
    }
    for entry in &channel.entries {
        check_entry(entry, &title, bundles, findings);
    }
    let graph_entries: Vec<GraphEntry<'_>> =
        channel.entries.iter().map(|entry| graph_entry(entry, bundles)).collect();
    let order = graph::order(&graph_entries);
    let chain = graph::chain(&graph_entries);
    channel.head = match (&chain, &order) {
        (Ok(chain), _) => Some(chain.head),
        (Err(_), Ok(order)) => order.first().copied(),
        (Err(_), Err(_)) => None,
    };
    match (chain, &order) {
        (Err(defect), _) => findings.push(describe(&defect, channel, &title)),
        (Ok(_), Err(error)) => findings.push(
            Diagnostic::new(Rule::ChannelUnorderable, format!("registries accept {title}, but no resolver can order it: {error}"))
                .at(declaration.name.place)
                .why("the circle lies behind a skipped entry, where registries do not look; every Subscription to the channel fails")
                .help("remove the `replaces` of the skipped entries"),
        ),
        (Ok(_), Ok(_)) => {}
    }
    channel.order = order.unwrap_or_default();
}

/// Returns an entry as the graph sees it.
pub(super) fn graph_entry<'d>(
    entry: &'d EntryDeclaration,
    bundles: &BTreeMap<&str, BundleDraft<'_>>,
) -> GraphEntry<'d> {
    let bundle = bundles.get(entry.name.as_str());
    GraphEntry {
        name: &entry.name,
        replaces: &entry.replaces,
        skips: entry.skips.iter().map(String::as_str).collect(),
        skip_range: VersionRange::parse(&entry.skip_range)
            .ok()
            .filter(|_| !entry.skip_range.is_empty()),
        version: bundle.and_then(|bundle| bundle.version.clone()),
        deprecated: bundle.is_some_and(|bundle| bundle.deprecation.is_some()),
    }
}

fn check_entry(
    entry: &EntryDeclaration,
    title: &str,
    bundles: &BTreeMap<&str, BundleDraft<'_>>,
    findings: &mut Findings,
) {
    let name = &entry.name;
    if name.is_empty() {
        findings.push(
            Diagnostic::new(Rule::EntryWithoutName, format!("an entry of {title} has no name"))
                .at(entry.place)
                .help("give the entry the `name` of a bundle"),
        );
    } else if !bundles.contains_key(name.as_str()) {
        findings.push(
            Diagnostic::new(Rule::EntryWithoutBundle, format!("{title} has an entry {name:?}, but there is no such bundle"))
                .at(entry.place)
                .help("add its olm.bundle document, or remove the entry; others may still name it in `replaces` and `skips`"),
        );
    }
    for position in entry
        .skips
        .iter()
        .enumerate()
        .filter(|(_, skip)| skip.is_empty())
        .map(|(position, _)| position)
    {
        findings.push(
            Diagnostic::new(
                Rule::SkipsEmptyName,
                format!("element {position} of the skips of {name:?} is empty"),
            )
            .at(entry.place)
            .help("remove it"),
        );
    }
    if !entry.skip_range.is_empty()
        && let Err(error) = VersionRange::parse(&entry.skip_range)
    {
        // Upstream: an empty alternative passes every check and crashes the resolver that uses it.
        let (rule, why) = match error {
            RangeError::EmptyAlternative { .. } => {
                (Rule::RangeTrap, "upstream's tools accept it, and crash when they use it")
            }
            _ => (
                Rule::SkipRangeInvalid,
                "an unreadable skipRange is ignored, so the update it promises does not exist",
            ),
        };
        let message =
            format!("the skipRange {:?} of {name:?} cannot be read: {error}", entry.skip_range);
        findings.push(
            Diagnostic::new(rule, message)
                .at(entry.place)
                .why(why)
                .help("write comparisons with full versions, such as `>=1.2.0 <1.3.0`"),
        );
    }
}

fn describe(defect: &ChainDefect, channel: &ChannelDraft<'_>, title: &str) -> Diagnostic {
    let name = |position: usize| channel.entries[position].name.as_str();
    let point = |mut finding: Diagnostic, positions: &[usize], label: &str| {
        let mut places = positions.iter().map(|&position| channel.entries[position].place);
        if let Some(first) = places.next() {
            finding = finding.at(first).label(label);
        }
        for place in places.take(MAX_RELATED_PLACES) {
            finding = finding.related(place, label);
        }
        finding
    };
    match defect {
        ChainDefect::NoHead => Diagnostic::new(Rule::ChannelNoHead, format!("{title} has no head"))
            .at(channel.declaration.name.place)
            .why("every entry is replaced or skipped by an entry, so no entry is the newest")
            .help(
                "remove the replaces or skips that leads from the oldest entry back to the newest",
            ),
        ChainDefect::ManyHeads(heads) => {
            let message = match heads.len() {
                2 => format!("{title} has two heads"),
                count => format!("{title} has {count} heads"),
            };
            let newest = newest_head(heads, channel);
            let others: Vec<&str> = heads
                .iter()
                .filter(|&&head| head != newest)
                .map(|&head| name(head))
                .take(3)
                .collect();
            let more = if heads.len() > 4 { " and the others" } else { "" };
            point(
                Diagnostic::new(Rule::ChannelTwoHeads, message),
                heads,
                "nothing in this channel replaces or skips it",
            )
            .why("a Subscription to this channel cannot know which one is newest")
            .help(format!(
                "let {} replace or skip {}{more}",
                name(newest),
                others.join(", ")
            ))
        }
        ChainDefect::Cycle(circle) => {
            let message =
                format!("the replaces of {title} run in a circle: {}", circle.join(" -> "));
            let positions: Vec<usize> = (0..channel.entries.len())
                .filter(|&position| circle.iter().any(|member| member == name(position)))
                .collect();
            point(Diagnostic::new(Rule::ChannelCycle, message), &positions, "in the circle")
                .why("an operator in the circle would be updated for ever")
                .help("remove the replaces of the oldest entry in the circle")
        }
        ChainDefect::Stranded(stranded) => {
            let names: Vec<&str> = stranded.iter().map(|&entry| name(entry)).take(5).collect();
            let more = if stranded.len() > 5 {
                format!(" and {} more", stranded.len() - 5)
            } else {
                String::new()
            };
            let message = format!("{title} strands {}{more}", names.join(", "));
            point(
                Diagnostic::new(Rule::ChannelStranded, message),
                stranded,
                "neither on the chain of replaces from the head, nor skipped",
            )
            .why("whoever runs it gets no update; note that a skipped entry hides what it replaces")
            .help("let the head skip it, or link it into the chain of replaces")
        }
    }
}

/// Guesses which head was meant to be the newest: the last one written.
fn newest_head(heads: &[usize], channel: &ChannelDraft<'_>) -> usize {
    heads
        .iter()
        .copied()
        .max_by_key(|&head| channel.entries[head].place)
        .expect("bug: a channel with many heads has a head")
}
