//! A property or dependency as its author wrote it: a type and a value.
//!
//! What a type means is decided where properties are derived, not here.

use operon_document::{
    json::{Node, canonical},
    stream::Format,
};

use crate::json::{ObjectWriter, print_manifest};

/// A property or dependency of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its type, such as `olm.maxOpenShiftVersion`.
    pub property_type: String,
    /// Its value as compact JSON with sorted keys.
    pub value: String,
    /// The value as upstream holds it, if that is another text.
    written: Option<String>,
}

impl Property {
    /// Makes a property of which upstream would hold the canonical text.
    pub(crate) fn canonical(property_type: &str, value: String) -> Self {
        Self { property_type: property_type.to_owned(), value, written: None }
    }

    /// Makes a property of a value as it stands in a document.
    pub(crate) fn read(property_type: &str, value: Option<Node<'_>>, format: Format) -> Self {
        let Some(value) = value else {
            return Self::canonical(property_type, "null".to_owned());
        };
        let written = match format {
            Format::Json => String::from_utf8_lossy(value.raw()).into_owned(),
            Format::Yaml => print_manifest(value),
        };
        Self {
            property_type: property_type.to_owned(),
            value: canonical(value),
            written: Some(written),
        }
    }

    /// Returns the text by which upstream sorts and compares properties, which is not canonical
    /// when it came from JSON.
    pub(crate) fn written(&self) -> &str {
        self.written.as_deref().unwrap_or(&self.value)
    }

    /// Returns the property as JSON.
    pub(crate) fn json(&self) -> String {
        ObjectWriter::new().text("type", &self.property_type).member("value", &self.value).finish()
    }
}

/// The types that a bundle's own properties are derived into.
pub(crate) mod types {
    pub(crate) const PACKAGE: &str = "olm.package";
    pub(crate) const PACKAGE_REQUIRED: &str = "olm.package.required";
    pub(crate) const GVK: &str = "olm.gvk";
    pub(crate) const GVK_REQUIRED: &str = "olm.gvk.required";
    pub(crate) const BUNDLE_OBJECT: &str = "olm.bundle.object";
    pub(crate) const CSV_METADATA: &str = "olm.csv.metadata";
}

/// The value of an `olm.gvk` or `olm.gvk.required`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gvk {
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) version: String,
}

impl Gvk {
    pub(crate) fn read(value: Node<'_>) -> Self {
        Self {
            group: text(value.field("group")),
            kind: text(value.field("kind")),
            version: text(value.field("version")),
        }
    }

    pub(crate) fn json(&self) -> String {
        ObjectWriter::new()
            .text("group", &self.group)
            .text("kind", &self.kind)
            .text("version", &self.version)
            .finish()
    }
}

/// The value of an `olm.package`, or of a dependency on a package, where the version is a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackageValue {
    pub(crate) package_name: String,
    pub(crate) version: String,
    pub(crate) release: String,
}

impl PackageValue {
    pub(crate) fn read(value: Node<'_>) -> Self {
        Self {
            package_name: text(value.field("packageName")),
            version: text(value.field("version")),
            release: text(value.field("release")),
        }
    }

    pub(crate) fn json(&self) -> String {
        ObjectWriter::new()
            .text("packageName", &self.package_name)
            .text_if_any("release", &self.release)
            .text("version", &self.version)
            .finish()
    }

    pub(crate) fn required_json(&self) -> String {
        ObjectWriter::new()
            .text("packageName", &self.package_name)
            .text("versionRange", &self.version)
            .finish()
    }
}

/// Returns the text of a string, or nothing for any other value.
pub(crate) fn text(node: Option<Node<'_>>) -> String {
    node.and_then(Node::as_str).unwrap_or_default().into_owned()
}
