//! The figures of the families as Markdown.

use std::fmt::Write;

use super::{Ending, FamilyRow, WANTED_KIBIBYTES, WANTED_TIME};
use crate::bench::report::{cell, mebibytes, milliseconds};

/// The longest text of a table cell, in characters.
const LONGEST_CELL: usize = 160;

/// Returns the table.
pub(super) fn families(rows: &[FamilyRow]) -> String {
    let mut text = "
| family | size | catalog | command | wall | shortest – longest | processor | growth | peak memory | end |
|---|---:|---:|---|---:|---:|---:|---:|---:|---|
"
    .to_owned();
    let mut before: Option<&FamilyRow> = None;
    for row in rows {
        let before = before.replace(row);
        let measured = &row.measured;
        let cells = [
            row.name.to_owned(),
            format!("{} {}", row.size, row.unit),
            format!("{:.1} MB", row.bytes as f64 / 1e6),
            format!("`{}`", row.question.words().join(" ")),
            marked(
                milliseconds(measured.median()),
                row.processor.is_none() && measured.median() > WANTED_TIME,
            ),
            format!("{} – {}", milliseconds(measured.shortest()), milliseconds(measured.longest())),
            row.processor.map_or("unknown".to_owned(), |processor| {
                marked(milliseconds(processor), processor > WANTED_TIME)
            }),
            before.map_or("–".to_owned(), |before| growth(before, row)),
            measured.peak_kibibytes.map_or("unknown".to_owned(), |kibibytes| {
                marked(mebibytes(kibibytes), kibibytes > WANTED_KIBIBYTES)
            }),
            ending(&row.ending),
        ];
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Returns the processor time as a multiple of that of the size before, if that is of the same family.
fn growth(before: &FamilyRow, row: &FamilyRow) -> String {
    let is_same = (before.name, before.question) == (row.name, row.question);
    match (before.processor, row.processor) {
        (Some(before), Some(now)) if is_same && !before.is_zero() => {
            format!("× {:.1}", now.as_secs_f64() / before.as_secs_f64())
        }
        _ => "–".to_owned(),
    }
}

fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Answered(code) => format!("answer, exit code {code}"),
        Ending::TooExpensive(line) => short(line),
        Ending::Failed(reason) => marked(format!("failed: {}", short(reason)), true),
    }
}

fn short(line: &str) -> String {
    match line.char_indices().nth(LONGEST_CELL) {
        Some((end, _)) => cell(&format!("{}…", &line[..end])),
        None => cell(line),
    }
}

/// What is above its bound is bold.
fn marked(text: String, is_above: bool) -> String {
    if is_above { format!("**{text}**") } else { text }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::{families::trial::Question, measure::Measured};

    #[test]
    fn figures_above_the_bound_are_bold() {
        let row = |size, milliseconds, peak_kibibytes, ending| FamilyRow {
            name: "chain",
            size,
            unit: "packages",
            bytes: 1_500_000,
            question: Question::Plan,
            measured: Measured::new(vec![Duration::from_millis(milliseconds)], peak_kibibytes),
            processor: Some(Duration::from_millis(milliseconds / 2)),
            ending,
        };
        let text = families(&[
            row(1, 1000, Some(2048), Ending::Answered(0)),
            row(2, 6000, Some(400_000), Ending::TooExpensive("a|b".to_owned())),
        ]);
        let lines: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "| chain | 1 packages | 1.5 MB | `plan` | 1000 ms | 1000 ms – 1000 ms | 500 ms | – | 2.0 MiB | answer, exit code 0 |",
                "| chain | 2 packages | 1.5 MB | `plan` | 6000 ms | 6000 ms – 6000 ms | **3000 ms** | × 6.0 | **390.6 MiB** | a/b |",
            ]
        );
    }
}
