//! The deviations that are meant: the first cells of the tables of a page that list cases.

use std::{collections::BTreeSet, fs, io, path::Path};

use anyhow::Context;

/// The ids of cases that are known to deviate.
#[derive(Debug, Default)]
pub(crate) struct KnownDeviations {
    ids: BTreeSet<String>,
}

impl KnownDeviations {
    /// Reads the page; without one, no deviation is known.
    pub(crate) fn read(page: &Path) -> anyhow::Result<Self> {
        match fs::read_to_string(page) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).context(format!("cannot read `{}`", page.display())),
        }
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Returns all ids, sorted.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }

    /// Takes every word in backticks from the first cells of tables that are headed `case`.
    fn parse(text: &str) -> Self {
        let mut ids = BTreeSet::new();
        let mut is_table = false;
        let mut lists_cases = false;
        for line in text.lines() {
            let Some(row) = line.trim().strip_prefix('|') else {
                is_table = false;
                continue;
            };
            let cell = row.split('|').next().unwrap_or_default();
            if !is_table {
                is_table = true;
                lists_cases = cell.trim() == "case";
            } else if lists_cases {
                let words = cell.split('`').skip(1).step_by(2);
                ids.extend(words.map(|word| word.trim().to_owned()));
            }
        }
        Self { ids }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_in_backticks_in_first_cells_of_tables_of_cases() {
        let page = "# Title\n`not-in-a-table`\n\n| case | why |\n| --- | --- |\n\
                    | `small-00001`, `small-00002` | it is `better` |\n|`hard-1`|x|\n\n\
                    | point | ours |\n|---|---|\n| `all` | x |\n";
        let known = KnownDeviations::parse(page);
        assert_eq!(known.ids().collect::<Vec<_>>(), ["hard-1", "small-00001", "small-00002"]);
        assert!(known.contains("hard-1") && !known.contains("better"));
    }
}
