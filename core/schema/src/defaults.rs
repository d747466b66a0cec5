//! What an API server fills in.
//!
//! Only fields inside an object are filled in, never the object itself. Defaults are not judged
//! here.

use operon_object::Value;

use crate::node::Node;

/// Fills in defaults below a value.
pub(crate) fn apply(node: &Node, value: &mut Value) {
    drop_bad_nulls(Some(node), value);
    fill(Some(node), value);
}

/// Takes away each `null` that is neither allowed nor replaced by a default.
fn drop_bad_nulls(node: Option<&Node>, value: &mut Value) {
    match value {
        Value::Map(map) => {
            let names: Vec<String> = map.iter().map(|(name, _)| name.to_owned()).collect();
            for name in names {
                let entry = node.and_then(|node| node.entry(&name));
                let is_bad =
                    entry.is_some_and(|entry| !entry.is_nullable && entry.default.is_none());
                match map.get(&name) {
                    Value::Null if is_bad => {
                        map.remove(&name);
                    }
                    Value::Map(_) | Value::List(_) => drop_bad_nulls(entry, map.place(&name)),
                    _ => (),
                }
            }
        }
        Value::List(_) => {
            let element = node.and_then(Node::element);
            for value in value.make_list() {
                drop_bad_nulls(element, value);
            }
        }
        _ => (),
    }
}

fn fill(node: Option<&Node>, value: &mut Value) {
    let Some(node) = node else { return };
    match value {
        Value::Map(map) => {
            for (name, property) in &node.map.properties {
                let Some(default) = &property.default else { continue };
                let is_bad_null = map.get(name).is_null() && !property.is_nullable;
                if !map.contains(name) || is_bad_null {
                    map.insert(name, fresh(property, default));
                }
            }
            let names: Vec<String> = map.iter().map(|(name, _)| name.to_owned()).collect();
            for name in names {
                let Some(entry) = node.entry(&name) else { continue };
                match (map.get(&name), &entry.default) {
                    (Value::Null, Some(default)) if !entry.is_nullable => {
                        map.insert(&name, fresh(entry, default));
                    }
                    _ => (),
                }
                if matches!(map.get(&name), Value::Map(_) | Value::List(_)) {
                    fill(Some(entry), map.place(&name));
                }
            }
        }
        Value::List(_) => {
            let Some(element) = node.element() else { return };
            for value in value.make_list() {
                if let (Value::Null, false, Some(default)) =
                    (&*value, element.is_nullable, &element.default)
                {
                    *value = fresh(element, default);
                }
                fill(Some(element), value);
            }
        }
        _ => (),
    }
}

/// Returns a default as it is filled in: a `null` that may not stay is not filled in either.
fn fresh(node: &Node, default: &Value) -> Value {
    let mut value = default.clone();
    drop_bad_nulls(Some(node), &mut value);
    value
}
