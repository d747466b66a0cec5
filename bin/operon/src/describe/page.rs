//! A page of facts: names, values and tables, nothing where there is nothing to say.

use operon_api::write_yaml;
use operon_object::{Object, Value};

use crate::output::{Table, clean};

/// The column that values begin in.
const VALUE_COLUMN: usize = 14;

/// Text that is being written.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// Writes a name and a value, unless the value is empty.
    pub(super) fn line(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        let name = format!("{name}:");
        self.text.push_str(&format!("{name:VALUE_COLUMN$}{}\n", clean(value)));
    }

    /// Writes a name and its entries below each other.
    pub(super) fn entries<'e>(
        &mut self,
        name: &str,
        entries: impl Iterator<Item = (&'e str, &'e str)>,
    ) {
        let name = format!("{name}:");
        for (index, (key, value)) in entries.enumerate() {
            let name = if index == 0 { name.as_str() } else { "" };
            let entry = clean(&format!("{key}={value}"));
            self.text.push_str(&format!("{name:VALUE_COLUMN$}{entry}\n"));
        }
    }

    /// Writes a heading and a table below it, unless it has no rows.
    pub(super) fn table(&mut self, heading: &str, header: &[&str], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        let mut table = Table::new(header);
        for row in rows {
            table.row(row.iter().cloned());
        }
        self.text.push_str(&format!("\n{heading}:\n"));
        self.indent(&table.render());
    }

    /// Writes a heading and a tree below it, unless it is empty.
    pub(super) fn tree(&mut self, heading: &str, value: &Value) {
        if !value.is_empty() {
            self.text.push_str(&format!("\n{heading}:\n"));
            self.indent(&write_yaml(value));
        }
    }

    /// Writes the conditions of a status.
    pub(super) fn conditions(&mut self, status: &Value) {
        let rows: Vec<Vec<String>> = status
            .get("conditions")
            .elements()
            .iter()
            .filter(|condition| !condition.get("type").is_empty())
            .map(|condition| {
                let cells = ["type", "status", "reason", "message"];
                cells.map(|name| condition.get(name).str().to_owned()).to_vec()
            })
            .collect();
        self.table("Conditions", &["TYPE", "STATUS", "REASON", "MESSAGE"], &rows);
    }

    /// Writes what was told.
    pub(super) fn events(&mut self, events: &[Object]) {
        let rows: Vec<Vec<String>> = events
            .iter()
            .map(|event| {
                let cells = ["lastTimestamp", "type", "reason", "message"];
                cells.map(|name| event.at(&[name]).str().to_owned()).to_vec()
            })
            .collect();
        self.table("Events", &["LAST", "TYPE", "REASON", "MESSAGE"], &rows);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn indent(&mut self, text: &str) {
        for line in text.lines() {
            self.text.push_str(&format!("  {line}\n"));
        }
    }
}
