//! The columns of custom kinds, as their CustomResourceDefinitions give them.
//!
//! A path that is not understood leaves its cells empty; whether it should have been accepted is the
//! cluster's business.

use operon_object::{Kind, Object, Timestamp, Value, go_json};

use super::{
    Cell, Column,
    age::{age, age_of},
    json_path::JsonPath,
};
use crate::crds::crd_of;

/// A cell that a path leads to.
pub(super) struct PathCell {
    path: Option<JsonPath>,
    /// What the column is declared as, such as `date`.
    of_type: String,
}

/// Returns the columns of a kind: its name, and what its CustomResourceDefinition says, or else the
/// age.
pub(super) fn columns(kind: &Kind, version: &str, crd: Option<&Object>) -> Vec<Column> {
    let own = crd_of(kind);
    let declared = own.or(crd).map(|crd| declared(crd, version)).unwrap_or_default();
    let name = Column {
        name: "Name".to_owned(),
        is_wide: false,
        cell: Cell::Rule(|object, _| object.name().to_owned()),
    };
    // Upstream: a kind that declares no column is shown with its age.
    let age = declared.is_empty().then(|| Column {
        name: "Age".to_owned(),
        is_wide: false,
        cell: Cell::Rule(age_of),
    });
    std::iter::once(name).chain(declared).chain(age).collect()
}

fn declared(crd: &Object, version: &str) -> Vec<Column> {
    let versions = crd.spec().get("versions").elements();
    let chosen = versions
        .iter()
        .find(|candidate| candidate.get("name").str() == version)
        .or_else(|| versions.iter().find(|it| it.get("storage").as_bool() == Some(true)));
    let columns = chosen.map_or(&[][..], |it| it.get("additionalPrinterColumns").elements());
    let column = |column: &Value| Column {
        name: column.get("name").str().to_owned(),
        is_wide: column.get("priority").as_integer().unwrap_or(0) > 0,
        cell: Cell::Path(PathCell {
            path: JsonPath::parse(column.get("jsonPath").str()),
            of_type: column.get("type").str().to_owned(),
        }),
    };
    columns.iter().map(column).collect()
}

impl PathCell {
    /// Shows what the path leads to. Upstream: a value of another type than declared is not shown,
    /// but a text column shows anything.
    pub(super) fn show(&self, object: &Object, now: Timestamp) -> String {
        let found = self.path.as_ref().and_then(|path| path.first(object.value()));
        let Some(value) = found.filter(|value| !value.is_null()) else { return String::new() };
        match (self.of_type.as_str(), value) {
            ("date", Value::Text(text)) => match Timestamp::parse(text) {
                Some(time) => age(Some(time), now),
                None => "<invalid>".to_owned(),
            },
            ("string", Value::Text(text)) => text.to_string(),
            ("string", other) => go_json(other),
            ("integer", Value::Integer(number)) => number.to_string(),
            ("integer", Value::Float(number)) => format!("{:.0}", number.trunc()),
            ("number", Value::Integer(_) | Value::Float(_)) => go_json(value),
            ("boolean", Value::Bool(value)) => value.to_string(),
            _ => String::new(),
        }
    }
}
