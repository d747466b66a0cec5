//! Telling whether a copy of a ClusterServiceVersion is up to date.
//!
//! What a copy looks like is decided by those who copy.

use operon_object::{Object, map};

use crate::{
    golang::{GoType, TypeFault, typed_json},
    names::deep_hash,
};

/// The hashes of what is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyHashes {
    /// Covers name, labels, annotations and spec.
    pub spec: String,
    /// Covers the status.
    pub status: String,
}

/// Returns the hashes of the parts of a ClusterServiceVersion that its copies share.
pub fn copy_hashes(csv: &Object) -> Result<CopyHashes, TypeFault> {
    let metadata = map! {
        "name" => csv.name(),
        "labels" => csv.metadata("labels").clone(),
        "annotations" => csv.metadata("annotations").clone(),
    };
    let metadata =
        typed_json(GoType::ObjectMeta, &metadata).map_err(|fault| fault.inside("metadata"))?;
    let spec = typed_json(GoType::CsvSpec, csv.spec()).map_err(|fault| fault.inside("spec"))?;
    let status =
        typed_json(GoType::CsvStatus, csv.status()).map_err(|fault| fault.inside("status"))?;
    // Upstream: the hashed object has an empty status, which Go writes like this.
    let whole =
        format!("{{\"metadata\":{metadata},\"spec\":{spec},\"status\":{{\"cleanup\":{{}}}}}}");
    Ok(CopyHashes { spec: deep_hash(&whole), status: deep_hash(&status) })
}
