//! Sets of field paths, in memory and as `fieldsV1` has them.
//!
//! A step of a path is kept in the form it is written in, such as `f:spec` or `k:{"name":"web"}`.

use std::{collections::BTreeMap, sync::Arc};

use operon_object::{Map, Value, go_json};

/// A set of field paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    /// Says whether the path that leads here is in the set.
    pub(super) is_member: bool,
    pub(super) children: BTreeMap<Arc<str>, FieldSet>,
}

/// The step to a field of a map.
pub(super) fn field_step(name: &str) -> Arc<str> {
    format!("f:{name}").into()
}

/// The step to an element of a list that is found by some of its fields.
pub(super) fn key_step(keys: &Value) -> Arc<str> {
    format!("k:{}", go_json(keys)).into()
}

/// The step to an element of a list that is a set.
pub(super) fn value_step(value: &Value) -> Arc<str> {
    format!("v:{}", go_json(value)).into()
}

impl FieldSet {
    /// Reads `fieldsV1`.
    pub(super) fn read(value: &Value) -> Self {
        let mut set = Self::default();
        for (step, below) in value.entries() {
            if step == "." {
                set.is_member = true;
                continue;
            }
            let mut child = Self::read(below);
            child.is_member |= below.is_empty();
            set.children.insert(step.into(), child);
        }
        set
    }

    /// Writes `fieldsV1`.
    pub(super) fn write(&self) -> Value {
        self.write_sharing(&Map::default())
    }

    /// Writes with one empty map for all ends of paths, of which there are thousands.
    fn write_sharing(&self, end: &Map) -> Value {
        if self.children.is_empty() {
            return end.clone().into();
        }
        let below = self.children.iter().map(|(step, child)| (&**step, child.write_sharing(end)));
        let own = self.is_member.then(|| (".", end.clone().into()));
        Value::map(own.into_iter().chain(below))
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.is_member && self.children.is_empty()
    }

    pub(super) fn child(&self, step: &str) -> Option<&Self> {
        self.children.get(step)
    }

    /// Puts a set below a step; an empty one is left out.
    pub(super) fn place(&mut self, step: Arc<str>, child: Self) {
        if !child.is_empty() {
            self.children.insert(step, child);
        }
    }

    /// A set of only the path that leads here.
    pub(super) fn here() -> Self {
        Self { is_member: true, children: BTreeMap::new() }
    }

    pub(super) fn union(&mut self, other: &Self) {
        self.is_member |= other.is_member;
        for (step, child) in &other.children {
            self.children.entry(Arc::clone(step)).or_default().union(child);
        }
    }

    /// Takes the paths of another set away; paths below them stay.
    pub(super) fn subtract(&mut self, other: &Self) {
        self.is_member &= !other.is_member;
        for (step, below) in &other.children {
            if let Some(child) = self.children.get_mut(step) {
                child.subtract(below);
                if child.is_empty() {
                    self.children.remove(step);
                }
            }
        }
    }

    #[must_use]
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut both =
            Self { is_member: self.is_member && other.is_member, children: BTreeMap::new() };
        for (step, child) in &self.children {
            if let Some(below) = other.children.get(step) {
                both.place(Arc::clone(step), child.intersection(below));
            }
        }
        both
    }

    /// Writes every path as messages show them, such as `.spec.containers[name="web"].image`.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, path: &str, paths: &mut Vec<String>) {
        if self.is_member {
            paths.push(path.to_owned());
        }
        for (step, child) in &self.children {
            child.collect_paths(&format!("{path}{}", show_step(step)), paths);
        }
    }
}

fn show_step(step: &str) -> String {
    match step.split_once(':') {
        Some(("f", name)) => format!(".{name}"),
        Some(("k", keys)) => {
            let keys = Value::parse_json(keys).unwrap_or_default();
            let keys: Vec<_> =
                keys.entries().map(|(name, value)| format!("{name}={}", go_json(value))).collect();
            format!("[{}]", keys.join(","))
        }
        Some(("v", value)) => format!("[={value}]"),
        Some((_, index)) => format!("[{index}]"),
        None => format!(".{step}"),
    }
}
