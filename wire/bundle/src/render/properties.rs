//! The properties of a bundle: what its files say, brought into the words of a catalog.

use std::collections::BTreeSet;

use operon_document::{
    encode_base64,
    json::{Node, Tape},
};

use crate::{
    BundleSource, Property, ProvidedApi,
    json::ObjectWriter,
    property::{Gvk, PackageValue, types},
};

/// Returns the package, version and release that identify the bundle.
///
/// Upstream: of several `olm.package` properties the last one counts, and those of the CSV come
/// after the one that the annotations give.
pub(crate) fn package_value(source: &BundleSource) -> PackageValue {
    let service_version = &source.service_version;
    let last = service_version.properties.iter().rfind(|property| is_package(property));
    if let Some(property) = last {
        return read_value(property, PackageValue::read);
    }
    PackageValue {
        package_name: source.annotations.package.clone(),
        version: service_version.version.clone(),
        release: service_version.release.clone(),
    }
}

/// Splits the name of a CRD into its plural name and its group.
pub(crate) fn split_definition_name(name: &str) -> Option<(&str, &str)> {
    name.split_once('.')
}

/// Returns all properties but the inlined manifests, sorted.
pub(super) fn described(source: &BundleSource) -> Vec<Property> {
    let stated = stated(source);
    let mut properties = vec![Property::canonical(types::PACKAGE, package_value(source).json())];
    let canonical = |property_type: &'static str, values: BTreeSet<Gvk>| {
        values.into_iter().map(move |value| Property::canonical(property_type, value.json()))
    };
    properties.extend(canonical(types::GVK, provided(source, &stated)));
    properties.extend(canonical(types::GVK_REQUIRED, required_apis(source)));
    properties.extend(source.dependencies.iter().filter(|entry| is_package(entry)).map(|entry| {
        let range = read_value(entry, PackageValue::read);
        Property::canonical(types::PACKAGE_REQUIRED, range.required_json())
    }));
    let others = stated.into_iter().chain(&source.dependencies);
    properties.extend(others.filter(|entry| !is_package(entry) && !is_gvk(entry)).cloned());
    sort(&mut properties);
    properties
}

/// Adds the manifests, inlined, behind the other properties.
pub(super) fn with_objects(source: &BundleSource, described: Vec<Property>) -> Vec<Property> {
    let (mut last, mut properties): (Vec<Property>, Vec<Property>) =
        described.into_iter().partition(|property| {
            matches!(property.property_type.as_str(), types::BUNDLE_OBJECT | types::CSV_METADATA)
        });
    last.extend(source.manifests.iter().map(|manifest| {
        let data = encode_base64(manifest.json.as_bytes());
        let value = ObjectWriter::new().text("data", &data).finish();
        Property::canonical(types::BUNDLE_OBJECT, value)
    }));
    sort(&mut last);
    properties.extend(last);
    properties
}

/// The properties that an author states, each once: those of the metadata, then those of the CSV.
fn stated(source: &BundleSource) -> Vec<&Property> {
    let mut seen = BTreeSet::new();
    source
        .properties
        .iter()
        .chain(&source.service_version.properties)
        .filter(|property| seen.insert((&property.property_type, property.written())))
        .collect()
}

/// Returns the APIs that a bundle brings.
pub(crate) fn provided_apis(source: &BundleSource) -> BTreeSet<Gvk> {
    provided(source, &stated(source))
}

/// The APIs of the CRDs and the owned API services, and those that an author states.
fn provided(source: &BundleSource, stated: &[&Property]) -> BTreeSet<Gvk> {
    let definitions = source.provided_apis.iter().map(ProvidedApi::gvk);
    let services = source.service_version.owned_services.iter().map(|service| Gvk {
        group: service.group.clone(),
        kind: service.kind.clone(),
        version: service.version.clone(),
    });
    let stated = stated.iter().filter(|property| is_gvk(property));
    definitions
        .chain(services)
        .chain(stated.map(|property| read_value(property, Gvk::read)))
        .collect()
}

/// Returns the APIs that the CSV requires, and those of the dependencies.
pub(crate) fn required_apis(source: &BundleSource) -> BTreeSet<Gvk> {
    let service_version = &source.service_version;
    let definitions = service_version.required_definitions.iter().filter_map(|key| {
        let (_, group) = split_definition_name(&key.name)?;
        Some(Gvk { group: group.to_owned(), kind: key.kind.clone(), version: key.version.clone() })
    });
    let services = service_version.required_services.iter().map(|key| Gvk {
        group: key.group.clone(),
        kind: key.kind.clone(),
        version: key.version.clone(),
    });
    let dependencies = source.dependencies.iter().filter(|entry| is_gvk(entry));
    definitions
        .chain(services)
        .chain(dependencies.map(|entry| read_value(entry, Gvk::read)))
        .collect()
}

fn is_package(property: &Property) -> bool {
    property.property_type == types::PACKAGE
}

fn is_gvk(property: &Property) -> bool {
    property.property_type == types::GVK
}

fn read_value<Value>(property: &Property, read: impl FnOnce(Node<'_>) -> Value) -> Value {
    let mut tape = Tape::new();
    let node = tape.read(property.value.as_bytes());
    read(node.expect("bug: the value of a property is JSON"))
}

fn sort(properties: &mut [Property]) {
    properties.sort_by(|left, right| {
        left.property_type
            .cmp(&right.property_type)
            .then_with(|| left.written().cmp(right.written()))
    });
}
