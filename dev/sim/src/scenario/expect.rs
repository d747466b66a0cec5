//! What can be seen.
//!
//! `csv shop/etcd.v1: Succeeded` is about its phase, `Failed/InstallCheckFailed` about its reason too;
//! `sub shop/etcd: AtLatestKnown etcd.v1` about its state and operator; `plan shop/etcd.v1: Complete` is
//! about the newest plan that brings an operator; `absent` and `present` about whether it is there. Any
//! path works: `{ status.message: ~crashed }`, where `~` stands for a part of the text, and
//! `status.conditions.ResolutionFailed.message` finds a condition by its type.

use operon_object::{Object, ObjectKey, Value, known};

/// What can be seen of an object.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The object.
    pub key: ObjectKey,
    is_present: bool,
    fields: Vec<(String, String)>,
}

impl Expectation {
    /// Reads what is expected of an object.
    pub(super) fn new(key: ObjectKey, wanted: &Value) -> Result<Self, String> {
        let mut fields = Vec::new();
        let mut is_present = true;
        match wanted {
            Value::Text(text) if &**text == "absent" => is_present = false,
            Value::Text(text) if &**text == "present" => {}
            Value::Text(text) => shorthand(&key, text, &mut fields)?,
            Value::Map(map) => {
                for (path, value) in map.iter() {
                    let value = value.as_text().map_or_else(|| value.to_string(), str::to_owned);
                    fields.push((path.to_owned(), value));
                }
            }
            other => return Err(format!("`{other}` says nothing about {key}")),
        }
        Ok(Self { key, is_present, fields })
    }

    /// Says what is otherwise than expected.
    pub fn check(&self, objects: &[Object]) -> Result<(), String> {
        let Self { key, is_present, fields } = self;
        let found = find(key, objects);
        let object = match (found, is_present) {
            (None, false) => return Ok(()),
            (Some(_), false) => return Err(format!("{key} should not be there")),
            (None, true) => {
                let names: Vec<&str> = objects.iter().map(Object::name).collect();
                return Err(format!("{key} is not there; there are {}", names.join(", ")));
            }
            (Some(object), true) => object,
        };
        for (path, wanted) in fields {
            let value = at(object.value(), path);
            let text = match value {
                Value::Text(text) => text.to_string(),
                Value::Null => "absent".to_owned(),
                other => other.to_string(),
            };
            let is_met = match wanted.strip_prefix('~') {
                Some(part) => text.contains(part.trim()),
                None => text == *wanted,
            };
            if !is_met {
                return Err(format!(
                    "{path} of {key} is `{text}` instead of `{wanted}`; status: {}",
                    object.status()
                ));
            }
        }
        Ok(())
    }
}

fn shorthand(
    key: &ObjectKey,
    text: &str,
    fields: &mut Vec<(String, String)>,
) -> Result<(), String> {
    let mut add = |path: &str, value: &str| fields.push((path.to_owned(), value.to_owned()));
    if key.kind == known::SUBSCRIPTION {
        let (state, operator) = text.split_once(' ').unwrap_or((text, ""));
        add("status.state", if state == "-" { "absent" } else { state });
        if !operator.is_empty() {
            add("status.installedCSV", operator);
        }
        return Ok(());
    }
    if key.kind == known::CLUSTER_SERVICE_VERSION || key.kind == known::INSTALL_PLAN {
        let (phase, reason) = text.split_once('/').unwrap_or((text, ""));
        add("status.phase", phase);
        if !reason.is_empty() {
            add("status.reason", reason);
        }
        return Ok(());
    }
    Err(format!("`{text}` says nothing about {key}; write a map of paths"))
}

/// Finds an object; a plan may be named by an operator that it brings.
pub(super) fn find<'o>(key: &ObjectKey, objects: &'o [Object]) -> Option<&'o Object> {
    let here = || objects.iter().filter(|object| object.namespace() == key.namespace);
    let exact = here().find(|object| object.name() == key.name);
    if exact.is_none() && key.kind == known::CONTROLLER_REVISION {
        // The name of a generation ends with digits of its plan.
        let stem = format!("{}-", key.name);
        return here().find(|object| object.name().starts_with(&stem));
    }
    if exact.is_some() || key.kind != known::INSTALL_PLAN {
        return exact;
    }
    let brings = |object: &&Object| {
        let names = object.at(&["spec", "clusterServiceVersionNames"]);
        names.iter_texts().any(|name| name == key.name)
    };
    let generation = |object: &&Object| object.at(&["spec", "generation"]).as_integer();
    here().filter(brings).max_by_key(generation)
}

/// Follows a path of names; a list of conditions is entered by a type, any other list by a number. A
/// name with dots in it is written in brackets: `metadata.annotations.[olm.operatorGroup]`.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    static NOTHING: Value = Value::Null;
    let mut value = value;
    let mut rest = path;
    while !rest.is_empty() {
        let (name, next) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, next)) => (name, next.strip_prefix('.').unwrap_or(next)),
            None => rest.split_once('.').unwrap_or((rest, "")),
        };
        rest = next;
        value = match value {
            Value::List(elements) => {
                let by_type = elements.iter().find(|element| {
                    element.get("type").str() == name || element.get("name").str() == name
                });
                let by_number = name.parse().ok().and_then(|index: usize| elements.get(index));
                by_type.or(by_number).unwrap_or(&NOTHING)
            }
            other => other.get(name),
        };
    }
    value
}
