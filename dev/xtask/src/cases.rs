//! `cargo xtask cases [DIR]`: what upstream's resolver answers to whole namespaces, against ours.
//!
//! Runs the release build of `operon-conformance` with upstream's semantics. Intended deviations are
//! listed in `docs/conformance.md`; every other one fails. Speed is not measured here.

mod compare;
mod known;
mod program;
mod report;
mod unpack;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;

use self::{
    compare::{Verdict, compare},
    known::KnownDeviations,
    program::Program,
    report::{Case, Row},
};
use crate::workspace::Workspace;

/// What follows the name of a set in the names of its files.
const LINES: &str = ".jsonl";
const EXPECTED_LINES: &str = ".expected.jsonl";

/// The page that lists the deviations that are meant.
const PAGE: &str = "docs/conformance.md";

/// Runs the verb; returns whether every case agrees, or deviates as it is meant to.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    let directory = match arguments {
        [] => workspace.shared("cases"),
        [directory] => Some(PathBuf::from(directory)),
        _ => bail!("usage: cargo xtask cases [DIR]"),
    };
    let Some(directory) = directory else {
        println!("left out: ../shared/cases is not there");
        return Ok(true);
    };
    let target = workspace.target_directory()?;
    let unpacked = unpack::unpack(&directory, &target.join("cases"))?;
    eprintln!("building operon-conformance");
    let build = ["build", "--release", "--package", "operon-conformance"];
    if !workspace.cargo(&build).status()?.success() {
        bail!("cannot build operon-conformance");
    }
    let program = Program::new(&target);
    let mut rows = Vec::new();
    for set in line_sets(&unpacked)? {
        eprintln!("running {set}");
        rows.push(run_lines(&program, &unpacked, &set)?);
    }
    for group in directories_in(&unpacked.join("cases"))? {
        let name = file_name(&group);
        eprintln!("running {name}");
        rows.push(run_directories(&program, &group, name)?);
    }
    if rows.is_empty() {
        bail!("`{}` holds no cases (*.jsonl.zst, cases.tar.zst)", directory.display());
    }
    let known = KnownDeviations::read(&workspace.root.join(PAGE))?;
    Ok(report::print(&rows, &known))
}

/// Runs a set of cases that is one file of JSON lines.
fn run_lines(program: &Program, directory: &Path, set: &str) -> anyhow::Result<Row> {
    let input = directory.join(format!("{set}{LINES}"));
    let answers = program.answer_lines(&input)?;
    let expected_path = directory.join(format!("{set}{EXPECTED_LINES}"));
    let expected = expected_path.exists().then(|| values_of_lines(&expected_path)).transpose()?;
    let asked = count_lines(&input)?;
    if answers.len() != asked || expected.as_ref().is_some_and(|lines| lines.len() != asked) {
        let expected = expected.map_or(asked, |lines| lines.len());
        bail!("{set}: {asked} cases, {expected} expectations, but {} answers", answers.len());
    }
    let mut cases = Vec::new();
    for (index, got) in answers.into_iter().enumerate() {
        let expectation = expected.as_ref().map(|lines| &lines[index]);
        let id = expectation.unwrap_or(&got)["id"].as_str().unwrap_or_default().to_owned();
        let verdict = judge(expectation, &got);
        let replay = program.replay_line(&input, index + 1);
        cases.push(Case { id, verdict, replay, expected: expectation.cloned(), got });
    }
    Ok(Row { name: set.to_owned(), cases })
}

/// Runs a group of cases that are directories.
fn run_directories(program: &Program, group: &Path, name: &str) -> anyhow::Result<Row> {
    let mut cases = Vec::new();
    for directory in directories_in(group)? {
        let expected = expectation_in(&directory)?;
        let got = program.answer_directory(&directory)?;
        cases.push(Case {
            id: file_name(&directory).to_owned(),
            verdict: judge(expected.as_ref(), &got),
            replay: program.replay_directory(&directory),
            expected,
            got,
        });
    }
    Ok(Row { name: name.to_owned(), cases })
}

/// Returns what upstream answered to the case in a directory, where it was recorded.
fn expectation_in(directory: &Path) -> anyhow::Result<Option<Value>> {
    let path = directory.join("expected.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let expected = serde_json::from_slice(&text)
        .with_context(|| format!("`{}` is not JSON", path.display()))?;
    Ok(Some(expected))
}

/// Compares an answer with what is expected; without expectations, any answer will do.
fn judge(expected: Option<&Value>, got: &Value) -> Verdict {
    expected.map_or_else(
        || Verdict::of_outcome(compare::is_answer(got)),
        |expected| compare(expected, got),
    )
}

fn line_sets(directory: &Path) -> anyhow::Result<Vec<String>> {
    let names = names_in(directory)?;
    let sets = names.iter().filter(|name| !name.ends_with(EXPECTED_LINES));
    Ok(sets.filter_map(|name| name.strip_suffix(LINES)).map(str::to_owned).collect())
}

fn names_in(directory: &Path) -> anyhow::Result<Vec<String>> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .with_context(|| format!("cannot read `{}`", directory.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Returns the directories in a directory, sorted by name; none when it is not there.
fn directories_in(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let paths = names_in(directory)?.into_iter().map(|name| directory.join(name));
    Ok(paths.filter(|path| path.is_dir()).collect())
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn count_lines(path: &Path) -> anyhow::Result<usize> {
    let text = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count())
}

fn values_of_lines(path: &Path) -> anyhow::Result<Vec<Value>> {
    let text = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    program::values(&text).with_context(|| format!("`{}` is not JSON lines", path.display()))
}
