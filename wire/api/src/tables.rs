//! Objects as rows, with the columns that `kubectl get` shows.
//!
//! The columns of custom kinds come from their CustomResourceDefinitions, ours included. Nothing
//! here sorts or chooses objects, and colours are the terminal's business.

mod age;
mod built_in;
mod cells;
mod custom;
mod json_path;
mod render;

use operon_object::{Kind, Object, Timestamp};

pub use self::render::render_table;

/// Rows of cells below column names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns, in capitals.
    pub columns: Vec<String>,
    /// The rows, each with one cell for each column.
    pub rows: Vec<Vec<String>>,
}

/// What is shown, and when.
#[derive(Debug, Clone, Copy)]
pub struct TableOptions<'a> {
    /// Says whether columns of lesser importance are shown too.
    pub wide: bool,
    /// The time that ages are counted to.
    pub now: Timestamp,
    /// Says whether the namespace of each object is shown.
    pub with_namespace: bool,
    /// The CustomResourceDefinition of a kind that is none of ours, where it is known.
    pub crd: Option<&'a Object>,
}

/// Makes the table of objects of one kind.
pub fn table_for(kind: &Kind, objects: &[Object], options: TableOptions<'_>) -> Table {
    let version = objects.first().map_or_else(String::new, |object| object.api_kind().version);
    let columns = built_in::columns(kind)
        .unwrap_or_else(|| custom::columns(kind, &version, options.crd))
        .into_iter()
        .filter(|column| options.wide || !column.is_wide)
        .collect::<Vec<_>>();
    let namespace = options.with_namespace.then(|| "NAMESPACE".to_owned());
    let names = columns.iter().map(|column| column.name.to_uppercase());
    let row = |object: &Object| {
        let namespace = options.with_namespace.then(|| object.namespace().to_owned());
        let cells = columns.iter().map(|column| column.cell.show(object, options.now));
        namespace.into_iter().chain(cells).collect()
    };
    Table {
        columns: namespace.into_iter().chain(names).collect(),
        rows: objects.iter().map(row).collect(),
    }
}

/// A column.
struct Column {
    name: String,
    is_wide: bool,
    cell: Cell,
}

/// Where the text of a cell comes from.
enum Cell {
    /// A rule for a kind that Kubernetes has by itself.
    Rule(fn(&Object, Timestamp) -> String),
    /// A column of a CustomResourceDefinition.
    Path(custom::PathCell),
}

impl Cell {
    fn show(&self, object: &Object, now: Timestamp) -> String {
        match self {
            Self::Rule(rule) => rule(object, now),
            Self::Path(path) => path.show(object, now),
        }
    }
}
