//! What is to be seen of a cluster: its catalogs and its operators, one row each.
//!
//! Rows follow from objects alone. Sentences are those that the engine wrote into them.

use std::collections::{BTreeMap, BTreeSet};

use operon_lifecycle::{CatalogState, Objects};
use operon_object::known;
use operon_resolve::SourceName;

use super::row::{OperatorRow, Standing, freestanding_row, subscription_row};

/// What is to be seen of a cluster.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) catalogs: Vec<CatalogRow>,
    pub(super) operators: Vec<OperatorRow>,
}

/// A catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CatalogRow {
    /// What it is called here; set when all rows are known.
    pub(super) name: String,
    /// Its name alone, and with its namespace.
    pub(super) names: [String; 2],
    /// `ready`, `reading`, `broken`, or what else there is to say in a word.
    pub(super) state: &'static str,
    pub(super) detail: String,
}

impl Status {
    /// Looks at a cluster.
    pub(super) fn of(objects: &Objects, catalogs: &BTreeMap<SourceName, CatalogState>) -> Self {
        let sources = objects.all(&known::CATALOG_SOURCE);
        let catalog_rows = sources.map(|source| {
            let name = SourceName {
                namespace: source.namespace().to_owned(),
                name: source.name().to_owned(),
            };
            let problem = source.status().get("message").str();
            catalog_row(&name, catalogs.get(&name), problem)
        });
        let subscribed = objects.all(&known::SUBSCRIPTION);
        let mut operators: Vec<OperatorRow> =
            subscribed.map(|object| subscription_row(objects, object)).collect();
        let freestanding = objects
            .all(&known::CLUSTER_SERVICE_VERSION)
            .filter_map(|object| freestanding_row(objects, object));
        operators.extend(freestanding);
        let mut status = Self { catalogs: catalog_rows.collect(), operators };
        status.name_rows();
        status
    }

    /// Counts the operators that stand in a way.
    pub(super) fn count(&self, standing: Standing) -> usize {
        self.operators.iter().filter(|row| row.standing == standing).count()
    }

    /// Gives each row a name of its own that is as short as can be.
    fn name_rows(&mut self) {
        let sources: Vec<[String; 2]> = self.catalogs.iter().map(|row| row.names.clone()).collect();
        for (row, name) in self.catalogs.iter_mut().zip(shortest(&sources)) {
            row.name = name;
        }
        let namespaces: BTreeSet<&str> =
            self.operators.iter().map(|row| row.namespace.as_str()).collect();
        let is_one = namespaces.len() < 2;
        let operators: Vec<[String; 2]> = self
            .operators
            .iter()
            .map(|row| {
                let OperatorRow { namespace, package, full_name, .. } = row;
                let short = if is_one { package.clone() } else { format!("{namespace}/{package}") };
                [short, format!("{namespace}/{full_name}")]
            })
            .collect();
        for (row, name) in self.operators.iter_mut().zip(shortest(&operators)) {
            row.name = name;
        }
    }
}

/// Returns short names where nothing else has them, and long ones elsewhere.
fn shortest(names: &[[String; 2]]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for [short, _] in names {
        *counts.entry(short).or_default() += 1;
    }
    let choose = |[short, long]: &[String; 2]| match counts.get(short.as_str()) {
        Some(1) => short.clone(),
        _ => long.clone(),
    };
    names.iter().map(choose).collect()
}

fn catalog_row(name: &SourceName, state: Option<&CatalogState>, message: &str) -> CatalogRow {
    let row = |state, detail: String| CatalogRow {
        name: String::new(),
        names: [name.name.clone(), name.to_string()],
        state,
        detail,
    };
    let Some(state) = state else {
        return row("broken", message.to_owned());
    };
    let content = state.catalog.as_ref().map(|catalog| {
        let counts = catalog.counts();
        let plural = |number: u32, noun: &str| {
            format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
        };
        format!("{}, {}", plural(counts.packages, "package"), plural(counts.bundles, "bundle"))
    });
    match (content, state.problem.as_str()) {
        (Some(content), "") => row("ready", content),
        (Some(content), problem) => row("broken", format!("{problem}; {content} are used")),
        (None, "") => row("reading", format!("{} is fetched", state.address)),
        (None, problem) => row("broken", problem.to_owned()),
    }
}
