//! The form that upstream demands of a ClusterServiceVersion and of known properties.
//!
//! Only fields that people get wrong are described; the rest of a deployment is left to the
//! cluster that will run it.

use std::ops::Range;

use operon_document::json::{Field, Node, Shape};

use crate::property::types;

/// The form of the fields of a ClusterServiceVersion that rendering or the cluster reads.
pub(super) const SERVICE_VERSION: Shape =
    Shape::Struct(&[field("metadata", &METADATA), field("spec", &SPEC)]);

/// Says where and how the value of a known property or dependency type has the wrong form.
pub(super) fn check_value(
    property_type: &str,
    entry: Node<'_>,
) -> Result<(), (Range<usize>, String)> {
    let shape: &Shape = match property_type {
        types::GVK => &GVK,
        types::PACKAGE => &PACKAGE,
        _ => return Ok(()),
    };
    let Some(value) = entry.field("value") else {
        let message = format!("an entry of type `{property_type}` must have a `value`");
        return Err((entry.span(), message));
    };
    shape.check(value).map_err(|mismatch| {
        let path = if mismatch.path.is_empty() { "value" } else { &mismatch.path };
        let message = format!(
            "`{path}` of an entry of type `{property_type}` must be {}, not {}",
            mismatch.expected, mismatch.found
        );
        (mismatch.span, message)
    })
}

/// The form of the value of an `olm.gvk`.
const GVK: Shape = Shape::Struct(&[
    field("group", &Shape::Text),
    field("kind", &Shape::Text),
    field("version", &Shape::Text),
]);

/// The form of the value of an `olm.package`.
const PACKAGE: Shape = Shape::Struct(&[
    field("packageName", &Shape::Text),
    field("version", &Shape::Text),
    field("release", &Shape::Text),
]);

const METADATA: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field("namespace", &Shape::Text),
    field("annotations", &TEXT_MAP),
    field("labels", &TEXT_MAP),
]);

const SPEC: Shape = Shape::Struct(&[
    field("version", &Shape::Text),
    field("replaces", &Shape::Text),
    field("skips", &TEXT_LIST),
    field("displayName", &Shape::Text),
    field("description", &Shape::Text),
    field("minKubeVersion", &Shape::Text),
    field("maturity", &Shape::Text),
    field("keywords", &TEXT_LIST),
    field("customresourcedefinitions", &DEFINITIONS),
    field("apiservicedefinitions", &DEFINITIONS),
    field("relatedImages", &Shape::List(&RELATED_IMAGE)),
    field("install", &INSTALL),
]);

const DEFINITIONS: Shape = Shape::Struct(&[
    field("owned", &Shape::List(&DEFINITION_KEY)),
    field("required", &Shape::List(&DEFINITION_KEY)),
]);

const DEFINITION_KEY: Shape = Shape::Struct(&[
    field("group", &Shape::Text),
    field("kind", &Shape::Text),
    field("name", &Shape::Text),
    field("version", &Shape::Text),
    field("displayName", &Shape::Text),
    field("description", &Shape::Text),
]);

const RELATED_IMAGE: Shape =
    Shape::Struct(&[field("name", &Shape::Text), field("image", &Shape::Text)]);

const INSTALL: Shape = Shape::Struct(&[
    field("strategy", &Shape::Text),
    field("spec", &Shape::Struct(&[field("deployments", &Shape::List(&DEPLOYMENT))])),
]);

const DEPLOYMENT: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field(
        "spec",
        &Shape::Struct(&[
            field("replicas", &Shape::Integer(32)),
            field("template", &Shape::Struct(&[field("metadata", &METADATA), field("spec", &POD)])),
        ]),
    ),
]);

const POD: Shape = Shape::Struct(&[
    field("serviceAccountName", &Shape::Text),
    field("nodeSelector", &TEXT_MAP),
    field("containers", &Shape::List(&CONTAINER)),
    field("initContainers", &Shape::List(&CONTAINER)),
]);

const CONTAINER: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field("image", &Shape::Text),
    field("imagePullPolicy", &Shape::Text),
    field("command", &TEXT_LIST),
    field("args", &TEXT_LIST),
    field("env", &Shape::List(&ENVIRONMENT)),
]);

const ENVIRONMENT: Shape =
    Shape::Struct(&[field("name", &Shape::Text), field("value", &Shape::Text)]);

const TEXT_LIST: Shape = Shape::List(&Shape::Text);
const TEXT_MAP: Shape = Shape::Map(&Shape::Text);

const fn field(name: &'static str, shape: &'static Shape) -> Field {
    Field { name, shape }
}
