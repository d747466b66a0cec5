//! Slices: what is kept, what is repaired, and that the rest is a sound catalog.

mod sample;

use std::collections::{BTreeMap, BTreeSet};

use operon_catalog::{
    Catalog,
    graph::Rules,
    journey::{Installed, Routes, Survey, version_in_name},
    slice::{KeepRule, KeptVersions, SliceError, SliceOptions, SlicePlan, slice},
};
use proptest::prelude::*;
use sample::{Sample, SampleBundle, SampleEntry, SamplePackage};

fn options(rules: &[&str]) -> SliceOptions {
    let rules = rules.iter().map(|rule| KeepRule::parse(rule).expect("a rule")).collect();
    SliceOptions { rules, with_dependencies: true }
}

/// Cuts a sample as a plan says.
fn apply(sample: &Sample, plan: &SlicePlan<'_>) -> Sample {
    let mut cut = Sample::default();
    for kept in &plan.packages {
        let name = kept.package.name();
        let before = &sample.packages[name];
        let mut package = SamplePackage {
            default_channel: kept.default_channel.to_owned(),
            ..SamplePackage::default()
        };
        for channel in &kept.channels {
            let entries = channel.entries.iter().map(|entry| SampleEntry {
                name: entry.entry.name().to_owned(),
                replaces: entry.replaces.unwrap_or_default().to_owned(),
                skips: entry
                    .entry
                    .skips()
                    .chain(entry.added_skips.iter().copied())
                    .map(str::to_owned)
                    .collect(),
                skip_range: entry.entry.skip_range().unwrap_or_default().to_owned(),
            });
            package.channels.insert(channel.channel.name().to_owned(), entries.collect());
        }
        for bundle in &kept.bundles {
            package.bundles.insert(bundle.name().to_owned(), before.bundles[bundle.name()].clone());
        }
        package.deprecations = before
            .deprecations
            .iter()
            .filter(|(schema, name, _)| match schema.as_str() {
                "olm.bundle" => package.bundles.contains_key(name),
                "olm.channel" => package.channels.contains_key(name),
                _ => true,
            })
            .cloned()
            .collect();
        cut.packages.insert(name.to_owned(), package);
    }
    cut
}

/// Tells what a slice keeps and says, one thing a line.
fn tell(text: &str, rules: &[&str]) -> String {
    let sample = sample::read(text);
    let catalog = sample.catalog();
    let plan = match slice(&catalog, &options(rules)) {
        Ok(plan) => plan,
        Err(error) => return format!("error: {error}\n"),
    };
    assert_sound(&sample, &plan, &options(rules));
    let mut told = String::new();
    for package in &plan.packages {
        for channel in &package.channels {
            let names: Vec<&str> = channel.entries.iter().map(|entry| entry.entry.name()).collect();
            let default = if channel.channel.name() == package.default_channel { "*" } else { "" };
            told.push_str(&format!("{}{default}: {}\n", channel.channel.name(), names.join(" ")));
        }
    }
    let lines = plan.repairs.iter().map(ToString::to_string);
    let lines = lines.chain(plan.left_out.iter().map(ToString::to_string));
    let lines = lines.chain(plan.provisions.iter().map(ToString::to_string));
    for line in lines.chain(plan.unmet.iter().map(ToString::to_string)) {
        told.push_str(&format!("{line}\n"));
    }
    told
}

/// Checks that a slice is valid, that everybody gets to the head, and that slicing again is idle.
fn assert_sound(sample: &Sample, plan: &SlicePlan<'_>, options: &SliceOptions) {
    let cut = apply(sample, plan);
    let catalog = cut.catalog();
    let findings: Vec<String> = catalog
        .diagnostics()
        .filter(|finding| finding.severity() == operon_catalog::Severity::Error)
        .map(|finding| finding.message)
        .collect();
    assert!(findings.is_empty(), "{findings:?}\n{cut:#?}");
    assert_everyone_reaches_the_head(&catalog, plan);
    let again = slice(&catalog, options).expect("what was cut out can be cut out again");
    assert_eq!(apply(&cut, &again), cut);
    assert!(again.repairs.is_empty() && again.left_out.is_empty(), "{:?}", again.repairs);
}

fn assert_everyone_reaches_the_head(catalog: &Catalog, plan: &SlicePlan<'_>) {
    for package in &plan.packages {
        for kept in &package.channels {
            let channel = catalog
                .package(package.package.name())
                .expect("as built above")
                .channel(kept.channel.name())
                .expect("as built above");
            assert_eq!(channel.head().map(|head| head.name()), Some(kept.head));
            for rules in [Rules::V0, Rules::V1] {
                let routes = Routes::of_channel(channel, rules);
                let survey = Survey::new(&routes).expect("as built above");
                for entry in channel.entries() {
                    let installed = Installed::published(entry.bundle().expect("as built above"));
                    assert!(
                        survey.standing(&installed).reaches_head,
                        "{rules:?}: {}",
                        entry.name()
                    );
                }
            }
        }
    }
}

const OPERATORS: &str = "
    package app fast
    channel app fast
      app.v2.0.0 replaces app.v1.1.0
      app.v1.1.0 replaces app.v1.0.0 skips app.v1.0.5
      app.v1.0.5 replaces app.v1.0.0
      app.v1.0.0 replaces app.v0.9.0
      app.v0.9.0 replaces app.v0.8.0
    channel app slow
      app.v1.1.0 replaces app.v1.0.0
      app.v1.0.0
    channel app old
      app.v0.9.0
    bundle app app.v2.0.0 2.0.0 requires Database,Nothing needs queue:>=1.0.0_<2.0.0
    bundle app app.v1.1.0 1.1.0 requires Database
    package aaa main
    channel aaa main
      aaa.v1.0.0
    channel aaa database
      aaa.v2.0.0
    bundle aaa aaa.v2.0.0 2.0.0 provides Database
    package database stable
    channel database stable
      database.v2.0.0 replaces database.v1.0.0
      database.v1.0.0
    bundle database database.v2.0.0 2.0.0 provides Other
    bundle database database.v1.0.0 1.0.0 provides Database needs queue:<1.0.0
    package queue stable
    channel queue stable
      queue.v2.0.0 replaces queue.v1.5.0
      queue.v1.5.0 replaces queue.v1.0.0
      queue.v1.0.0 replaces queue.v0.5.0
      queue.v0.5.0
    channel queue edge
      queue.v2.0.0
    deprecated queue olm.bundle queue.v2.0.0 broken
    deprecated queue olm.bundle queue.v1.5.0 slow
";

#[test]
fn keeps_what_is_asked_for_and_what_it_needs() {
    let claims: &[(&[&str], &str)] = &[
        // Everything of a package with nothing to repair.
        (
            &["queue"],
            "edge: queue.v2.0.0\nstable*: queue.v2.0.0 queue.v1.5.0 queue.v1.0.0 queue.v0.5.0\n",
        ),
        // What lies between stays, what lies below and above goes.
        (&["queue/stable@0.5.0 || 1.5.0"], "stable*: queue.v1.5.0 queue.v1.0.0 queue.v0.5.0\n"),
        // The default channel is dropped, and the only one left takes its place.
        (
            &["queue/edge"],
            "edge*: queue.v2.0.0\nqueue: the default channel is `edge` now, `stable` is not kept\n",
        ),
        // The channel with the highest head becomes the default.
        (
            &["app/slow@1.0.0", "app/old"],
            "old: app.v0.9.0\nslow*: app.v1.0.0\napp: the default channel is `slow` now, `fast` is not kept\n",
        ),
        // A skipped version is kept only while something kept updates it.
        (
            &["app/fast@>=1.0.0 <1.1.0"],
            "fast*: app.v1.0.0\napp/fast: `app.v1.0.5` is skipped and only `app.v1.1.0`, which is not kept, updates it\n",
        ),
        (
            &["app/fast@1.0.5"],
            "error: only skipped versions match `app/fast@1.0.5`, which nobody can install: `app.v1.0.5`; keep what updates them as well\n",
        ),
        (&["app/nowhere"], "error: package `app` has no channel `nowhere`\n"),
        (&["queue/stable@>3.0.0"], "error: nothing matches `queue/stable@>3.0.0`\n"),
    ];
    for (rules, expected) in claims {
        assert_eq!(tell(OPERATORS, rules), *expected, "{rules:?}");
    }
}

#[test]
fn keeps_dependencies_as_a_resolver_prefers_them() {
    assert_eq!(
        tell(OPERATORS, &["app/fast@2.0.0"]),
        "fast*: app.v2.0.0\n\
         stable*: database.v1.0.0\n\
         stable*: queue.v1.5.0 queue.v1.0.0 queue.v0.5.0\n\
         database/stable: `database.v1.0.0`, because `app.v2.0.0` requires the API Database.v1 (example.com)\n\
         queue/stable: `queue.v1.5.0`, because `app.v2.0.0` requires package `queue` in `>=1.0.0 <2.0.0`\n\
         queue/stable: `queue.v0.5.0`, because `database.v1.0.0` requires package `queue` in `<1.0.0`\n\
         nothing in this catalog provides what `app.v2.0.0` requires: the API Nothing.v1 (example.com)\n"
    );
    // A provider that is asked for anyway is enough, although another one is preferred.
    assert_eq!(
        tell(OPERATORS, &["app/slow@1.1.0", "aaa/database"]),
        "database*: aaa.v2.0.0\nslow*: app.v1.1.0\n\
         aaa: the default channel is `database` now, `main` is not kept\n\
         app: the default channel is `slow` now, `fast` is not kept\n"
    );
}

/// A package that is kept for one API provides the other as well, once its default channel is gone.
#[test]
fn keeps_nothing_that_a_second_look_finds_superfluous() {
    let text = "
        package app c
        channel app c
          app.v1.0.0
        bundle app app.v1.0.0 1.0.0 requires A,B
        package middle plain
        channel middle plain
          middle.v1.0.0
        channel middle rich
          middle.v2.0.0
        bundle middle middle.v2.0.0 2.0.0 provides A,B
        package zeta c
        channel zeta c
          zeta.v1.0.0
        bundle zeta zeta.v1.0.0 1.0.0 provides A";
    assert_eq!(
        tell(text, &["app"]),
        "c*: app.v1.0.0\n\
         rich*: middle.v2.0.0\n\
         middle: the default channel is `rich` now, `plain` is not kept\n\
         middle/rich: `middle.v2.0.0`, because `app.v1.0.0` requires the API A.v1 (example.com)\n"
    );
}

#[test]
fn repairs_what_would_be_stuck_or_become_a_second_head() {
    let skipped_by_skipped = "
        package p c
        channel p c
          p.v3.0.0 skips p.v2.0.0
          p.v2.0.0 skips p.v1.0.0
          p.v1.0.0";
    assert_eq!(
        tell(skipped_by_skipped, &["p"]),
        "c*: p.v3.0.0 p.v2.0.0 p.v1.0.0\n\
         p/c: `p.v3.0.0` skips `p.v1.0.0` now, what did is not kept or did not lead to the head\n"
    );
    let covered_by_range = "
        package p c
        channel p c
          p.v3.0.0 replaces p.v2.0.0 skips p.v1.5.0
          p.v2.0.0 replaces p.v1.0.0 range >=1.5.0_<2.0.0
          p.v1.5.0
          p.v1.0.0";
    assert_eq!(
        tell(covered_by_range, &["p@<3.0.0"]),
        "c*: p.v2.0.0 p.v1.5.0 p.v1.0.0\n\
         p/c: `p.v2.0.0` skips `p.v1.5.0` now, what did is not kept or did not lead to the head\n"
    );
    let no_order = "
        package p c
        channel p c
          p.v2.0.0
          p.v1.0.0";
    let catalog = sample::catalog(no_order);
    let error = slice(&catalog, &options(&["p"])).unwrap_err();
    assert_eq!(
        error,
        SliceError::BrokenChannel { package: "p".to_owned(), channel: "c".to_owned() }
    );
}

#[test]
fn reads_rules() {
    let rule = KeepRule::parse("etcd/alpha@>=0.9.0 <0.9.4").unwrap();
    assert_eq!((rule.package.as_str(), rule.channel.as_deref()), ("etcd", Some("alpha")));
    assert_eq!(rule.to_string(), "etcd/alpha@>=0.9.0 <0.9.4");
    for (text, message) in
        [("@1.0.0", "it names no package"), ("etcd/@1.0.0", "there is no channel behind `/`")]
    {
        assert_eq!(KeepRule::parse(text).unwrap_err().to_string(), message);
    }
    assert!(
        KeepRule::parse("etcd@^1.0.0").unwrap_err().to_string().starts_with("the version range")
    );
}

/// How many versions a package has at most.
const VERSIONS: usize = 7;

/// One version in a channel: its role, two numbers that pick other versions, and a skipRange.
type Slot = (u8, usize, usize, Option<(usize, usize)>);

/// Three packages whose channels share versions, and which require each other.
fn samples() -> impl Strategy<Value = Sample> {
    let range = prop::option::of((0..VERSIONS, 0..VERSIONS));
    let slot = (0..5u8, 0..VERSIONS, 0..VERSIONS, range);
    let channel = prop::collection::vec(slot, VERSIONS);
    let kinds = || prop::collection::btree_set(0..4u8, 0..2);
    let need = prop::option::weighted(0.1, (0..3usize, 0..VERSIONS));
    let bundles = prop::collection::vec((kinds(), kinds(), need), VERSIONS);
    let package = (prop::collection::vec(channel, 1..4), bundles, 0..3usize);
    prop::collection::vec(package, 3).prop_map(|packages| {
        let mut sample = Sample::default();
        for (number, (channels, bundles, default)) in packages.into_iter().enumerate() {
            let name = format!("p{number}");
            let mut package = SamplePackage::default();
            for (position, slots) in channels.iter().enumerate() {
                package.channels.insert(format!("c{position}"), sound_channel(&name, slots));
            }
            package.default_channel = format!("c{}", default % channels.len());
            for entry in package.channels.values().flatten() {
                let version = version_in_name(&entry.name).expect("as built above");
                let (provides, requires, need) = &bundles[version.major() as usize];
                let kinds =
                    |kinds: &BTreeSet<u8>| kinds.iter().map(|kind| format!("K{kind}")).collect();
                let needs = need
                    .iter()
                    .map(|(package, low)| (format!("p{package}"), format!(">={low}.0.0")));
                let bundle = SampleBundle {
                    version: version.to_string(),
                    image: "example.com/bundle".to_owned(),
                    provides: kinds(provides),
                    requires: kinds(requires),
                    needs: needs.collect(),
                    related: Vec::new(),
                };
                package.bundles.insert(entry.name.clone(), bundle);
            }
            sample.packages.insert(name, package);
        }
        sample
    })
}

/// Makes a valid channel: a chain of replaces, and entries beside it that something skips. Versions
/// beside the chain may have any edges but one to the head.
fn sound_channel(package: &str, slots: &[Slot]) -> Vec<SampleEntry> {
    let name = |version: usize| format!("{package}.v{version}.0.0");
    let mut chain: Vec<usize> = (0..VERSIONS).filter(|&version| slots[version].0 < 3).collect();
    if chain.is_empty() {
        chain.push(0);
    }
    let beside: Vec<usize> = (0..VERSIONS)
        .filter(|version| slots[*version].0 == 3 && !chain.contains(version))
        .collect();
    let head = *chain.last().expect("as built above");
    let mut entries: BTreeMap<usize, SampleEntry> = BTreeMap::new();
    for (index, &version) in chain.iter().enumerate() {
        let below = match index {
            0 if slots[version].0 == 0 => String::new(),
            // The end of the chain may replace what is skipped, or nothing that exists.
            0 => beside
                .get(slots[version].1 % 3)
                .map_or("p.v99.0.0".to_owned(), |&other| name(other)),
            _ => name(chain[index - 1]),
        };
        entries.insert(version, entry(name(version), below, slots[version].3));
    }
    for &version in &beside {
        let replaced = slots[version].1;
        let below =
            if replaced == head || replaced == version { String::new() } else { name(replaced) };
        entries.insert(version, entry(name(version), below, slots[version].3));
    }
    for &version in &beside {
        let present: Vec<usize> =
            entries.keys().copied().filter(|other| *other != version).collect();
        let skipping = present[slots[version].2 % present.len()];
        entries.get_mut(&skipping).expect("as built above").skips.push(name(version));
    }
    entries.into_values().collect()
}

fn entry(name: String, replaces: String, range: Option<(usize, usize)>) -> SampleEntry {
    let skip_range = range.map(|(low, high)| format!(">={low}.0.0 <{high}.0.0"));
    SampleEntry { name, replaces, skips: Vec::new(), skip_range: skip_range.unwrap_or_default() }
}

fn rules() -> impl Strategy<Value = SliceOptions> {
    let rule = (0..3usize, prop::option::of(0..2usize), 0..4u8, (0..VERSIONS, 1..VERSIONS));
    let rules = prop::collection::vec(rule, 1..3);
    (rules, prop::bool::weighted(0.8)).prop_map(|(rules, with_dependencies)| {
        let rules = rules.into_iter().map(|(package, channel, kind, (low, width))| {
            let channel = channel.map(|channel| format!("/c{channel}")).unwrap_or_default();
            let range = match kind {
                0 | 1 => format!("@>={low}.0.0 <{}.0.0", low + width),
                _ => String::new(),
            };
            let mut rule =
                KeepRule::parse(&format!("p{package}{channel}{range}")).expect("as built above");
            if kind == 2 {
                rule.versions = KeptVersions::Head;
            }
            rule
        });
        SliceOptions { rules: rules.collect(), with_dependencies }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    /// A slice of a valid catalog is valid, everybody reaches the head, and slicing again is idle.
    #[test]
    fn slices_of_sound_catalogs_are_sound((sample, options) in (samples(), rules())) {
        let catalog = sample.catalog();
        prop_assert!(catalog.is_valid(), "{:?}", catalog.diagnostics().collect::<Vec<_>>());
        match slice(&catalog, &options) {
            Ok(plan) => assert_sound(&sample, &plan, &options),
            Err(SliceError::UnknownPackage(_) | SliceError::UnknownChannel { .. } | SliceError::NothingMatches { .. }) => {}
            // A channel can be valid and still run in a circle behind a skipped entry.
            Err(SliceError::BrokenChannel { package, channel }) => {
                let channel = catalog.package(&package).expect("as built above").channel(&channel).expect("as built above");
                prop_assert!(channel.upgrades().order().is_err());
            }
            Err(error @ (SliceError::NoRules | SliceError::TooLarge)) => prop_assert!(false, "{error}"),
        }
    }

    /// The order in which rules are given plays no part.
    #[test]
    fn the_order_of_rules_plays_no_part((sample, options) in (samples(), rules())) {
        let catalog = sample.catalog();
        let mut reversed = options.clone();
        reversed.rules.reverse();
        if let (Ok(plan), Ok(other)) = (slice(&catalog, &options), slice(&catalog, &reversed)) {
            prop_assert_eq!(apply(&sample, &plan), apply(&sample, &other));
        }
    }
}
