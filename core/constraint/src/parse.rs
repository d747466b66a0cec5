//! Reads the properties that state requirements.
//!
//! All other property types are no business of this module: it returns nothing for them, without
//! looking at their values.

use operon_version::VersionRange;

use crate::api::GroupVersionKind;
use crate::cel::CompileBudget;
use crate::constraint::{Constraint, Requirement};
use crate::dialect::Dialect;
use crate::document::ConstraintDocument;
use crate::error::{ConstraintError, ConstraintFault};
use crate::fields::read_fields;
use crate::resolve::{resolve, warnings};
use crate::warning::ConstraintWarning;

/// Holds a requirement and what its author should look at again.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedConstraint {
    /// Holds the requirement.
    pub constraint: Constraint,
    /// Holds what is questionable; always empty in the upstream dialect.
    pub warnings: Vec<ConstraintWarning>,
}

/// Reads a property; returns nothing if its type states no requirement.
pub fn parse_property(
    property_type: &str,
    value_text: impl AsRef<[u8]>,
    dialect: Dialect,
) -> Result<Option<ParsedConstraint>, ConstraintError> {
    parse_property_within(property_type, value_text, dialect, &mut CompileBudget::unlimited())
}

/// Reads a property as [`parse_property`] does, and compiles its rules within a budget. When that is
/// exhausted, the result says nothing about the property.
pub fn parse_property_within(
    property_type: &str,
    value_text: impl AsRef<[u8]>,
    dialect: Dialect,
    budget: &mut CompileBudget,
) -> Result<Option<ParsedConstraint>, ConstraintError> {
    let text = value_text.as_ref();
    let parsed = match property_type {
        "olm.constraint" => parse_generic(text, dialect, budget),
        "olm.gvk.required" => parse_gvk(text).map(plain),
        "olm.package.required" => parse_package(text).map(plain),
        "olm.label.required" => parse_label(text).map(plain),
        _ => return Ok(None),
    };
    parsed
        .map(Some)
        .map_err(|fault| ConstraintError { generic: property_type == "olm.constraint", fault })
}

fn plain(requirement: Requirement) -> ParsedConstraint {
    ParsedConstraint {
        constraint: Constraint { failure_message: None, requirement },
        warnings: Vec::new(),
    }
}

fn parse_generic(
    text: &[u8],
    dialect: Dialect,
    budget: &mut CompileBudget,
) -> Result<ParsedConstraint, ConstraintFault> {
    let document = ConstraintDocument::parse(text, dialect)?;
    Ok(ParsedConstraint {
        constraint: resolve(&document, budget)?,
        warnings: match dialect {
            Dialect::Documented => warnings(&document),
            Dialect::Upstream => Vec::new(),
        },
    })
}

fn parse_gvk(text: &[u8]) -> Result<Requirement, ConstraintFault> {
    let structure = concat!(
        r#"struct { Group string "json:\"group\""; "#,
        r#"Version string "json:\"version\""; Kind string "json:\"kind\"" }"#
    );
    let [group, version, kind] = read_fields(text, ["group", "version", "kind"], structure)?;
    Ok(Requirement::Gvk(GroupVersionKind { group, version, kind }))
}

fn parse_package(text: &[u8]) -> Result<Requirement, ConstraintFault> {
    let structure = concat!(
        r#"struct { PackageName string "json:\"packageName\""; "#,
        r#"VersionRange string "json:\"versionRange\"" }"#
    );
    let [name, range] = read_fields(text, ["packageName", "versionRange"], structure)?;
    let range = VersionRange::parse(&range).map_err(ConstraintFault::Range)?;
    Ok(Requirement::Package { name, range })
}

fn parse_label(text: &[u8]) -> Result<Requirement, ConstraintFault> {
    let structure = r#"struct { Label string "json:\"label\"" }"#;
    let [label] = read_fields(text, ["label"], structure)?;
    Ok(Requirement::Label(label))
}
