//! The property `olm.csv.metadata`: the part of a ClusterServiceVersion that people see.
//!
//! It takes the place of inlined manifests in a catalog; what an installation needs is in the
//! bundle's image.

use operon_document::json::{Mismatch, Node, Tape};

use crate::{
    BundleError, BundleSource, Property,
    json::ObjectWriter,
    projection::{Form, Slot, project},
    property::types,
};

/// Returns the property for the ClusterServiceVersion of a bundle.
pub(super) fn property(source: &BundleSource) -> Result<Property, BundleError> {
    let service_version = &source.service_version;
    let manifest = source
        .manifests
        .iter()
        .find(|manifest| {
            manifest.file == service_version.file && manifest.range == service_version.range
        })
        .expect("bug: the ClusterServiceVersion is one of the manifests");
    let mut tape = Tape::new();
    let root = tape.read(manifest.json.as_bytes()).expect("bug: a manifest is printed as JSON");
    let value = csv_metadata(root).map_err(|mismatch| BundleError::MetadataWrongType {
        path: mismatch.path,
        expected: mismatch.expected,
        found: mismatch.found,
    })?;
    Ok(Property::canonical(types::CSV_METADATA, value))
}

/// Returns the value of the property for a ClusterServiceVersion.
pub(crate) fn csv_metadata(root: Node<'_>) -> Result<String, Mismatch> {
    let metadata = root.field("metadata");
    let spec = root.field("spec");
    let mut writer = ObjectWriter::new();
    for part in PARTS {
        let (parent, path) = match part.place {
            Place::Metadata => (metadata, "metadata"),
            Place::Spec => (spec, "spec"),
        };
        let member = parent.and_then(|parent| parent.field(part.field));
        let projected = project(member, part.form).map_err(|mut mismatch| {
            let separator = if mismatch.path.is_empty() { "" } else { "." };
            mismatch.path = format!("{path}.{}{separator}{}", part.field, mismatch.path);
            mismatch
        })?;
        if let Some(value) = projected {
            writer.member(part.name, &value);
        }
    }
    Ok(writer.finish())
}

/// A member of the property: its name, and where its value comes from.
struct Part {
    name: &'static str,
    place: Place,
    field: &'static str,
    form: &'static Form,
}

enum Place {
    Metadata,
    Spec,
}

const PARTS: &[Part] = &[
    Part {
        name: "annotations",
        place: Place::Metadata,
        field: "annotations",
        form: &Form::TextMap,
    },
    spec_part("apiServiceDefinitions", "apiservicedefinitions", &SERVICE_DEFINITIONS),
    spec_part("crdDescriptions", "customresourcedefinitions", &DEFINITIONS),
    spec_part("description", "description", &Form::Text),
    spec_part("displayName", "displayName", &Form::Text),
    spec_part("installModes", "installModes", &Form::List(&INSTALL_MODE)),
    spec_part("keywords", "keywords", &TEXT_LIST),
    Part { name: "labels", place: Place::Metadata, field: "labels", form: &Form::TextMap },
    spec_part("links", "links", &Form::List(&LINK)),
    spec_part("maintainers", "maintainers", &Form::List(&MAINTAINER)),
    spec_part("maturity", "maturity", &Form::Text),
    spec_part("minKubeVersion", "minKubeVersion", &Form::Text),
    spec_part("nativeAPIs", "nativeAPIs", &Form::List(&NATIVE_API)),
    spec_part("provider", "provider", &LINK),
];

const fn spec_part(name: &'static str, field: &'static str, form: &'static Form) -> Part {
    Part { name, place: Place::Spec, field, form }
}

const TEXT_LIST: Form = Form::List(&Form::Text);

const INSTALL_MODE: Form =
    Form::Struct(&[Slot::required("supported", &Form::Bool), Slot::required("type", &Form::Text)]);

const LINK: Form =
    Form::Struct(&[Slot::optional("name", &Form::Text), Slot::optional("url", &Form::Text)]);

const MAINTAINER: Form =
    Form::Struct(&[Slot::optional("email", &Form::Text), Slot::optional("name", &Form::Text)]);

const NATIVE_API: Form = Form::Struct(&[
    Slot::required("group", &Form::Text),
    Slot::required("kind", &Form::Text),
    Slot::required("version", &Form::Text),
]);

const DEFINITIONS: Form = Form::Struct(&[
    Slot::optional("owned", &Form::List(&DEFINITION)),
    Slot::optional("required", &Form::List(&DEFINITION)),
]);

const DEFINITION: Form = Form::Struct(&[
    Slot::optional("actionDescriptors", &DESCRIPTORS),
    Slot::optional("description", &Form::Text),
    Slot::optional("displayName", &Form::Text),
    Slot::required("kind", &Form::Text),
    Slot::required("name", &Form::Text),
    Slot::optional("resources", &Form::List(&RESOURCE)),
    Slot::optional("specDescriptors", &DESCRIPTORS),
    Slot::optional("statusDescriptors", &DESCRIPTORS),
    Slot::required("version", &Form::Text),
]);

const SERVICE_DEFINITIONS: Form = Form::Struct(&[
    Slot::optional("owned", &Form::List(&SERVICE_DEFINITION)),
    Slot::optional("required", &Form::List(&SERVICE_DEFINITION)),
]);

const SERVICE_DEFINITION: Form = Form::Struct(&[
    Slot::optional("actionDescriptors", &DESCRIPTORS),
    Slot::optional("containerPort", &Form::Integer),
    Slot::optional("deploymentName", &Form::Text),
    Slot::optional("description", &Form::Text),
    Slot::optional("displayName", &Form::Text),
    Slot::required("group", &Form::Text),
    Slot::required("kind", &Form::Text),
    Slot::required("name", &Form::Text),
    Slot::optional("resources", &Form::List(&RESOURCE)),
    Slot::optional("specDescriptors", &DESCRIPTORS),
    Slot::optional("statusDescriptors", &DESCRIPTORS),
    Slot::required("version", &Form::Text),
]);

const RESOURCE: Form = Form::Struct(&[
    Slot::required("kind", &Form::Text),
    Slot::required("name", &Form::Text),
    Slot::required("version", &Form::Text),
]);

const DESCRIPTORS: Form = Form::List(&Form::Struct(&[
    Slot::optional("description", &Form::Text),
    Slot::optional("displayName", &Form::Text),
    Slot::required("path", &Form::Text),
    Slot::optional("value", &Form::Raw),
    Slot::optional("x-descriptors", &TEXT_LIST),
]));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_in_the_order_of_names() {
        assert!(PARTS.is_sorted_by_key(|part| part.name));
        let forms = [
            &INSTALL_MODE,
            &LINK,
            &MAINTAINER,
            &NATIVE_API,
            &DEFINITIONS,
            &DEFINITION,
            &SERVICE_DEFINITIONS,
            &SERVICE_DEFINITION,
            &RESOURCE,
        ];
        for form in forms {
            let Form::Struct(slots) = form else { panic!("{form:?} is not a struct") };
            assert!(slots.is_sorted_by_key(|slot| slot.name), "{form:?}");
        }
    }

    #[test]
    fn a_service_version_is_projected_as_upstream_decodes_it() {
        let csv = br#"{"metadata": {"annotations": {"b": "x<y", "a": null}, "labels": {}},
            "spec": {"displayName": "", "keywords": ["k", null], "MinKubeVersion": "1.20.0",
                "unknown": 1, "installModes": [{"type": "AllNamespaces", "supported": true}, null],
                "apiservicedefinitions": {"owned": [{"name": "n", "containerPort": 443}]},
                "customresourcedefinitions": {"owned": [], "required": [{"specDescriptors":
                    [{"path": "p", "value": {"b": 1, "a": 2}}]}]}}}"#;
        let mut tape = Tape::new();
        let value = csv_metadata(tape.read(csv).unwrap()).unwrap();
        insta::assert_snapshot!(value.replace("],\"", "],\n\"").replace("},\"", "},\n\""), @r#"
        {"annotations":{"a":"","b":"x<y"},
        "apiServiceDefinitions":{"owned":[{"containerPort":443,"group":"","kind":"","name":"n","version":""}]},
        "crdDescriptions":{"required":[{"kind":"","name":"","specDescriptors":[{"path":"p","value":{"a":2,"b":1}}],
        "version":""}]},
        "installModes":[{"supported":true,"type":"AllNamespaces"},{"supported":false,"type":""}],
        "keywords":["k",""],
        "minKubeVersion":"1.20.0","provider":{}}
        "#);
        let mut tape = Tape::new();
        let root = tape.read(br#"{"spec": {"links": [{"name": 1}]}}"#).unwrap();
        let mismatch = csv_metadata(root).unwrap_err();
        assert_eq!((mismatch.path.as_str(), mismatch.expected), ("spec.links.0.name", "a string"));
    }
}
