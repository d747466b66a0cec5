//! One thing that speaks against a change of a CRD.
//!
//! A finding has a stable name: people write it down to say that they know and want the change all
//! the same.

use std::fmt;

use operon_object::ObjectKey;

use crate::{DefinitionFault, FieldError, SchemaFault};

/// What was found, and how bad it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What was found.
    pub kind: FindingKind,
    /// How bad it is.
    pub severity: Severity,
}

/// Says how bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; others who use the CRD may mind.
    Notes,
    /// Somebody should look, but the change goes on.
    Warns,
    /// The change must not happen.
    Blocks,
}

/// Tells what was found.
#[derive(Debug, Clone, PartialEq)]
pub enum FindingKind {
    /// A CRD cannot be read.
    DefinitionUnreadable {
        /// `old` or `new`.
        of: String,
        /// What is wrong with it.
        fault: DefinitionFault,
    },
    /// The new schema of a version cannot be read.
    SchemaUnreadable {
        /// The version.
        version: String,
        /// What is wrong with the schema.
        fault: SchemaFault,
    },
    /// The objects of a version could not be listed.
    ListingFailed {
        /// The version.
        version: String,
        /// Why not.
        reason: String,
    },
    /// A field of an object breaks the new schema.
    ObjectInvalid {
        /// The version in which it was listed.
        version: String,
        /// The object.
        object: ObjectKey,
        /// The version that the object itself gives in its `apiVersion`.
        api_version: String,
        /// What is wrong with it.
        error: FieldError,
    },
    /// Objects may lie in storage in a version that the new CRD does not know.
    StoredVersionRemoved {
        /// The version.
        version: String,
    },
    /// A version is served today but not by the new CRD.
    ServedVersionRemoved {
        /// The version.
        version: String,
        /// Says that the new CRD still lists it, without serving it.
        is_still_listed: bool,
    },
}

impl Finding {
    /// Returns the name by which the finding can be waived, such as
    /// `stored-version-removed:v1alpha1`.
    pub fn name(&self) -> String {
        match &self.kind {
            FindingKind::DefinitionUnreadable { of, .. } => format!("definition-unreadable:{of}"),
            FindingKind::SchemaUnreadable { version, .. } => format!("schema-unreadable:{version}"),
            FindingKind::ListingFailed { version, .. } => format!("listing-failed:{version}"),
            FindingKind::ObjectInvalid { version, object, error, .. } => {
                // An error about no single field is one about the whole object.
                let field = if error.field.is_empty() { "." } else { &error.field };
                format!("object-invalid:{version}:{}:{field}", path(object))
            }
            FindingKind::StoredVersionRemoved { version } => {
                format!("stored-version-removed:{version}")
            }
            FindingKind::ServedVersionRemoved { version, .. } => {
                format!("served-version-removed:{version}")
            }
        }
    }
}

/// Shows a finding as a sentence.
impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FindingKind::DefinitionUnreadable { of, fault } => {
                write!(formatter, "The {of} CRD cannot be read: {fault}.")
            }
            FindingKind::SchemaUnreadable { version, fault } => {
                write!(
                    formatter,
                    "The new CRD's schema for version {version} cannot be used: {fault}."
                )
            }
            FindingKind::ListingFailed { version, reason } => write!(
                formatter,
                "Whether the objects of version {version} fit the new schema is unknown: {reason}."
            ),
            FindingKind::ObjectInvalid { version, object, error, .. } => write!(
                formatter,
                "{object} would no longer be valid in version {version}: {error}."
            ),
            FindingKind::StoredVersionRemoved { version } => write!(
                formatter,
                "The new CRD has no version {version}, but objects may be stored in it and would be lost. \
                 Migrate them and remove {version} from the CRD's status.storedVersions first."
            ),
            FindingKind::ServedVersionRemoved { version, is_still_listed: false } => {
                write!(formatter, "The new CRD has no version {version}, which is served today.")
            }
            FindingKind::ServedVersionRemoved { version, is_still_listed: true } => {
                write!(formatter, "The new CRD no longer serves version {version}.")
            }
        }
    }
}

/// Writes an object as `namespace/name`, or only by name.
pub(super) fn path(object: &ObjectKey) -> String {
    match object.namespace.as_str() {
        "" => object.name.clone(),
        namespace => format!("{namespace}/{}", object.name),
    }
}
