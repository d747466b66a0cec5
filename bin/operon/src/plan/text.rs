//! A plan for people: a line for each operator, what has no answer, a legend and a summary.
//!
//! Where a line does not fit, its reason moves to a line of its own; nothing is cut off.

use anstyle::{AnsiColor, Style};
use operon_lifecycle::views::{NewRight, PreviewPlan};
use operon_resolve::Reason;
use unicode_width::UnicodeWidthStr;

use super::{
    fixpoint::{Ending, Generations},
    situation::{Situation, VisibleCatalog},
    view::{Change, PlanView, Row, Unanswered},
};
use crate::output::{clean, terminal};

/// How many digits of a catalog's digest are shown: enough to see that it changed.
const DIGEST_DIGITS: usize = 6;

/// The indent of everything.
const INDENT: &str = "  ";

/// Prints the plan of a namespace; `acts` is the command that carries it out, if it is one.
pub(super) fn render(
    situation: &Situation,
    plan: &PlanView,
    acts: Option<&str>,
    width: usize,
) -> String {
    let signs = Signs::of_terminal();
    let mut out = header(situation, signs);
    out += &body(situation, plan, &plan.rows, width, signs);
    out += &legend(&plan.rows, signs);
    out += &block(plan.plans.iter().map(|one| plan_words(situation, one, acts)));
    out += &line(&format!("{}: {}", situation.namespace, plan.summary()));
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
        out += &line(&format!("generation {}", number + 1));
        out += &body(situation, plan, &shown, width, signs);
        out += &line(&format!("{}: {}", situation.namespace, plan.summary()));
        out.push('\n');
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
struct Signs {
    upgrade: &'static str,
    arrow: &'static str,
    none: &'static str,
    dot: &'static str,
}

impl Signs {
    fn of_terminal() -> Self {
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
    match &catalog.content {
        Ok(_) => {
            let digest = &catalog.digest;
            format!("{name}@{}", digest.get(..DIGEST_DIGITS).unwrap_or(digest))
        }
        Err(reason) => format!("{name} (not available: {})", clean(reason)),
    }
}

fn body(
    situation: &Situation,
    plan: &PlanView,
    rows: &[Row],
    width: usize,
    signs: Signs,
) -> String {
    let mut out = lines(situation, rows, width, signs);
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
    let held = plan.held.iter();
    out +=
        &block(held.map(|held| {
            format!("blocked: {}: {} ({})", held.subscription, held.message, held.reason)
        }));
    let failed = plan.failed.iter();
    out += &block(
        failed.map(|one| format!("failed: {}: {} ({})", one.subscription, one.message, one.reason)),
    );
    out += &block(plan.problems.iter().map(|problem| format!("problem: {problem}")));
    let rights = plan.plans.iter().flat_map(|plan| &plan.rights);
    out += &block(rights.map(|right| rights_words(right, &situation.namespace)));
    out += &block(plan.refusals().map(|(name, refusal)| format!("{name} would fail: {refusal}")));
    out + &block(plan.notices.iter().map(|notice| format!("note: {}", notice.text)))
}

fn rights_words(right: &NewRight, namespace: &str) -> String {
    let [kind, place] = if right.is_cluster_wide {
        ["ClusterRole", "in all namespaces"].map(str::to_owned)
    } else {
        ["Role".to_owned(), format!("in namespace {namespace}")]
    };
    let rules = match right.rules {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    };
    let operator = &right.operator;
    match right.notable.as_slice() {
        [] => format!("new permissions: {operator} gets a {kind} of {rules} {place}"),
        notable => {
            let notable = notable.join(", ");
            format!("new permissions: {operator} may {notable} {place} ({kind}, {rules})")
        }
    }
}

fn plan_words(situation: &Situation, plan: &PreviewPlan, acts: Option<&str>) -> String {
    let operators: Vec<&str> =
        plan.operators.iter().map(|operator| operator.addition.name.as_str()).collect();
    let what = format!("Plan {}: {}", plan.name, operators.join(", "));
    if !plan.waits {
        return what;
    }
    let first = match acts {
        Some(command) if !plan.exists => format!("{command}, then "),
        Some(_) | None => String::new(),
    };
    let options = situation.options();
    format!("{what} waits for approval: {first}operon approve {}{options}", plan.name)
}

/// Writes lines and a blank one, or nothing.
fn block(texts: impl Iterator<Item = String>) -> String {
    let lines: String = texts.map(|text| line(&text)).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// Writes a line of untrusted text.
pub(super) fn line(text: &str) -> String {
    format!("{INDENT}{}\n", clean(text))
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
fn lines(situation: &Situation, rows: &[Row], width: usize, signs: Signs) -> String {
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
            let source = row.source.as_ref().map(|source| situation.short_name(source));
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
fn legend(rows: &[Row], signs: Signs) -> String {
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
    hints.extend(asked.map(|row| {
        let package = clean(&row.package);
        match &situation.option {
            Some(_) if situation.subscribed.is_empty() => {
                format!("Why: operon why {package}{}", situation.options())
            }
            _ => format!("Why: operon why {package} (with the same options)"),
        }
    }));
    if hints.is_empty() { String::new() } else { format!("{INDENT}{}\n", hints.join(" ")) }
}

fn is_dependency(row: &Row) -> bool {
    row.reasons.iter().any(|reason| match reason {
        Reason::Needed { .. } => true,
        Reason::Requested(_) | Reason::Freestanding => false,
    })
}
