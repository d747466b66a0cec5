//! The form of each schema and each known property, as upstream's Go types define it.

use operon_document::json::{Field, Shape};

const fn field(name: &'static str, shape: &'static Shape) -> Field {
    Field { name, shape }
}

const TEXT_LIST: Shape = Shape::List(&Shape::Text);
const TEXT_MAP: Shape = Shape::Map(&Shape::Text);

const PROPERTY: Shape = Shape::Struct(&[field("type", &Shape::Text), field("value", &Shape::Any)]);
const PROPERTIES: Shape = Shape::List(&PROPERTY);

/// `olm.package`
pub(crate) const PACKAGE: Shape = Shape::Struct(&[
    field("schema", &Shape::Text),
    field("name", &Shape::Text),
    field("defaultChannel", &Shape::Text),
    field("icon", &ICON),
    field("description", &Shape::Text),
    field("properties", &PROPERTIES),
]);

const ICON: Shape =
    Shape::Struct(&[field("base64data", &Shape::Base64), field("mediatype", &Shape::Text)]);

/// `olm.channel`
pub(crate) const CHANNEL: Shape = Shape::Struct(&[
    field("schema", &Shape::Text),
    field("name", &Shape::Text),
    field("package", &Shape::Text),
    field("entries", &Shape::List(&ENTRY)),
    field("properties", &PROPERTIES),
]);

const ENTRY: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field("replaces", &Shape::Text),
    field("skips", &TEXT_LIST),
    field("skipRange", &Shape::Text),
]);

/// `olm.bundle`
pub(crate) const BUNDLE: Shape = Shape::Struct(&[
    field("schema", &Shape::Text),
    field("name", &Shape::Text),
    field("package", &Shape::Text),
    field("image", &Shape::Text),
    field("properties", &PROPERTIES),
    field("relatedImages", &Shape::List(&RELATED_IMAGE)),
]);

const RELATED_IMAGE: Shape =
    Shape::Struct(&[field("name", &Shape::Text), field("image", &Shape::Text)]);

/// `olm.deprecations`
pub(crate) const DEPRECATIONS: Shape = Shape::Struct(&[
    field("schema", &Shape::Text),
    field("package", &Shape::Text),
    field("entries", &Shape::List(&DEPRECATION)),
]);

const DEPRECATION: Shape = Shape::Struct(&[
    field(
        "reference",
        &Shape::Struct(&[field("schema", &Shape::Text), field("name", &Shape::Text)]),
    ),
    field("message", &Shape::Text),
]);

/// Returns the form of the value of a known property type.
pub(crate) fn property_value(kind: &str) -> Option<&'static Shape> {
    match kind {
        "olm.package" => Some(&PACKAGE_PROPERTY),
        "olm.package.required" => Some(&PACKAGE_REQUIRED),
        "olm.gvk" | "olm.gvk.required" => Some(&GVK),
        "olm.bundle.object" => Some(&BUNDLE_OBJECT),
        "olm.channel" => Some(&CHANNEL_PROPERTY),
        "olm.csv.metadata" => Some(&CSV_METADATA),
        _ => None,
    }
}

const PACKAGE_PROPERTY: Shape = Shape::Struct(&[
    field("packageName", &Shape::Text),
    field("version", &Shape::Text),
    field("release", &Shape::Text),
]);

const PACKAGE_REQUIRED: Shape =
    Shape::Struct(&[field("packageName", &Shape::Text), field("versionRange", &Shape::Text)]);

const GVK: Shape = Shape::Struct(&[
    field("group", &Shape::Text),
    field("version", &Shape::Text),
    field("kind", &Shape::Text),
]);

const BUNDLE_OBJECT: Shape = Shape::Struct(&[field("data", &Shape::Base64)]);

const CHANNEL_PROPERTY: Shape =
    Shape::Struct(&[field("channelName", &Shape::Text), field("priority", &Shape::Integer(64))]);

const LINK: Shape = Shape::Struct(&[field("name", &Shape::Text), field("url", &Shape::Text)]);

const CSV_METADATA: Shape = Shape::Struct(&[
    field("annotations", &TEXT_MAP),
    field("apiServiceDefinitions", &API_SERVICES),
    field("crdDescriptions", &CRDS),
    field("description", &Shape::Text),
    field("displayName", &Shape::Text),
    field(
        "installModes",
        &Shape::List(&Shape::Struct(&[
            field("type", &Shape::Text),
            field("supported", &Shape::Bool),
        ])),
    ),
    field("keywords", &TEXT_LIST),
    field("labels", &TEXT_MAP),
    field("links", &Shape::List(&LINK)),
    field(
        "maintainers",
        &Shape::List(&Shape::Struct(&[field("name", &Shape::Text), field("email", &Shape::Text)])),
    ),
    field("maturity", &Shape::Text),
    field("minKubeVersion", &Shape::Text),
    field("nativeAPIs", &Shape::List(&GVK)),
    field("provider", &LINK),
]);

const RESOURCE: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field("kind", &Shape::Text),
    field("version", &Shape::Text),
]);

const DESCRIPTOR: Shape = Shape::Struct(&[
    field("path", &Shape::Text),
    field("displayName", &Shape::Text),
    field("description", &Shape::Text),
    field("x-descriptors", &TEXT_LIST),
    field("value", &Shape::Any),
]);

const CRDS: Shape =
    Shape::Struct(&[field("owned", &Shape::List(&CRD)), field("required", &Shape::List(&CRD))]);

const CRD: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field("version", &Shape::Text),
    field("kind", &Shape::Text),
    field("displayName", &Shape::Text),
    field("description", &Shape::Text),
    field("resources", &Shape::List(&RESOURCE)),
    field("statusDescriptors", &Shape::List(&DESCRIPTOR)),
    field("specDescriptors", &Shape::List(&DESCRIPTOR)),
    field("actionDescriptors", &Shape::List(&DESCRIPTOR)),
]);

const API_SERVICES: Shape = Shape::Struct(&[
    field("owned", &Shape::List(&API_SERVICE)),
    field("required", &Shape::List(&API_SERVICE)),
]);

const API_SERVICE: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field("group", &Shape::Text),
    field("version", &Shape::Text),
    field("kind", &Shape::Text),
    field("deploymentName", &Shape::Text),
    field("containerPort", &Shape::Integer(32)),
    field("displayName", &Shape::Text),
    field("description", &Shape::Text),
    field("resources", &Shape::List(&RESOURCE)),
    field("statusDescriptors", &Shape::List(&DESCRIPTOR)),
    field("specDescriptors", &Shape::List(&DESCRIPTOR)),
    field("actionDescriptors", &Shape::List(&DESCRIPTOR)),
]);
