//! Lists and maps.
//!
//! Elements and entries are judged one by one; which rules they have in common with their
//! container is not known here.

use std::{collections::BTreeMap, fmt::Write as _};

use operon_object::{Map, Value, go_json};

use super::Walker;
use crate::{
    FieldErrorKind,
    node::{Additional, Items, MapRules, Node},
};

impl Walker {
    pub(super) fn list(&mut self, node: &Node, elements: &[Value]) -> u64 {
        let rules = &node.list;
        let mut matches = 1;
        let mut told = 0;
        match &rules.items {
            Items::Any => (),
            Items::All(item) => {
                for (index, element) in elements.iter().enumerate() {
                    matches += self.element(index, item, element);
                }
            }
            Items::Each(items) => {
                told = items.len();
                for (index, (item, element)) in items.iter().zip(elements).enumerate() {
                    matches += self.element(index, item, element);
                }
            }
        }
        match &rules.additional_items {
            Additional::Unsaid | Additional::Allowed(true) => (),
            Additional::Allowed(false) => {
                if told > 0 && told < elements.len() {
                    self.composite("array doesn't allow for additional items".to_owned());
                }
            }
            Additional::Like(item) => {
                for (index, element) in elements.iter().enumerate().skip(told) {
                    matches += self.element(index, item, element);
                }
            }
        }
        self.item_count(node, elements.len());
        if rules.has_unique_items && has_duplicates(elements) {
            self.invalid(Value::text(""), "shouldn't contain duplicates");
        }
        matches
    }

    fn item_count(&mut self, node: &Node, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if let Some(least) = node.list.min_items
            && count < least
        {
            self.invalid(Value::Integer(count), &format!("should have at least {least} items"));
        }
        if let Some(most) = node.list.max_items
            && count > most
        {
            self.fail(FieldErrorKind::TooMany, Value::Integer(count), too_many(most));
        }
    }

    fn element(&mut self, index: usize, item: &Node, element: &Value) -> u64 {
        let length = self.path.len();
        let _ = write!(self.path, "[{index}]");
        let matches = self.node(item, element);
        self.path.truncate(length);
        matches
    }

    pub(super) fn map(&mut self, node: &Node, map: &Map) -> u64 {
        let rules = &node.map;
        let mut matches = 0;
        self.entry_count(rules, map.len());
        if let Additional::Allowed(false) = rules.additional {
            for (name, _) in map.iter() {
                let is_known = rules.properties.contains_key(name)
                    || rules.patterns.iter().any(|(pattern, _)| pattern.is_match(name) == Ok(true));
                if !is_known {
                    let detail = format!("{}.{name} in body is a forbidden property", self.path);
                    self.fail(FieldErrorKind::Invalid, Value::text(name), detail);
                }
            }
        } else {
            for (name, value) in map.iter() {
                let (matched, found) = self.matching_patterns(rules, name, value);
                matches += found;
                if let Some(additional) = rules.additional.node()
                    && !matched
                    && !rules.properties.contains_key(name)
                {
                    matches += self.entry(name, additional, value, true);
                }
            }
        }
        for (name, property) in &rules.properties {
            if map.contains(name) {
                matches += self.entry(name, property, map.get(name), false);
            }
        }
        for name in rules.required.iter().filter(|name| !map.contains(name)) {
            let length = self.path.len();
            let _ = write!(self.path, ".{name}");
            self.fail(FieldErrorKind::Required, Value::Null, String::new());
            self.path.truncate(length);
        }
        // Upstream: patterns are asked twice; equal errors are told once, but what is in order
        // counts each time.
        for (name, value) in map.iter().filter(|_| !rules.patterns.is_empty()) {
            let (_, found) = self.matching_patterns(rules, name, value);
            let times = if rules.properties.contains_key(name) { 1 } else { 2 };
            matches += found * times;
        }
        matches
    }

    fn entry_count(&mut self, rules: &MapRules, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if let Some(least) = rules.min_properties
            && count < least
        {
            self.invalid(
                Value::Integer(count),
                &format!("should have at least {least} properties"),
            );
        }
        if let Some(most) = rules.max_properties
            && count > most
        {
            self.fail(FieldErrorKind::TooMany, Value::Integer(count), too_many(most));
        }
    }

    /// Judges an entry by each pattern that its name matches.
    fn matching_patterns(&mut self, rules: &MapRules, name: &str, value: &Value) -> (bool, u64) {
        let mut is_matched = false;
        let mut matches = 0;
        for (pattern, node) in &rules.patterns {
            if pattern.is_match(name) == Ok(true) {
                is_matched = true;
                matches += self.entry(name, node, value, true);
            }
        }
        (is_matched, matches)
    }

    /// Upstream: an entry that is not listed gets a point in front of its name even where the path
    /// is empty.
    fn entry(&mut self, name: &str, node: &Node, value: &Value, is_unlisted: bool) -> u64 {
        let length = self.path.len();
        if is_unlisted || length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let matches = self.node(node, value);
        self.path.truncate(length);
        matches
    }
}

fn too_many(most: i64) -> String {
    match most {
        1 => "must have at most 1 item".to_owned(),
        0.. => format!("must have at most {most} items"),
        _ => "has too many items".to_owned(),
    }
}

/// Equal values have equal JSON, so only those with equal JSON are compared; `1` and `1.0` are
/// different values with equal JSON.
fn has_duplicates(elements: &[Value]) -> bool {
    let mut seen: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    elements.iter().any(|element| {
        let same = seen.entry(go_json(element)).or_default();
        let is_duplicate = same.contains(&element);
        same.push(element);
        is_duplicate
    })
}
