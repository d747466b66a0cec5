//! A schema: the front of everything that is done with one.
//!
//! A schema is one version of one CRD. It does not know its CRD, nor any object.

use std::{fmt, sync::Arc};

use operon_object::Value;

use crate::{FieldError, SchemaFault, compile, defaults, node::Node, prune, structural, validate};

/// The `openAPIV3Schema` of a CRD's version, ready to use; cheap to clone.
#[derive(Clone)]
pub struct Schema {
    root: Arc<Node>,
}

impl Schema {
    /// Reads a schema that an API server would accept in a CRD; what it would refuse is a fault.
    pub fn compile(schema: &Value) -> Result<Self, SchemaFault> {
        let compiled = Self::read(schema)?;
        match structural::faults(schema).into_iter().next() {
            Some(fault) => Err(fault),
            None => Ok(compiled),
        }
    }

    /// Reads everything that can be evaluated, also what an API server would refuse; `null` allows
    /// every value.
    ///
    /// A bad pattern is no fault here: every text it is asked about is told to be invalid.
    pub fn read(schema: &Value) -> Result<Self, SchemaFault> {
        Ok(Self { root: Arc::new(compile::compile(schema)?) })
    }

    /// Lists everything for which an API server would refuse a schema in a CRD, sorted by place.
    pub fn structural_faults(schema: &Value) -> Vec<SchemaFault> {
        match Self::read(schema) {
            Ok(_) => structural::faults(schema),
            Err(fault) => vec![fault],
        }
    }

    /// Lists what is wrong with an object, in the words and order of an API server.
    ///
    /// Where upstream's order is that of a Go map, names are sorted. At most
    /// [`MAX_FIELD_ERRORS`](crate::MAX_FIELD_ERRORS) errors are told.
    pub fn validate(&self, value: &Value) -> Vec<FieldError> {
        validate::validate(&self.root, value)
    }

    /// Fills in what the object leaves out and the schema has a default for; `null` where nothing
    /// may be `null` is dropped, or replaced by the default.
    pub fn apply_defaults(&self, value: &mut Value) {
        defaults::apply(&self.root, value);
    }

    /// Drops what the schema does not know and returns the paths of what was dropped, sorted.
    ///
    /// `apiVersion`, `kind` and `metadata` of the object itself stay as they are. Once the paths have
    /// more than [`MAX_ERROR_TEXT`](crate::MAX_ERROR_TEXT) bytes no more are told.
    pub fn prune(&self, value: &mut Value) -> Vec<String> {
        prune::prune(&self.root, value)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Schema").finish_non_exhaustive()
    }
}
