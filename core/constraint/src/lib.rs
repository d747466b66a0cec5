//! Properties of bundles and the requirements that are tested against them.
//!
//! What an operator requires is read with [`requirements`], or property by property with
//! [`parse_property`], named with `Display` or in upstream's words with [`upstream_predicate_text`], and
//! tested against one candidate at a time with [`matches()`]. Which candidates there are, and which
//! of them is preferred, is not decided here.

mod api;
mod cache;
mod candidate;
pub mod cel;
mod constraint;
mod dialect;
mod document;
mod error;
mod fields;
mod json;
mod parse;
mod predicate;
mod property;
mod resolve;
mod stated;
mod warning;
mod words;

pub use json::{Json, JsonArray, JsonError, JsonFault, JsonObject, MAX_JSON_DEPTH, TrailingText};
pub use property::Property;

pub use api::GroupVersionKind;
pub use constraint::{Constraint, Constraints, MAX_CONSTRAINT_NESTING, Requirement};
pub use dialect::{Dialect, MAX_DOCUMENTED_CONSTRAINT_BYTES, MAX_UPSTREAM_CONSTRAINT_BYTES};
pub use error::{ConstraintError, ConstraintFault, WrongType};
pub use parse::{ParsedConstraint, parse_property, parse_property_within};
pub use warning::{ConstraintWarning, MAX_WARNINGS, WarningKind};

pub use cache::{CachedAnswer, ConstraintCache, MAX_CACHED_ANSWERS, PropertiesDigest};
pub use candidate::{Candidate, matches, matches_with, provided_apis, stated_packages};
pub use document::ConstraintDocument;
pub use predicate::upstream_predicate_text;
pub use stated::{StatedRequirement, requirements};

pub use cel::{CelError, CelProgram, CelRule, CompileBudget, WantedProperty};
