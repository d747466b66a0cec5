//! `cargo xtask bench --families`: catalogs that are hard on purpose, what each costs, and how it ends.
//!
//! Each family is measured at three sizes, so that its growth can be seen. A figure above the bound is
//! marked and fails nothing; the tests of the resolver count steps.

mod table;
mod trial;

use std::{fs, path::Path, process::Command, time::Duration};

use self::trial::{Question, Trial};
use super::{
    catalogs::community_catalog,
    machine,
    measure::{self, Finished, Measured, Resources},
    scenario::Program,
};
use crate::workspace::Workspace;

/// The longest that a command may take on hostile input. Compared with the processor time where that is
/// known: the wall time of a busy machine says more about its other processes.
const WANTED_TIME: Duration = Duration::from_secs(2);

/// The most memory that a command may have on hostile input: 300 MB.
const WANTED_KIBIBYTES: u64 = 300_000_000 / 1024;

/// The address space of a measured process. A family that is not bounded must not take the machine's memory.
const ADDRESS_SPACE_KIBIBYTES: &str = "4000000";

/// The processor time of a measured process, in seconds.
const PROCESSOR_SECONDS: &str = "60";

/// The words of an answer that was given up.
const TOO_EXPENSIVE: &str = "too expensive";

/// The figures of a family at one size.
#[derive(Debug)]
struct FamilyRow {
    name: &'static str,
    size: usize,
    /// What `size` counts.
    unit: &'static str,
    bytes: u64,
    question: Question,
    measured: Measured,
    processor: Option<Duration>,
    ending: Ending,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    /// With an exit code that stands for an answer.
    Answered(i32),
    /// With the line that says that the answer is too expensive.
    TooExpensive(String),
    Failed(String),
}

/// Measures every family; returns the text, and whether none failed.
pub(super) fn measure(
    workspace: &Workspace,
    scratch: &Path,
    runs: usize,
) -> anyhow::Result<(String, bool)> {
    let program = Program::built(workspace, "operon")?;
    let community = community_catalog(workspace, scratch)?;
    let mut text =
        format!("{} Each wall time is the median of {runs} runs.\n", machine::describe_machine());
    if community.is_none() {
        let reason = "left out: the families on OperatorHub, because ../shared/data is not there";
        eprintln!("{reason}");
        text.push_str(&format!("\n{reason}\n"));
    }
    let mut rows = Vec::new();
    for trial in trial::trials(community.as_deref())? {
        eprintln!("  {} of {}", trial.name, trial.size);
        let directory = scratch.join("family");
        let row = measure_trial(&program, scratch, &directory, &trial, runs)?;
        rows.push(row);
        fs::remove_dir_all(&directory)?;
    }
    text.push_str(&table::families(&rows));
    let is_sound = !rows.iter().any(|row| matches!(row.ending, Ending::Failed(_)));
    Ok((text, is_sound))
}

fn measure_trial(
    program: &Program,
    scratch: &Path,
    directory: &Path,
    trial: &Trial<'_>,
    runs: usize,
) -> anyhow::Result<FamilyRow> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    let bytes = trial.write(&directory.join("catalog"))?;
    let cache = directory.join("cache");
    let command = || -> anyhow::Result<Command> {
        // Nothing is in the cache: each process reads and indexes the catalog.
        if cache.exists() {
            fs::remove_dir_all(&cache)?;
        }
        let mut command = limited(program);
        trial.ask(&mut command, &directory.join("catalog"));
        command.env("OPERON_CACHE_DIR", &cache).env("HOME", directory).env_remove("KUBECONFIG");
        Ok(command)
    };
    let mut walls = Vec::with_capacity(runs);
    let mut ending = None;
    for _ in 0..runs {
        let finished = measure::run_and_read(&mut command()?)?;
        walls.push(finished.wall);
        ending = Some(Ending::of(&finished));
    }
    let Resources { peak_kibibytes, processor } = measure::resources(&command()?, scratch)?;
    Ok(FamilyRow {
        name: trial.name,
        size: trial.size,
        unit: trial.unit,
        bytes,
        question: trial.question,
        measured: Measured::new(walls, peak_kibibytes),
        processor,
        ending: ending.unwrap_or_else(|| Ending::Failed("never ran".to_owned())),
    })
}

/// Returns a shell that becomes the program, with limits.
fn limited(program: &Program) -> Command {
    let script = format!(
        "ulimit -v {ADDRESS_SPACE_KIBIBYTES}; ulimit -t {PROCESSOR_SECONDS}; exec \"$0\" \"$@\""
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(program.binary());
    command
}

impl Ending {
    /// Judges what a process printed. Exit codes 1 and 2 are answers too, unless the process reports an error
    /// of its own; a diagnostic of a catalog is not one.
    fn of(finished: &Finished) -> Self {
        let Finished { exit_code, printed, complaints, .. } = finished;
        let lines = || printed.lines().chain(complaints.lines()).map(str::trim);
        let is_error = complaints.starts_with("error");
        let last_words = || complaints.lines().find(|line| !line.trim().is_empty());
        match (exit_code, lines().find(|line| line.contains(TOO_EXPENSIVE))) {
            (Some(0..=2), Some(line)) => Self::TooExpensive(line.to_owned()),
            (Some(code @ 0..=2), None) if !is_error && lines().next().is_some() => {
                Self::Answered(*code)
            }
            (Some(code), _) => {
                Self::Failed(format!("exit code {code}: {}", last_words().unwrap_or_default()))
            }
            (None, _) => Self::Failed("ended by a signal".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_differ_from_expense_and_failure() {
        let expensive = "resolution is too expensive: no answer within 7 steps";
        let cases = [
            (Some(0), "2 operators\n", "", Ending::Answered(0)),
            (Some(2), "1 operator\n", "", Ending::Answered(2)),
            (Some(1), "no solution\n", "warning: a\n", Ending::Answered(1)),
            (
                Some(1),
                "a\n  resolution is too expensive: no answer within 7 steps\n",
                "",
                Ending::TooExpensive(expensive.to_owned()),
            ),
            (
                Some(1),
                "",
                "error: resolution is too expensive: no answer within 7 steps\n",
                Ending::TooExpensive(format!("error: {expensive}")),
            ),
            (
                Some(1),
                "",
                "error: no catalog\n",
                Ending::Failed("exit code 1: error: no catalog".to_owned()),
            ),
            (Some(0), "", "", Ending::Failed("exit code 0: ".to_owned())),
            (
                Some(101),
                "a",
                "a panic: too expensive",
                Ending::Failed("exit code 101: a panic: too expensive".to_owned()),
            ),
            (None, "a", "", Ending::Failed("ended by a signal".to_owned())),
        ];
        for (exit_code, printed, complaints, expected) in cases {
            let finished = Finished {
                exit_code,
                wall: Duration::ZERO,
                printed: printed.to_owned(),
                complaints: complaints.to_owned(),
            };
            assert_eq!(Ending::of(&finished), expected, "{printed} {complaints}");
        }
    }
}
