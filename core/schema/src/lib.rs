//! What CRDs say: which objects are valid, what is filled in, what is dropped, and whether one CRD
//! may take another's place.
//!
//! Everything here is a function of values. CEL rules (`x-kubernetes-validations`) and the keys of
//! lists (`x-kubernetes-list-type`) are not evaluated: upstream does not look at them either before
//! it replaces a CRD.

mod alongside;
mod compile;
mod defaults;
mod definition;
mod fault;
mod field_error;
mod format;
mod node;
mod number;
mod pattern;
mod printer_column;
mod prune;
mod schema;
mod structural;
mod upgrade;
mod validate;

pub use self::{
    alongside::{INSTALLED_ALONGSIDE_PREFIX, MANAGED_LABEL, installed_alongside},
    compile::{MAX_PATTERN_WEIGHT_OF_SCHEMA, MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES},
    definition::{Conversion, Definition, DefinitionFault, Names, Scope, Version},
    fault::SchemaFault,
    field_error::{FieldError, FieldErrorKind},
    pattern::{MAX_PATTERN_LENGTH, MAX_PATTERN_MEMORY, MAX_PATTERN_NESTING},
    printer_column::PrinterColumn,
    schema::Schema,
    upgrade::{
        Finding, FindingKind, Severity, UpgradeReport, UpstreamText, check_upgrade, upstream_text,
        versions_to_list,
    },
    validate::{MAX_ERROR_TEXT, MAX_FIELD_ERRORS, MAX_VALIDATION_STEPS},
};
