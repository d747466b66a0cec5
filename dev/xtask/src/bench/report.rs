//! The figures as Markdown, and their place in the page about performance.

use std::{fmt::Write, time::Duration};

use anyhow::{Context, bail};

use super::{catalogs::BenchCatalog, scenario::Outcome};

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) title: &'static str,
    pub(crate) command: String,
    pub(crate) outcome: Outcome,
}

/// Returns the table of a catalog; the last column compares each median with that of the first row.
pub(crate) fn table(catalog: &BenchCatalog, rows: &[Row]) -> String {
    let BenchCatalog { title, bytes, files, .. } = catalog;
    let megabytes = *bytes as f64 / 1e6;
    let mut text = format!(
        "\n### On {title}: {files} files, {megabytes:.1} MB\n\n\
         | scenario | median | shortest | longest | peak memory | of cold |\n\
         |---|---:|---:|---:|---:|---:|\n"
    );
    let cold = rows.first().and_then(|row| match &row.outcome {
        Outcome::Measured(measured) => Some(measured.median()),
        Outcome::Skipped(_) | Outcome::Failed(_) => None,
    });
    for row in rows {
        let Row { title, command, .. } = row;
        let figures = match &row.outcome {
            Outcome::Measured(measured) => [
                milliseconds(measured.median()),
                milliseconds(measured.shortest()),
                milliseconds(measured.longest()),
                measured.peak_kibibytes.map_or("unknown".to_owned(), mebibytes),
                cold.map_or(String::new(), |cold| ratio(measured.median(), cold)),
            ]
            .join(" | "),
            Outcome::Skipped(reason) => format!("skipped: {} | | | |", cell(reason)),
            Outcome::Failed(reason) => format!("failed: {} | | | |", cell(reason)),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {title}<br>`{command}` | {figures} |");
    }
    text
}

/// Puts new figures between the marks of a section of a page.
pub(crate) fn replace_figures(page: &str, section: &str, figures: &str) -> anyhow::Result<String> {
    let [begin_mark, end_mark] = ["begin", "end"].map(|word| format!("<!-- {section}:{word} -->"));
    let find =
        |mark: &str| page.find(mark).with_context(|| format!("the page has no line `{mark}`"));
    let (begin, end) = (find(&begin_mark)?, find(&end_mark)?);
    if end < begin {
        bail!("in the page `{end_mark}` stands before `{begin_mark}`");
    }
    let (before, after) = (&page[..begin], &page[end..]);
    Ok(format!("{before}{begin_mark}\n\n{}\n\n{after}", figures.trim()))
}

/// Short times are told more exactly than long ones.
pub(crate) fn milliseconds(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1000.0;
    if milliseconds < 100.0 {
        format!("{milliseconds:.1} ms")
    } else {
        format!("{milliseconds:.0} ms")
    }
}

/// Peak memory.
pub(crate) fn mebibytes(kibibytes: u64) -> String {
    format!("{:.1} MiB", kibibytes as f64 / 1024.0)
}

fn ratio(time: Duration, cold: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() / cold.as_secs_f64().max(f64::MIN_POSITIVE))
}

/// A bar would end the cell.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "/")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::bench::measure::Measured;

    const BEGIN: &str = "<!-- bench:begin -->";
    const END: &str = "<!-- bench:end -->";

    #[test]
    fn a_table_tells_figures_ratios_and_gaps() {
        let catalog = BenchCatalog {
            title: "a catalog".to_owned(),
            directory: PathBuf::from("/c"),
            bytes: 2_500_000,
            files: 3,
            is_ours: true,
            largest_package: "a".to_owned(),
        };
        let measured = |times: &[u64], peak| {
            let walls = times.iter().copied().map(Duration::from_micros).collect();
            Outcome::Measured(Measured::new(walls, peak))
        };
        let row = |title, outcome| Row { title, command: "operon x".to_owned(), outcome };
        let rows = [
            row("cold", measured(&[400_000, 500_000, 600_000], Some(2048))),
            row("warm", measured(&[4_000, 5_000, 6_000], None)),
            row("gone", Outcome::Skipped("a|b".to_owned())),
            row("broken", Outcome::Failed("error".to_owned())),
        ];
        let expected = "
### On a catalog: 3 files, 2.5 MB

| scenario | median | shortest | longest | peak memory | of cold |
|---|---:|---:|---:|---:|---:|
| cold<br>`operon x` | 500 ms | 400 ms | 600 ms | 2.0 MiB | 1.000 |
| warm<br>`operon x` | 5.0 ms | 4.0 ms | 6.0 ms | unknown | 0.010 |
| gone<br>`operon x` | skipped: a/b | | | | |
| broken<br>`operon x` | failed: error | | | | |
";
        assert_eq!(table(&catalog, &rows), expected);
    }

    #[test]
    fn figures_replace_what_stood_between_the_marks() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let replaced = replace_figures(&page, "bench", "\nnew\n").expect("the marks are there");
        assert_eq!(replaced, format!("before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(replace_figures(&replaced, "bench", "new").expect("still there"), replaced);
        for broken in ["nothing".to_owned(), format!("{END}{BEGIN}"), BEGIN.to_owned()] {
            replace_figures(&broken, "bench", "new").expect_err(&broken);
        }
    }
}
