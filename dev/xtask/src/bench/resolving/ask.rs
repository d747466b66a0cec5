//! One resolution by the release build of `operon-conformance`, and the durations that it reports.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::bench::scenario::Program;

/// Whose rules count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    Upstream,
    Documented,
}

/// Answer and durations of a resolution.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) outcome: String,
    /// How many operators are to be added.
    pub(crate) operators: usize,
    /// How long it took to open the catalogs.
    pub(crate) opening: Duration,
    /// How long it took to resolve, and nothing else.
    pub(crate) resolving: Duration,
}

/// Resolves a case, with snapshots of its catalogs.
pub(crate) fn ask(program: &Program, directory: &Path, rules: Rules) -> anyhow::Result<Resolved> {
    run(&mut command(program, directory, rules))
}

/// Resolves a case after reading its catalogs from scratch.
pub(crate) fn ask_cold(program: &Program, directory: &Path) -> anyhow::Result<Resolved> {
    run(&mut cold_command(program, directory))
}

/// Returns the command that resolves a case after reading its catalogs from scratch.
pub(crate) fn cold_command(program: &Program, directory: &Path) -> Command {
    let mut command = command(program, directory, Rules::Upstream);
    command.arg("--no-cache");
    command
}

fn command(program: &Program, directory: &Path, rules: Rules) -> Command {
    let rules = match rules {
        Rules::Upstream => "upstream",
        Rules::Documented => "documented",
    };
    let mut command = program.bare_command();
    command.arg("resolve").arg(directory).args(["--output", "json", "--semantics", rules]);
    command
}

fn run(command: &mut Command) -> anyhow::Result<Resolved> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{}`", command.get_program().to_string_lossy()))?;
    // That there is no answer is an answer, too.
    if !matches!(output.status.code(), Some(0 | 1)) || output.stdout.is_empty() {
        let complaints = String::from_utf8_lossy(&output.stderr);
        bail!("{}: {}", output.status, complaints.lines().next().unwrap_or("it says nothing"));
    }
    read(&output.stdout)
}

fn read(printed: &[u8]) -> anyhow::Result<Resolved> {
    let answer: Value = serde_json::from_slice(printed).context("the answer is not JSON")?;
    let outcome = answer["outcome"].as_str().context("the answer has no outcome")?;
    match outcome {
        "resolved" | "unsat" => {}
        _ => bail!("{outcome}: {}", answer["error"].as_str().unwrap_or_default()),
    }
    let time = |name: &str| {
        let nanoseconds = answer["timing"][name].as_u64();
        let nanoseconds = nanoseconds.with_context(|| format!("the answer has no `{name}`"))?;
        anyhow::Ok(Duration::from_nanos(nanoseconds))
    };
    Ok(Resolved {
        outcome: outcome.to_owned(),
        operators: answer["operators"].as_array().map_or(0, Vec::len),
        opening: time("cacheBuildNs")?,
        resolving: time("resolveNs")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_what_is_none_is_refused() {
        let timing = r#""timing":{"cacheBuildNs":5000,"resolveNs":70,"resolveStepsNs":90}"#;
        let resolved = |outcome: &str, operators| Resolved {
            outcome: outcome.to_owned(),
            operators,
            opening: Duration::from_micros(5),
            resolving: Duration::from_nanos(70),
        };
        let text = format!(r#"{{"outcome":"resolved","operators":[{{}},{{}}],{timing}}}"#);
        assert_eq!(read(text.as_bytes()).expect("an answer"), resolved("resolved", 2));
        let text = format!(r#"{{"outcome":"unsat",{timing}}}"#);
        assert_eq!(read(text.as_bytes()).expect("an answer"), resolved("unsat", 0));
        let refused = [
            ("", "the answer is not JSON"),
            ("{}", "the answer has no outcome"),
            (r#"{"outcome":"error","error":"no catalog"}"#, "error: no catalog"),
            (r#"{"outcome":"resolved","timing":{}}"#, "the answer has no `cacheBuildNs`"),
        ];
        for (text, message) in refused {
            assert_eq!(read(text.as_bytes()).expect_err(text).to_string(), message);
        }
    }
}
