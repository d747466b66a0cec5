//! Comparing, merging and pruning values by their shapes.
//!
//! Nothing here knows managers; sets of paths come in and go out.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use operon_object::{Map, Value};

use super::{
    set::{FieldSet, field_step},
    shape::Shape,
};

/// What differs between two values.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// The paths that are only in the old value.
    pub(super) removed: FieldSet,
    /// The paths that are new or have another value.
    pub(super) changed: FieldSet,
}

/// A value that is merged piece by piece: its pieces with the steps that lead to them.
enum Pieces<'a> {
    Fields(&'a Map),
    Elements(Vec<(Arc<str>, &'a Value)>),
    /// A scalar, or something that is replaced as a whole.
    Leaf,
}

fn pieces<'a>(value: &'a Value, shape: &Shape<'_>) -> Pieces<'a> {
    match value {
        Value::Map(map) if !shape.is_atomic_map() => Pieces::Fields(map),
        Value::List(elements) => match shape.steps(elements) {
            Some(steps) => Pieces::Elements(steps.into_iter().zip(elements.iter()).collect()),
            None => Pieces::Leaf,
        },
        _ => Pieces::Leaf,
    }
}

/// Returns the paths that a configuration has an opinion on.
pub(super) fn field_set(value: &Value, shape: &Shape<'_>) -> FieldSet {
    let mut set = FieldSet::default();
    match pieces(value, shape) {
        Pieces::Leaf => return FieldSet::here(),
        Pieces::Fields(map) => {
            for (name, value) in map.iter() {
                let mut below = field_set(value, &shape.field(name));
                below.is_member |= !shape.declares(name) || is_empty_map(value);
                set.place(field_step(name), below);
            }
        }
        Pieces::Elements(elements) => {
            for (step, element) in elements {
                let mut below = field_set(element, &shape.element());
                below.is_member = true;
                set.place(step, below);
            }
        }
    }
    set
}

/// Compares two values.
pub(super) fn compare(before: &Value, after: &Value, shape: &Shape<'_>) -> Difference {
    let mut difference = Difference::default();
    match (pieces(before, shape), pieces(after, shape)) {
        (Pieces::Fields(old), Pieces::Fields(new)) => {
            if old == new {
                return difference;
            }
            for (name, old_value) in old.iter() {
                let step = field_step(name);
                let shape = shape.field(name);
                match new.contains(name) {
                    true => difference.place(step, compare(old_value, new.get(name), &shape)),
                    false => difference.removed.place(step, every_path(old_value, &shape)),
                }
            }
            for (name, value) in new.iter().filter(|(name, _)| !old.contains(name)) {
                let paths = every_path(value, &shape.field(name));
                difference.changed.place(field_step(name), paths);
            }
        }
        (Pieces::Elements(old), Pieces::Elements(new)) => {
            let shape = shape.element();
            let old: BTreeMap<_, _> = old.into_iter().collect();
            let new: BTreeMap<_, _> = new.into_iter().collect();
            for (step, old_value) in &old {
                match new.get(step) {
                    Some(value) => {
                        difference.place(Arc::clone(step), compare(old_value, value, &shape));
                    }
                    None => {
                        difference.removed.place(Arc::clone(step), every_path(old_value, &shape));
                    }
                }
            }
            for (step, value) in new.iter().filter(|(step, _)| !old.contains_key(*step)) {
                difference.changed.place(Arc::clone(step), every_path(value, &shape));
            }
        }
        _ if before == after => {}
        // What was of another form is gone as a whole, with everything below it.
        _ => {
            difference.removed = every_path(before, shape);
            difference.removed.is_member = false;
            difference.changed = every_path(after, shape);
        }
    }
    difference
}

/// Puts a configuration over a value.
pub(super) fn merge(live: &Value, config: &Value, shape: &Shape<'_>) -> Value {
    match (pieces(live, shape), pieces(config, shape)) {
        (Pieces::Fields(old), Pieces::Fields(config)) => {
            let mut merged = live.clone();
            for (name, value) in config.iter() {
                let value = merge(old.get(name), value, &shape.field(name));
                // What stays equal stays shared.
                if !old.contains(name) || *old.get(name) != value {
                    merged.make_map().insert(name, value);
                }
            }
            merged
        }
        (Pieces::Elements(live), Pieces::Elements(config)) => {
            merge_elements(&live, &config, &shape.element())
        }
        _ => config.clone(),
    }
}

/// Takes away what was owned and is owned no longer.
pub(super) fn prune(value: &Value, owned: &FieldSet, kept: &FieldSet, shape: &Shape<'_>) -> Value {
    let nothing = FieldSet::default();
    let mut pruned = value.clone();
    match pieces(value, shape) {
        Pieces::Leaf => {}
        Pieces::Fields(map) => {
            for (name, value) in map.iter() {
                let step = field_step(name);
                let Some(owned) = owned.child(&step) else { continue };
                let kept = kept.child(&step).unwrap_or(&nothing);
                // Below a struct, owning a field is owning the struct.
                let is_in =
                    |set: &FieldSet| set.is_member || (shape.declares(name) && !set.is_empty());
                let rest = prune(value, owned, kept, &shape.field(name));
                // Upstream: a list that lost its last element goes too; a map stays, empty.
                let is_less = rest != *value;
                let is_used_up = is_less && matches!(&rest, Value::List(rest) if rest.is_empty());
                if is_in(owned) && (is_used_up || !is_in(kept)) {
                    pruned.make_map().remove(name);
                } else if is_less {
                    pruned.make_map().insert(name, rest);
                }
            }
        }
        Pieces::Elements(elements) => {
            let shape = shape.element();
            let keep = |(step, element): (Arc<str>, &Value)| {
                let Some(owned) = owned.child(&step) else { return Some(element.clone()) };
                let kept = kept.child(&step).unwrap_or(&nothing);
                // Upstream: an element goes with its owner, even if others own fields of it.
                let goes = owned.is_member && !kept.is_member;
                if goes { None } else { Some(prune(element, owned, kept, &shape)) }
            };
            pruned = Value::list(elements.into_iter().filter_map(keep));
        }
    }
    pruned
}

impl Difference {
    fn place(&mut self, step: Arc<str>, below: Self) {
        self.removed.place(Arc::clone(&step), below.removed);
        self.changed.place(step, below.changed);
    }
}

/// Returns the paths of a value and of everything in it.
fn every_path(value: &Value, shape: &Shape<'_>) -> FieldSet {
    let mut set = FieldSet::here();
    match pieces(value, shape) {
        Pieces::Leaf => {}
        Pieces::Fields(map) => {
            for (name, value) in map.iter() {
                set.place(field_step(name), every_path(value, &shape.field(name)));
            }
        }
        Pieces::Elements(elements) => {
            for (step, element) in elements {
                set.place(step, every_path(element, &shape.element()));
            }
        }
    }
    set
}

/// Upstream: shared elements take the order of the configuration; elements of others come as early
/// as the shared ones around them allow.
fn merge_elements(
    live: &[(Arc<str>, &Value)],
    config: &[(Arc<str>, &Value)],
    shape: &Shape<'_>,
) -> Value {
    let live_values: BTreeMap<&str, &Value> =
        live.iter().map(|(step, value)| (&**step, *value)).collect();
    let config_steps: BTreeSet<&str> = config.iter().map(|(step, _)| &**step).collect();
    let mut shared = config.iter().filter(|(step, _)| live_values.contains_key(&**step)).peekable();
    let mut rest = live.iter().peekable();
    let mut merged = Vec::with_capacity(live.len().max(config.len()));
    for (step, value) in config {
        while let Some((front, element)) = rest.peek() {
            if !config_steps.contains(&**front) {
                merged.push((*element).clone());
            } else if shared.peek().is_some_and(|(next, _)| next == front) {
                break;
            }
            rest.next();
        }
        shared.next_if(|(next, _)| next == step);
        rest.next_if(|(front, _)| front == step);
        let live_value = live_values.get(&**step).copied();
        merged.push(live_value.map_or_else(|| (*value).clone(), |old| merge(old, value, shape)));
    }
    let others = rest.filter(|(step, _)| !config_steps.contains(&**step));
    merged.extend(others.map(|(_, element)| (*element).clone()));
    Value::from(merged)
}

fn is_empty_map(value: &Value) -> bool {
    matches!(value, Value::Map(map) if map.is_empty())
}
