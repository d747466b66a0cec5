//! The versions of a CRD.
//!
//! In `v1beta1` a CRD may name a single version and say everything once; here each version says
//! everything itself.

use operon_object::{Object, Value};

use super::{DefinitionFault, fault};
use crate::{PrinterColumn, Schema, SchemaFault};

/// One version of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// The name, such as `v1alpha1`.
    pub name: String,
    /// Says whether it can be asked for.
    pub is_served: bool,
    /// Says whether objects are stored in it.
    pub is_storage: bool,
    /// The schema as written: nothing where there is no `schema` at all, and `null` where it is
    /// empty.
    pub schema: Option<Value>,
    /// Says whether status is written apart from the rest.
    pub has_status: bool,
    /// The columns of its lists.
    pub printer_columns: Vec<PrinterColumn>,
}

impl Version {
    /// Reads its schema, also one that an API server would refuse; without one every object is
    /// valid.
    pub fn read_schema(&self) -> Result<Schema, SchemaFault> {
        Schema::read(self.schema.as_ref().unwrap_or(&Value::Null))
    }
}

/// Reads the versions of a CRD in its order.
pub(super) fn read_all(object: &Object, is_beta: bool) -> Result<Vec<Version>, DefinitionFault> {
    let spec = object.spec();
    let versions = spec.get("versions");
    if !matches!(versions, Value::Null | Value::List(_)) {
        return fault("spec.versions", "must be a list");
    }
    if is_beta && versions.elements().is_empty() {
        let name = spec.get("version").str();
        return Ok(if name.is_empty() { Vec::new() } else { vec![single(name, spec)] });
    }
    let shared = if is_beta { spec } else { &Value::Null };
    let versions = versions.elements().iter().enumerate();
    versions.map(|(index, version)| read(index, version, shared)).collect()
}

/// Makes the only version of a CRD in the old form.
fn single(name: &str, spec: &Value) -> Version {
    Version {
        name: name.to_owned(),
        is_served: true,
        is_storage: true,
        schema: schema(spec.get("validation")),
        has_status: !spec.at(&["subresources", "status"]).is_null(),
        printer_columns: PrinterColumn::read_all(spec.get("additionalPrinterColumns")),
    }
}

fn read(index: usize, version: &Value, shared: &Value) -> Result<Version, DefinitionFault> {
    let name = version.get("name").str();
    if name.is_empty() {
        return fault(&format!("spec.versions[{index}].name"), "is missing");
    }
    let own_or_shared = |own, common| match version.get(own) {
        Value::Null => shared.get(common),
        own => own,
    };
    let columns = own_or_shared("additionalPrinterColumns", "additionalPrinterColumns");
    Ok(Version {
        name: name.to_owned(),
        is_served: version.get("served").as_bool() == Some(true),
        is_storage: version.get("storage").as_bool() == Some(true),
        schema: schema(own_or_shared("schema", "validation")),
        has_status: !own_or_shared("subresources", "subresources").get("status").is_null(),
        printer_columns: PrinterColumn::read_all(columns),
    })
}

fn schema(validation: &Value) -> Option<Value> {
    (!validation.is_null()).then(|| validation.get("openAPIV3Schema").clone())
}
