//! A matrix as people read it: a grid, or a list where a grid would be too wide.

use std::{borrow::Cow, collections::BTreeMap};

use operon_catalog::{
    graph::Rules,
    journey::{Matrix, MatrixRow, MatrixTable, Origin},
};
use unicode_width::UnicodeWidthStr;

use super::{counterpart, differing, end_name};
use crate::{
    catalog::{cells::counted, path::names::rules_name},
    output::clean,
};

/// How many targets a line of a list names; the others are counted.
const MAX_LISTED_TARGETS: usize = 6;

/// How many stranded versions are explained under a table.
const MAX_EXPLAINED: usize = 10;

/// Prints a matrix that is at most `width` columns wide.
pub(super) fn render(matrix: &Matrix<'_>, width: usize) -> String {
    let labels = Labels::new(matrix);
    let mut out = String::new();
    for table in &matrix.tables {
        if let Some(other) = counterpart(matrix, table)
            && table.rules == Rules::V1
            && is_same(table, other)
        {
            out.push_str(&format!("{}: the same as under OLM v0\n\n", title(matrix, table)));
            continue;
        }
        out.push_str(&format!("{}\n", title(matrix, table)));
        out.push_str(&render_table(matrix, table, &labels, width));
        out.push_str(&stranded(matrix, table, &labels));
        out.push('\n');
    }
    out.push_str(&summary(matrix));
    out
}

/// The short names of versions: the version itself where it tells them apart, else the bundle name.
struct Labels<'m> {
    by_name: BTreeMap<&'m str, String>,
}

impl<'m> Labels<'m> {
    fn new(matrix: &'m Matrix<'_>) -> Self {
        let version = |name: &str, fallback: String| {
            let bundle = matrix.package.bundle(name);
            bundle.map_or(fallback, |bundle| match bundle.release() {
                Some(release) => format!("{}-{release}", bundle.version_text()),
                None => bundle.version_text().to_owned(),
            })
        };
        let named: Vec<(&str, String)> = matrix
            .installed
            .iter()
            .map(|installed| (installed.name.as_str(), version(&installed.name, installed.label())))
            .collect();
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, label) in &named {
            *uses.entry(label).or_default() += 1;
        }
        let is_clear = |label: &str| uses.get(label) == Some(&1) && !label.is_empty();
        let by_name = named
            .iter()
            .map(|(name, label)| (*name, clean(if is_clear(label) { label } else { name })))
            .collect();
        Self { by_name }
    }

    /// Returns the cleaned label of a version by the name of its bundle.
    fn of(&self, name: &str) -> Cow<'_, str> {
        self.by_name.get(name).map_or_else(|| Cow::Owned(clean(name)), Cow::from)
    }
}

fn title(matrix: &Matrix<'_>, table: &MatrixTable<'_>) -> String {
    let package = matrix.package;
    let rules = rules_name(table.rules);
    let title = match table.channels.as_slice() {
        [only] => {
            let default = if only.is_default() { ", default" } else { "" };
            format!("{}, channel {} ({rules}{default})", package.name(), only.name())
        }
        several if several.len() == package.channels().len() => {
            format!("{}, all channels together ({rules})", package.name())
        }
        several => {
            let names: Vec<&str> = several.iter().map(|channel| channel.name()).collect();
            format!("{}, channels {} together ({rules})", package.name(), names.join(", "))
        }
    };
    clean(&title)
}

fn is_same(table: &MatrixTable<'_>, other: &MatrixTable<'_>) -> bool {
    table.rows.len() == other.rows.len()
        && table.rows.iter().zip(&other.rows).all(|(left, right)| {
            (left.installed, &left.reach, left.end) == (right.installed, &right.reach, right.end)
        })
}

fn render_table(
    matrix: &Matrix<'_>,
    table: &MatrixTable<'_>,
    labels: &Labels<'_>,
    width: usize,
) -> String {
    if table.rows.is_empty() {
        return "  no version has a way into it\n".to_owned();
    }
    // Most matrices of real packages are far too wide; their grid is not even drawn.
    let columns = table.targets.iter().map(|target| labels.of(target.name).width() + 2);
    if columns.sum::<usize>() > width {
        return list(matrix, table, labels);
    }
    let grid = grid(matrix, table, labels);
    if grid.lines().all(|line| line.width() <= width) { grid } else { list(matrix, table, labels) }
}

fn grid(matrix: &Matrix<'_>, table: &MatrixTable<'_>, labels: &Labels<'_>) -> String {
    let name = |row: &MatrixRow| matrix.installed[row.installed].name.as_str();
    let first = "installed";
    let row_labels: Vec<Cow<'_, str>> = table.rows.iter().map(|row| labels.of(name(row))).collect();
    let first_width =
        row_labels.iter().map(|label| label.width()).chain([first.width()]).max().unwrap_or(0);
    let columns: Vec<Cow<'_, str>> =
        table.targets.iter().map(|target| labels.of(target.name)).collect();
    let mut out = format!("  {first:first_width$}");
    for column in &columns {
        out.push_str(&format!("  {column}"));
    }
    out.push_str("  ends at\n");
    for (row, label) in table.rows.iter().zip(row_labels) {
        out.push_str(&format!("  {label}{}", " ".repeat(first_width - label.width())));
        let mut reach = row.reach.iter().peekable();
        for (position, column) in columns.iter().enumerate() {
            let cell = match reach.next_if(|(target, _)| *target == position) {
                Some((_, hops)) => hops.to_string(),
                None => ".".to_owned(),
            };
            out.push_str(&format!("  {cell:>width$}", width = column.width()));
        }
        let (end, marks) = ending(matrix, table, row, labels);
        out.push_str(&format!("  {end}{marks}\n"));
    }
    out
}

fn list(matrix: &Matrix<'_>, table: &MatrixTable<'_>, labels: &Labels<'_>) -> String {
    let mut out = String::new();
    for row in &table.rows {
        let label = labels.of(&matrix.installed[row.installed].name);
        let mut reach: Vec<(u32, usize)> = row
            .reach
            .iter()
            .filter(|(_, hops)| *hops > 0)
            .map(|(target, hops)| (*hops, *target))
            .collect();
        reach.sort_unstable();
        let targets: Vec<String> = reach
            .iter()
            .take(MAX_LISTED_TARGETS)
            .enumerate()
            .map(|(index, (hops, target))| {
                let name = labels.of(table.targets[*target].name);
                match (index, hops) {
                    (0, hops) => format!("{name} ({})", counted(*hops as usize, "hop")),
                    (_, hops) => format!("{name} ({hops})"),
                }
            })
            .collect();
        let more = match reach.len().saturating_sub(MAX_LISTED_TARGETS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (end, marks) = ending(matrix, table, row, labels);
        let way = if targets.is_empty() {
            "no update".to_owned()
        } else {
            let hops = counted(row.automatic_hops as usize, "hop");
            format!("→ {}{more}; ends at {end} ({hops})", targets.join(", "))
        };
        out.push_str(&format!("  {label} {way}{marks}\n"));
    }
    out
}

/// Says where updates end, and what is special about the row as the end of its line.
fn ending(
    matrix: &Matrix<'_>,
    table: &MatrixTable<'_>,
    row: &MatrixRow,
    labels: &Labels<'_>,
) -> (String, String) {
    let installed = &matrix.installed[row.installed];
    let target = table.targets.iter().find(|target| target.name == installed.name);
    let end = end_name(table, row);
    let mut marks: Vec<String> = Vec::new();
    if target.is_some_and(|target| target.is_head) {
        marks.push("head".to_owned());
    }
    if installed.origin != Origin::Published {
        marks.push("not published".to_owned());
    } else if target.is_none() {
        marks.push("not in the channel".to_owned());
    }
    if matrix.package.bundle(&installed.name).is_some_and(|bundle| bundle.deprecation().is_some()) {
        marks.push("deprecated".to_owned());
    }
    if row.stranded.is_some() {
        marks.push("stranded".to_owned());
    }
    if let Some(other) = counterpart(matrix, table) {
        let same = other.rows.iter().find(|candidate| candidate.installed == row.installed);
        let other_end = same.and_then(|row| end_name(other, row));
        if other_end != end {
            let other_end = labels.of(other_end.unwrap_or(&installed.name));
            marks.push(format!("≠ {}: {other_end}", rules_name(other.rules)));
        }
    }
    let marks = marks.iter().map(|mark| format!("  {mark}")).collect();
    (labels.of(end.unwrap_or(&installed.name)).into_owned(), marks)
}

fn stranded(matrix: &Matrix<'_>, table: &MatrixTable<'_>, labels: &Labels<'_>) -> String {
    let mut out = String::new();
    let rows = table.rows.iter().filter_map(|row| Some((row, row.stranded.as_ref()?)));
    let rows: Vec<_> = rows.collect();
    for (row, reason) in rows.iter().take(MAX_EXPLAINED) {
        let label = labels.of(&matrix.installed[row.installed].name);
        out.push_str(&format!("  stranded: {label}: {}\n", clean(&reason.to_string())));
    }
    if rows.len() > MAX_EXPLAINED {
        out.push_str(&format!("  stranded: {} more\n", rows.len() - MAX_EXPLAINED));
    }
    out
}

fn summary(matrix: &Matrix<'_>) -> String {
    let published =
        matrix.installed.iter().filter(|installed| installed.origin == Origin::Published).count();
    let mut stranded: Vec<usize> = Vec::new();
    for table in &matrix.tables {
        stranded.extend(
            table.rows.iter().filter(|row| row.stranded.is_some()).map(|row| row.installed),
        );
    }
    stranded.sort_unstable();
    stranded.dedup();
    let mut parts = vec![match stranded.len() {
        0 => "none stranded".to_owned(),
        number => format!("{number} stranded in some channel"),
    }];
    let compared = matrix.tables.iter().any(|table| counterpart(matrix, table).is_some());
    if compared {
        parts.push(match differing(matrix).len() {
            0 => "OLM v0 and v1 end alike".to_owned(),
            1 => "1 ends differently under OLM v0 and v1".to_owned(),
            number => format!("{number} end differently under OLM v0 and v1"),
        });
    }
    format!("{}: {}\n", counted(published, "published version"), parts.join(", "))
}
