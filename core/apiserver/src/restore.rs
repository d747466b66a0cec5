//! Restores a CustomResourceDefinition that the cluster cannot do without.
//!
//! An apply keeps the fields that other managers own, and it is refused if it would drop a version
//! that objects were stored in. So an apply alone cannot undo every change of a definition. Restoring
//! replaces the specification and stores the objects of the kind in its storage version.

use operon_object::{Object, ObjectKey, list};

use crate::{
    ApiError, Part, builtin, custom,
    definition::{fill_defaults, storage_version},
    draft::Draft,
    write,
};

/// Describes what restoring a changed CustomResourceDefinition did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// Versions that only the changed definition had.
    pub dropped_versions: Vec<String>,
    /// Objects that are stored in another version than before.
    pub migrated: Vec<ObjectKey>,
    /// Objects that were removed because the changed definition had another kind or scope.
    pub removed: Vec<ObjectKey>,
}

/// Applies a definition; if that is refused or leaves another specification, replaces it.
pub(crate) fn restore(
    draft: &mut Draft<'_>,
    definition: &Object,
    manager: &str,
) -> Result<Option<Repair>, ApiError> {
    let before = draft.object(&definition.key()).cloned();
    let apply = |draft: &mut Draft<'_>| {
        write::apply(draft, definition.clone(), manager, true, Part::Whole).map(|_| ())
    };
    let applied = apply(draft);
    let Some(before) = before else { return applied.map(|()| None) };
    let mut wanted = definition.clone();
    *wanted.value_mut() = builtin::without_nulls(wanted.value());
    fill_defaults(&mut wanted);
    let is_wanted = |after: &Object| after.spec() == wanted.spec();
    if applied.is_ok() && draft.object(&wanted.key()).is_some_and(is_wanted) {
        return Ok(None);
    }
    draft.put(replaced(&before, &wanted));
    apply(draft)?;
    let mut repair = Repair {
        dropped_versions: dropped_versions(&before, &wanted),
        migrated: Vec::new(),
        removed: Vec::new(),
    };
    restore_objects(draft, &before, &wanted, &mut repair);
    Ok(Some(repair))
}

/// Gives a definition the wanted specification, which no manager owns yet.
fn replaced(before: &Object, wanted: &Object) -> Object {
    let mut after = before.clone();
    after.set(&["spec"], wanted.spec().clone());
    after.set(&["status", "storedVersions"], list![storage_version(wanted)]);
    let metadata = after.metadata_mut();
    metadata.insert("generation", before.generation() + 1);
    if !metadata.get("managedFields").is_empty() {
        for entry in metadata.place("managedFields").make_list() {
            entry.remove(&["fieldsV1", "f:spec"]);
        }
    }
    after
}

fn dropped_versions(before: &Object, wanted: &Object) -> Vec<String> {
    let names = |definition: &Object| -> Vec<String> {
        let versions = definition.at(&["spec", "versions"]).elements();
        versions.iter().map(|version| version.get("name").str().to_owned()).collect()
    };
    let kept = names(wanted);
    names(before).into_iter().filter(|name| !kept.contains(name)).collect()
}

/// Stores the objects of a definition in its storage version. Objects of another kind or scope could
/// never be read again, so they go as if the definition had been deleted and created.
fn restore_objects(draft: &mut Draft<'_>, before: &Object, wanted: &Object, repair: &mut Repair) {
    let kind = custom::name_of_kind(before);
    let is_its_kind = draft
        .registry()
        .kind(&kind)
        .is_some_and(|info| info.definition.as_deref() == Some(before.name()));
    if !is_its_kind {
        return;
    }
    let is_readable = kind == custom::name_of_kind(wanted)
        && before.at(&["spec", "scope"]) == wanted.at(&["spec", "scope"]);
    let api_version = format!("{}/{}", kind.group(), storage_version(wanted));
    for object in draft.store().of_kind(&kind) {
        let key = object.key();
        if !is_readable {
            draft.remove(&key);
            repair.removed.push(key);
        } else if object.api_version() != api_version {
            let mut object = object.clone();
            object.set(&["apiVersion"], api_version.as_str());
            draft.put(object);
            repair.migrated.push(key);
        }
    }
}
