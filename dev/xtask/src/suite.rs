//! `cargo xtask test`: everything that must hold before a change is handed over.
//!
//! The steps run in order and stop at the first failure, under a heading that says which it is.
//! What cannot run on this machine is left out by name, never in silence. The last line counts the
//! tests; a failed step that runs no tests counts as one.

mod closing;
mod dependencies;
mod left_out;
mod programs;
mod smoke;

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, bail};
use operon_parts::Part;

use self::{closing::Tally, left_out::LeftOut};
use crate::{
    arguments::{Arguments, Known},
    cases, image, rig, tidy, vectors,
    workspace::Workspace,
};

/// How a step ended.
enum Ending {
    Passed,
    Failed,
    /// It could not run here; the text says why.
    LeftOut(String),
}

impl Ending {
    fn of(is_sound: bool) -> Self {
        if is_sound { Self::Passed } else { Self::Failed }
    }
}

/// One thing that must hold.
struct Step {
    title: &'static str,
    /// Whether `--quick` runs it too.
    is_quick: bool,
    work: fn(&Run<'_>, &mut Tally) -> anyhow::Result<Ending>,
}

/// What the steps of one run share.
struct Run<'r> {
    workspace: &'r Workspace,
    /// The tests that were left out so far.
    log: &'r LeftOut,
}

/// The tests of `dev/proof`.
const PROOFS: [&str; 5] = ["scenarios", "faults", "shipped", "policies", "pods"];

const STEPS: &[Step] = &[
    Step { title: "tools", is_quick: true, work: check_tools },
    Step { title: "programs", is_quick: false, work: install_programs },
    Step { title: "cluster programs", is_quick: false, work: build_cluster_programs },
    Step { title: "tidy", is_quick: true, work: run_tidy },
    Step { title: "format", is_quick: true, work: check_format },
    Step { title: "clippy", is_quick: false, work: run_clippy },
    Step { title: "tests", is_quick: true, work: run_tests },
    Step { title: "proofs on a real cluster", is_quick: false, work: run_proofs },
    Step { title: "documentation", is_quick: false, work: build_documentation },
    Step { title: "reference vectors", is_quick: false, work: run_vectors },
    Step { title: "reference cases", is_quick: false, work: run_cases },
    Step {
        title: "dependencies",
        is_quick: false,
        work: |run, tally| dependencies::check(run.workspace, tally),
    },
    Step { title: "smoke", is_quick: false, work: |run, tally| smoke::run(run.workspace, tally) },
];

/// Runs the verb; returns whether every step passed.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    let known = Known { switches: &["--quick"], valued: &[] };
    let arguments = Arguments::parse(arguments, &known)?;
    if !arguments.words.is_empty() {
        bail!("usage: cargo xtask test [--quick]");
    }
    let mut tally = Tally::default();
    let log = LeftOut::begin(workspace)?;
    let mut left_out = Vec::new();
    let mut stopped_at = None;
    for step in STEPS {
        if arguments.has("--quick") && !step.is_quick {
            left_out.push(format!("{}: not part of --quick", step.title));
            continue;
        }
        let start = Instant::now();
        println!("\n=== {} ===", step.title);
        let failed_before = tally.failed;
        let ending =
            (step.work)(&Run { workspace, log: &log }, &mut tally).unwrap_or_else(|error| {
                eprintln!("error: {error:#}");
                Ending::Failed
            });
        match ending {
            Ending::Passed => println!("{}: ok, {:.1?}", step.title, start.elapsed()),
            Ending::LeftOut(reason) => {
                println!("left out: {reason}");
                left_out.push(format!("{}: {reason}", step.title));
            }
            Ending::Failed => {
                tally.failed = tally.failed.max(failed_before + 1);
                stopped_at = Some(step.title);
                break;
            }
        }
    }
    print_summary(&tally, &left_out, &log.table()?, stopped_at);
    Ok(stopped_at.is_none())
}

fn print_summary(tally: &Tally, left_out: &[String], tests: &str, stopped_at: Option<&str>) {
    if !tests.is_empty() {
        println!("\n=== tests that were left out ===\n{tests}");
        println!("{}={} makes them failures", operon_parts::REQUIRE, operon_parts::ALL);
    }
    println!("\n=== summary ===");
    for line in left_out {
        println!("left out: {line}");
    }
    if let Some(title) = stopped_at {
        println!("stopped at the first failure: {title}");
    }
    println!("{tally}");
}

fn check_tools(run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if succeeds_quietly(&mut run.workspace.cargo(&[subcommand, "--version"])) {
            continue;
        }
        println!("`cargo {subcommand}` is not there; asking rustup for it");
        let mut rustup = Command::new("rustup");
        rustup.args(["component", "add", component]);
        if !succeeds_quietly(&mut rustup) {
            bail!("`cargo {subcommand}` is missing\nhint: rustup component add {component}");
        }
    }
    run_streamed(&mut run.workspace.cargo(&["--version"]))
}

fn install_programs(_run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    programs::install()
}

/// Builds the programs of a real cluster where one can run; the tests use them from then on.
fn build_cluster_programs(_run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    match rig::build() {
        Ok(_) => Ok(Ending::Passed),
        Err(error) => Ok(Ending::LeftOut(format!("tests on a real cluster: {error:#}"))),
    }
}

fn run_tidy(run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    Ok(Ending::of(tidy::run(run.workspace, &[])?))
}

fn check_format(run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    run_streamed(&mut run.workspace.cargo(&["fmt", "--all", "--check"]))
}

fn run_clippy(run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_streamed(&mut run.workspace.cargo(&arguments))
}

fn run_tests(run: &Run<'_>, tally: &mut Tally) -> anyhow::Result<Ending> {
    let mut command = run.workspace.cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.env(operon_parts::REQUIRE, required_by_tests(&required()));
    count_tests(run, &mut command, tally)
}

/// Runs what takes minutes on real clusters, which the tests before left out. Each brings up clusters of its
/// own, so they run one after the other.
fn run_proofs(run: &Run<'_>, tally: &mut Tally) -> anyhow::Result<Ending> {
    if let Err(error) = rig::build() {
        return Ok(Ending::LeftOut(format!("no cluster can run here: {error:#}")));
    }
    image::build(run.workspace, true)?;
    run.log.forget_proofs()?;
    // Of all rooms, and then chosen: what is built for one room alone has other features.
    let mut command = run.workspace.cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.args(PROOFS.iter().flat_map(|name| ["--test", name])).args(["--", "--nocapture"]);
    command.env("OPERON_PROOF", "all").env(operon_parts::REQUIRE, required_by_proofs(&required()));
    count_tests(run, &mut command, tally)
}

/// Returns the parts that must not be missing, as the caller names them.
fn required() -> String {
    env::var(operon_parts::REQUIRE).unwrap_or_default()
}

/// Returns the parts that the tests before the proofs require: proofs are a step of their own.
fn required_by_tests(required: &str) -> String {
    let names = required.split(',').flat_map(|name| match name.trim() {
        operon_parts::ALL => Part::EVERY.map(Part::name).to_vec(),
        name => vec![name],
    });
    names.filter(|name| *name != Part::Proof.name()).collect::<Vec<&str>>().join(",")
}

/// Returns the parts that the proofs require: what they need was built just before.
fn required_by_proofs(required: &str) -> String {
    let parts = [required, Part::Rig.name(), Part::Proof.name()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<&str>>().join(",")
}

/// Runs tests and adds up their closing lines.
fn count_tests(run: &Run<'_>, command: &mut Command, tally: &mut Tally) -> anyhow::Result<Ending> {
    command.env(operon_parts::LOG, &run.log.path);
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run `cargo test`")?;
    let output = child.stdout.take().context("bug: the output was asked for")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read what `cargo test` prints")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        tally.add_line(&line);
    }
    Ok(Ending::of(child.wait()?.success()))
}

fn build_documentation(run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    let mut command = run.workspace.cargo(&["doc", "--workspace", "--no-deps"]);
    run_streamed(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn run_vectors(run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    let Some(directory) = run.workspace.shared("vectors") else {
        return Ok(Ending::LeftOut("../shared/vectors is not there".to_owned()));
    };
    let directory = directory.to_string_lossy().into_owned();
    Ok(Ending::of(vectors::run(&[directory])?))
}

fn run_cases(run: &Run<'_>, _tally: &mut Tally) -> anyhow::Result<Ending> {
    if run.workspace.shared("cases").is_none() {
        return Ok(Ending::LeftOut("../shared/cases is not there".to_owned()));
    }
    Ok(Ending::of(cases::run(run.workspace, &[])?))
}

/// Runs a command whose output goes where ours goes.
fn run_streamed(command: &mut Command) -> anyhow::Result<Ending> {
    let status = command
        .status()
        .with_context(|| format!("cannot run `{}`", command.get_program().to_string_lossy()))?;
    Ok(Ending::of(status.success()))
}

fn succeeds_quietly(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_are_required_only_in_their_step() {
        let tests = required_by_tests("all");
        assert!(tests.starts_with("shared,registry") && !tests.contains("proof"), "{tests}");
        assert_eq!(required_by_tests("rig, proof"), "rig");
        assert_eq!(required_by_tests(""), "");
        assert_eq!(required_by_proofs(""), "rig,proof");
        assert_eq!(required_by_proofs("shared"), "shared,rig,proof");
    }
}
