//! The figures of resolving as Markdown.

use std::{fmt::Write, time::Duration};

use super::{goal::Goal, growth::GrowthRow};
use crate::bench::{
    measure::Measured,
    report::{cell, mebibytes, milliseconds},
};

/// One case.
#[derive(Debug)]
pub(crate) struct CaseRow {
    pub(crate) name: String,
    pub(crate) goal: Goal,
    /// The figures, or why there are none.
    pub(crate) figures: Result<CaseFigures, String>,
}

/// The figures of a case.
#[derive(Debug)]
pub(crate) struct CaseFigures {
    pub(crate) outcome: String,
    pub(crate) operators: usize,
    /// By upstream's rules.
    pub(crate) upstream: Measured,
    /// By the documented rules, in the middle.
    pub(crate) documented: Duration,
    /// By upstream's rules on the whole community catalog, in the middle.
    pub(crate) whole: Option<Duration>,
}

/// Returns the table of the reference cases.
pub(crate) fn cases(rows: &[CaseRow]) -> String {
    let mut text = "
Resolving alone, on open catalogs: `timing.resolveNs` of `operon-conformance resolve CASE -o json`, one process per run.
`median`, `shortest`, `longest`: by upstream's rules, on the catalog that comes with the case. \
`documented`: the median by the documented rules, which are the default. \
`whole catalog`: the median by upstream's rules on the community catalog with all its bodies.
`upstream`: what upstream's resolver takes, where it is known; not measured here. \
What is not below `wanted` is bold.

| case | answer | median | shortest | longest | documented | whole catalog | wanted | upstream |
|---|---|---:|---:|---:|---:|---:|---:|---:|
"
    .to_owned();
    for CaseRow { name, goal, figures } in rows {
        let shown = |time: Duration| {
            let time_shown = exact_milliseconds(time);
            if time < goal.wanted { time_shown } else { format!("**{time_shown}**") }
        };
        let figures = match figures {
            Ok(figures) => [
                answer(&figures.outcome, figures.operators),
                shown(figures.upstream.median()),
                exact_milliseconds(figures.upstream.shortest()),
                exact_milliseconds(figures.upstream.longest()),
                shown(figures.documented),
                figures.whole.map_or("–".to_owned(), shown),
            ]
            .join(" | "),
            Err(reason) => format!("failed: {} | | | | |", cell(reason)),
        };
        let wanted = goal.wanted.as_secs_f64() * 1000.0;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{name}` | {figures} | < {wanted} ms | {} |", goal.upstream);
    }
    text
}

/// Returns the table of the growing catalogs.
pub(crate) fn growth(rows: &[GrowthRow]) -> String {
    let mut text = "
Fifty Subscriptions on generated catalogs without bodies, where one package in nine needs another. \
`cold` reads and indexes the whole catalog, once, with the peak memory of it; `warm` opens a snapshot; \
the rest is resolving alone, as above.

| scale | packages | bundles | size | cold | peak memory | warm | answer | median | shortest | longest | documented |
|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|
"
    .to_owned();
    for row in rows {
        let cells = [
            row.scale.to_string(),
            row.packages.to_string(),
            row.bundles.to_string(),
            format!("{:.1} MB", row.bytes as f64 / 1e6),
            milliseconds(row.opening_cold),
            row.peak_kibibytes.map_or("unknown".to_owned(), mebibytes),
            milliseconds(row.opening_warm),
            answer(&row.outcome, row.operators),
            exact_milliseconds(row.upstream.median()),
            exact_milliseconds(row.upstream.shortest()),
            exact_milliseconds(row.upstream.longest()),
            exact_milliseconds(row.documented),
        ];
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn answer(outcome: &str, operators: usize) -> String {
    match operators {
        0 => outcome.to_owned(),
        1 => format!("{outcome}, 1 operator"),
        _ => format!("{outcome}, {operators} operators"),
    }
}

/// Most resolutions take less than a millisecond.
fn exact_milliseconds(time: Duration) -> String {
    let shown = time.as_secs_f64() * 1000.0;
    if shown < 10.0 { format!("{shown:.2} ms") } else { milliseconds(time) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::resolving::goal;

    fn measured(microseconds: &[u64]) -> Measured {
        Measured::new(microseconds.iter().copied().map(Duration::from_micros).collect(), None)
    }

    #[test]
    fn what_is_not_below_its_goal_is_bold() {
        let figures = CaseFigures {
            outcome: "resolved".to_owned(),
            operators: 1,
            upstream: measured(&[100, 150, 900]),
            documented: Duration::from_micros(200),
            whole: None,
        };
        let row =
            |name: &str, figures| CaseRow { name: name.to_owned(), goal: goal::of(name), figures };
        let rows = [
            row("perf/one-sub-nodeps", Ok(figures)),
            row("hard/a", Err("exit status: 101: a|b".to_owned())),
        ];
        let text = cases(&rows);
        let lines: Vec<&str> = text.lines().rev().take(2).collect();
        assert_eq!(
            lines[1],
            "| `perf/one-sub-nodeps` | resolved, 1 operator | 0.15 ms | 0.10 ms | 0.90 ms \
             | **0.20 ms** | – | < 0.2 ms | 72 ms |"
        );
        assert_eq!(
            lines[0],
            "| `hard/a` | failed: exit status: 101: a/b | | | | | | < 200 ms | up to 119 s |"
        );
    }

    #[test]
    fn growth_is_told_size_by_size() {
        let row = GrowthRow {
            scale: 4,
            packages: 1772,
            bundles: 30_244,
            bytes: 25_000_000,
            opening_cold: Duration::from_millis(321),
            peak_kibibytes: Some(2048),
            opening_warm: Duration::from_millis(7),
            upstream: measured(&[3_000, 4_000, 25_000]),
            documented: Duration::from_millis(12),
            outcome: "resolved".to_owned(),
            operators: 55,
        };
        let text = growth(&[row]);
        assert_eq!(
            text.lines().last(),
            Some(
                "| 4 | 1772 | 30244 | 25.0 MB | 321 ms | 2.0 MiB | 7.0 ms | resolved, 55 operators \
                 | 4.00 ms | 3.00 ms | 25.0 ms | 12.0 ms |"
            )
        );
    }
}
