//! From the text of a schema to nodes.
//!
//! Everything that can be evaluated is read, also what an API server would refuse in a CRD; whether
//! a schema is structural is asked elsewhere. A bad pattern is kept: values are judged by it.

use std::{collections::BTreeMap, sync::Arc};

use operon_object::Value;

use crate::{
    SchemaFault,
    format::format_rule,
    node::{
        Additional, Combinations, Dependency, Format, Items, ListRules, MapRules, Node,
        NumberRules, TextRules,
    },
    number::as_double,
    pattern::Pattern,
};

/// Limits how deeply a schema nests. The deepest one published in a catalog has 39 levels;
/// judging a value recurses, so the stack is what is protected.
pub const MAX_SCHEMA_DEPTH: usize = 100;

/// Limits the nodes of one schema; the largest one published in a catalog has about 10 000.
pub const MAX_SCHEMA_NODES: usize = 100_000;

/// Limits the states of all patterns of one schema together, so that they fit into memory.
pub const MAX_PATTERN_WEIGHT_OF_SCHEMA: u64 = 2_000_000;

/// Reads a schema.
pub(crate) fn compile(schema: &Value) -> Result<Node, SchemaFault> {
    Compiler::default().node(schema)
}

#[derive(Default)]
struct Compiler {
    path: Vec<String>,
    nodes: usize,
    pattern_weight: u64,
    patterns: BTreeMap<String, Arc<Pattern>>,
}

impl Compiler {
    fn node(&mut self, schema: &Value) -> Result<Node, SchemaFault> {
        self.nodes += 1;
        if self.nodes > MAX_SCHEMA_NODES {
            return self.fault("", format!("has more than {MAX_SCHEMA_NODES} parts"));
        }
        if self.path.len() > MAX_SCHEMA_DEPTH {
            return self.fault("", format!("nests deeper than {MAX_SCHEMA_DEPTH} levels"));
        }
        if !matches!(schema, Value::Null | Value::Map(_)) {
            return self.fault("", "must be a map");
        }
        let reference = self.text(schema, "$ref")?;
        if !reference.is_empty() {
            return self.fault(
                "$ref",
                format!("refers to `{reference}`, but a CRD cannot refer to another schema: write it out"),
            );
        }
        let types = self.types(schema)?;
        let default = Some(schema.get("default").clone()).filter(|default| !default.is_null());
        Ok(Node {
            format: self.format(schema, &types)?,
            types,
            is_nullable: self.flag(schema, "nullable")?,
            number: self.number_rules(schema)?,
            text: self.text_rules(schema)?,
            list: self.list_rules(schema)?,
            map: self.map_rules(schema)?,
            allowed: self.list(schema, "enum")?.to_vec(),
            combinations: self.combinations(schema)?,
            default,
            preserves_unknown_fields: self.flag(schema, "x-kubernetes-preserve-unknown-fields")?,
            is_embedded_resource: self.flag(schema, "x-kubernetes-embedded-resource")?,
        })
    }

    fn types(&self, schema: &Value) -> Result<Vec<Arc<str>>, SchemaFault> {
        let name = self.text(schema, "type")?;
        if self.flag(schema, "x-kubernetes-int-or-string")? {
            return Ok(vec!["integer".into(), "string".into()]);
        }
        Ok(if name.is_empty() { Vec::new() } else { vec![name.into()] })
    }

    /// Upstream: a format counts only if it is known for the one type; for numbers it has no rule
    /// for texts.
    fn format(&self, schema: &Value, types: &[Arc<str>]) -> Result<Option<Format>, SchemaFault> {
        let name = self.text(schema, "format")?;
        let single = if let [single] = types { &**single } else { "" };
        let (is_known, rule) = match single {
            "" | "string" => {
                let rule = format_rule(name);
                (rule.is_some(), rule)
            }
            "integer" => (matches!(name, "int32" | "int64"), None),
            "number" => (matches!(name, "float" | "double"), None),
            _ => (false, None),
        };
        Ok(is_known.then(|| Format { name: name.into(), rule }))
    }

    fn number_rules(&self, schema: &Value) -> Result<NumberRules, SchemaFault> {
        Ok(NumberRules {
            minimum: self.number(schema, "minimum")?,
            maximum: self.number(schema, "maximum")?,
            excludes_minimum: self.flag(schema, "exclusiveMinimum")?,
            excludes_maximum: self.flag(schema, "exclusiveMaximum")?,
            multiple_of: self.number(schema, "multipleOf")?,
        })
    }

    fn text_rules(&mut self, schema: &Value) -> Result<TextRules, SchemaFault> {
        let pattern = self.text(schema, "pattern")?;
        Ok(TextRules {
            min_length: self.count(schema, "minLength")?,
            max_length: self.count(schema, "maxLength")?,
            pattern: match pattern {
                "" => None,
                pattern => Some(self.pattern(pattern, "pattern")?),
            },
        })
    }

    fn list_rules(&mut self, schema: &Value) -> Result<ListRules, SchemaFault> {
        Ok(ListRules {
            items: match schema.get("items") {
                Value::Null => Items::Any,
                Value::List(_) => Items::Each(self.nodes(schema, "items")?),
                items => Items::All(Box::new(self.child("items", items)?)),
            },
            additional_items: self.additional(schema, "additionalItems")?,
            min_items: self.count(schema, "minItems")?,
            max_items: self.count(schema, "maxItems")?,
            has_unique_items: self.flag(schema, "uniqueItems")?,
        })
    }

    fn map_rules(&mut self, schema: &Value) -> Result<MapRules, SchemaFault> {
        let mut rules = MapRules {
            additional: self.additional(schema, "additionalProperties")?,
            required: self.texts(schema, "required")?,
            min_properties: self.count(schema, "minProperties")?,
            max_properties: self.count(schema, "maxProperties")?,
            ..MapRules::default()
        };
        for (name, property) in self.entries(schema, "properties")? {
            let node = self.child(&format!("properties[{name}]"), property)?;
            rules.properties.insert(name.into(), node);
        }
        for (pattern, property) in self.entries(schema, "patternProperties")? {
            let place = format!("patternProperties[{pattern}]");
            let compiled = self.pattern(pattern, &place)?;
            rules.patterns.push((compiled, self.child(&place, property)?));
        }
        for (name, dependency) in self.entries(schema, "dependencies")? {
            let place = format!("dependencies[{name}]");
            let dependency = match dependency {
                Value::List(names) if names.iter().all(|name| name.as_text().is_some()) => {
                    Dependency::Names(dependency.iter_texts().map(Into::into).collect())
                }
                dependency => Dependency::Like(Box::new(self.child(&place, dependency)?)),
            };
            rules.dependencies.insert(name.into(), dependency);
        }
        Ok(rules)
    }

    fn additional(&mut self, schema: &Value, name: &str) -> Result<Additional, SchemaFault> {
        Ok(match schema.get(name) {
            Value::Null => Additional::Unsaid,
            Value::Bool(is_allowed) => Additional::Allowed(*is_allowed),
            like => Additional::Like(Box::new(self.child(name, like)?)),
        })
    }

    fn combinations(&mut self, schema: &Value) -> Result<Option<Box<Combinations>>, SchemaFault> {
        let names = ["allOf", "anyOf", "oneOf", "not"];
        if names.iter().all(|name| schema.get(name).is_null()) {
            return Ok(None);
        }
        Ok(Some(Box::new(Combinations {
            all_of: self.nodes(schema, "allOf")?,
            any_of: self.nodes(schema, "anyOf")?,
            one_of: self.nodes(schema, "oneOf")?,
            not: match schema.get("not") {
                Value::Null => None,
                not => Some(self.child("not", not)?),
            },
        })))
    }

    fn nodes(&mut self, schema: &Value, name: &str) -> Result<Vec<Node>, SchemaFault> {
        let nodes = self.list(schema, name)?.iter().enumerate();
        nodes.map(|(index, node)| self.child(&format!("{name}[{index}]"), node)).collect()
    }

    fn child(&mut self, place: &str, schema: &Value) -> Result<Node, SchemaFault> {
        self.path.push(place.to_owned());
        let node = self.node(schema);
        self.path.pop();
        node
    }

    fn pattern(&mut self, text: &str, place: &str) -> Result<Arc<Pattern>, SchemaFault> {
        if let Some(known) = self.patterns.get(text) {
            return Ok(known.clone());
        }
        let pattern = Arc::new(Pattern::new(text));
        self.pattern_weight = self.pattern_weight.saturating_add(pattern.weight());
        if self.pattern_weight > MAX_PATTERN_WEIGHT_OF_SCHEMA {
            return self.fault(place, "makes the patterns of the schema too large together");
        }
        self.patterns.insert(text.to_owned(), pattern.clone());
        Ok(pattern)
    }

    fn text<'s>(&self, schema: &'s Value, name: &str) -> Result<&'s str, SchemaFault> {
        match schema.get(name) {
            Value::Null => Ok(""),
            Value::Text(text) => Ok(text),
            _ => self.fault(name, "must be a text"),
        }
    }

    fn flag(&self, schema: &Value, name: &str) -> Result<bool, SchemaFault> {
        match schema.get(name) {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(*flag),
            _ => self.fault(name, "must be `true` or `false`"),
        }
    }

    fn number(&self, schema: &Value, name: &str) -> Result<Option<f64>, SchemaFault> {
        match schema.get(name) {
            Value::Null => Ok(None),
            value => match as_double(value) {
                Some(number) => Ok(Some(number)),
                None => self.fault(name, "must be a number"),
            },
        }
    }

    fn count(&self, schema: &Value, name: &str) -> Result<Option<i64>, SchemaFault> {
        match schema.get(name) {
            Value::Null => Ok(None),
            value => match value.as_integer() {
                Some(count) => Ok(Some(count)),
                None => self.fault(name, "must be a whole number"),
            },
        }
    }

    fn list<'s>(&self, schema: &'s Value, name: &str) -> Result<&'s [Value], SchemaFault> {
        match schema.get(name) {
            Value::Null => Ok(&[]),
            Value::List(elements) => Ok(elements),
            _ => self.fault(name, "must be a list"),
        }
    }

    fn texts(&self, schema: &Value, name: &str) -> Result<Vec<Arc<str>>, SchemaFault> {
        let texts = self.list(schema, name)?.iter().map(|text| match text {
            Value::Text(text) => Ok(text.clone()),
            _ => self.fault(name, "must be a list of texts"),
        });
        texts.collect()
    }

    fn entries<'s>(
        &self,
        schema: &'s Value,
        name: &str,
    ) -> Result<Vec<(&'s str, &'s Value)>, SchemaFault> {
        match schema.get(name) {
            Value::Null => Ok(Vec::new()),
            Value::Map(map) => Ok(map.iter().collect()),
            _ => self.fault(name, "must be a map"),
        }
    }

    fn fault<T>(&self, name: &str, reason: impl Into<String>) -> Result<T, SchemaFault> {
        let mut places: Vec<&str> = self.path.iter().map(String::as_str).collect();
        if !name.is_empty() {
            places.push(name);
        }
        Err(SchemaFault::new(places.join("."), reason))
    }
}
