//! The checker refuses every answer that was tampered with, and says why.

use operon_catalog::{
    BundleDeclaration, Catalog, ChannelDeclaration, Declarations, EntryDeclaration, FileId,
    GroupVersionKind, PackageDeclaration, PackageProperty, Place, Placed, PropertyDeclaration,
    SourceFile, Summary, build,
};
use operon_version::Version;

use super::check;
use crate::budget::Budget;
use crate::limits::Limits;
use crate::resolution::{Addition, Answer, Failure, Kept, Resolution};
use crate::resolve::resolve;
use crate::semantics::Semantics;
use crate::universe::{
    Content, Installed, InstalledProperties, Request, Source, SourceName, Universe,
};

const PLACE: Place = Place { file: FileId(0), start: 0, end: 0 };

fn placed(value: &str) -> Placed<String> {
    Placed { value: value.to_owned(), place: PLACE }
}

fn source() -> SourceName {
    SourceName { namespace: "olm".to_owned(), name: "harbour".to_owned() }
}

/// A package with a chain of versions; the properties are those of all of them.
fn declare(declarations: &mut Declarations, name: &str, versions: &[&str], more: &[(&str, &str)]) {
    declarations.packages.push(PackageDeclaration {
        name: placed(name),
        default_channel: placed("stable"),
        description: String::new(),
        has_icon: false,
        place: PLACE,
    });
    let bundle = |version: &str| format!("{name}.v{version}");
    let entries = versions.iter().enumerate().map(|(place, version)| EntryDeclaration {
        name: bundle(version),
        replaces: place.checked_sub(1).map(|older| bundle(versions[older])).unwrap_or_default(),
        skips: Vec::new(),
        skip_range: String::new(),
        place: PLACE,
    });
    declarations.channels.push(ChannelDeclaration {
        package: name.to_owned(),
        name: placed("stable"),
        entries: entries.collect(),
        place: PLACE,
    });
    for version in versions {
        let package = format!("{{\"packageName\":\"{name}\",\"version\":\"{version}\"}}");
        let mut properties = vec![("olm.package", package.as_str())];
        properties.extend(more);
        let provides = more.iter().any(|(kind, _)| *kind == "olm.gvk");
        declarations.bundles.push(BundleDeclaration {
            name: placed(&bundle(version)),
            package: name.to_owned(),
            image: placed("example.com/image"),
            properties: properties
                .into_iter()
                .map(|(kind, value)| PropertyDeclaration {
                    kind: kind.to_owned(),
                    value: value.to_owned(),
                    place: PLACE,
                })
                .collect(),
            package_properties: vec![Placed {
                value: PackageProperty {
                    package: name.to_owned(),
                    version: (*version).to_owned(),
                    release: String::new(),
                },
                place: PLACE,
            }],
            provided_apis: provides.then(oil).into_iter().collect(),
            required_apis: Vec::new(),
            required_packages: Vec::new(),
            labels: Vec::new(),
            related_images: Vec::new(),
            object_count: 0,
            metadata_count: 0,
            summary: Summary::default(),
            place: PLACE,
            broken: false,
        });
    }
}

const OIL: &str = r#"{"group":"oil.io","kind":"Oil","version":"v1"}"#;

fn oil() -> GroupVersionKind {
    GroupVersionKind {
        group: "oil.io".to_owned(),
        version: "v1".to_owned(),
        kind: "Oil".to_owned(),
    }
}

/// Lamps need oil; tar provides it as well; rust is marked.
fn harbour() -> Catalog {
    let mut declarations = Declarations::default();
    let needs_oil = [("olm.gvk.required", OIL)];
    declare(&mut declarations, "lamp", &["1.0.0", "2.0.0", "3.0.0"], &needs_oil);
    declare(&mut declarations, "oil", &["1.0.0"], &[("olm.gvk", OIL)]);
    declare(&mut declarations, "rust", &["1.0.0"], &[("olm.deprecated", "{}")]);
    declare(&mut declarations, "tar", &["1.0.0"], &[("olm.gvk", OIL)]);
    build(&[SourceFile { path: "harbour.json".to_owned(), size: 0 }], declarations)
}

/// A lamp runs and can be updated by one version; its oil is gone.
fn universe(catalog: &Catalog) -> (Universe<'_>, Vec<Request>) {
    let lamp = Installed {
        name: "lamp.v1.0.0".to_owned(),
        version: Version::new(1, 0, 0),
        replaces: String::new(),
        phase: "Succeeded".to_owned(),
        properties: InstalledProperties::Annotated(vec![
            ("olm.package".to_owned(), r#"{"packageName":"lamp","version":"1.0.0"}"#.to_owned()),
            ("olm.gvk.required".to_owned(), OIL.to_owned()),
        ]),
    };
    let request = Request {
        name: "lamp".to_owned(),
        package: "lamp".to_owned(),
        channel: "stable".to_owned(),
        source: Some(source()),
        installed_csv: "lamp.v1.0.0".to_owned(),
        current_csv: "lamp.v1.0.0".to_owned(),
        ..Request::default()
    };
    let sources = vec![Source { name: source(), priority: 0, content: Content::Ready(catalog) }];
    let universe = Universe {
        namespace: "port".to_owned(),
        sources,
        installed: vec![lamp],
        fail_forward: false,
        native_apis: None,
    };
    (universe, vec![request])
}

fn addition(catalog: &Catalog, package: &str, version: &str, updates: &str) -> Addition {
    let name = format!("{package}.v{version}");
    let channel = catalog.package(package).and_then(|package| package.channel("stable"));
    let entry = channel.and_then(|channel| channel.entry(&name)).expect("bug: it is declared");
    Addition {
        name,
        package: package.to_owned(),
        channel: "stable".to_owned(),
        source: source(),
        entry: entry.id(),
        version: version.to_owned(),
        replaces: updates.to_owned(),
        updates: updates.to_owned(),
        image: "example.com/image".to_owned(),
        is_starting: false,
        reasons: Vec::new(),
    }
}

fn complaint(resolution: &Resolution) -> Option<&str> {
    resolution.parts.iter().find_map(|part| match &part.result {
        Err(Failure::Defect(complaint)) => Some(complaint.as_str()),
        Ok(_) | Err(_) => None,
    })
}

#[test]
fn tampered_answers_are_refused() {
    let catalog = harbour();
    let (universe, requests) = universe(&catalog);
    let semantics = Semantics::documented();
    let mut budget = Budget::new(&Limits::default());
    let sound = resolve(&universe, &requests, &semantics, &mut budget);
    assert_eq!(complaint(&sound), None);
    let lamp = |version: &str| addition(&catalog, "lamp", version, "lamp.v1.0.0");
    let fresh = |package: &str| addition(&catalog, package, "1.0.0", "");
    let old = Kept {
        name: "lamp.v1.0.0".to_owned(),
        package: "lamp".to_owned(),
        version: "1.0.0".to_owned(),
        reasons: Vec::new(),
    };
    let answer = |additions: Vec<Addition>, kept: Vec<Kept>| Answer { additions, kept };
    let ghost = Addition { name: "lamp.v9.0.0".to_owned(), ..lamp("2.0.0") };
    let table = [
        ("", answer(vec![lamp("2.0.0"), fresh("oil")], Vec::new())),
        ("", answer(vec![fresh("tar")], vec![old.clone()])),
        ("has a need that is not met", answer(vec![lamp("2.0.0")], Vec::new())),
        ("both have Api", answer(vec![lamp("2.0.0"), fresh("oil"), fresh("tar")], Vec::new())),
        ("stays although", answer(vec![lamp("2.0.0"), fresh("oil")], vec![old])),
        ("both have Package", answer(vec![lamp("2.0.0"), lamp("3.0.0"), fresh("oil")], Vec::new())),
        ("nothing in the answer fulfils", answer(vec![fresh("oil")], Vec::new())),
        ("nothing in the answer fulfils", answer(vec![lamp("3.0.0"), fresh("oil")], Vec::new())),
        ("is deprecated", answer(vec![lamp("2.0.0"), fresh("oil"), fresh("rust")], Vec::new())),
        ("in no catalog", answer(vec![ghost, fresh("oil")], Vec::new())),
    ];
    for (expected, tampered) in table {
        let mut resolution = sound.clone();
        resolution.parts[0].result = Ok(tampered.clone());
        check(&universe, &requests, &semantics, &mut resolution, &mut budget);
        let told = complaint(&resolution).unwrap_or_default();
        assert!(
            if expected.is_empty() { told.is_empty() } else { told.contains(expected) },
            "{expected:?} is expected of {tampered:#?}, but {told:?} was told"
        );
    }
}
