//! Requests that create or change objects.
//!
//! Each arrives at the new state of one object in its own way and then goes through the same door:
//! `store_new` or `store_change`. Deleting is done elsewhere.

use operon_object::{Object, Value};

use crate::{
    Answer, ApiError, Outcome, Part, Reason, Target,
    admission::{
        admit, carry_system_metadata, check_namespace, check_scope, check_size, normalise,
        shape_of, strip_system_metadata,
    },
    builtin,
    draft::Draft,
    fields::{self, Writer, record_update},
    registry::Spoken,
};

/// Limits how often a taken generated name is replaced by another one, as Kubernetes does.
pub const NAME_ATTEMPTS_LIMIT: usize = 8;

/// Limits the bytes that a generated name begins with, so that the name fits a label.
const GENERATED_BASE_LIMIT: usize = 58;

/// Stores a new object.
pub(crate) fn create(
    draft: &mut Draft<'_>,
    mut object: Object,
    manager: &str,
) -> Result<Answer, ApiError> {
    let spoken = draft.registry().speak(&object.api_kind())?;
    check_scope(&spoken.info, object.namespace())?;
    if !object.resource_version().is_empty() {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(ApiError::bad_request(message));
    }
    normalise(&spoken, &mut object);
    strip_system_metadata(&mut object);
    store_new(draft, &spoken, object, Ownership::Update(manager))
}

/// Replaces an object, or its status.
pub(crate) fn update(
    draft: &mut Draft<'_>,
    object: Object,
    manager: &str,
    part: Part,
) -> Result<Answer, ApiError> {
    let (spoken, before) = find(draft, &Target::of(&object))?;
    if object.resource_version().is_empty() && spoken.info.definition.is_some() {
        // Upstream: objects of custom kinds are never replaced blindly.
        let fault = "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update";
        return Err(ApiError::invalid(&spoken.info.kind, object.name(), &[fault.to_owned()]));
    }
    change(draft, &spoken, &before, object, part, Ownership::Update(manager))
}

/// Changes an object by a merge patch.
pub(crate) fn merge_patch(
    draft: &mut Draft<'_>,
    target: &Target,
    patch: &Value,
    manager: &str,
    part: Part,
) -> Result<Answer, ApiError> {
    let (spoken, before) = find(draft, target)?;
    let mut value = spoken.show(before.clone()).into_value();
    patch_value(&mut value, patch);
    let malformed = |why: &dyn std::fmt::Display| {
        ApiError::bad_request(format!("the patch does not leave an object: {why}"))
    };
    let object = Object::from_value(value).map_err(|error| malformed(&error))?;
    if Target::of(&object) != *target {
        return Err(malformed(&"a patch cannot change what the object is called"));
    }
    change(draft, &spoken, &before, object, part, Ownership::Update(manager))
}

/// Applies a configuration.
pub(crate) fn apply(
    draft: &mut Draft<'_>,
    mut config: Object,
    manager: &str,
    force: bool,
    part: Part,
) -> Result<Answer, ApiError> {
    let target = Target::of(&config);
    let spoken = draft.registry().speak(&target.kind)?;
    check_scope(&spoken.info, &target.namespace)?;
    if manager.is_empty() {
        return Err(ApiError::bad_request("fieldManager is required for apply patch"));
    }
    if target.name.is_empty() {
        return Err(ApiError::bad_request("name is required to apply an object"));
    }
    if !config.metadata("managedFields").is_null() {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let api_version = config.api_version().to_owned();
    *config.value_mut() = builtin::without_nulls(config.value());
    normalise(&spoken, &mut config);
    if let Some(custom) = &spoken.version().custom {
        // A field that is not kept is not owned.
        custom.prune(&mut config);
    }
    if spoken.version().has_status && part == Part::Whole {
        config.value_mut().remove(&["status"]);
    }
    let writer = Writer { manager, api_version: &api_version, part, now: draft.now };
    let Some(before) = draft.object(&target.key()).cloned() else {
        return apply_new(draft, &spoken, config, writer);
    };
    check_preconditions(&spoken, &before, &config)?;
    let applied = fields::apply(&before, &config, writer, force, &shape_of(&spoken))?;
    store_change(
        draft,
        &spoken,
        &before,
        applied.object,
        part,
        Ownership::Known(applied.managed_fields),
    )
}

/// Who will own the fields of a stored object.
enum Ownership<'a> {
    /// A manager owns what it changed.
    Update(&'a str),
    /// The new `managedFields` are known.
    Known(Value),
}

fn apply_new(
    draft: &mut Draft<'_>,
    spoken: &Spoken,
    mut config: Object,
    writer: Writer<'_>,
) -> Result<Answer, ApiError> {
    let resource = &spoken.info.resource;
    if writer.part == Part::Status {
        return Err(ApiError::not_found(resource, config.name()));
    }
    if !config.uid().is_empty() {
        let why = format!(
            "uid mismatch: the provided object specified uid {}, and no existing object was found",
            config.uid()
        );
        return Err(ApiError::conflict(resource, config.name(), &why));
    }
    strip_system_metadata(&mut config);
    let mut empty = config.clone();
    empty.value_mut().make_map().retain(|name, _| matches!(name, "apiVersion" | "kind"));
    empty.set(&["metadata", "name"], config.name());
    let applied = fields::apply(&empty, &config, writer, false, &shape_of(spoken))?;
    store_new(draft, spoken, config, Ownership::Known(applied.managed_fields))
}

/// Finds the object that a request is about.
pub(crate) fn find(draft: &Draft<'_>, target: &Target) -> Result<(Spoken, Object), ApiError> {
    let spoken = draft.registry().speak(&target.kind)?;
    check_scope(&spoken.info, &target.namespace)?;
    if target.name.is_empty() {
        return Err(ApiError::bad_request("name is required: `metadata.name` is empty"));
    }
    match draft.object(&target.key()) {
        Some(object) => Ok((spoken, object.clone())),
        None => Err(ApiError::not_found(&spoken.info.resource, &target.name)),
    }
}

fn check_preconditions(spoken: &Spoken, before: &Object, after: &Object) -> Result<(), ApiError> {
    let resource = &spoken.info.resource;
    let version = after.resource_version();
    if !version.is_empty() && version != before.resource_version() {
        return Err(ApiError::modified(resource, before.name()));
    }
    if !after.uid().is_empty() && after.uid() != before.uid() {
        let why = format!(
            "Precondition failed: UID in precondition: {}, UID in object meta: {}",
            after.uid(),
            before.uid()
        );
        return Err(ApiError::conflict(resource, before.name(), &why));
    }
    Ok(())
}

fn change(
    draft: &mut Draft<'_>,
    spoken: &Spoken,
    before: &Object,
    mut after: Object,
    part: Part,
    ownership: Ownership<'_>,
) -> Result<Answer, ApiError> {
    check_preconditions(spoken, before, &after)?;
    normalise(spoken, &mut after);
    store_change(draft, spoken, before, after, part, ownership)
}

fn store_new(
    draft: &mut Draft<'_>,
    spoken: &Spoken,
    mut object: Object,
    ownership: Ownership<'_>,
) -> Result<Answer, ApiError> {
    let info = &spoken.info;
    if info.is_terminating {
        let message = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::new(Reason::MethodNotAllowed, message));
    }
    check_namespace(draft, info, &object)?;
    choose_name(draft, spoken, &mut object)?;
    if spoken.version().has_status {
        object.value_mut().remove(&["status"]);
    }
    admit(draft, spoken, None, &mut object)?;
    let uid = draft.next_uid();
    let metadata = object.metadata_mut();
    metadata.insert("uid", uid);
    metadata.insert("creationTimestamp", draft.now);
    if info.has_generation {
        metadata.insert("generation", 1);
    }
    let managed_fields = match ownership {
        Ownership::Known(managed_fields) => managed_fields,
        Ownership::Update(manager) => {
            managed_by_update(draft, spoken, None, &object, manager, Part::Whole)
        }
    };
    set_managed_fields(&mut object, managed_fields);
    check_size(draft, &object)?;
    draft.put(object.clone());
    Ok(Answer { object: spoken.show(object), outcome: Outcome::Created })
}

fn choose_name(
    draft: &mut Draft<'_>,
    spoken: &Spoken,
    object: &mut Object,
) -> Result<(), ApiError> {
    let resource = &spoken.info.resource;
    let base = object.metadata("generateName").str().to_owned();
    if !object.name().is_empty() {
        if draft.object(&object.key()).is_some() {
            return Err(ApiError::already_exists(resource, object.name()));
        }
        return Ok(());
    }
    if base.is_empty() {
        let fault = "metadata.name: Required value: name or generateName is required".to_owned();
        return Err(ApiError::invalid(&spoken.info.kind, "", &[fault]));
    }
    let end =
        (0..=base.len().min(GENERATED_BASE_LIMIT)).rev().find(|end| base.is_char_boundary(*end));
    let base = base.get(..end.unwrap_or(0)).unwrap_or_default();
    for _ in 0..NAME_ATTEMPTS_LIMIT {
        let name = format!("{base}{}", draft.next_suffix());
        object.set(&["metadata", "name"], name);
        if draft.object(&object.key()).is_none() {
            return Ok(());
        }
    }
    let mut error = ApiError::already_exists(resource, object.name());
    error.message.push_str(", the server was not able to generate a unique name for the object");
    Err(error)
}

fn store_change(
    draft: &mut Draft<'_>,
    spoken: &Spoken,
    before: &Object,
    mut after: Object,
    part: Part,
    ownership: Ownership<'_>,
) -> Result<Answer, ApiError> {
    carry_system_metadata(before, &mut after);
    after = match part {
        Part::Whole if spoken.version().has_status => with_status_of(after, before),
        Part::Whole => after,
        Part::Status if spoken.version().has_status => with_status_of(before.clone(), &after),
        Part::Status => {
            return Err(ApiError::not_found(
                &format!("{}/status", spoken.info.resource),
                before.name(),
            ));
        }
    };
    admit(draft, spoken, Some(before), &mut after)?;
    if spoken.info.has_generation && part == Part::Whole && is_wish_changed(spoken, before, &after)
    {
        after.metadata_mut().insert("generation", before.generation() + 1);
    }
    let managed_fields = match ownership {
        Ownership::Known(managed_fields) => managed_fields,
        Ownership::Update(_) if after == *before => before.metadata("managedFields").clone(),
        Ownership::Update(manager) => {
            managed_by_update(draft, spoken, Some(before), &after, manager, part)
        }
    };
    set_managed_fields(&mut after, managed_fields);
    check_size(draft, &after)?;
    let outcome = put_or_remove(draft, before, &after);
    Ok(Answer { object: spoken.show(after), outcome })
}

/// Stores the new state of an object; one whose last finalizer went is removed.
pub(crate) fn put_or_remove(draft: &mut Draft<'_>, before: &Object, after: &Object) -> Outcome {
    let is_free = after.finalizers().next().is_none() && !builtin::is_held(after);
    if after.is_deleting() && is_free {
        draft.remove(&after.key());
        return Outcome::Removed;
    }
    if after == before {
        return Outcome::Unchanged;
    }
    draft.put(after.clone());
    Outcome::Changed
}

/// Stores what a controller makes of an object, as a write of the part it is responsible for.
pub(crate) fn put_as_controller(
    draft: &mut Draft<'_>,
    before: &Object,
    mut after: Object,
    manager: &str,
    part: Part,
) {
    if after == *before {
        return;
    }
    if let Some(spoken) = draft.stored_kind(before) {
        if spoken.info.has_generation && is_wish_changed(&spoken, before, &after) {
            after.metadata_mut().insert("generation", before.generation() + 1);
        }
        let managed = managed_by_update(draft, &spoken, Some(before), &after, manager, part);
        set_managed_fields(&mut after, managed);
    }
    put_or_remove(draft, before, &after);
}

fn with_status_of(mut object: Object, other: &Object) -> Object {
    match other.status() {
        Value::Null => {
            object.value_mut().remove(&["status"]);
        }
        status => object.set(&["status"], status.clone()),
    }
    object
}

/// Tells whether more than metadata, and status where it is apart, differs.
fn is_wish_changed(spoken: &Spoken, before: &Object, after: &Object) -> bool {
    let wish = |object: &Object| {
        let mut value = object.value().clone();
        value.remove(&["metadata"]);
        if spoken.version().has_status {
            value.remove(&["status"]);
        }
        value
    };
    wish(before) != wish(after)
}

fn managed_by_update(
    draft: &Draft<'_>,
    spoken: &Spoken,
    before: Option<&Object>,
    after: &Object,
    manager: &str,
    part: Part,
) -> Value {
    let api_version = spoken.info.api_version(&spoken.version().name);
    let writer = Writer { manager, api_version: &api_version, part, now: draft.now };
    record_update(before, after, writer, &shape_of(spoken), draft.settings.field_tracking)
}

fn set_managed_fields(object: &mut Object, managed_fields: Value) {
    if managed_fields.is_empty() {
        object.metadata_mut().remove("managedFields");
    } else {
        object.metadata_mut().insert("managedFields", managed_fields);
    }
}

/// Patches a value as RFC 7386 says.
fn patch_value(value: &mut Value, patch: &Value) {
    let Value::Map(patch) = patch else {
        *value = patch.clone();
        return;
    };
    let map = value.make_map();
    for (name, patch) in patch.iter() {
        if patch.is_null() {
            map.remove(name);
        } else {
            patch_value(map.place(name), patch);
        }
    }
}
