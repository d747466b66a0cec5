//! Progress for people: a table that repaints on a terminal, a line for each change elsewhere.
//!
//! What is shown is decided by the rows; here it is only laid out.

use std::{collections::BTreeMap, io, path::Path, time::Duration};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use super::{
    directory::News,
    row::{OperatorRow, Standing},
    status::Status,
};
use crate::output::{self, clean, print_text, stderr_line, terminal};

/// Shows how a cluster comes along.
#[derive(Debug)]
pub(super) struct Display {
    surface: Surface,
    directory: String,
    follows: bool,
}

#[derive(Debug)]
enum Surface {
    /// The lines that are on the terminal and can be painted over.
    Screen(Vec<String>),
    /// What was printed last about each thing.
    Lines(BTreeMap<String, String>),
}

/// The lines that a terminal has below the table: the summary, a blank one before it, and the cursor's.
const LINES_BELOW: usize = 3;

/// A row in cells: a word for what it is, its name, and up to three more.
type Cells = [String; 5];

impl Display {
    pub(super) fn new(is_terminal: bool, directory: &Path, follows: bool) -> Self {
        let surface =
            if is_terminal { Surface::Screen(Vec::new()) } else { Surface::Lines(BTreeMap::new()) };
        Self { surface, directory: directory.display().to_string(), follows }
    }

    /// Shows how things are.
    pub(super) fn show(&mut self, status: &Status) -> io::Result<()> {
        let rows = cells(status);
        match &mut self.surface {
            Surface::Screen(painted) => {
                let widths = widths(&rows, [8, 0, 0, 0]);
                let columns = terminal::width();
                let lines: Vec<String> = rows
                    .iter()
                    .zip(styles(status))
                    .map(|(row, style)| paint_row(&cut(&lay_out(row, widths), columns), style))
                    .collect();
                repaint(painted, fit(lines, status, terminal::height()))
            }
            Surface::Lines(printed) => {
                let widths = widths(&rows, [8, 12, 15, 12]);
                let mut out = String::new();
                let mut known = BTreeMap::new();
                for row in &rows {
                    let name = format!("{:<8}  {}", row[0], row[1]);
                    let line = lay_out(row, widths).trim_end().to_owned();
                    // Widths change with the other rows; that is no news.
                    let content = row[2..].join("\n");
                    if printed.get(&name) != Some(&content) {
                        out.push_str(&line);
                        out.push('\n');
                    }
                    known.insert(name, content);
                }
                for name in printed.keys().filter(|name| !known.contains_key(*name)) {
                    out.push_str(&format!("{name} is gone\n"));
                }
                *printed = known;
                print_text(&out)
            }
        }
    }

    /// Tells what happened to the directory. Objects are told where lines are printed: a table shows
    /// what comes of them.
    pub(super) fn tell(&mut self, news: &[News]) -> io::Result<()> {
        for item in news {
            match item {
                News::Object(name, word) => {
                    if matches!(self.surface, Surface::Lines(_)) {
                        print_text(&format!("{:<8}  {} {word}\n", "manifest", clean(name)))?;
                    }
                }
                News::Problem(text) => self.tell_above(&format!("warning: {text}"))?,
                News::Relief(text) | News::Waiting(text) => self.tell_above(text)?,
            }
        }
        Ok(())
    }

    /// Says that everything is settled.
    pub(super) fn settle(&mut self, status: &Status, after: Duration) -> io::Result<()> {
        let mut line = format!("settled in {:.1} s · {}", after.as_secs_f64(), counts(status));
        if self.follows {
            line = format!("{line} · following {} (Ctrl-C to stop)", self.directory);
        }
        match &mut self.surface {
            Surface::Screen(painted) => {
                let mut lines = painted.clone();
                lines.extend([String::new(), format!("  {line}")]);
                repaint(painted, lines)
            }
            Surface::Lines(_) => print_text(&format!("{line}\n")),
        }
    }

    /// Tells something on standard error; a table goes on below it.
    fn tell_above(&mut self, text: &str) -> io::Result<()> {
        match &mut self.surface {
            Surface::Screen(painted) => {
                let lines = painted.clone();
                repaint(painted, Vec::new())?;
                stderr_line!("{text}");
                repaint(painted, lines)
            }
            Surface::Lines(_) => {
                stderr_line!("{text}");
                Ok(())
            }
        }
    }
}

/// Counts operators in words.
pub(super) fn counts(status: &Status) -> String {
    let standings = [
        (Standing::Running, "running"),
        (Standing::Failed, "failed"),
        (Standing::Waiting, "waiting"),
    ];
    let parts: Vec<String> = standings
        .into_iter()
        .map(|(standing, word)| (status.count(standing), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if parts.is_empty() { "no operators".to_owned() } else { parts.join(", ") }
}

fn cells(status: &Status) -> Vec<Cells> {
    let catalogs = status.catalogs.iter().map(|row| {
        let cells = ["catalog", &row.name, row.state, "", &row.detail];
        cells.map(clean)
    });
    let operators = status.operators.iter().map(|row| {
        let OperatorRow { name, version, phase, detail, .. } = row;
        ["operator", name, version, phase, detail].map(clean)
    });
    catalogs.chain(operators).collect()
}

fn styles(status: &Status) -> Vec<Style> {
    let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    let catalogs = status.catalogs.iter().map(|row| match row.state {
        "ready" | "reading" => Style::new(),
        _ => colour(AnsiColor::Red),
    });
    let operators = status.operators.iter().map(|row| match row.standing {
        Standing::Running => colour(AnsiColor::Green),
        Standing::Failed => colour(AnsiColor::Red),
        Standing::Waiting => colour(AnsiColor::Yellow),
    });
    catalogs.chain(operators).collect()
}

/// Returns how wide all columns but the last are.
fn widths(rows: &[Cells], least: [usize; 4]) -> [usize; 4] {
    let mut widths = least;
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    widths
}

fn lay_out(row: &Cells, widths: [usize; 4]) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
    }
    line.push_str(&row[4]);
    line
}

/// Cuts a line that would wrap: a table is painted over line by line.
fn cut(line: &str, columns: usize) -> String {
    if line.width() + 2 <= columns {
        return line.trim_end().to_owned();
    }
    let mut kept = String::new();
    for character in line.chars() {
        if kept.width() + 5 > columns {
            break;
        }
        kept.push(character);
    }
    format!("{kept}…")
}

fn paint_row(line: &str, style: Style) -> String {
    format!("  {style}{line}{style:#}")
}

/// Puts lines where others are on the terminal; what stays the same is not painted again.
fn repaint(painted: &mut Vec<String>, lines: Vec<String>) -> io::Result<()> {
    if *painted == lines {
        return Ok(());
    }
    let above = painted.len();
    *painted = lines;
    output::repaint(above, painted)
}

/// Leaves lines out that a terminal is not high enough for, those of operators that run first: what
/// scrolled away cannot be painted over.
fn fit(lines: Vec<String>, status: &Status, height: usize) -> Vec<String> {
    let room = height.saturating_sub(LINES_BELOW).max(1);
    if lines.len() <= room {
        return lines;
    }
    let left_out = lines.len() - (room - 1);
    let catalogs = status.catalogs.iter().map(|_| false);
    let runs = status.operators.iter().map(|row| row.standing == Standing::Running);
    let (fine, others): (Vec<_>, Vec<_>) =
        lines.into_iter().zip(catalogs.chain(runs)).partition(|(_, is_fine)| *is_fine);
    let kept = others.into_iter().chain(fine).take(room - 1).map(|(line, _)| line);
    kept.chain([format!("  … and {left_out} more")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::up::status::CatalogRow;

    fn row(name: &str, standing: Standing) -> OperatorRow {
        OperatorRow {
            name: name.to_owned(),
            namespace: "harbour".to_owned(),
            package: name.to_owned(),
            full_name: name.to_owned(),
            version: "1.0.0".to_owned(),
            phase: "Succeeded".to_owned(),
            detail: "ok".to_owned(),
            standing,
            needs_approval: false,
        }
    }

    fn status() -> Status {
        let state = "ready";
        Status {
            catalogs: vec![CatalogRow {
                name: "c".to_owned(),
                names: ["c".to_owned(), "harbour/c".to_owned()],
                state,
                detail: String::new(),
            }],
            operators: vec![
                row("a", Standing::Running),
                row("b", Standing::Failed),
                row("d", Standing::Running),
            ],
        }
    }

    #[test]
    fn a_table_never_scrolls_away() {
        let lines: Vec<String> = ["c", "a", "b", "d"].map(str::to_owned).to_vec();
        let claims: [(usize, &[&str]); 4] = [
            (7, &["c", "a", "b", "d"]),
            (6, &["c", "b", "  … and 2 more"]),
            (5, &["c", "  … and 3 more"]),
            (0, &["  … and 4 more"]),
        ];
        for (height, expected) in claims {
            assert_eq!(fit(lines.clone(), &status(), height), expected, "{height}");
        }
        assert_eq!(cut("operator  beacon", 18), "operator  beacon");
        assert_eq!(cut("operator  beacon", 17), "operator  bea…");
    }

    #[test]
    fn operators_are_counted_by_standing() {
        assert_eq!(counts(&status()), "2 running, 1 failed");
    }
}
