//! How long resolving takes: the reference cases, and fifty Subscriptions on growing catalogs.
//!
//! What is measured is what the program says of itself: resolving alone, on catalogs that are open.
//! Whether answers are right is not asked here; `cargo xtask cases` asks that.

mod ask;
mod cases;
mod goal;
mod growth;
mod table;

use std::path::Path;

use self::{
    ask::{Resolved, Rules, ask},
    cases::ReferenceCase,
    table::{CaseFigures, CaseRow},
};
use super::{measure::Measured, scenario::Program};
use crate::workspace::Workspace;

/// The figures of resolving, as Markdown.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) text: String,
    /// Whether everything that was asked has been answered.
    pub(crate) is_sound: bool,
}

/// Which generated catalogs are resolved on, besides the reference cases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Up to sixteen times the community catalog.
    pub(crate) wants_growth: bool,
    /// A million bundles.
    pub(crate) wants_million: bool,
}

/// Measures resolving.
pub(crate) fn measure(
    workspace: &Workspace,
    program: &Program,
    scratch: &Path,
    runs: usize,
    sizes: Sizes,
) -> anyhow::Result<Section> {
    let mut section = Section { text: "\n### Resolving\n".to_owned(), is_sound: true };
    match cases::find(workspace, scratch)? {
        Some(cases) => {
            program.forget_snapshots()?;
            let mut rows = Vec::new();
            for case in &cases {
                eprintln!("  {}", case.name);
                rows.push(measure_case(program, case, runs));
            }
            section.is_sound &= rows.iter().all(|row| row.figures.is_ok());
            section.text.push_str(&table::cases(&rows));
        }
        None => {
            let reason = "left out: the reference cases, because ../shared/cases is not there";
            eprintln!("{reason}");
            section.text.push_str(&format!("\n{reason}\n"));
        }
    }
    let mut scales = Vec::new();
    if sizes.wants_growth {
        scales.extend(growth::GROWING_SCALES);
    }
    if sizes.wants_million {
        scales.push(growth::MILLION_SCALE);
    }
    if !scales.is_empty() {
        let rows = growth::measure(program, scratch, &scales, runs)?;
        section.text.push_str(&table::growth(&rows));
    }
    Ok(section)
}

fn measure_case(program: &Program, case: &ReferenceCase, runs: usize) -> CaseRow {
    let figures = case_figures(program, case, runs).map_err(|error| format!("{error:#}"));
    CaseRow { name: case.name.clone(), goal: goal::of(&case.name), figures }
}

fn case_figures(
    program: &Program,
    case: &ReferenceCase,
    runs: usize,
) -> anyhow::Result<CaseFigures> {
    let (resolved, upstream) = repeat(program, &case.directory, Rules::Upstream, runs)?;
    let (_, documented) = repeat(program, &case.directory, Rules::Documented, runs)?;
    let whole = match &case.on_whole_catalog {
        Some(directory) => Some(repeat(program, directory, Rules::Upstream, runs)?.1.median()),
        None => None,
    };
    Ok(CaseFigures {
        outcome: resolved.outcome,
        operators: resolved.operators,
        upstream,
        documented: documented.median(),
        whole,
    })
}

/// Asks once without counting, which leaves a snapshot behind, and then so many times.
fn repeat(
    program: &Program,
    directory: &Path,
    rules: Rules,
    runs: usize,
) -> anyhow::Result<(Resolved, Measured)> {
    let mut last = ask(program, directory, rules)?;
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        last = ask(program, directory, rules)?;
        times.push(last.resolving);
    }
    Ok((last, Measured::new(times, None)))
}
