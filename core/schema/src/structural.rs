//! Whether an API server would take a schema into a CRD.
//!
//! Such a schema is *structural*: every field has one type that is said in one place, and what is
//! said under `allOf`, `anyOf`, `oneOf` and `not` only narrows it. Whether defaults are valid and
//! CEL rules compile is not asked.

mod nested;

use operon_object::Value;

use crate::{MAX_ERROR_TEXT, SchemaFault, pattern::Pattern};

/// Lists what keeps a schema from being structural, sorted by place.
pub(crate) fn faults(schema: &Value) -> Vec<SchemaFault> {
    let mut checker = Checker::default();
    checker.structure(schema, Level::Root);
    checker.complete(schema);
    checker.faults.sort_unstable();
    checker.faults.dedup();
    checker.faults
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Items,
    Field,
}

#[derive(Default)]
struct Checker {
    path: Vec<String>,
    faults: Vec<SchemaFault>,
    /// The bytes of all faults; beyond [`MAX_ERROR_TEXT`] no more are told.
    text: usize,
}

/// Names that schemas have elsewhere but not in a CRD.
const UNSUPPORTED: [&str; 6] =
    ["$ref", "additionalItems", "definitions", "dependencies", "patternProperties", "id"];

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// The places where a schema holds several others that judge the same value.
const COMBINATIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

impl Checker {
    fn structure(&mut self, schema: &Value, level: Level) {
        self.own_rules(schema, level);
        self.type_rules(schema, level);
        self.resource_rules(schema, level);
        if level == Level::Root && !schema.get("additionalProperties").is_null() {
            self.fault("additionalProperties", "must not be used at the root");
        }
        match schema.get("items") {
            Value::Null | Value::List(_) => (),
            items => self.inside("items", |checker| checker.structure(items, Level::Items)),
        }
        for (name, property) in schema.get("properties").entries() {
            let place = format!("properties[{name}]");
            self.inside(&place, |checker| checker.structure(property, Level::Field));
        }
        if let additional @ Value::Map(_) = schema.get("additionalProperties") {
            self.inside("additionalProperties", |checker| {
                checker.structure(additional, Level::Field);
            });
        }
        let is_any_of_usual = is_integer_or_string(schema.get("anyOf"));
        self.nested_of(schema, is_any_of_usual);
    }

    /// Checks what holds for a schema wherever it stands.
    fn own_rules(&mut self, schema: &Value, level: Level) {
        for name in UNSUPPORTED {
            if !schema.get(name).is_empty() {
                self.fault(name, "is not supported in a CRD");
            }
        }
        if matches!(schema.get("items"), Value::List(_)) {
            self.fault("items", "must be one schema for all elements");
        }
        if schema.get("uniqueItems").as_bool() == Some(true) {
            self.fault("uniqueItems", "must not be `true`: finding duplicates takes too long");
        }
        match schema.get("additionalProperties") {
            Value::Bool(false) => {
                self.fault(
                    "additionalProperties",
                    "must not be `false`: unknown fields are dropped",
                );
            }
            Value::Map(_) if level != Level::Root && !schema.get("properties").is_empty() => {
                self.fault("additionalProperties", "must not be used together with `properties`");
            }
            _ => (),
        }
        self.pattern(schema);
    }

    fn pattern(&mut self, schema: &Value) {
        let pattern = schema.get("pattern").str();
        if let Some(fault) = Pattern::new(pattern).fault() {
            self.fault(
                "pattern",
                format!("must be a valid regular expression, but isn't: {fault}"),
            );
        }
    }

    fn type_rules(&mut self, schema: &Value, level: Level) {
        let given = schema.get("type").str();
        let is = |name| schema.get(name).as_bool() == Some(true);
        let is_integer_or_string = is("x-kubernetes-int-or-string");
        let preserves = is("x-kubernetes-preserve-unknown-fields");
        if is("x-kubernetes-embedded-resource") {
            if given != "object" {
                self.fault("type", "must be `object` if x-kubernetes-embedded-resource is true");
            }
        } else if given.is_empty() && !is_integer_or_string && !preserves {
            let place = match level {
                Level::Root => "at the root",
                Level::Items => "for the items of a list",
                Level::Field => "for a field of an object",
            };
            self.fault("type", format!("is missing; it must be given {place}"));
        }
        if !given.is_empty() && !TYPES.contains(&given) {
            self.fault("type", format!("must be one of {}, not `{given}`", TYPES.join(", ")));
        } else if level == Level::Root && !given.is_empty() && given != "object" {
            self.fault("type", format!("must be `object` at the root, not `{given}`"));
        }
        if given == "array" && schema.get("items").is_null() {
            self.fault("items", "is missing; it must say what the elements of the list are");
        }
        if is_integer_or_string {
            for name in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
                if is(name) {
                    self.fault(name, "must not be `true` if x-kubernetes-int-or-string is");
                }
            }
        }
    }

    fn resource_rules(&mut self, schema: &Value, level: Level) {
        let is = |name| schema.get(name).as_bool() == Some(true);
        let is_embedded = is("x-kubernetes-embedded-resource");
        let properties = schema.get("properties");
        if is_embedded && !schema.get("additionalProperties").is_null() {
            self.fault("additionalProperties", "must not be used in an embedded resource");
        }
        if is_embedded && !is("x-kubernetes-preserve-unknown-fields") && properties.is_empty() {
            self.fault("properties", "is missing; without it an embedded resource keeps nothing");
        }
        if !is_embedded && level != Level::Root {
            return;
        }
        for (name, expected) in
            [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")]
        {
            let property = properties.get(name);
            if !property.is_null() && property.get("type").str() != expected {
                self.fault(&format!("properties[{name}].type"), format!("must be `{expected}`"));
            }
        }
        let metadata = properties.get("metadata");
        let is_allowed = |(name, value): (&str, &Value)| match name {
            "type" | "default" => true,
            "properties" => {
                value.entries().all(|(name, _)| matches!(name, "name" | "generateName"))
            }
            _ => value.is_empty() || value.as_bool() == Some(false),
        };
        if level == Level::Root && !metadata.entries().all(is_allowed) {
            self.fault(
                "properties[metadata]",
                "must say nothing but `name` and `generateName`: metadata is known without it",
            );
        }
    }

    fn inside(&mut self, place: &str, check: impl FnOnce(&mut Self)) {
        self.path.push(place.to_owned());
        check(self);
        self.path.pop();
    }

    fn fault(&mut self, name: &str, reason: impl Into<String>) {
        if self.text > MAX_ERROR_TEXT {
            return;
        }
        let mut places: Vec<&str> = self.path.iter().map(String::as_str).collect();
        places.push(name);
        let fault = SchemaFault::new(places.join("."), reason);
        self.text += fault.path.len() + fault.reason.len();
        self.faults.push(fault);
    }
}

/// Tells whether alternatives are the usual way to write "an integer or a text".
fn is_integer_or_string(alternatives: &Value) -> bool {
    let is_only_type =
        |schema: &Value, name| schema.get("type").str() == name && schema.entries().count() == 1;
    matches!(alternatives.elements(), [first, second]
        if is_only_type(first, "integer") && is_only_type(second, "string"))
}
