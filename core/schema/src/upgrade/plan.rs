//! What must be checked before a CRD takes another's place.
//!
//! Only versions that are served before and after are checked: others have no objects that anybody
//! could still ask for. Nothing is judged here.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, Value};

use crate::{DefinitionFault, Version, definition};

/// What is to be checked.
pub(super) struct Plan {
    /// Says that the new CRD is written in the old form.
    pub(super) is_beta: bool,
    /// The new schema of each version whose objects are to be judged; nothing where it lacks.
    pub(super) schemas: BTreeMap<String, Option<Value>>,
    /// The versions in storage that the new CRD does not know.
    pub(super) removed_stored_versions: BTreeSet<String>,
    /// The versions that are no longer served, and whether the new CRD still lists them.
    pub(super) removed_served_versions: BTreeMap<String, bool>,
}

impl Plan {
    /// Reads both CRDs; a fault comes with the CRD it is in.
    pub(super) fn make(old: &Object, new: &Object) -> Result<Self, (String, DefinitionFault)> {
        let read = |of: &str, object| {
            let fault = |fault| (of.to_owned(), fault);
            let is_beta = definition::is_beta(object).map_err(fault)?;
            Ok((is_beta, definition::versions(object).map_err(fault)?))
        };
        let (_, old_versions) = read("old", old)?;
        let (is_beta, new_versions) = read("new", new)?;
        let served: BTreeSet<&str> = served(&old_versions).collect();
        let still_served = || {
            let is_kept = |version: &&Version| version.is_served && served.contains(&*version.name);
            new_versions.iter().filter(is_kept)
        };
        let no_longer =
            served.iter().filter(|name| !still_served().any(|kept| kept.name == **name));
        let listed = listed_names(new, is_beta, &new_versions);
        Ok(Self {
            is_beta,
            schemas: schemas(new, is_beta, still_served()),
            removed_stored_versions: definition::stored_versions(old)
                .into_iter()
                .filter(|version| !listed.contains(version.as_str()))
                .collect(),
            removed_served_versions: no_longer
                .map(|name| ((*name).to_owned(), listed.contains(name)))
                .collect(),
        })
    }
}

fn served(versions: &[Version]) -> impl Iterator<Item = &str> {
    versions.iter().filter(|version| version.is_served).map(|version| &*version.name)
}

/// Upstream: the single version of the old form counts as listed even beside a list of others.
fn listed_names<'o>(
    object: &'o Object,
    is_beta: bool,
    versions: &'o [Version],
) -> BTreeSet<&'o str> {
    let single = Some(object.spec().get("version").str()).filter(|_| is_beta);
    versions.iter().map(|version| &*version.name).chain(single).collect()
}

fn schemas<'v>(
    new: &Object,
    is_beta: bool,
    mut versions: impl Iterator<Item = &'v Version>,
) -> BTreeMap<String, Option<Value>> {
    if !is_beta {
        return versions.map(|version| (version.name.clone(), version.schema.clone())).collect();
    }
    // In the old form a schema need not be given: `null` allows everything.
    let validation = new.spec().get("validation");
    if validation.is_null() {
        let schema = |version: &Version| Some(version.schema.clone().unwrap_or_default());
        return versions.map(|version| (version.name.clone(), schema(version))).collect();
    }
    // Upstream: one schema for all versions is asked about the objects of one version only.
    let schema = validation.get("openAPIV3Schema").clone();
    versions.next().map(|version| (version.name.clone(), Some(schema))).into_iter().collect()
}
