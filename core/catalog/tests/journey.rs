//! Journeys: where updates lead, how far, and the sentence when they do not.

mod sample;

use operon_catalog::{
    Catalog, Package,
    graph::Rules,
    journey::{Ending, Installed, NoWay, Routes, Step, Survey, matrix, version_in_name},
};
use proptest::prelude::*;

/// A skipped entry, a range, a second channel, names that are only mentioned, a deprecated head.
const ETCD: &str = "
    package etcd alpha
    channel etcd alpha
      etcd.v0.9.0 replaces etcd.v0.6.1
      etcd.v0.9.2 replaces etcd.v0.9.0
      etcd.v0.9.3 replaces etcd.v0.9.2
      etcd.v0.9.4 replaces etcd.v0.9.2 skips etcd.v0.9.3 range >=0.5.0_<0.6.0
    channel etcd beta
      etcd.v0.9.4 skips etcd.v0.9.1
      etcd.v1.0.0 replaces etcd.v0.9.4
    bundle etcd etcd.v1.0.0 1.0.0
    deprecated etcd olm.bundle etcd.v1.0.0 withdrawn
";

fn package(catalog: &Catalog) -> Package<'_> {
    catalog.packages().next().expect("the sample has a package")
}

fn routes<'a>(package: Package<'a>, rules: &str) -> Routes<'a> {
    match rules.split_once('/') {
        Some(("v0", channel)) => Routes::v0(package.channel(channel).expect("a channel")),
        Some(("v1", channel)) => Routes::v1(package.channel(channel)),
        Some(_) | None => Routes::v1(package.channels()),
    }
}

/// Tells a journey as `shortest | automatic`, or why there is none.
fn tell(rules: &str, from: &str, to: &str) -> String {
    let catalog = sample::catalog(ETCD);
    let package = package(&catalog);
    let routes = routes(package, rules);
    let from = Installed::find(package, from).expect("a start");
    let to = Installed::find(package, to).expect("a target");
    let hops = |hops: &[operon_catalog::journey::Hop<'_>]| {
        let told: Vec<String> = hops
            .iter()
            .map(|hop| {
                let steps: Vec<&str> = hop
                    .steps
                    .iter()
                    .map(|step| match step {
                        Step::Replaces => "replaces",
                        Step::Skips => "skips",
                        Step::SkipRange(text) => text,
                    })
                    .collect();
                format!("{} ({})", hop.entry.name(), steps.join(", "))
            })
            .collect();
        told.join(" ")
    };
    let shortest = routes.place(&to.name).and_then(|target| routes.shortest(&from, target));
    match shortest {
        None => NoWay::explain(&routes, &from, &to).to_string(),
        Some(shortest) => {
            let automatic = routes.automatic(&from);
            assert_eq!(automatic.ending, Ending::Rest);
            format!("{} | {}", hops(&shortest), hops(&automatic.hops))
        }
    }
}

#[test]
fn tells_the_way_or_why_there_is_none() {
    let claims = [
        (
            ("v0/alpha", "0.9.0", "0.9.4"),
            "etcd.v0.9.2 (replaces) etcd.v0.9.4 (replaces) | etcd.v0.9.2 (replaces) etcd.v0.9.4 (replaces)",
        ),
        (
            ("v0/alpha", "etcd.v0.6.1", "0.9.0"),
            "etcd.v0.9.0 (replaces) | etcd.v0.9.0 (replaces) etcd.v0.9.2 (replaces) etcd.v0.9.4 (replaces)",
        ),
        (("v0/alpha", "0.9.3", "0.9.4"), "etcd.v0.9.4 (skips) | etcd.v0.9.4 (skips)"),
        (
            ("v0/alpha", "v0.5.2", "0.9.4"),
            "etcd.v0.9.4 (>=0.5.0 <0.6.0) | etcd.v0.9.4 (>=0.5.0 <0.6.0)",
        ),
        (("v0/alpha", "0.9.4", "0.9.4"), " | "),
        (
            ("v0/alpha", "0.9.2", "0.9.3"),
            "`etcd.v0.9.4` in channel `alpha` skips `etcd.v0.9.3`, so OLM v0 never installs it",
        ),
        (("v1/alpha", "0.9.2", "0.9.3"), "etcd.v0.9.3 (replaces) | etcd.v0.9.4 (replaces)"),
        (
            ("v0/alpha", "0.9.0", "1.0.0"),
            "`etcd.v1.0.0` is not in channel `alpha`; channel `beta` has it",
        ),
        (
            ("v0/beta", "0.9.0", "1.0.0"),
            "nothing in channel `beta` replaces, skips or covers `etcd.v0.9.0`",
        ),
        (
            ("v0/alpha", "0.9.4", "0.9.0"),
            "`etcd.v0.9.0` is older than `etcd.v0.9.4`, and no update in channel `alpha` leads back",
        ),
        (
            ("v0/alpha", "0.7.0", "0.9.4"),
            "nothing in channel `alpha` replaces, skips or covers `0.7.0`",
        ),
        (
            ("v0/beta", "etcd.v0.9.1", "1.0.0"),
            "etcd.v0.9.4 (skips) etcd.v1.0.0 (replaces) | etcd.v0.9.4 (skips) etcd.v1.0.0 (replaces)",
        ),
        // All channels count together under OLM v1, and nobody is moved to what is deprecated.
        (
            ("v1", "0.9.0", "1.0.0"),
            "etcd.v0.9.2 (replaces) etcd.v0.9.4 (replaces) etcd.v1.0.0 (replaces) | etcd.v0.9.2 (replaces) etcd.v0.9.4 (replaces)",
        ),
    ];
    for ((rules, from, to), expected) in claims {
        assert_eq!(tell(rules, from, to), expected, "{rules}: from {from} to {to}");
    }
}

#[test]
fn names_what_hides_an_update() {
    let catalog = sample::catalog(
        "package p c
         channel p c
           p.v1.0.0
           p.v2.0.0 replaces p.v1.0.0
           p.v3.0.0 replaces p.v0.1.0 skips p.v2.0.0,p.v1.5.0
           p.v1.5.0 skips p.v1.0.0",
    );
    let package = package(&catalog);
    let tell = |from: &str| {
        let routes = routes(package, "v0/c");
        let from = Installed::find(package, from).unwrap();
        NoWay::explain(&routes, &from, &Installed::find(package, "3.0.0").unwrap()).to_string()
    };
    assert_eq!(
        tell("1.0.0"),
        "nothing in channel `c` that OLM v0 installs replaces, skips or covers `p.v1.0.0`; `p.v1.5.0`, \
         `p.v2.0.0` do, but are skipped or hidden, and OLM v0 ignores the edges of such entries"
    );
    let matrix =
        matrix(package, &package.channels().collect::<Vec<_>>(), &[Rules::V0, Rules::V1]).unwrap();
    let stranded = |table: usize| -> Vec<&str> {
        let rows = matrix.tables[table].rows.iter().filter(|row| row.stranded.is_some());
        rows.map(|row| matrix.installed[row.installed].name.as_str()).collect()
    };
    assert_eq!((stranded(0), stranded(1)), (vec!["p.v1.0.0"], vec![]));
}

#[test]
fn a_circle_of_updates_ends() {
    let catalog = sample::catalog(
        "package p c
         channel p c
           p.v1.0.0 range >=1.0.0
           p.v2.0.0 replaces p.v1.0.0",
    );
    let package = package(&catalog);
    let routes = routes(package, "v0/c");
    let automatic = routes.automatic(&Installed::find(package, "2.0.0").unwrap());
    assert_eq!(automatic.hops.len(), 1);
    assert_eq!(automatic.ending, Ending::Circle("p.v2.0.0"));
}

#[test]
fn reads_the_version_a_name_ends_with() {
    let read = |name| version_in_name(name).map(|version| version.to_string());
    assert_eq!(read("etcdoperator.v0.9.4"), Some("0.9.4".to_owned()));
    assert_eq!(read("a-b.v1.2.3-rc.1"), Some("1.2.3-rc.1".to_owned()));
    assert_eq!(read("kafka-3.4.5.v1.0.0"), Some("1.0.0".to_owned()));
    assert_eq!(read("pkg-1.2.3"), Some("1.2.3".to_owned()));
    assert_eq!(read("pkg"), None);
}

/// Channels of up to eight entries with any edges, sound or not.
fn channel_lines() -> impl Strategy<Value = String> {
    let entry =
        (0..9u32, prop::collection::vec(0..9u32, 0..3), prop::option::of((0..9u32, 0..9u32)));
    prop::collection::vec(entry, 1..9).prop_map(|entries| {
        let mut text = String::from("package p c\nchannel p c\n");
        for (number, (replaces, skips, range)) in entries.into_iter().enumerate() {
            text.push_str(&format!("p.v{number}.0.0"));
            if replaces != 8 {
                text.push_str(&format!(" replaces p.v{replaces}.0.0"));
            }
            if !skips.is_empty() {
                let names: Vec<String> =
                    skips.iter().map(|skip| format!("p.v{skip}.0.0")).collect();
                text.push_str(&format!(" skips {}", names.join(",")));
            }
            if let Some((low, high)) = range {
                text.push_str(&format!(" range >={low}.0.0_<{high}.0.0"));
            }
            text.push('\n');
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The matrix, the shortest way and the standing agree with the plain search of the graph.
    #[test]
    fn matrix_agrees_with_the_graph(text in channel_lines()) {
        let catalog = sample::catalog(&text);
        let package = package(&catalog);
        let channel = package.channels().next().expect("as built above");
        let upgrades = channel.upgrades();
        for rules in [Rules::V0, Rules::V1] {
            let matrix = matrix(package, &[channel], &[rules]).expect("as built above");
            let table = &matrix.tables[0];
            let routes = Routes::of_channel(channel, rules);
            let survey = Survey::new(&routes).expect("as built above");
            for row in &table.rows {
                let installed = &matrix.installed[row.installed];
                let hops = upgrades.reach(&installed.name, installed.version.as_ref(), rules).hops;
                for (column, target) in table.targets.iter().enumerate() {
                    let found = row.reach.iter().find(|(place, _)| *place == column).map(|(_, hops)| *hops);
                    let position = upgrades.entries().iter().position(|entry| entry.name == target.name).expect("as built above");
                    let expected = if target.name == installed.name { Some(0) } else { hops[position] };
                    prop_assert_eq!(found, expected, "{:?}: {} to {}", rules, installed.name, target.name);
                    let shortest = routes.shortest(installed, routes.place(target.name).expect("as built above"));
                    prop_assert_eq!(shortest.as_ref().map(|hops| hops.len() as u32), expected);
                    for hop in shortest.iter().flatten() {
                        prop_assert!(!hop.steps.is_empty());
                    }
                }
                let automatic = routes.automatic(installed);
                let standing = survey.standing(installed);
                prop_assert_eq!(standing.hops as usize, automatic.hops.len());
                prop_assert_eq!(
                    standing.end.map(|place| routes.places()[place]),
                    automatic.hops.last().map(|hop| hop.entry.name())
                );
                let head = channel.head().map(|head| head.name());
                let reaches = row.reach.iter().any(|(place, _)| Some(table.targets[*place].name) == head);
                prop_assert_eq!(standing.reaches_head, reaches);
            }
        }
    }
}
