//! What an API server drops because no schema knows it.
//!
//! What an object's metadata holds is left alone: its fields are known without a schema.

use std::fmt::Write as _;

use operon_object::Value;

use crate::{
    MAX_ERROR_TEXT,
    node::{Additional, Node},
};

/// Drops unknown fields of an object and returns their paths, sorted.
pub(crate) fn prune(root: &Node, value: &mut Value) -> Vec<String> {
    let mut pruner = Pruner::default();
    pruner.value(Some(root), true, value);
    pruner.dropped.sort_unstable();
    pruner.dropped
}

#[derive(Default)]
struct Pruner {
    path: String,
    dropped: Vec<String>,
    /// The bytes of all paths that are told.
    text: usize,
}

impl Pruner {
    /// Drops what is unknown; without a node all fields are.
    fn value(&mut self, node: Option<&Node>, is_resource: bool, value: &mut Value) {
        if let Some(node) = node
            && node.preserves_unknown_fields
        {
            self.preserved(node, is_resource, value);
            return;
        }
        match value {
            Value::Map(_) => self.map(node, is_resource, false, value),
            Value::List(elements) if elements.iter().any(is_container) => {
                let element = node.and_then(Node::element);
                for (index, value) in value.make_list().iter_mut().enumerate() {
                    let length = self.enter_element(index);
                    self.value(element, is_resource_node(element), value);
                    self.path.truncate(length);
                }
            }
            _ => (),
        }
    }

    /// Drops nothing here; what is known below is looked into all the same.
    fn preserved(&mut self, node: &Node, is_resource: bool, value: &mut Value) {
        match value {
            Value::Map(_) => self.map(Some(node), is_resource, true, value),
            Value::List(elements) if elements.iter().any(is_container) => {
                let Some(element) = node.element() else { return };
                for (index, value) in value.make_list().iter_mut().enumerate() {
                    let length = self.enter_element(index);
                    self.preserved(element, element.is_embedded_resource, value);
                    self.path.truncate(length);
                }
            }
            _ => (),
        }
    }

    fn map(&mut self, node: Option<&Node>, is_resource: bool, preserves: bool, value: &mut Value) {
        let map = value.make_map();
        let names: Vec<String> = map.iter().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            if is_resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let length = self.path.len();
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&name);
            let property = node.and_then(|node| node.entry(&name));
            let has_additional =
                node.is_some_and(|node| !matches!(node.map.additional, Additional::Unsaid));
            if property.is_some() || has_additional {
                if is_container(map.get(&name)) {
                    self.value(property, is_resource_node(property), map.place(&name));
                }
            } else if !preserves {
                map.remove(&name);
                if self.text <= MAX_ERROR_TEXT {
                    self.text += self.path.len();
                    self.dropped.push(self.path.clone());
                }
            }
            self.path.truncate(length);
        }
    }

    fn enter_element(&mut self, index: usize) -> usize {
        let length = self.path.len();
        let _ = write!(self.path, "[{index}]");
        length
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Map(_) | Value::List(_))
}

fn is_resource_node(node: Option<&Node>) -> bool {
    node.is_some_and(|node| node.is_embedded_resource)
}
