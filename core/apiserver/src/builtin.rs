//! What the server adds to, and forbids on, objects of the built-in kinds that the engine relies on.
//!
//! Only rules that a client can run into are here: the defaulting and validation of whole built-in
//! types is not simulated.

use operon_object::{Kind, Object, Value, go_json, known, list, map};

use crate::secret;

/// The namespaces that a cluster cannot be without.
const PROTECTED_NAMESPACES: &[&str] = &["default", "kube-system", "kube-public"];

/// The finalizer in a Namespace's spec that waits for its contents.
pub(crate) const NAMESPACE_FINALIZER: &str = "kubernetes";

/// Fields that stay as they were created.
const IMMUTABLE: &[(Kind, &[&str], &str)] = &[
    (known::DEPLOYMENT, &["spec", "selector"], "field is immutable"),
    (known::JOB, &["spec", "template"], "field is immutable"),
    (known::SECRET, &["type"], "field is immutable"),
    (known::ROLE_BINDING, &["roleRef"], "cannot change roleRef"),
    (known::CLUSTER_ROLE_BINDING, &["roleRef"], "cannot change roleRef"),
];

/// Completes a new object.
pub(crate) fn complete(object: &mut Object) {
    if object.kind() == known::NAMESPACE {
        let name = object.name().to_owned();
        object.set_label("kubernetes.io/metadata.name", &name);
        object.set(&["spec", "finalizers"], list![NAMESPACE_FINALIZER]);
        object.set(&["status"], map! { "phase" => "Active" });
    }
}

/// Completes the new state of an object.
pub(crate) fn complete_update(before: &Object, after: &mut Object) {
    if after.kind() == known::NAMESPACE {
        // Only a request that names the finalizers may change them, which clients never do.
        after.set(&["spec"], before.spec().clone());
        let name = after.name().to_owned();
        after.set_label("kubernetes.io/metadata.name", &name);
    }
}

/// Returns what is wrong with the content of an object.
pub(crate) fn faults(object: &Object) -> Vec<String> {
    if object.kind() != known::DEPLOYMENT {
        return secret::faults(object);
    }
    let spec = object.spec();
    let labels = spec.at(&["template", "metadata", "labels"]);
    let wanted = spec.at(&["selector", "matchLabels"]);
    if spec.get("selector").is_empty() {
        return vec!["spec.selector: Required value".to_owned()];
    }
    if wanted.entries().any(|(name, value)| labels.get(name) != value) {
        return vec![format!(
            "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template \
             `labels`",
            go_json(labels)
        )];
    }
    Vec::new()
}

/// Returns what is wrong with giving an object new content.
pub(crate) fn update_faults(before: &Object, after: &Object) -> Vec<String> {
    let kind = after.kind();
    let is_changed = |path: &[&str]| before.at(path) != after.at(path);
    let rules = IMMUTABLE.iter().filter(|(of, path, _)| *of == kind && is_changed(path));
    let mut faults: Vec<String> = rules
        .map(|(_, path, why)| {
            let value = go_json(after.at(path));
            format!("{}: Invalid value: {value}: {why}", path.join("."))
        })
        .collect();
    let is_frozen = before.value().get("immutable").as_bool() == Some(true);
    if is_frozen && (kind == known::CONFIG_MAP || kind == known::SECRET) {
        let fields = ["immutable", "data", "binaryData"];
        let changed = fields.into_iter().filter(|name| is_changed(&[name]));
        faults.extend(
            changed.map(|name| {
                format!("{name}: Forbidden: field is immutable when `immutable` is set")
            }),
        );
    }
    faults
}

/// Says why an object may not be deleted.
pub(crate) fn deletion_fault(object: &Object) -> Option<&'static str> {
    let is_protected =
        object.kind() == known::NAMESPACE && PROTECTED_NAMESPACES.contains(&object.name());
    is_protected.then_some("this namespace may not be deleted")
}

/// Tells whether something besides `metadata.finalizers` keeps an object.
pub(crate) fn is_held(object: &Object) -> bool {
    object.kind() == known::NAMESPACE && !object.at(&["spec", "finalizers"]).is_empty()
}

/// Marks an object that begins to be deleted.
pub(crate) fn begin_deletion(object: &mut Object) {
    if object.kind() == known::NAMESPACE {
        object.set(&["status", "phase"], "Terminating");
    }
}

/// Drops `null` entries, which a typed server never keeps; lists keep their elements.
pub(crate) fn without_nulls(value: &Value) -> Value {
    if !has_null_field(value) {
        // What is as it should be stays shared with where it came from.
        return value.clone();
    }
    match value {
        Value::Map(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::map(kept.map(|(name, value)| (name, without_nulls(value))))
        }
        Value::List(elements) => Value::list(elements.iter().map(without_nulls)),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => {
            value.clone()
        }
    }
}

fn has_null_field(value: &Value) -> bool {
    match value {
        Value::Map(map) => map.iter().any(|(_, value)| value.is_null() || has_null_field(value)),
        Value::List(elements) => elements.iter().any(has_null_field),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => {
            false
        }
    }
}

/// Says that a namespace cannot take new objects.
pub(crate) fn terminating_message(namespace: &str) -> String {
    format!("unable to create new content in namespace {namespace} because it is being terminated")
}
