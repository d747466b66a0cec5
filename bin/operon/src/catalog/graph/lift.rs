//! A package lifted to the value that drawings start from.
//!
//! This decides what is drawn and in which order, and matches skipRanges with versions. It draws
//! nothing itself.

use std::collections::{BTreeSet, HashMap};

use operon_catalog::{Bundle, Channel, Entry, Package};
use operon_draw::{Lane, Node, PackageGraph, SkipRange};
use operon_version::{Version, VersionRange};

use super::standing::{Standing, Standings, in_reading_order, standings};

/// How many versions are compared with skipRanges in one channel: a hundred times what the largest
/// real channel needs. Ranges beyond are left out and the channel says so.
const MAX_RANGE_CHECKS: usize = 4_000_000;

/// Lifts channels of a package; the default channel is drawn first, then the newest heads.
pub(super) fn lift(package: Package<'_>, channels: Vec<Channel<'_>>) -> PackageGraph {
    PackageGraph {
        package: package.name().to_owned(),
        deprecation: package.deprecation().map(str::to_owned),
        lanes: in_reading_order(channels).into_iter().map(lift_channel).collect(),
    }
}

fn lift_channel(channel: Channel<'_>) -> Lane {
    let Standings { standings, mut problem } = standings(channel);
    let names = Names::of(&standings);
    let versions: Vec<Option<Version>> =
        standings.iter().map(|standing| bundle(standing).and_then(Bundle::version)).collect();
    let mut checks = 0;
    let mut nodes = Vec::new();
    for (position, standing) in standings.iter().enumerate() {
        let range = standing.entry.and_then(Entry::skip_range);
        checks += if range.is_some() { versions.len() } else { 0 };
        let range = range.filter(|_| checks <= MAX_RANGE_CHECKS);
        let skip_range = range.map(|range| lift_range(range, position, &versions));
        nodes.push(lift_node(standing, &names, skip_range));
    }
    if checks > MAX_RANGE_CHECKS {
        problem.get_or_insert("too many skipRanges to draw; some are left out".to_owned());
    }
    Lane {
        channel: channel.name().to_owned(),
        is_default: channel.is_default(),
        deprecation: channel.deprecation().map(str::to_owned),
        nodes,
        problem,
    }
}

fn lift_node(standing: &Standing<'_>, names: &Names<'_>, skip_range: Option<SkipRange>) -> Node {
    let position = |name: &str| names.positions.get(name).copied();
    let skips = standing.entry.into_iter().flat_map(Entry::skips);
    Node {
        name: standing.name.to_owned(),
        label: names.label(standing).to_owned(),
        role: standing.role,
        deprecation: bundle(standing).and_then(Bundle::deprecation).map(str::to_owned),
        replaces: standing.entry.and_then(Entry::replaces).and_then(position),
        skips: skips.filter_map(position).collect(),
        skip_range,
    }
}

fn lift_range(text: &str, own: usize, versions: &[Option<Version>]) -> SkipRange {
    let range = VersionRange::parse(text).ok();
    let is_covered = |version: &Option<Version>| match (&range, version) {
        (Some(range), Some(version)) => range.contains(version),
        (Some(_) | None, _) => false,
    };
    let covers = (0..versions.len()).filter(|&other| other != own && is_covered(&versions[other]));
    SkipRange { text: text.to_owned(), covers: covers.collect() }
}

/// The content of this channel only: that another channel has it does not help here.
fn bundle<'a>(standing: &Standing<'a>) -> Option<Bundle<'a>> {
    standing.entry.and_then(Entry::bundle)
}

/// The names of a lane: where they stand, and what they have in common.
struct Names<'a> {
    positions: HashMap<&'a str, usize>,
    /// What stands before the version in the names of bundles, such as `etcdoperator.v`.
    prefixes: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(standings: &[Standing<'a>]) -> Self {
        let mut positions = HashMap::new();
        for (position, standing) in standings.iter().enumerate() {
            positions.entry(standing.name).or_insert(position);
        }
        let prefix = |standing: &Standing<'a>| {
            let version = bundle(standing)?.version_text();
            standing.name.strip_suffix(version).filter(|prefix| prefix.len() < standing.name.len())
        };
        Self { positions, prefixes: standings.iter().filter_map(prefix).collect() }
    }

    /// A name without content has no version, but may be made like those that have one.
    fn label(&self, standing: &Standing<'a>) -> &'a str {
        if let Some(bundle) = bundle(standing).filter(|bundle| !bundle.version_text().is_empty()) {
            return bundle.version_text();
        }
        let versions = self.prefixes.iter().filter_map(|prefix| standing.name.strip_prefix(prefix));
        versions.filter(|text| Version::parse(text).is_ok()).min().unwrap_or(standing.name)
    }
}

#[cfg(test)]
mod tests {
    use operon_catalog::Catalog;
    use operon_draw::Role;
    use operon_fbc::{MemoryFile, read_catalog};

    use super::*;

    /// A catalog of package `p` with one channel; names in `content` have a bundle.
    fn catalog(entries: &str, content: &[&str]) -> Catalog {
        let mut text = format!(
            r#"{{"schema":"olm.package","name":"p","defaultChannel":"c"}}
               {{"schema":"olm.channel","package":"p","name":"c","entries":{entries}}}"#
        );
        for version in content {
            text.push_str(&format!(
                r#"{{"schema":"olm.bundle","package":"p","name":"p.v{version}","image":"i.io/p:{version}",
                     "properties":[{{"type":"olm.package","value":{{"packageName":"p","version":"{version}"}}}}]}}"#
            ));
        }
        read_catalog(&[MemoryFile { path: "c.json".to_owned(), content: text.into_bytes() }])
    }

    fn drawn(entries: &str, content: &[&str]) -> (Vec<(String, Role)>, Option<String>) {
        let catalog = catalog(entries, content);
        let package = catalog.package("p").expect("the package is declared");
        let mut graph = lift(package, package.channels().collect());
        let lane = graph.lanes.remove(0);
        (lane.nodes.into_iter().map(|node| (node.label, node.role)).collect(), lane.problem)
    }

    fn check(entries: &str, content: &[&str], expected: &[(&str, Role)], problem: Option<&str>) {
        let (nodes, found) = drawn(entries, content);
        let nodes: Vec<(&str, Role)> =
            nodes.iter().map(|(label, role)| (label.as_str(), *role)).collect();
        assert_eq!(nodes, expected, "{entries}");
        assert_eq!(found.as_deref(), problem, "{entries}");
    }

    #[test]
    fn roles_follow_the_chain_from_the_head_to_the_first_skipped_name() {
        use Role::{Chain, Head, Skipped, Stranded, Virtual};
        check(
            r#"[{"name":"p.v1.0.0","replaces":"p.v0.9.0"},{"name":"p.v1.1.0","replaces":"p.v1.0.0","skips":["p.v1.0.1","p.v1.0.2"]},
                {"name":"p.v1.0.1"},{"name":"p.v1.0.2"}]"#,
            &["1.0.0", "1.0.1", "1.0.2", "1.1.0"],
            &[
                ("1.1.0", Head),
                ("1.0.2", Skipped),
                ("1.0.1", Skipped),
                ("1.0.0", Chain),
                ("0.9.0", Virtual),
            ],
            None,
        );
        // What only a skipped version replaces has no way to the head.
        check(
            r#"[{"name":"p.v3.0.0","replaces":"p.v2.0.0","skips":["p.v2.0.0"]},{"name":"p.v2.0.0","replaces":"p.v1.0.0"},{"name":"p.v1.0.0"}]"#,
            &["1.0.0", "2.0.0", "3.0.0"],
            &[("3.0.0", Head), ("2.0.0", Skipped), ("1.0.0", Stranded)],
            None,
        );
        // An entry without content keeps its place; a name made in another way is its own label.
        check(
            r#"[{"name":"p.v2.0.0","replaces":"p.v1.0.0","skips":["old"]},{"name":"p.v1.0.0"}]"#,
            &["2.0.0"],
            &[("2.0.0", Head), ("old", Virtual), ("1.0.0", Virtual)],
            None,
        );
    }

    #[test]
    fn a_channel_without_an_order_says_why() {
        use Role::{Chain, Head, Stranded};
        check(
            r#"[{"name":"p.v2.0.0","replaces":"p.v1.0.0"},{"name":"p.v3.0.0","replaces":"p.v1.0.0"},{"name":"p.v1.0.0"}]"#,
            &["1.0.0", "2.0.0", "3.0.0"],
            &[("3.0.0", Head), ("1.0.0", Chain), ("2.0.0", Head)],
            Some("2 heads, so there is no order: p.v2.0.0, p.v3.0.0"),
        );
        check(
            r#"[{"name":"p.v1.0.0","replaces":"p.v2.0.0"},{"name":"p.v2.0.0","replaces":"p.v1.0.0"}]"#,
            &["1.0.0", "2.0.0"],
            &[("2.0.0", Stranded), ("1.0.0", Stranded)],
            Some("no head: every entry is replaced or skipped by another"),
        );
        check(
            r#"[{"name":"p.v3.0.0","replaces":"p.v2.0.0"},{"name":"p.v2.0.0","replaces":"p.v1.0.0"},{"name":"p.v1.0.0","replaces":"p.v2.0.0"}]"#,
            &["1.0.0", "2.0.0", "3.0.0"],
            &[("3.0.0", Head), ("2.0.0", Chain), ("1.0.0", Chain)],
            Some("replaces runs in a circle: p.v2.0.0 replaces p.v1.0.0 replaces p.v2.0.0"),
        );
        check("[]", &[], &[], None);
    }
}
