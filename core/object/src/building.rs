//! From the events of a JSON text to a value.
//!
//! Texts and names that occur again in the same document are kept once: definitions say `description`,
//! `string` and whole paragraphs hundreds of times.

use std::{collections::HashSet, mem, sync::Arc};

use crate::{
    JsonEvent, Map, Value,
    value::{MAX_VALUE_DEPTH, ValueError},
};

/// Collects events into a value.
#[derive(Default)]
pub(crate) struct Building {
    open: Vec<Container>,
    texts: HashSet<Arc<str>>,
    finished: Value,
}

enum Container {
    List(Vec<Value>),
    /// The entries, and the name of the next one.
    Map(Vec<(Arc<str>, Value)>, Arc<str>),
}

impl Building {
    pub(crate) fn accept(&mut self, event: JsonEvent<'_>) -> Result<(), ValueError> {
        let value = match event {
            JsonEvent::BeginArray => return self.enter(Container::List(Vec::new())),
            JsonEvent::BeginObject => {
                let name = self.text("");
                return self.enter(Container::Map(Vec::new(), name));
            }
            JsonEvent::Key(key) => {
                let name = self.text(&key);
                if let Some(Container::Map(_, pending)) = self.open.last_mut() {
                    *pending = name;
                }
                return Ok(());
            }
            JsonEvent::EndArray | JsonEvent::EndObject => match self.open.pop() {
                Some(Container::List(mut elements)) => {
                    elements.shrink_to_fit();
                    Value::from(elements)
                }
                Some(Container::Map(entries, _)) => Value::Map(Map::of(entries)),
                None => Value::Null,
            },
            JsonEvent::Null => Value::Null,
            JsonEvent::Bool(value) => Value::Bool(value),
            JsonEvent::Number { text, .. } => number(text),
            JsonEvent::String(text) => Value::Text(self.text(&text)),
        };
        let nothing = self.text("");
        match self.open.last_mut() {
            Some(Container::List(elements)) => elements.push(value),
            Some(Container::Map(entries, pending)) => {
                entries.push((mem::replace(pending, nothing), value));
            }
            None => self.finished = value,
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Value {
        self.finished
    }

    fn enter(&mut self, container: Container) -> Result<(), ValueError> {
        if self.open.len() == MAX_VALUE_DEPTH {
            return Err(ValueError::TooDeep);
        }
        self.open.push(container);
        Ok(())
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&new));
        new
    }
}

/// Upstream: a number without a point or exponent is a 64-bit integer, every other one a double.
/// What fits no double becomes the largest one.
fn number(text: &str) -> Value {
    let is_integer = !text.contains(['.', 'e', 'E']);
    match text.parse() {
        Ok(integer) if is_integer => Value::Integer(integer),
        _ => {
            let number: f64 = text.parse().unwrap_or(f64::MAX);
            Value::Float(number.clamp(f64::MIN, f64::MAX))
        }
    }
}
