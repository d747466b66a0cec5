//! Catalogs that are hard on purpose, in families that grow: what each costs, and how it ends.
//!
//! Half and whole sizes stand side by side, so that the growth can be seen. No limit is enforced
//! here; the tests of the resolver count steps.

use std::{fs, path::Path, time::Duration};

use super::super::{
    measure::{self, Finished},
    scenario::Program,
};

#[path = "../../../../../core/resolve/tests/families/mod.rs"]
mod generate;

use generate::Family;

/// A family at one size, and the command that is measured on it.
struct Trial {
    name: &'static str,
    size: usize,
    family: Family,
    command: Command,
}

/// What is asked of a catalog.
#[derive(Clone, Copy)]
enum Command {
    Plan,
    Check,
    Lint,
    Validate,
}

/// The figures of a family at one size.
#[derive(Debug)]
pub(crate) struct FamilyRow {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    pub(crate) bytes: usize,
    pub(crate) command: &'static str,
    pub(crate) wall: Duration,
    pub(crate) peak_kibibytes: Option<u64>,
    /// The first line that the program printed about it, or how it ended.
    pub(crate) ending: String,
}

/// Measures each family at half of its size and at its whole size.
pub(crate) fn measure(program: &Program, scratch: &Path) -> anyhow::Result<Vec<FamilyRow>> {
    let mut rows = Vec::new();
    for half in [true, false] {
        for trial in trials(half) {
            eprintln!("  {} of {}", trial.name, trial.size);
            rows.push(measure_trial(program, scratch, &trial)?);
        }
    }
    rows.sort_by_key(|row| (row.name, row.command, row.size));
    Ok(rows)
}

fn trials(is_half: bool) -> Vec<Trial> {
    let size = |whole: usize| if is_half { whole / 2 } else { whole };
    let trial = |name, whole: usize, command, family: &dyn Fn(usize) -> Family| {
        let size = size(whole);
        Trial { name, size, family: family(size), command }
    };
    vec![
        trial("colouring", 200, Command::Plan, &|size| generate::colouring(size, 3)),
        trial("nested rule", 7_500, Command::Plan, &generate::nested_rule),
        trial("chain", 15_000, Command::Plan, &|size| generate::chain(size, false)),
        trial("broken chain", 15_000, Command::Plan, &|size| generate::chain(size, true)),
        trial("failing providers", 20_000, Command::Plan, &generate::failing_providers),
        trial("dense APIs", 1_200, Command::Plan, &|size| generate::dense_apis(size, size / 6)),
        trial("channels", 100_000, Command::Validate, &generate::channels),
        trial("cycle", 2_000, Command::Check, &generate::cycle),
        trial("3-SAT", 400, Command::Plan, &|size| generate::three_sat(size, 1)),
        trial("long ranges", 20, Command::Lint, &generate::long_ranges),
    ]
}

fn measure_trial(program: &Program, scratch: &Path, trial: &Trial) -> anyhow::Result<FamilyRow> {
    let Trial { name, size, family, command } = trial;
    let directory = scratch.join(format!("family-{}-{size}", name.replace(' ', "-")));
    fs::create_dir_all(&directory)?;
    let text = family.text();
    fs::write(directory.join("catalog.json"), &text)?;
    let mut asked = program.bare_command();
    let shown = match command {
        Command::Plan => {
            asked.arg("plan").arg("--catalog").arg(&directory);
            asked.args(["--subscribe", &family.root]);
            "plan"
        }
        Command::Check => {
            asked.args(["catalog", "check"]).arg(&directory);
            "catalog check"
        }
        Command::Lint => {
            asked.args(["catalog", "lint"]).arg(&directory);
            "catalog lint"
        }
        Command::Validate => {
            asked.args(["catalog", "validate"]).arg(&directory);
            "catalog validate"
        }
    };
    let peak_kibibytes = measure::peak_memory(&asked, scratch)?;
    let Finished { exit_code, wall, complaints } = measure::run(&mut asked)?;
    let complaint = complaints.lines().find(|line| line.contains("too expensive"));
    let ending = match (exit_code, complaint) {
        (_, Some(complaint)) => complaint.to_owned(),
        (Some(code), None) => format!("exit code {code}"),
        (None, None) => "ended by a signal".to_owned(),
    };
    Ok(FamilyRow {
        name,
        size: *size,
        bytes: text.len(),
        command: shown,
        wall,
        peak_kibibytes,
        ending,
    })
}
