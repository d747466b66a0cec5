//! Diffs: what changed, for whom, and that equal content never differs.

mod sample;

use operon_catalog::{
    Catalog, Declarations, SourceFile, build,
    diff::{CatalogDiff, DiffCounts, DiffOptions, Stranding, diff},
    graph::Rules,
};
use proptest::prelude::*;
use sample::{Sample, SampleEntry};

const EVERYTHING: DiffOptions<'static> = DiffOptions { package: None, rules: Rules::V0 };

const BEFORE: &str = "
    package etcd alpha
    channel etcd alpha
      etcd.v3.0.0 replaces etcd.v2.0.0 skips etcd.v1.5.0
      etcd.v2.0.0 replaces etcd.v1.0.0
      etcd.v1.5.0
      etcd.v1.0.0
    channel etcd gone
      etcd.v1.0.0
    bundle etcd etcd.v3.0.0 3.0.0 provides Cluster,Backup image old related one,two,two
    package left c
    channel left c
      left.v1.0.0
    package same c
    channel same c
      same.v1.0.0
";

const AFTER: &str = "
    package etcd beta
    channel etcd alpha
      etcd.v4.0.0 replaces etcd.v3.0.0
      etcd.v3.0.0 replaces etcd.v2.0.0 range >=1.0.0_<1.2.0
      etcd.v2.0.0 replaces etcd.v1.0.0
      etcd.v1.0.0 replaces etcd.v0.1.0
    channel etcd beta
      etcd.v4.0.0
    bundle etcd etcd.v4.0.0 4.0.0 provides Cluster,Restore
    bundle etcd etcd.v3.0.0 3.0.0 provides Cluster image new related two,one
    deprecated etcd olm.bundle etcd.v2.0.0 use_4
    package new c
    channel new c
      new.v1.0.0
    package same c
    channel same c
      same.v1.0.0
";

fn names<'a, T: Copy>(list: &[T], name: impl Fn(T) -> &'a str) -> Vec<&'a str> {
    list.iter().map(|item| name(*item)).collect()
}

#[test]
fn tells_what_changed() {
    let (before, after) = (sample::catalog(BEFORE), sample::catalog(AFTER));
    let diff = diff(&before, &after, &EVERYTHING);
    assert_eq!(names(&diff.added, |package| package.name()), ["new"]);
    assert_eq!(names(&diff.removed, |package| package.name()), ["left"]);
    let [etcd] = diff.changed.as_slice() else { panic!("only etcd changed") };
    assert_eq!(
        etcd.default_channel.map(|change| (change.before, change.after)),
        Some(("alpha", "beta"))
    );
    assert_eq!(names(&etcd.channels_added, |channel| channel.name()), ["beta"]);
    assert_eq!(names(&etcd.channels_removed, |channel| channel.name()), ["gone"]);
    assert_eq!(names(&etcd.bundles_added, |bundle| bundle.name()), ["etcd.v4.0.0"]);
    assert_eq!(names(&etcd.bundles_removed, |bundle| bundle.name()), ["etcd.v1.5.0"]);

    let changed: Vec<&str> = etcd.bundles_changed.iter().map(|bundle| bundle.name).collect();
    assert_eq!(changed, ["etcd.v2.0.0", "etcd.v3.0.0"]);
    let third = &etcd.bundles_changed[1];
    assert_eq!(third.texts.iter().map(|(field, _)| field.name()).collect::<Vec<_>>(), ["image"]);
    assert_eq!(third.properties_removed.len(), 1);
    assert_eq!(third.related_images_removed, [("", "two")]);
    assert!(third.related_images_added.is_empty());

    let [alpha] = etcd.channels_changed.as_slice() else { panic!("only alpha changed") };
    assert_eq!(alpha.head.and_then(|head| head.after), Some("etcd.v4.0.0"));
    assert_eq!(names(&alpha.entries_added, |entry| entry.name()), ["etcd.v4.0.0"]);
    assert_eq!(names(&alpha.entries_removed, |entry| entry.name()), ["etcd.v1.5.0"]);
    let edges: Vec<&str> = alpha.entries_changed.iter().map(|entry| entry.name).collect();
    assert_eq!(edges, ["etcd.v1.0.0", "etcd.v3.0.0"]);
    assert_eq!(alpha.entries_changed[1].skips_removed, ["etcd.v1.5.0"]);
    assert_eq!(
        alpha.entries_changed[1].skip_range.and_then(|range| range.after),
        Some(">=1.0.0 <1.2.0")
    );
    let kinds = |apis: &[operon_catalog::GroupVersionKind]| {
        apis.iter().map(|api| api.kind.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (kinds(&alpha.apis_gained), kinds(&alpha.apis_lost)),
        (vec!["Restore".to_owned()], vec!["Backup".to_owned()])
    );

    assert_eq!(
        DiffCounts::of(&diff).to_string(),
        "1 package added, 1 package removed, 1 package changed: 1 channel added, 1 channel removed, \
         1 bundle added, 1 bundle removed, 2 bundles changed, 1 head moved, 2 entries with other \
         edges, 1 version stranded, 1 deprecation added"
    );
    let only_same = DiffOptions { package: Some("same"), ..EVERYTHING };
    assert!(operon_catalog::diff::diff(&before, &after, &only_same).is_empty());
}

/// Tells what users notice, one version a line.
fn users(diff: &CatalogDiff<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for users in diff.changed.iter().flat_map(|package| &package.users) {
        for user in &users.changes {
            let mut line = user.entry.name().to_owned();
            if let Some(next) = user.next {
                line.push_str(&format!(" next {:?} {:?}", next.before, next.after));
            }
            if let Some(end) = user.end {
                line.push_str(&format!(" end {} {}", end.before, end.after));
            }
            match user.stranding {
                Some(Stranding::Stranded) => line.push_str(" stranded"),
                Some(Stranding::Freed) => line.push_str(" freed"),
                None => {}
            }
            if let Some(message) = user.deprecated {
                line.push_str(&format!(" deprecated: {message}"));
            }
            if user.removed {
                line.push_str(" removed");
            }
            lines.push(line);
        }
    }
    lines
}

#[test]
fn tells_what_changes_for_someone_on_a_version() {
    let after = "
        package etcd alpha
        channel etcd alpha
          etcd.v4.0.0 replaces etcd.v3.0.0 range <1.2.0
          etcd.v3.0.0 replaces etcd.v2.0.0
          etcd.v2.0.0
        deprecated etcd olm.bundle etcd.v2.0.0 use_4";
    let (before, after) = (sample::catalog(BEFORE), sample::catalog(after));
    let only_etcd = DiffOptions { package: Some("etcd"), ..EVERYTHING };
    assert_eq!(
        users(&diff(&before, &after, &only_etcd)),
        [
            "etcd.v1.0.0 next Some(\"etcd.v2.0.0\") Some(\"etcd.v4.0.0\") end etcd.v3.0.0 etcd.v4.0.0 removed",
            "etcd.v1.5.0 next Some(\"etcd.v3.0.0\") None end etcd.v3.0.0 etcd.v1.5.0 stranded removed",
            "etcd.v2.0.0 end etcd.v3.0.0 etcd.v4.0.0 deprecated: use 4",
            "etcd.v3.0.0 next None Some(\"etcd.v4.0.0\") end etcd.v3.0.0 etcd.v4.0.0",
        ]
    );
    // Seen the other way round, whoever was stranded is not in the first catalog.
    let back = diff(&after, &before, &only_etcd);
    assert_eq!(
        DiffCounts::of(&back).versions_stranded,
        1,
        "4.0.0 is withdrawn: {:?}",
        users(&back)
    );
}

/// Catalogs of a few packages with any edges, sound or not.
fn samples() -> impl Strategy<Value = Sample> {
    let entry = (
        0..5usize,
        prop::option::of(0..5usize),
        prop::collection::vec(0..5usize, 0..3),
        any::<bool>(),
    );
    let channels = prop::collection::vec(prop::collection::vec(entry, 1..5), 1..3);
    prop::collection::vec(channels, 1..3).prop_map(|packages| {
        let mut sample = Sample::default();
        for (number, channels) in packages.into_iter().enumerate() {
            let mut text = format!("package p{number} c0\n");
            for (position, entries) in channels.into_iter().enumerate() {
                text.push_str(&format!("channel p{number} c{position}\n"));
                for (version, _, _, _) in &entries {
                    text.push_str(&format!("p{number}.v{version}.0.0\n"));
                }
                sample.packages.extend(sample::read(&text).packages);
                let name = |version: usize| format!("p{number}.v{version}.0.0");
                let package =
                    sample.packages.get_mut(&format!("p{number}")).expect("as built above");
                let list =
                    package.channels.get_mut(&format!("c{position}")).expect("as built above");
                *list = entries
                    .into_iter()
                    .map(|(version, replaces, skips, ranged)| SampleEntry {
                        name: name(version),
                        replaces: replaces.map(name).unwrap_or_default(),
                        skips: skips.into_iter().map(name).collect(),
                        skip_range: if ranged { format!("<{version}.0.0") } else { String::new() },
                    })
                    .collect();
                // A name may be an entry once only, or which one counts would depend on the order.
                let mut seen = std::collections::BTreeSet::new();
                list.retain(|entry| seen.insert(entry.name.clone()));
            }
        }
        sample
    })
}

/// Builds the same content from documents in another order.
fn shuffled(sample: &Sample, seed: usize) -> Catalog {
    let Declarations {
        mut packages,
        mut channels,
        mut bundles,
        mut deprecations,
        others,
        diagnostics,
    } = sample.declarations();
    fn turn<T>(list: &mut [T], seed: usize) {
        list.reverse();
        let length = list.len().max(1);
        list.rotate_left(seed % length);
    }
    for channel in &mut channels {
        turn(&mut channel.entries, seed);
        for entry in &mut channel.entries {
            turn(&mut entry.skips, seed / 3);
        }
    }
    for bundle in &mut bundles {
        turn(&mut bundle.properties, seed);
    }
    turn(&mut packages, seed);
    turn(&mut channels, seed / 2);
    turn(&mut bundles, seed / 5);
    turn(&mut deprecations, seed);
    let file = |path: &str| SourceFile { path: path.to_owned(), size: 7 };
    let declarations =
        Declarations { packages, channels, bundles, deprecations, others, diagnostics };
    build(&[file("elsewhere"), file("more")], declarations)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A catalog does not differ from itself, nor from its documents in another order.
    #[test]
    fn equal_content_never_differs(sample in samples(), seed in 0..1000usize) {
        let catalog = sample.catalog();
        prop_assert!(diff(&catalog, &catalog, &EVERYTHING).is_empty());
        let other = shuffled(&sample, seed);
        for rules in [Rules::V0, Rules::V1] {
            let options = DiffOptions { package: None, rules };
            prop_assert!(diff(&catalog, &other, &options).is_empty());
            prop_assert!(diff(&other, &catalog, &options).is_empty());
        }
    }

    /// What is added one way is removed the other way.
    #[test]
    fn a_diff_turned_round_swaps_before_and_after(left in samples(), right in samples()) {
        let (left, right) = (left.catalog(), right.catalog());
        let there = DiffCounts::of(&diff(&left, &right, &EVERYTHING));
        let back = DiffCounts::of(&diff(&right, &left, &EVERYTHING));
        prop_assert_eq!((there.packages_added, there.bundles_added, there.channels_added), (back.packages_removed, back.bundles_removed, back.channels_removed));
        prop_assert_eq!((there.heads_moved, there.entries_changed, there.bundles_changed), (back.heads_moved, back.entries_changed, back.bundles_changed));
    }
}
