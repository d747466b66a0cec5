//! Small catalogs for tests, written line by line.
//!
//! ```text
//! package etcd alpha                              name, default channel
//! channel etcd alpha                              entries follow, one a line
//!   etcd.v0.9.4 replaces etcd.v0.9.2 skips a,b range >=0.9.0_<0.9.4
//! bundle etcd etcd.v0.9.4 0.9.4 provides A,B requires C needs other:>=1.0.0 image i related r
//! deprecated etcd olm.bundle etcd.v0.9.0 message
//! ```
//! An entry without a `bundle` line gets a bundle whose version is read from its name. In ranges and
//! messages `_` stands for a blank. APIs are kinds of one group and version.

use std::collections::BTreeMap;

use operon_catalog::{
    BundleDeclaration, Catalog, ChannelDeclaration, Declarations, DeprecationDeclaration,
    DeprecationReference, EntryDeclaration, FileId, GroupVersionKind, PackageDeclaration,
    PackageProperty, PackageRequirement, Place, Placed, PropertyDeclaration, RelatedImage,
    SourceFile, Summary, build, journey::version_in_name,
};

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sample {
    pub(crate) packages: BTreeMap<String, SamplePackage>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SamplePackage {
    pub(crate) default_channel: String,
    pub(crate) channels: BTreeMap<String, Vec<SampleEntry>>,
    pub(crate) bundles: BTreeMap<String, SampleBundle>,
    /// Schema, name and message.
    pub(crate) deprecations: Vec<(String, String, String)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SampleEntry {
    pub(crate) name: String,
    pub(crate) replaces: String,
    pub(crate) skips: Vec<String>,
    pub(crate) skip_range: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SampleBundle {
    pub(crate) version: String,
    pub(crate) image: String,
    pub(crate) provides: Vec<String>,
    pub(crate) requires: Vec<String>,
    /// Package and range.
    pub(crate) needs: Vec<(String, String)>,
    pub(crate) related: Vec<String>,
}

/// Reads a catalog from its lines.
pub(crate) fn catalog(text: &str) -> Catalog {
    read(text).catalog()
}

/// Reads a sample from its lines.
pub(crate) fn read(text: &str) -> Sample {
    let mut sample = Sample::default();
    let mut place = (String::new(), String::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["package", name, default] => {
                let package = sample.packages.entry((*name).to_owned()).or_default();
                package.default_channel = (*default).to_owned();
            }
            ["channel", package, name] => {
                place = ((*package).to_owned(), (*name).to_owned());
                let package = sample.packages.get_mut(*package).expect("the package comes first");
                package.channels.insert((*name).to_owned(), Vec::new());
            }
            ["bundle", package, name, version, rest @ ..] => {
                let bundle = read_bundle(version, rest);
                let package = sample.packages.get_mut(*package).expect("the package comes first");
                package.bundles.insert((*name).to_owned(), bundle);
            }
            ["deprecated", package, schema, name, message] => {
                let name = if *name == "-" { "" } else { name };
                let package = sample.packages.get_mut(*package).expect("the package comes first");
                package.deprecations.push((
                    (*schema).to_owned(),
                    name.to_owned(),
                    message.replace('_', " "),
                ));
            }
            [name, rest @ ..] => {
                let package = sample.packages.get_mut(&place.0).expect("a channel comes first");
                let entries = package.channels.get_mut(&place.1).expect("a channel comes first");
                entries.push(read_entry(name, rest));
                if !package.bundles.contains_key(*name) {
                    let version = version_in_name(name).expect("the name ends with a version");
                    let bundle = read_bundle(&version.to_string(), &[]);
                    package.bundles.insert((*name).to_owned(), bundle);
                }
            }
            [] => {}
        }
    }
    sample
}

fn read_entry(name: &str, rest: &[&str]) -> SampleEntry {
    let mut entry = SampleEntry { name: name.to_owned(), ..SampleEntry::default() };
    for pair in rest.chunks(2) {
        match pair {
            ["replaces", name] => entry.replaces = (*name).to_owned(),
            ["skips", names] => entry.skips = list(names),
            ["range", range] => entry.skip_range = range.replace('_', " "),
            other => unreachable!("not part of an entry: {other:?}"),
        }
    }
    entry
}

fn read_bundle(version: &str, rest: &[&str]) -> SampleBundle {
    let mut bundle = SampleBundle {
        version: version.to_owned(),
        image: format!("example.com/bundle:{version}"),
        ..SampleBundle::default()
    };
    for pair in rest.chunks(2) {
        match pair {
            ["provides", kinds] => bundle.provides = list(kinds),
            ["requires", kinds] => bundle.requires = list(kinds),
            ["image", image] => bundle.image = (*image).to_owned(),
            ["related", images] => bundle.related = list(images),
            ["needs", packages] => {
                let pair = |text: String| {
                    let (package, range) = text.split_once(':').expect("package:range");
                    (package.to_owned(), range.replace('_', " "))
                };
                bundle.needs = list(packages).into_iter().map(pair).collect();
            }
            other => unreachable!("not part of a bundle: {other:?}"),
        }
    }
    bundle
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

impl Sample {
    /// Builds the catalog.
    pub(crate) fn catalog(&self) -> Catalog {
        let file = SourceFile { path: "sample".to_owned(), size: 0 };
        build(&[file], self.declarations())
    }

    /// Returns the documents in the order of names.
    pub(crate) fn declarations(&self) -> Declarations {
        let mut declarations = Declarations::default();
        for (name, package) in &self.packages {
            declarations.packages.push(PackageDeclaration {
                name: placed(name.clone()),
                default_channel: placed(package.default_channel.clone()),
                description: String::new(),
                has_icon: false,
                place: PLACE,
            });
            for (channel, entries) in &package.channels {
                declarations.channels.push(ChannelDeclaration {
                    package: name.clone(),
                    name: placed(channel.clone()),
                    entries: entries.iter().map(declare_entry).collect(),
                    place: PLACE,
                });
            }
            for (bundle_name, bundle) in &package.bundles {
                declarations.bundles.push(declare_bundle(name, bundle_name, bundle));
            }
            if !package.deprecations.is_empty() {
                declarations.deprecations.push(declare_deprecations(name, package));
            }
        }
        declarations
    }
}

const PLACE: Place = Place { file: FileId(0), start: 0, end: 0 };

fn placed<T>(value: T) -> Placed<T> {
    Placed { value, place: PLACE }
}

fn declare_entry(entry: &SampleEntry) -> EntryDeclaration {
    EntryDeclaration {
        name: entry.name.clone(),
        replaces: entry.replaces.clone(),
        skips: entry.skips.clone(),
        skip_range: entry.skip_range.clone(),
        place: PLACE,
    }
}

fn declare_bundle(package: &str, name: &str, bundle: &SampleBundle) -> BundleDeclaration {
    let api = |kind: &String| GroupVersionKind {
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        kind: kind.clone(),
    };
    let property = |kind: &str, value: String| PropertyDeclaration {
        kind: kind.to_owned(),
        value,
        place: PLACE,
    };
    let provided = bundle.provides.iter().map(|kind| property("olm.gvk", format!("{kind:?}")));
    let version = property("olm.package", format!("{:?}", bundle.version));
    BundleDeclaration {
        name: placed(name.to_owned()),
        package: package.to_owned(),
        image: placed(bundle.image.clone()),
        properties: provided.chain([version]).collect(),
        package_properties: vec![placed(PackageProperty {
            package: package.to_owned(),
            version: bundle.version.clone(),
            release: String::new(),
        })],
        provided_apis: bundle.provides.iter().map(api).collect(),
        required_apis: bundle.requires.iter().map(api).collect(),
        required_packages: bundle
            .needs
            .iter()
            .map(|(package, range)| PackageRequirement {
                package: package.clone(),
                range: range.clone(),
                place: PLACE,
            })
            .collect(),
        labels: Vec::new(),
        related_images: bundle
            .related
            .iter()
            .map(|image| RelatedImage { name: String::new(), image: image.clone() })
            .collect(),
        object_count: 0,
        metadata_count: 0,
        summary: Summary::default(),
        place: PLACE,
        broken: false,
    }
}

fn declare_deprecations(name: &str, package: &SamplePackage) -> DeprecationDeclaration {
    DeprecationDeclaration {
        package: name.to_owned(),
        entries: package
            .deprecations
            .iter()
            .map(|(schema, name, message)| DeprecationReference {
                schema: schema.clone(),
                name: name.clone(),
                message: message.clone(),
                place: PLACE,
            })
            .collect(),
        place: PLACE,
    }
}
