//! What happens to every object on its way into the store.
//!
//! Requests differ in how they arrive at the new state of an object; that state is completed and
//! checked here, the same way for all of them. Nothing is written here.

use operon_object::{Object, Value, known};

use crate::{
    ApiError, Reason, builtin, definition,
    draft::Draft,
    fields::Shape,
    names::{metadata_faults, metadata_update_faults},
    registry::{KindInfo, Spoken},
    secret,
};

/// Fields of the metadata that the server alone writes.
const SYSTEM_METADATA: &[&str] = &[
    "uid",
    "resourceVersion",
    "generation",
    "generateName",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// Checks that an object lies where objects of its kind lie.
pub(crate) fn check_scope(info: &KindInfo, namespace: &str) -> Result<(), ApiError> {
    match (info.is_namespaced, namespace) {
        (true, "") => {
            let message = format!(
                "an empty namespace may not be set during creation: {} lie in namespaces, so \
                 `metadata.namespace` is needed",
                info.resource
            );
            Err(ApiError::bad_request(message))
        }
        (false, namespace) if !namespace.is_empty() => Err(ApiError::bad_request(format!(
            "the namespace of the provided object does not match the namespace sent on the \
             request: {} lie in no namespace, so `metadata.namespace` must not be set",
            info.resource
        ))),
        _ => Ok(()),
    }
}

/// Checks that a namespace takes new objects.
pub(crate) fn check_namespace(
    draft: &Draft<'_>,
    info: &KindInfo,
    object: &Object,
) -> Result<(), ApiError> {
    if !info.is_namespaced {
        return Ok(());
    }
    let namespace = object.namespace();
    let Some(found) = draft.object(&known::NAMESPACE.key("", namespace)) else {
        return Err(ApiError::not_found("namespaces", namespace));
    };
    if found.is_deleting() {
        let why = builtin::terminating_message(namespace);
        return Err(ApiError::forbidden(&info.resource, object.name(), &why));
    }
    Ok(())
}

/// Brings an object that came with a request into the form that is stored.
pub(crate) fn normalise(spoken: &Spoken, object: &mut Object) {
    let is_definition = object.kind() == known::CUSTOM_RESOURCE_DEFINITION;
    if spoken.version().custom.is_none() && !is_definition {
        *object.value_mut() = builtin::without_nulls(object.value());
    }
    let metadata = builtin::without_nulls(object.value().get("metadata"));
    object.set(&["metadata"], metadata);
    let metadata = object.metadata_mut();
    for name in ["labels", "annotations", "finalizers", "ownerReferences", "managedFields"] {
        if metadata.get(name).is_empty() {
            metadata.remove(name);
        }
    }
    if metadata.get("namespace").is_empty() {
        metadata.remove("namespace");
    }
    object.set(&["apiVersion"], spoken.info.storage_api_version());
    secret::keep_texts(object);
}

/// Takes away what only the server may say of a new object.
pub(crate) fn strip_system_metadata(object: &mut Object) {
    let metadata = object.metadata_mut();
    for name in SYSTEM_METADATA.iter().filter(|name| **name != "generateName") {
        metadata.remove(name);
    }
}

/// Gives the new state of an object what only the server may say of it.
pub(crate) fn carry_system_metadata(before: &Object, after: &mut Object) {
    for name in SYSTEM_METADATA {
        match before.metadata(name) {
            Value::Null => {
                after.metadata_mut().remove(name);
            }
            value => after.metadata_mut().insert(name, value.clone()),
        }
    }
}

/// Completes an object by its kind, and refuses it if it breaks a rule of its kind.
pub(crate) fn admit(
    draft: &Draft<'_>,
    spoken: &Spoken,
    before: Option<&Object>,
    object: &mut Object,
) -> Result<(), ApiError> {
    let is_definition = object.kind() == known::CUSTOM_RESOURCE_DEFINITION;
    if is_definition {
        definition::complete(draft, before, object);
    }
    match before {
        None => builtin::complete(object),
        Some(before) => builtin::complete_update(before, object),
    }
    let mut faults = metadata_faults(spoken.info.name_rule, object);
    if let Some(before) = before {
        faults.extend(metadata_update_faults(before, object));
        faults.extend(builtin::update_faults(before, object));
    }
    faults.extend(builtin::faults(object));
    if is_definition {
        faults.extend(definition::faults(before, object));
    }
    if let Some(custom) = &spoken.version().custom {
        // The schema is that of the version written, not of the one stored.
        let stored = object.api_version().to_owned();
        object.set(&["apiVersion"], spoken.info.api_version(&spoken.version().name));
        custom.prune(object);
        custom.fill(object);
        faults.extend(custom.faults(object));
        object.set(&["apiVersion"], stored);
    }
    if !faults.is_empty() {
        return Err(ApiError::invalid(&spoken.info.kind, object.name(), &faults));
    }
    Ok(())
}

/// Refuses an object that is too large.
pub(crate) fn check_size(draft: &Draft<'_>, object: &Object) -> Result<(), ApiError> {
    let limit = draft.settings.limits.object_bytes;
    if encoded_size(object.value()) <= limit {
        return Ok(());
    }
    let message =
        format!("Request entity too large: limit is {limit}; make `{}` smaller", object.key());
    Err(ApiError::new(Reason::RequestEntityTooLarge, message))
}

/// Returns how the fields of a kind are merged.
pub(crate) fn shape_of(spoken: &Spoken) -> Shape<'_> {
    match &spoken.version().custom {
        Some(custom) => custom.shape(),
        None => Shape::built_in(&spoken.info.kind),
    }
}

/// Counts the bytes of a value as JSON; escapes count as what they stand for.
fn encoded_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Integer(_) | Value::Float(_) => 8,
        Value::Text(text) => text.len() + 2,
        Value::List(elements) => {
            2 + elements.iter().map(|element| encoded_size(element) + 1).sum::<usize>()
        }
        Value::Map(map) => {
            2 + map.iter().map(|(name, value)| name.len() + 4 + encoded_size(value)).sum::<usize>()
        }
    }
}
