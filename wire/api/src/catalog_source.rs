//! CatalogSource: where bundles come from, and how much a catalog is preferred.
//!
//! What the catalog holds is not read here; whoever opens catalogs knows.

use operon_document::json::{Node, Shape, number_value};

use crate::metadata::{METADATA, Metadata, field, member, text};

/// A CatalogSource (`operators.coreos.com/v1alpha1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogSource {
    /// `metadata`
    pub metadata: Metadata,
    /// `spec.priority`: higher is preferred.
    pub priority: i64,
    /// `spec.sourceType`: `grpc`, `configmap` or `internal`.
    pub source_type: String,
    /// `spec.image`
    pub image: String,
    /// `spec.address`
    pub address: String,
    /// `spec.displayName`
    pub display_name: String,
}

impl CatalogSource {
    pub(crate) const SHAPE: Shape = Shape::Struct(&[
        field("metadata", &METADATA),
        field(
            "spec",
            &Shape::Struct(&[
                field("priority", &Shape::Integer(64)),
                field("sourceType", &Shape::Text),
                field("image", &Shape::Text),
                field("address", &Shape::Text),
                field("displayName", &Shape::Text),
            ]),
        ),
    ]);

    pub(crate) fn read(root: Node<'_>, metadata: Metadata) -> Self {
        let spec = member(root, "spec");
        let priority = spec.and_then(|spec| member(spec, "priority"));
        Self {
            metadata,
            priority: priority.map_or(0, whole_number),
            source_type: text(spec, "sourceType"),
            image: text(spec, "image"),
            address: text(spec, "address"),
            display_name: text(spec, "displayName"),
        }
    }
}

/// Returns a number whose form was checked: whole, and within 64 bits.
fn whole_number(node: Node<'_>) -> i64 {
    let exact = String::from_utf8_lossy(node.raw()).parse().ok();
    exact.unwrap_or_else(|| number_value(node.raw()).unwrap_or_default() as i64)
}
