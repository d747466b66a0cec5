//! The life of a CustomResourceDefinition: completed, checked, established, deleted with its objects.
//!
//! What its schemas mean is read elsewhere.

use operon_object::{Object, Timestamp, Value, go_json, known, map, quote};

use crate::{
    Part, Propagation,
    controllers::Next,
    custom::{definition_faults, is_condition_true, name_of_kind},
    delete::{remove_key, take_finalizer},
    draft::Draft,
    write::put_as_controller,
};

/// The finalizer that keeps a definition until its objects are gone.
const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

const MANAGER: &str = "kube-apiserver";

/// Fills in what a definition leaves to the server.
pub(crate) fn fill_defaults(definition: &mut Object) {
    let kind = definition.at(&["spec", "names", "kind"]).str().to_owned();
    let defaults = [
        (["spec", "names", "singular"], Value::from(kind.to_lowercase())),
        (["spec", "names", "listKind"], Value::from(format!("{kind}List"))),
        (["spec", "conversion", "strategy"], Value::from("None")),
    ];
    for (path, default) in defaults {
        if definition.at(&path).is_empty() && definition.spec().as_map().is_some() {
            definition.set(&path, default);
        }
    }
}

/// Completes a definition that is written.
pub(crate) fn complete(draft: &Draft<'_>, before: Option<&Object>, definition: &mut Object) {
    fill_defaults(definition);
    let storage = storage_version(definition).to_owned();
    let stored = definition.at(&["status", "storedVersions"]);
    if !storage.is_empty() && !stored.iter_texts().any(|version| version == storage) {
        definition
            .value_mut()
            .place(&["status", "storedVersions"])
            .make_list()
            .push(storage.into());
    }
    let is_immediate = draft.settings.establish_delay.is_zero();
    let is_established = before.is_some_and(|before| is_condition_true(before, "Established"));
    if is_established || (before.is_none() && is_immediate) {
        accept_names(draft, definition);
    }
}

/// Returns what is wrong with a definition, or with giving it this new state.
pub(crate) fn faults(before: Option<&Object>, definition: &Object) -> Vec<String> {
    let Some(before) = before else { return definition_faults(definition) };
    let mut faults = stored_version_faults(definition);
    if before.spec() == definition.spec() {
        // Only its status or metadata is written, so there is nothing new to read.
        return faults;
    }
    faults.extend(definition_faults(definition));
    let mut immutable = vec![vec!["spec", "group"], vec!["spec", "names", "plural"]];
    if is_condition_true(before, "Established") {
        immutable.push(vec!["spec", "scope"]);
        immutable.push(vec!["spec", "names", "kind"]);
    }
    for path in immutable {
        if before.at(&path) != definition.at(&path) {
            let value = go_json(definition.at(&path));
            faults.push(format!("{}: Invalid value: {value}: field is immutable", path.join(".")));
        }
    }
    faults
}

/// Marks a definition that begins to be deleted, so that its objects go first.
pub(crate) fn begin_deletion(now: Timestamp, definition: &mut Object) {
    if definition.kind() != known::CUSTOM_RESOURCE_DEFINITION {
        return;
    }
    if !definition.finalizers().any(|finalizer| finalizer == CLEANUP_FINALIZER) {
        let finalizers = definition.value_mut().place(&["metadata", "finalizers"]);
        finalizers.make_list().push(CLEANUP_FINALIZER.into());
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will be \
                   initiated as soon as possible";
    set_condition(definition, now, ["Terminating", "True", "InstanceDeletionPending", message]);
}

/// Establishes a definition when its time has come, or deletes the objects of one that goes.
pub(crate) fn reconcile(draft: &mut Draft<'_>, name: &str) -> Next {
    let key = known::CUSTOM_RESOURCE_DEFINITION.key("", name);
    let Some(definition) = draft.object(&key).cloned() else { return Next::Done };
    if definition.is_deleting() {
        return delete_objects(draft, &definition);
    }
    if is_condition_true(&definition, "Established") {
        return Next::Done;
    }
    let ready = definition.created().unwrap_or_default().after(draft.settings.establish_delay);
    if ready > draft.now {
        return Next::At(ready);
    }
    let mut after = definition.clone();
    accept_names(draft, &mut after);
    put_as_controller(draft, &definition, after, MANAGER, Part::Status);
    Next::Done
}

/// Returns the version that objects of a definition are stored in, or nothing if it names none.
pub(crate) fn storage_version(definition: &Object) -> &str {
    let versions = definition.at(&["spec", "versions"]).elements();
    let storage = versions.iter().find(|version| version.get("storage").as_bool() == Some(true));
    storage.map_or("", |version| version.get("name").str())
}

fn stored_version_faults(definition: &Object) -> Vec<String> {
    let versions = definition.at(&["spec", "versions"]).elements();
    let has = |name: &str| versions.iter().any(|version| version.get("name").str() == name);
    let stored = definition.at(&["status", "storedVersions"]).iter_texts().enumerate();
    let missing = stored.filter(|(_, name)| !has(name));
    missing
        .map(|(index, name)| {
            format!(
                "status.storedVersions[{index}]: Invalid value: {}: missing from spec.versions; \
                 {name} was previously a storage version, and must remain in spec.versions until \
                 a storage migration ensures no data remains persisted in {name} and removes \
                 {name} from status.storedVersions",
                quote(name)
            )
        })
        .collect()
}

/// Says whether the names are free, and if so establishes the definition.
fn accept_names(draft: &Draft<'_>, definition: &mut Object) {
    let now = draft.now;
    if let Some((reason, taken)) = name_conflict(draft, definition) {
        let message = format!("{} is already in use", quote(&taken));
        set_condition(definition, now, ["NamesAccepted", "False", &reason, &message]);
        if !is_condition_true(definition, "Established") {
            let message = "not all names are accepted";
            set_condition(definition, now, ["Established", "False", "NotAccepted", message]);
        }
        return;
    }
    let names = definition.at(&["spec", "names"]).clone();
    definition.set(&["status", "acceptedNames"], names);
    let message = "no conflicts found";
    set_condition(definition, now, ["NamesAccepted", "True", "NoConflicts", message]);
    let message = "the initial names have been accepted";
    set_condition(definition, now, ["Established", "True", "InitialNamesAccepted", message]);
}

fn name_conflict(draft: &Draft<'_>, definition: &Object) -> Option<(String, String)> {
    let spec = definition.spec();
    let names = spec.get("names");
    let group = spec.get("group").str();
    let is_other = |found: &Option<String>| found.as_deref() != Some(definition.name());
    let mut others = draft
        .registry()
        .kinds()
        .filter(|info| info.kind.group() == group && is_other(&info.definition));
    let conflict = |reason: &str, name: &str| Some((reason.to_owned(), name.to_owned()));
    others.find_map(|info| {
        let kind = names.get("kind").str();
        if info.kind.name() == kind {
            return conflict("KindConflict", kind);
        }
        let taken =
            |name: &str| info.plural == name || info.short_names.iter().any(|short| short == name);
        if let Some(name) = names.get("shortNames").iter_texts().find(|name| taken(name)) {
            return conflict("ShortNamesConflict", name);
        }
        let singular = names.get("singular").str();
        if taken(singular) { conflict("SingularConflict", singular) } else { None }
    })
}

fn delete_objects(draft: &mut Draft<'_>, definition: &Object) -> Next {
    let kind = name_of_kind(definition);
    let is_its_kind = draft
        .registry()
        .kind(&kind)
        .is_some_and(|info| info.definition.as_deref() == Some(definition.name()));
    let objects: Vec<&Object> =
        if is_its_kind { draft.store().of_kind(&kind).collect() } else { Vec::new() };
    let limit = draft.settings.limits.step_writes.max(1);
    let alive: Vec<_> = objects
        .iter()
        .map(|object| object.key())
        .filter(|key| draft.object(key).is_some_and(|object| !object.is_deleting()))
        .collect();
    for key in alive.iter().take(limit) {
        remove_key(draft, key, Propagation::Background);
    }
    if !alive.is_empty() {
        // Not finished in the same step: those that depend on the objects are collected first,
        // while the kind is still known.
        return Next::Again;
    }
    if objects.is_empty() {
        take_finalizer(draft, definition, CLEANUP_FINALIZER);
        return Next::Done;
    }
    let mut after = definition.clone();
    let message = "CustomResource deletion is in progress";
    let condition = ["Terminating", "True", "InstanceDeletionInProgress", message];
    set_condition(&mut after, draft.now, condition);
    put_as_controller(draft, definition, after, MANAGER, Part::Status);
    // The removal of each object brings the definition back here.
    Next::Done
}

/// Sets a condition, given as type, status, reason and message.
fn set_condition(definition: &mut Object, now: Timestamp, condition: [&str; 4]) {
    let [wanted, status, reason, message] = condition;
    let conditions = definition.value_mut().place(&["status", "conditions"]).make_list();
    let position = conditions.iter().position(|found| found.get("type").str() == wanted);
    let mut updated = map! {
        "type" => wanted,
        "status" => status,
        "reason" => reason,
        "message" => message,
        "lastTransitionTime" => now,
    };
    match position {
        Some(position) => {
            let found = &mut conditions[position];
            if found.get("status").str() == status {
                updated.set(&["lastTransitionTime"], found.get("lastTransitionTime").clone());
            }
            *found = updated;
        }
        None => conditions.push(updated),
    }
}
