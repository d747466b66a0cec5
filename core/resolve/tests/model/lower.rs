//! A world as the resolver takes it: catalogs read from documents, and plain values.

use operon_catalog::{
    BundleDeclaration, Catalog, ChannelDeclaration, Declarations, EntryDeclaration, FileId,
    GroupVersionKind, PackageDeclaration, PackageProperty, Place, Placed, PropertyDeclaration,
    SourceFile, Summary, build,
};
use operon_resolve::{
    Content, Installed, InstalledProperties, Request, Source, SourceName, Universe,
};
use operon_version::Version;

use super::{ModelBundle, ModelCatalog, ModelChannel, ModelPackage, NAMESPACE, Need, World};

/// Reads the catalogs of a world.
pub(crate) fn catalogs(world: &World) -> Vec<Catalog> {
    world.catalogs.iter().map(catalog).collect()
}

/// Returns a world's universe and requests.
pub(crate) fn universe<'c>(world: &World, catalogs: &'c [Catalog]) -> (Universe<'c>, Vec<Request>) {
    let name = |catalog: &ModelCatalog| SourceName {
        namespace: catalog.namespace.clone(),
        name: catalog.name.clone(),
    };
    let sources = world.catalogs.iter().zip(catalogs).map(|(model, catalog)| Source {
        name: name(model),
        priority: model.priority,
        content: Content::Ready(catalog),
    });
    let installed = world.installed.iter().map(|installed| Installed {
        name: installed.bundle.name(),
        version: Version::parse(&installed.bundle.version_text()).unwrap(),
        replaces: String::new(),
        phase: "Succeeded".to_owned(),
        properties: InstalledProperties::Annotated(properties(&installed.bundle)),
    });
    let requests = world.requests.iter().map(|request| Request {
        name: request.name.clone(),
        package: request.package.clone(),
        channel: request.channel.clone(),
        source: Some(name(&world.catalogs[request.catalog])),
        starting_csv: request.starting.clone(),
        installed_csv: request.installed.clone(),
        current_csv: request.installed.clone(),
        manual_approval: false,
        allowed: None,
    });
    let universe = Universe {
        namespace: NAMESPACE.to_owned(),
        sources: sources.collect(),
        installed: installed.collect(),
        fail_forward: false,
        native_apis: None,
    };
    (universe, requests.collect())
}

fn catalog(model: &ModelCatalog) -> Catalog {
    let mut declarations = Declarations::default();
    for package in &model.packages {
        declarations.packages.push(PackageDeclaration {
            name: placed(package.name.clone()),
            default_channel: placed(package.default_channel.clone()),
            description: String::new(),
            has_icon: false,
            place: PLACE,
        });
        let channels = package.channels.iter().map(|channel| declare_channel(package, channel));
        declarations.channels.extend(channels);
        declarations.bundles.extend(package.bundles.iter().map(declare_bundle));
    }
    let file = SourceFile { path: "catalog.json".to_owned(), size: 0 };
    let catalog = build(&[file], declarations);
    let problems: Vec<_> = catalog.diagnostics().collect();
    assert!(catalog.is_valid(), "the generator makes valid catalogs: {problems:?}\n{model:?}");
    catalog
}

const PLACE: Place = Place { file: FileId(0), start: 0, end: 0 };

fn placed<T>(value: T) -> Placed<T> {
    Placed { value, place: PLACE }
}

fn declare_channel(package: &ModelPackage, channel: &ModelChannel) -> ChannelDeclaration {
    let name_of = |position: usize| package.bundles[channel.entries[position].bundle].name();
    let entries = channel.entries.iter().enumerate().map(|(position, entry)| {
        let (replaces, skips) = match (entry.skips_previous, position) {
            (true, _) => (name_of(position - 2), vec![name_of(position - 1)]),
            (false, 0) => (String::new(), Vec::new()),
            (false, _) => (name_of(position - 1), Vec::new()),
        };
        EntryDeclaration {
            name: name_of(position),
            replaces,
            skips,
            skip_range: entry.skip_range.clone().unwrap_or_default(),
            place: PLACE,
        }
    });
    ChannelDeclaration {
        package: package.name.clone(),
        name: placed(channel.name.clone()),
        entries: entries.collect(),
        place: PLACE,
    }
}

fn declare_bundle(bundle: &ModelBundle) -> BundleDeclaration {
    let api = |&number: &usize| GroupVersionKind {
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        kind: format!("Kind{number}"),
    };
    let property = |(kind, value)| PropertyDeclaration { kind, value, place: PLACE };
    BundleDeclaration {
        name: placed(bundle.name()),
        package: bundle.package.clone(),
        image: placed(format!("example.com/{}", bundle.name())),
        properties: properties(bundle).into_iter().map(property).collect(),
        package_properties: vec![placed(PackageProperty {
            package: bundle.package.clone(),
            version: bundle.version_text(),
            release: String::new(),
        })],
        provided_apis: bundle.apis.iter().map(api).collect(),
        // The resolver reads needs from the properties.
        required_apis: Vec::new(),
        required_packages: Vec::new(),
        labels: bundle.label.iter().map(|label| format!("label-{label}")).collect(),
        related_images: Vec::new(),
        object_count: 0,
        metadata_count: 0,
        summary: Summary::default(),
        place: PLACE,
        broken: false,
    }
}

/// Returns the properties of a bundle: types and JSON texts.
pub(crate) fn properties(bundle: &ModelBundle) -> Vec<(String, String)> {
    let mut properties = vec![(
        "olm.package".to_owned(),
        format!(
            "{{\"packageName\":\"{}\",\"version\":\"{}\"}}",
            bundle.package,
            bundle.version_text()
        ),
    )];
    properties.extend(bundle.apis.iter().map(|&number| ("olm.gvk".to_owned(), api(number))));
    let label = bundle.label.map(|label| format!("{{\"label\":\"label-{label}\"}}"));
    properties.extend(label.map(|label| ("olm.label".to_owned(), label)));
    if bundle.deprecated {
        properties.push(("olm.deprecated".to_owned(), "{}".to_owned()));
    }
    for need in &bundle.needs {
        properties.push(match need {
            Need::Api(number) => ("olm.gvk.required".to_owned(), api(*number)),
            Need::Package(..) => ("olm.package.required".to_owned(), inner(need).1),
            Need::Label(label) => {
                ("olm.label.required".to_owned(), format!("{{\"label\":\"label-{label}\"}}"))
            }
            Need::All(_) | Need::Any(_) | Need::Not(_) => {
                ("olm.constraint".to_owned(), constraint(need))
            }
        });
    }
    properties
}

fn api(number: usize) -> String {
    format!("{{\"group\":\"example.com\",\"kind\":\"Kind{number}\",\"version\":\"v1\"}}")
}

fn constraint(need: &Need) -> String {
    let (key, value) = inner(need);
    format!("{{\"{key}\":{value}}}")
}

fn inner(need: &Need) -> (&'static str, String) {
    let parts = |parts: &[Need]| {
        let parts: Vec<String> = parts.iter().map(constraint).collect();
        format!("{{\"constraints\":[{}]}}", parts.join(","))
    };
    match need {
        Need::Api(number) => ("gvk", api(*number)),
        Need::Package(name, range) => (
            "package",
            format!("{{\"packageName\":\"{name}\",\"versionRange\":\"{}\"}}", range.text()),
        ),
        // Labels have no constraint of their own; a rule says the same.
        Need::Label(label) => (
            "cel",
            format!(
                "{{\"rule\":\"properties.exists(p, p.type == 'olm.label' && p.value.label == \
                 'label-{label}')\"}}"
            ),
        ),
        Need::All(all) => ("all", parts(all)),
        Need::Any(any) => ("any", parts(any)),
        Need::Not(not) => ("not", parts(not)),
    }
}
