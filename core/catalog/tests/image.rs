//! The image: order of input does not matter, and damage never does more than an error.

use std::sync::Arc;

use operon_catalog::{
    BundleDeclaration, Catalog, ChannelDeclaration, Declarations, EntryDeclaration, FileId,
    GroupVersionKind, PackageDeclaration, PackageProperty, Place, Placed, PropertyDeclaration,
    SourceFile, Summary, build,
};
use proptest::prelude::*;

fn place(start: u32) -> Place {
    Place { file: FileId(0), start, end: start + 1 }
}

fn placed<T>(value: T) -> Placed<T> {
    Placed { value, place: place(0) }
}

fn package(name: &str) -> PackageDeclaration {
    PackageDeclaration {
        name: placed(name.to_owned()),
        default_channel: placed("stable".to_owned()),
        description: format!("about {name}"),
        has_icon: false,
        place: place(1),
    }
}

fn channel(package: &str, name: &str, bundles: &[String]) -> ChannelDeclaration {
    let entries = bundles.iter().enumerate().map(|(index, bundle)| EntryDeclaration {
        name: bundle.clone(),
        replaces: if index == 0 { String::new() } else { bundles[index - 1].clone() },
        skips: Vec::new(),
        skip_range: String::new(),
        place: place(2),
    });
    ChannelDeclaration {
        package: package.to_owned(),
        name: placed(name.to_owned()),
        entries: entries.collect(),
        place: place(3),
    }
}

fn bundle(package: &str, name: &str, version: &str, kind: &str) -> BundleDeclaration {
    BundleDeclaration {
        name: placed(name.to_owned()),
        package: package.to_owned(),
        image: placed("quay.io/a/b:c".to_owned()),
        properties: vec![PropertyDeclaration {
            kind: "olm.package".to_owned(),
            value: format!("{{\"packageName\":\"{package}\",\"version\":\"{version}\"}}"),
            place: place(4),
        }],
        package_properties: vec![placed(PackageProperty {
            package: package.to_owned(),
            version: version.to_owned(),
            release: String::new(),
        })],
        provided_apis: vec![GroupVersionKind {
            group: "example.com".to_owned(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
        }],
        required_apis: Vec::new(),
        required_packages: Vec::new(),
        labels: vec!["blue".to_owned()],
        related_images: Vec::new(),
        object_count: 0,
        metadata_count: 0,
        summary: Summary::default(),
        place: place(5),
        broken: false,
    }
}

fn declarations(packages: &[(&str, usize)]) -> Declarations {
    let mut declarations = Declarations::default();
    for (name, versions) in packages {
        let names: Vec<String> =
            (0..*versions).map(|minor| format!("{name}.v1.{minor}.0")).collect();
        declarations.packages.push(package(name));
        declarations.channels.push(channel(name, "stable", &names));
        for (minor, bundle_name) in names.iter().enumerate() {
            let version = format!("1.{minor}.0");
            declarations.bundles.push(bundle(name, bundle_name, &version, "Thing"));
        }
    }
    declarations
}

fn files() -> Vec<SourceFile> {
    vec![SourceFile { path: "catalog.json".to_owned(), size: 10 }]
}

/// Asks a catalog everything; damaged images that open at all must survive this.
fn ask_everything(catalog: &Catalog) -> usize {
    let mut asked =
        catalog.files().count() + catalog.others().count() + catalog.diagnostics().count();
    for package in catalog.packages() {
        asked += package.name().len() + package.description().len() + package.place().range().len();
        asked += package.bundles_by_version().len()
            + package.default_head().map_or(0, |head| head.name().len());
        for channel in package.channels() {
            asked +=
                channel.name().len() + channel.order().count() + usize::from(channel.is_default());
            for entry in channel.entries() {
                asked +=
                    entry.name().len() + entry.skips().count() + entry.graph_entry().name.len();
            }
        }
    }
    for bundle in catalog.bundles() {
        asked += bundle.properties().map(|property| property.value.len()).sum::<usize>();
        asked +=
            bundle.entries().count() + bundle.provided_apis().count() + bundle.display_name().len();
        asked += bundle.property_places().count() + bundle.package().name().len();
    }
    for api in catalog.apis() {
        asked += api.providers().count() + api.requirers().count() + api.kind().len();
    }
    asked + catalog.with_label("blue").count() + catalog.bundles_named("a.v1.0.0").count()
}

#[test]
fn look_ups_find_what_was_declared() {
    let catalog = build(&files(), declarations(&[("b", 3), ("a", 2)]));
    assert!(catalog.is_valid(), "{:?}", catalog.diagnostics().collect::<Vec<_>>());
    let names: Vec<&str> = catalog.packages().map(|package| package.name()).collect();
    assert_eq!(names, ["a", "b"]);
    let head = catalog.package("b").and_then(|package| package.default_head());
    assert_eq!(head.map(|head| head.name()), Some("b.v1.2.0"));
    let api = GroupVersionKind {
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        kind: "Thing".to_owned(),
    };
    assert_eq!(catalog.api(&api).map(|api| api.providers().len()), Some(5));
    assert_eq!(catalog.with_label("blue").count(), 5);
    assert_eq!(catalog.with_property_type("olm.package").count(), 5);
    assert_eq!(
        catalog.bundles_named("a.v1.1.0").map(|bundle| bundle.version_text()).collect::<Vec<_>>(),
        ["1.1.0"]
    );
    assert_eq!(catalog.bundles_named("nobody").count(), 0);
    let newest: Vec<&str> = catalog
        .package("b")
        .map(|package| {
            package.bundles_by_version().iter().map(|bundle| bundle.version_text()).collect()
        })
        .unwrap_or_default();
    assert_eq!(newest, ["1.2.0", "1.1.0", "1.0.0"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_declarations_does_not_matter(seed in any::<u64>()) {
        let reference = build(&files(), declarations(&[("a", 3), ("b", 4), ("c", 1)]));
        let mut shuffled = declarations(&[("c", 1), ("b", 4), ("a", 3)]);
        shuffle(&mut shuffled.bundles, seed);
        shuffle(&mut shuffled.channels, seed);
        let rebuilt = build(&files(), shuffled);
        prop_assert_eq!(reference.image_bytes(), rebuilt.image_bytes());
    }

    #[test]
    fn damaged_images_are_refused_or_harmless(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<prop::sample::Index>(), truncate in any::<bool>()) {
        let mut bytes = build(&files(), declarations(&[("a", 3), ("b", 2)])).image_bytes().to_vec();
        for (index, value) in changes {
            let position = index.index(bytes.len());
            bytes[position] = value;
        }
        if truncate {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(catalog) = Catalog::open(Arc::new(bytes)) {
            prop_assert!(ask_everything(&catalog) < usize::MAX);
        }
    }
}

fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for index in (1..items.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(index, (seed >> 33) as usize % (index + 1));
    }
}
