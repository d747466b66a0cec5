//! `cargo xtask bench`: measures the release binary as a user meets it, one process per run.
//!
//! Figures of different machines are not compared here, and no limit is enforced: a slow machine
//! is not a broken build. Ratios within one run say more than milliseconds.

mod catalogs;
mod cluster;
mod families;
mod images;
mod machine;
mod measure;
mod report;
mod resolving;
mod scenario;
mod search;

use std::fs;

use anyhow::{Context, bail};

use self::{
    catalogs::{BenchCatalog, Choice},
    measure::Measured,
    report::Row,
    resolving::Sizes,
    scenario::{Outcome, Program, Scenario, scenarios},
};
use crate::{
    arguments::{Arguments, Known},
    workspace::Workspace,
};

/// The page that holds the figures.
const PAGE: &str = "docs/performance.md";

/// Runs the verb; returns whether no scenario failed.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    let known = Known {
        switches: &[
            "--synthetic",
            "--growth",
            "--million",
            "--resolving",
            "--families",
            "--images",
            "--cluster",
            "--write",
            "--search",
        ],
        valued: &["--catalog", "--runs"],
    };
    let arguments = Arguments::parse(arguments, &known)?;
    if arguments.has("--search") {
        search::run(&arguments.words);
        return Ok(true);
    }
    if !arguments.words.is_empty() {
        let word = &arguments.words[0];
        bail!("`{word}` is not expected\nhint: cargo xtask bench --catalog {word}");
    }
    let runs: usize = arguments.value("--runs", 7)?;
    if runs == 0 {
        bail!("`--runs` needs a number above 0");
    }
    if arguments.has("--resolving") && (arguments.has("--write") || arguments.has("--catalog")) {
        bail!("`--resolving` prints a part of the figures: leave out `--write` and `--catalog`");
    }
    let (section, text, is_sound) = if arguments.has("--images") {
        let text = images::measure(workspace, &choice(&arguments), runs)?;
        let Some(text) = text else { return Ok(true) };
        ("images", text, true)
    } else if arguments.has("--families") {
        let scratch = workspace.target_directory()?.join("bench");
        let (text, is_sound) = families::measure(workspace, &scratch, runs)?;
        ("families", text, is_sound)
    } else if arguments.has("--cluster") {
        ("cluster", cluster::measure(workspace, &choice(&arguments), runs)?, true)
    } else {
        let (text, is_sound) = figures(workspace, &arguments, runs)?;
        ("bench", text, is_sound)
    };
    print!("{text}");
    if arguments.has("--write") {
        let path = workspace.root.join(PAGE);
        let page = fs::read_to_string(&path).with_context(|| format!("cannot read `{PAGE}`"))?;
        fs::write(&path, report::replace_figures(&page, section, &text)?)?;
        eprintln!("written to {PAGE}");
    }
    Ok(is_sound)
}

fn choice(arguments: &Arguments) -> Choice<'_> {
    Choice {
        directory: arguments.text("--catalog"),
        wants_synthetic: arguments.has("--synthetic"),
        wants_growth: arguments.has("--growth"),
    }
}

/// Measures everything that was asked for; returns the text, and whether nothing failed.
fn figures(
    workspace: &Workspace,
    arguments: &Arguments,
    runs: usize,
) -> anyhow::Result<(String, bool)> {
    let choice = choice(arguments);
    let target = workspace.target_directory()?;
    let scratch = target.join("bench");
    let catalogs = match arguments.has("--resolving") {
        true => Vec::new(),
        false => catalogs::prepare(workspace, &scratch, &choice)?,
    };
    let mut text = machine::describe(runs);
    let mut is_sound = true;
    if !catalogs.is_empty() {
        let program = Program::built(workspace, "operon")?;
        for catalog in &catalogs {
            eprintln!("measuring {}", catalog.title);
            let rows = measure_catalog(&program, catalog, runs)?;
            is_sound &= !rows.iter().any(|row| matches!(row.outcome, Outcome::Failed(_)));
            text.push_str(&report::table(catalog, &rows));
        }
    }
    // Cases bring catalogs of their own.
    if choice.directory.is_none() {
        let program = Program::built(workspace, "operon-conformance")?;
        eprintln!("measuring how long resolving takes");
        let wants_million = arguments.has("--million");
        let sizes = Sizes { wants_growth: choice.wants_growth, wants_million };
        let section = resolving::measure(workspace, &program, &scratch, runs, sizes)?;
        is_sound &= section.is_sound;
        text.push_str(&section.text);
    }
    Ok((text, is_sound))
}

fn measure_catalog(
    program: &Program,
    catalog: &BenchCatalog,
    runs: usize,
) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    program.forget_snapshots()?;
    for scenario in scenarios(catalog) {
        eprintln!("  {}", scenario.title);
        let outcome = measure_scenario(program, catalog, &scenario, runs)?;
        rows.push(Row { title: scenario.title, command: scenario.shown(catalog), outcome });
    }
    Ok(rows)
}

fn measure_scenario(
    program: &Program,
    catalog: &BenchCatalog,
    scenario: &Scenario,
    runs: usize,
) -> anyhow::Result<Outcome> {
    // The first run warms what may be warm, and tells whether there is anything to measure.
    scenario.prepare(catalog)?;
    if let Some(reason) = program.try_out(scenario)? {
        return Ok(reason);
    }
    let mut walls = Vec::with_capacity(runs);
    for _ in 0..runs {
        scenario.prepare(catalog)?;
        walls.push(program.time(scenario)?);
    }
    scenario.prepare(catalog)?;
    let peak_kibibytes = program.peak_memory(scenario)?;
    Ok(Outcome::Measured(Measured::new(walls, peak_kibibytes)))
}
