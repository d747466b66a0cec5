//! The columns in which a CRD wants its objects to be listed.
//!
//! Columns are only read here; nothing is printed, and no path is followed.

use operon_object::Value;

/// One column of a list of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrinterColumn {
    /// The heading.
    pub name: String,
    /// The type of the values, such as `string` or `date`.
    pub value_type: String,
    /// The format of the values; mostly empty.
    pub format: String,
    /// What the column shows.
    pub description: String,
    /// Columns above 0 are shown only in wide lists.
    pub priority: i64,
    /// Where the value lies in the object, such as `.status.phase`.
    pub json_path: String,
}

impl PrinterColumn {
    /// Reads a list of columns; the path has two spellings in two versions of CRDs.
    pub(crate) fn read_all(columns: &Value) -> Vec<Self> {
        columns.elements().iter().map(Self::read).collect()
    }

    fn read(column: &Value) -> Self {
        let text = |name| column.get(name).str().to_owned();
        let json_path = match column.get("jsonPath") {
            Value::Null => text("JSONPath"),
            _ => text("jsonPath"),
        };
        Self {
            name: text("name"),
            value_type: text("type"),
            format: text("format"),
            description: text("description"),
            priority: column.get("priority").as_integer().unwrap_or(0),
            json_path,
        }
    }
}
