//! What a schema says under `allOf`, `anyOf`, `oneOf` and `not`.
//!
//! There it may narrow what the structure says, but not add to it.

use operon_object::Value;

use super::{COMBINATIONS, Checker, Level, is_integer_or_string};

/// What belongs to the structure and is not said again.
const STRUCTURE_ONLY: [&str; 12] = [
    "additionalProperties",
    "default",
    "description",
    "nullable",
    "title",
    "type",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
];

impl Checker {
    /// Checks everything under the combinations of a schema, except the usual way to write "an
    /// integer or a text".
    pub(super) fn nested_of(&mut self, schema: &Value, is_any_of_usual: bool) {
        for name in COMBINATIONS {
            if name == "anyOf" && is_any_of_usual {
                continue;
            }
            for (index, part) in schema.get(name).elements().iter().enumerate() {
                let is_usual =
                    name == "allOf" && index == 0 && is_integer_or_string(part.get("anyOf"));
                self.inside(&format!("{name}[{index}]"), |checker| checker.nested(part, is_usual));
            }
        }
        if !schema.get("not").is_null() {
            self.inside("not", |checker| checker.nested(schema.get("not"), false));
        }
    }

    fn nested(&mut self, schema: &Value, is_any_of_usual: bool) {
        self.own_rules(schema, Level::Field);
        for name in STRUCTURE_ONLY.into_iter().chain(["x-kubernetes-validations"]) {
            let value = schema.get(name);
            let is_said = name == "additionalProperties" && !value.is_null() || !value.is_empty();
            if is_said && value.as_bool() != Some(false) {
                self.fault(name, "must not be said here: it belongs to the structure outside");
            }
        }
        if !schema.get("properties").get("metadata").is_null() {
            self.fault("properties[metadata]", "must not be narrowed here");
        }
        if let items @ Value::Map(_) = schema.get("items") {
            self.inside("items", |checker| checker.nested(items, false));
        }
        for (name, property) in schema.get("properties").entries() {
            self.inside(&format!("properties[{name}]"), |checker| checker.nested(property, false));
        }
        self.nested_of(schema, is_any_of_usual);
    }

    /// Checks that every field and list that the root narrows is also said in the structure.
    ///
    /// Upstream: this is asked of the root only; deeper combinations may narrow what nobody says.
    pub(super) fn complete(&mut self, schema: &Value) {
        self.narrowed_of(schema, schema);
    }

    fn narrowed_of(&mut self, schema: &Value, structure: &Value) {
        for name in COMBINATIONS {
            for (index, part) in schema.get(name).elements().iter().enumerate() {
                self.inside(&format!("{name}[{index}]"), |checker| {
                    checker.narrowed(part, structure);
                });
            }
        }
        if !schema.get("not").is_null() {
            self.inside("not", |checker| checker.narrowed(schema.get("not"), structure));
        }
    }

    fn narrowed(&mut self, part: &Value, structure: &Value) {
        self.narrowed_of(part, structure);
        if let items @ Value::Map(_) = part.get("items") {
            self.narrowed_place("items", items, structure.get("items"));
        }
        for (name, property) in part.get("properties").entries() {
            let place = format!("properties[{name}]");
            self.narrowed_place(&place, property, structure.get("properties").get(name));
        }
    }

    fn narrowed_place(&mut self, place: &str, part: &Value, structure: &Value) {
        if structure.is_null() {
            self.fault(place, "is narrowed but not said in the structure outside");
        } else {
            self.inside(place, |checker| checker.narrowed(part, structure));
        }
    }
}
