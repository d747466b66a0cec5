//! A plan for people: a line for each operator, what has no answer, a legend and a summary.
//!
//! Where a line does not fit, its reason moves to a line of its own; nothing is cut off.

use anstyle::{AnsiColor, Style};
use operon_resolve::{Reason, SourceName};
use unicode_width::UnicodeWidthStr;

use super::{
    fixpoint::{Ending, Generations},
    situation::{Situation, VisibleCatalog},
    view::{Change, PlanView, Row, Unanswered},
};
use crate::output::{clean, terminal};

/// How many digits of a catalog's digest are shown: enough to see that it changed.
pub(super) const DIGEST_DIGITS: usize = 6;

/// The indent of everything.
pub(super) const INDENT: &str = "  ";

/// Prints a plan.
pub(super) fn render(situation: &Situation, plan: &PlanView, width: usize) -> String {
    let signs = Signs::of_terminal();
    let mut out = header(situation, signs);
    out += &body(situation, plan, &plan.rows, width, signs);
    out += &legend(&plan.rows, signs);
    out += &format!("{INDENT}Plan {}: {}\n", plan.id, plan.summary());
    out += &hints(situation, plan);
    out
}

/// Prints every generation until nothing changes.
pub(super) fn render_generations(
    situation: &Situation,
    generations: &Generations,
    width: usize,
) -> String {
    let signs = Signs::of_terminal();
    let mut out = header(situation, signs);
    let mut used: Vec<Row> = Vec::new();
    let last = generations.plans.len().saturating_sub(1);
    for (number, plan) in generations.plans.iter().enumerate() {
        let changes = |row: &&Row| number == last || row.change != Change::Keep;
        let shown: Vec<Row> = plan.rows.iter().filter(changes).cloned().collect();
        out += &format!("{INDENT}generation {}\n", number + 1);
        out += &body(situation, plan, &shown, width, signs);
        out += &format!("{INDENT}Plan {}: {}\n\n", plan.id, plan.summary());
        used.extend(shown);
    }
    out += &legend(&used, signs);
    out + INDENT + &ending_words(generations) + "\n"
}

/// Says in one sentence how the generations end.
pub(super) fn ending_words(generations: &Generations) -> String {
    let count = generations.plans.len();
    match generations.ending {
        Ending::Settled if count <= 1 => "Settled: nothing changes".to_owned(),
        Ending::Settled => format!("Settled: nothing changes after generation {}", count - 1),
        Ending::Circle { back_to } => format!(
            "Never settles: generation {count} leads back to what was there before generation {}",
            back_to + 1
        ),
        Ending::TooMany => {
            format!("Not settled after {count} generations; what follows was not looked at")
        }
    }
}

/// The signs of rows, in what the terminal can show.
#[derive(Clone, Copy)]
pub(super) struct Signs {
    upgrade: &'static str,
    arrow: &'static str,
    none: &'static str,
    pub(super) dot: &'static str,
}

impl Signs {
    pub(super) fn of_terminal() -> Self {
        if terminal::has_unicode() {
            Self { upgrade: "↑", arrow: "→", none: "–", dot: "·" }
        } else {
            Self { upgrade: "^", arrow: "->", none: "-", dot: "-" }
        }
    }

    fn sign(self, row: &Row) -> (&'static str, Style) {
        let colour = |colour: AnsiColor| Style::new().bold().fg_color(Some(colour.into()));
        match (row.waits, row.change) {
            (true, _) => ("!", colour(AnsiColor::Yellow)),
            (false, Change::Install) => ("+", colour(AnsiColor::Green)),
            (false, Change::Upgrade) => (self.upgrade, colour(AnsiColor::Cyan)),
            (false, Change::Keep) => ("=", Style::new().dimmed()),
        }
    }
}

fn header(situation: &Situation, signs: Signs) -> String {
    let catalogs: Vec<String> =
        situation.catalogs.iter().map(|catalog| catalog_words(situation, catalog)).collect();
    let noun = match catalogs.len() {
        0 => "no catalog is visible",
        1 => "catalog",
        _ => "catalogs",
    };
    let mut out = format!(
        "{INDENT}namespace {} {} {noun} {}",
        clean(&situation.namespace),
        signs.dot,
        catalogs.join(", ")
    );
    out.truncate(out.trim_end().len());
    out += "\n\n";
    for remark in &situation.remarks {
        out += &format!("{INDENT}note: {}\n", clean(remark));
    }
    if !situation.remarks.is_empty() {
        out.push('\n');
    }
    out
}

fn catalog_words(situation: &Situation, catalog: &VisibleCatalog) -> String {
    let name = clean(&situation.short_name(&catalog.name));
    match &catalog.opened {
        Ok(opened) => {
            let digest = opened.digest();
            format!("{name}@{}", digest.get(..DIGEST_DIGITS).unwrap_or(digest))
        }
        Err(_) => format!("{name} (not available)"),
    }
}

fn body(
    situation: &Situation,
    plan: &PlanView,
    rows: &[Row],
    width: usize,
    signs: Signs,
) -> String {
    let mut out = lines(&|name| situation.short_name(name), rows, width, signs);
    if !rows.is_empty() {
        out.push('\n');
    }
    for part in &plan.unanswered {
        for line in part.told.text().lines() {
            let line = if line.is_empty() { String::new() } else { clean(line) };
            out += format!("{INDENT}{line}").trim_end();
            out.push('\n');
        }
        out.push('\n');
        out += &staying(part);
    }
    if !plan.unanswered.is_empty() && plan.answered_requests > 0 {
        let others = match plan.answered_requests {
            1 => "The other Subscription in this namespace is".to_owned(),
            count => format!("The other {count} Subscriptions in this namespace are"),
        };
        out += &format!("{INDENT}{others} not affected.\n\n");
    }
    for notice in &plan.notices {
        out += &format!("{INDENT}note: {}\n", clean(&notice.text));
    }
    if !plan.notices.is_empty() {
        out.push('\n');
    }
    out
}

/// Says what happens to the operators of a part without an answer: nothing.
fn staying(part: &Unanswered) -> String {
    let names: Vec<String> = part.installed.iter().map(|name| clean(name)).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => format!("{INDENT}Until that is settled, {only} stays as it is.\n\n"),
        [first @ .., last] => format!(
            "{INDENT}Until that is settled, {} and {last} stay as they are.\n\n",
            first.join(", ")
        ),
    }
}

/// Lays out the rows; a reason that does not fit beside its row stands below it.
pub(super) fn lines(
    name_of: &dyn Fn(&SourceName) -> String,
    rows: &[Row],
    width: usize,
    signs: Signs,
) -> String {
    let cells: Vec<[String; 5]> = rows
        .iter()
        .map(|row| {
            let (from, to) = match row.change {
                Change::Keep => (row.version.clone(), String::new()),
                Change::Install => {
                    (signs.none.to_owned(), format!("{} {}", signs.arrow, row.version))
                }
                Change::Upgrade => {
                    let from = row.from.clone().unwrap_or_default();
                    (from, format!("{} {}", signs.arrow, row.version))
                }
            };
            let source = row.source.as_ref().map(name_of);
            let channel = row.channel.clone();
            [row.package.clone(), from, to, channel, source.unwrap_or_default()]
                .map(|cell| clean(&cell))
        })
        .collect();
    let widths: [usize; 5] = std::array::from_fn(|column| {
        cells.iter().map(|cells| cells[column].width()).max().unwrap_or(0)
    });
    let mut out = String::new();
    for (row, cells) in rows.iter().zip(&cells) {
        let (sign, style) = signs.sign(row);
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            if width > 0 {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width - cell.width() + 2));
            }
        }
        let why = clean(&row.why);
        let used = INDENT.len() + sign.width() + 1 + line.width();
        out += &format!("{INDENT}{style}{sign}{style:#} ");
        if used + why.width() <= width {
            out += format!("{line}{why}").trim_end();
        } else {
            out += line.trim_end();
            out += &format!("\n{INDENT}{INDENT}{INDENT}{why}");
        }
        out.push('\n');
    }
    out
}

/// Explains the signs that occur.
pub(super) fn legend(rows: &[Row], signs: Signs) -> String {
    let has = |change| rows.iter().any(|row| row.change == change && !row.waits);
    let known = [
        (has(Change::Install), "+", "install"),
        (has(Change::Upgrade), signs.upgrade, "upgrade"),
        (has(Change::Keep), "=", "keep"),
        (rows.iter().any(|row| row.waits), "!", "waits for approval"),
    ];
    let used: Vec<String> = known
        .into_iter()
        .filter(|(occurs, _, _)| *occurs)
        .map(|(_, sign, meaning)| format!("{sign} {meaning}"))
        .collect();
    if used.is_empty() { String::new() } else { format!("{INDENT}{}\n\n", used.join("  ")) }
}

/// Says what can be asked or done next.
fn hints(situation: &Situation, plan: &PlanView) -> String {
    let mut hints = Vec::new();
    if plan.has_changes() && !situation.next.is_empty() && plan.unanswered.is_empty() {
        hints.push(format!("Next: {}.", situation.next));
    }
    let changes = || plan.rows.iter().filter(|row| row.change != Change::Keep);
    let asked = changes().find(|row| is_dependency(row)).or_else(|| changes().next());
    hints.extend(
        asked.map(|row| format!("Why: operon why {} (with the same options)", clean(&row.package))),
    );
    if hints.is_empty() { String::new() } else { format!("{INDENT}{}\n", hints.join(" ")) }
}

fn is_dependency(row: &Row) -> bool {
    row.reasons.iter().any(|reason| match reason {
        Reason::Needed { .. } => true,
        Reason::Requested(_) | Reason::Freestanding => false,
    })
}
