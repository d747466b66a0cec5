//! What upstream accepts without a word and authors regret: findings that are not errors.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use operon_constraint::{Constraint, Dialect, Requirement, WarningKind, parse_property};
use operon_version::VersionRange;

use super::{BundleDraft, ChannelDraft, PackageDraft, channel::graph_entry};
use crate::{
    BundleDeclaration, Diagnostic, EntryDeclaration, Findings, OtherDeclaration, Place, Rule,
    excerpt::{excerpt, few_traps},
    graph::{GraphEntry, Rules, Upgrades},
};

/// Channels with more pairs of entries and ranges than this are not searched for unreachable
/// versions: a real channel has a few thousand.
const MAX_REACHABILITY_PAIRS: usize = 20_000_000;

/// Checks a package against what upstream does not check.
pub(super) fn check(package: &PackageDraft<'_>, findings: &mut Findings) {
    for channel in package.channels.values() {
        check_channel(channel, &package.bundles, findings);
    }
    for bundle in package.bundles.values() {
        check_bundle(bundle.declaration, findings);
    }
    check_skipped_heads(package, findings);
    check_deprecations(package, findings);
}

fn check_channel(
    channel: &ChannelDraft<'_>,
    bundles: &BTreeMap<&str, BundleDraft<'_>>,
    findings: &mut Findings,
) {
    let title = format!(
        "channel {:?} of package {:?}",
        channel.declaration.name.value, channel.declaration.package
    );
    for entry in &channel.entries {
        report_traps(
            &entry.skip_range,
            &format!("the skipRange of {}", entry.name),
            entry.place,
            findings,
        );
        let Some(version) =
            bundles.get(entry.name.as_str()).and_then(|bundle| bundle.version.as_ref())
        else {
            continue;
        };
        let replaced = bundles
            .get(entry.replaces.as_str())
            .filter(|_| !entry.replaces.is_empty())
            .and_then(|bundle| bundle.version.as_ref());
        if let Some(replaced) = replaced.filter(|replaced| *replaced > version) {
            let message = format!(
                "{} ({version}) replaces {} ({replaced}) in {title}",
                entry.name, entry.replaces
            );
            findings.push(
                Diagnostic::new(Rule::ReplacesHigherVersion, message)
                    .at(entry.place)
                    .why("the update moves an operator to a lower version"),
            );
        }
        let Ok(range) = VersionRange::parse(&entry.skip_range) else {
            continue;
        };
        if range.contains(version) {
            let message = format!(
                "the skipRange {:?} of {} includes its own version {version}",
                entry.skip_range, entry.name
            );
            findings.push(
                Diagnostic::new(Rule::SkipRangeCoversItself, message)
                    .at(entry.place)
                    .why("the entry is an update of itself, and of newer versions that the range includes")
                    .help(format!("add `<{version}` to the range")),
            );
        }
    }
    check_reachability(channel, bundles, &title, findings);
}

/// Finds entries of a channel with an order from which no sequence of updates leads to the head.
fn check_reachability(
    channel: &ChannelDraft<'_>,
    bundles: &BTreeMap<&str, BundleDraft<'_>>,
    title: &str,
    findings: &mut Findings,
) {
    let entries: Vec<GraphEntry<'_>> =
        channel.entries.iter().map(|entry| graph_entry(entry, bundles)).collect();
    let ranged = entries.iter().filter(|entry| entry.skip_range.is_some()).count();
    let Some(&head) = channel.order.first() else {
        return;
    };
    if entries.len().saturating_mul(ranged) > MAX_REACHABILITY_PAIRS {
        return;
    }
    let upgrades = Upgrades::new(entries);
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); channel.entries.len()];
    for (position, entry) in upgrades.entries().iter().enumerate() {
        for next in upgrades.successors(entry.name, entry.version.as_ref(), Rules::V0) {
            predecessors[next].push(position);
        }
    }
    let mut reaches_head = vec![false; channel.entries.len()];
    reaches_head[head] = true;
    let mut queue = vec![head];
    while let Some(position) = queue.pop() {
        for &before in &predecessors[position] {
            if !std::mem::replace(&mut reaches_head[before], true) {
                queue.push(before);
            }
        }
    }
    for (position, entry) in channel.entries.iter().enumerate() {
        if !reaches_head[position] {
            let message = format!("no update leads from {} to the head of {title}", entry.name);
            findings.push(
                Diagnostic::new(Rule::VersionUnreachable, message)
                    .at(entry.place)
                    .why("OLM v0 ignores the edges of skipped entries, so whoever runs it is stranded")
                    .help(format!("let the head skip {}", entry.name)),
            );
        }
    }
}

fn report_traps(range: &str, subject: &str, place: Place, findings: &mut Findings) {
    // Unreadable ranges are reported by the rule that reads them.
    if VersionRange::parse(range).is_err() {
        return;
    }
    let shown = excerpt(range);
    for trap in few_traps(range, |trap| !trap.kind.is_advice()) {
        let message = format!("{subject}, {shown:?}: {}", trap.message());
        findings
            .push(Diagnostic::new(Rule::RangeTrap, message).at(place).help(excerpt(&trap.help())));
    }
}

fn check_bundle(bundle: &BundleDeclaration, findings: &mut Findings) {
    let name = &bundle.name.value;
    check_constraints(bundle, findings);
    if bundle.metadata_count > 1 {
        let message =
            format!("bundle {name:?} has {} olm.csv.metadata properties", bundle.metadata_count);
        findings.push(
            Diagnostic::new(Rule::SeveralCsvMetadata, message)
                .at(bundle.name.place)
                .why("upstream's registry fails to serve such a bundle")
                .help("keep one"),
        );
    }
    for requirement in &bundle.required_packages {
        if let Err(error) = VersionRange::parse(&requirement.range) {
            let message = format!(
                "bundle {name:?} requires package {:?} at {:?}, which cannot be read: {error}",
                requirement.package, requirement.range
            );
            findings.push(
                Diagnostic::new(Rule::RequiredRangeInvalid, message)
                    .at(requirement.place)
                    .why("upstream fails every resolution that comes upon this bundle")
                    .help("write comparisons with full versions, such as `>=1.2.0`"),
            );
        }
        let subject =
            format!("the range of package {:?} required by {name:?}", requirement.package);
        report_traps(&requirement.range, &subject, requirement.place, findings);
    }
    let mut seen = BTreeSet::new();
    for api in &bundle.provided_apis {
        if !seen.insert(api) {
            findings.push(
                Diagnostic::new(
                    Rule::DuplicateApi,
                    format!("bundle {name:?} lists the provided API {api} twice"),
                )
                .at(bundle.name.place)
                .why("upstream counts it as two providers of one API and never installs the bundle")
                .help("keep one"),
            );
        }
    }
    for api in bundle.provided_apis.iter().chain(&bundle.required_apis) {
        if api.version.is_empty() || api.kind.is_empty() || api.group.is_empty() {
            findings.push(
                Diagnostic::new(
                    Rule::RequirementIncomplete,
                    format!("bundle {name:?} names an incomplete API, {api}"),
                )
                .at(bundle.name.place)
                .help("give group, version and kind"),
            );
        }
    }
}

/// Checks requirements that are written in the constraint language.
fn check_constraints(bundle: &BundleDeclaration, findings: &mut Findings) {
    let name = &bundle.name.value;
    for property in bundle.properties.iter().filter(|property| property.kind == "olm.constraint") {
        match parse_property(&property.kind, &property.value, Dialect::Documented) {
            Err(error) => findings.push(
                Diagnostic::new(
                    Rule::ConstraintInvalid,
                    format!("a constraint of bundle {name:?} cannot be used: {error}"),
                )
                .at(property.place)
                .why("upstream fails every resolution that comes upon this bundle"),
            ),
            Ok(None) => {}
            Ok(Some(parsed)) => {
                let nesting = loop_nesting(&parsed.constraint);
                if nesting > MAX_LOOP_NESTING {
                    let message =
                        format!("a rule of bundle {name:?} nests {nesting} loops over properties");
                    findings.push(
                        Diagnostic::new(Rule::ConstraintExpensive, message)
                            .at(property.place)
                            .why("each loop multiplies the steps, and a resolution that takes too many is stopped")
                            .help("compare properties with constants, and join conditions with `&&`"),
                    );
                }
                let questionable =
                    parsed.warnings.iter().filter(|warning| warning.kind != WarningKind::NotAlone);
                for warning in questionable {
                    let message =
                        format!("a constraint of bundle {name:?} is questionable: {warning}");
                    findings.push(
                        Diagnostic::new(Rule::ConstraintQuestionable, message).at(property.place),
                    );
                }
            }
        }
    }
}

/// How many nested loops a rule may have without a finding: two compare each property with each
/// other, and a hundred properties then take ten thousand steps.
const MAX_LOOP_NESTING: usize = 2;

/// Returns how many loops the rules of a constraint nest at most.
fn loop_nesting(constraint: &Constraint) -> usize {
    let mut deepest = 0;
    let mut open = vec![constraint];
    while let Some(constraint) = open.pop() {
        if let Requirement::Cel(rule) = &constraint.requirement {
            deepest = deepest.max(rule.program().loop_nesting());
        }
        open.extend(constraint.requirement.parts().into_iter().flat_map(|parts| parts.iter()));
    }
    deepest
}

/// Finds heads of a channel that another channel of the package skips.
fn check_skipped_heads(package: &PackageDraft<'_>, findings: &mut Findings) {
    // For each skipped name the first entry that skips it, in the order of channels.
    let mut skipping: HashMap<&str, (&ChannelDraft<'_>, &EntryDeclaration)> = HashMap::new();
    for channel in package.channels.values() {
        for entry in &channel.entries {
            for name in &entry.skips {
                skipping.entry(name).or_insert((channel, entry));
            }
        }
    }
    for offering in package.channels.values() {
        let Some(head) = offering.order.first().map(|&head| offering.entries[head]) else {
            continue;
        };
        if let Some(&(channel, entry)) = skipping.get(head.name.as_str()) {
            let message = format!(
                "{} is skipped in channel {:?} but is the head of channel {:?}",
                head.name, channel.declaration.name.value, offering.declaration.name.value
            );
            findings.push(
                Diagnostic::new(Rule::SkippedElsewhereOffered, message)
                    .at(head.place)
                    .related(entry.place, "skipped here")
                    .why("if it is skipped because it is bad, this channel still installs it"),
            );
        }
    }
}

fn check_deprecations(package: &PackageDraft<'_>, findings: &mut Findings) {
    if package.deprecation.is_some() {
        return;
    }
    for channel in package.channels.values().filter(|channel| channel.deprecation.is_none()) {
        let is_deprecated = |&position: &usize| {
            let name = channel.entries[position].name.as_str();
            package.bundles.get(name).is_some_and(|bundle| bundle.deprecation.is_some())
        };
        if !channel.order.is_empty() && channel.order.iter().all(is_deprecated) {
            let message = format!(
                "every version in channel {:?} of package {:?} is deprecated, but the channel is not",
                channel.declaration.name.value, channel.declaration.package
            );
            findings.push(
                Diagnostic::new(Rule::HeadDeprecated, message)
                    .at(channel.declaration.name.place)
                    .why("its users are told to move on and have nowhere to go in this channel")
                    .help("deprecate the channel too, and say in its message which channel to use"),
            );
        }
    }
}

/// Checks documents of other schemas.
pub(super) fn check_others(others: &[OtherDeclaration], findings: &mut Findings) {
    let mut seen: BTreeMap<(&str, &str, &str), Place> = BTreeMap::new();
    for other in others {
        let schema = other.schema.as_str();
        if schema.starts_with("olm.template") || schema == "olm.semver" || schema == "olm.composite"
        {
            findings.push(
                Diagnostic::new(
                    Rule::TemplateInCatalog,
                    format!("a template of schema {schema:?} lies in the catalog"),
                )
                .at(other.place)
                .help("render it with `operon catalog template`, and keep it outside the catalog"),
            );
        } else if schema.starts_with("olm.") {
            findings.push(
                Diagnostic::new(
                    Rule::UnknownOlmSchema,
                    format!("schema {schema:?} is not known"),
                )
                .at(other.place)
                .why("the prefix `olm.` is reserved; the document is kept but means nothing")
                .help(
                    "known schemas are olm.package, olm.channel, olm.bundle and olm.deprecations",
                ),
            );
        }
        if other.name.is_empty() {
            continue;
        }
        if let Some(&first) = seen.get(&(schema, other.package.as_str(), other.name.as_str())) {
            let message = format!("{schema:?} {:?} is declared twice", other.name);
            findings.push(
                Diagnostic::new(Rule::DuplicateOther, message)
                    .at(other.place)
                    .related(first, "first declared here"),
            );
        } else {
            seen.insert((schema, &other.package, &other.name), other.place);
        }
    }
}
