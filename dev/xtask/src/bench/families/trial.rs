//! The families, their sizes, and the command that is measured on each.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;

use crate::bench::catalogs::{bytes_below, files_below};

#[path = "../../../../../core/resolve/tests/families/mod.rs"]
mod generate;

use generate::{Family, Need};

/// Each family is measured at a quarter, at half and at the whole of its size.
const DIVISORS: [usize; 3] = [4, 2, 1];

/// Bundles with long ranges in one catalog.
const LONG_RANGES: usize = 20;

/// Packages of OperatorHub that provide the same API.
const SHARED_API: [&str; 2] = ["argocd-operator", "argocd-operator-helm"];

/// A question about a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Plan,
    WhyNot,
    Check,
    Lint,
    Validate,
    List,
    Graph,
    Show,
}

impl Question {
    /// Returns the words of the command.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Plan => &["plan"],
            Self::WhyNot => &["why-not"],
            Self::Check => &["catalog", "check"],
            Self::Lint => &["catalog", "lint"],
            Self::Validate => &["catalog", "validate"],
            Self::List => &["catalog", "list", "channels"],
            Self::Graph => &["catalog", "graph"],
            Self::Show => &["catalog", "show"],
        }
    }
}

/// A family at one size, and the question that is measured on it.
pub(super) struct Trial<'c> {
    pub(super) name: &'static str,
    pub(super) size: usize,
    /// What `size` counts.
    pub(super) unit: &'static str,
    pub(super) question: Question,
    /// The packages that the question is about, where it is not about the whole catalog.
    packages: Vec<String>,
    /// The generated part of the catalog.
    text: Box<dyn Fn() -> String + 'c>,
    /// Files of OperatorHub.
    files: Vec<PathBuf>,
}

impl Trial<'_> {
    /// Writes the catalog; returns its size.
    pub(super) fn write(&self, directory: &Path) -> anyhow::Result<u64> {
        fs::create_dir_all(directory)?;
        let text = (self.text)();
        if !text.is_empty() {
            fs::write(directory.join("hostile.json"), text)?;
        }
        for file in &self.files {
            let name = file.file_name().context("bug: a file has a name")?;
            let target = directory.join(name);
            fs::copy(file, &target).with_context(|| format!("cannot copy `{}`", file.display()))?;
        }
        bytes_below(directory)
    }

    /// Adds the arguments that ask the question about the catalog.
    pub(super) fn ask(&self, command: &mut Command, catalog: &Path) {
        command.args(self.question.words());
        match self.question {
            Question::Plan => {
                command.arg("--catalog").arg(catalog);
                for package in &self.packages {
                    command.args(["--subscribe", package]);
                }
            }
            Question::WhyNot => {
                command.args(&self.packages).arg("--catalog").arg(catalog);
            }
            Question::Check
            | Question::Lint
            | Question::Validate
            | Question::List
            | Question::Graph
            | Question::Show => {
                command.arg(catalog).args(&self.packages);
            }
        }
    }
}

/// Returns every family at every size, the smallest first.
pub(super) fn trials(community: Option<&Path>) -> anyhow::Result<Vec<Trial<'static>>> {
    use Question::{Check, Graph, Lint, List, Plan, Show, Validate, WhyNot};
    let mut trials = Vec::new();
    let mut add = |name, whole: usize, unit, question, family: fn(usize) -> Family| {
        trials.extend(
            DIVISORS.map(|divisor| generated(name, whole / divisor, unit, question, family)),
        );
    };
    add("graph colouring", 200, "vertices", Plan, |size| generate::colouring(size, 3));
    add("nested CEL rule", 7_500, "bundles", Plan, generate::nested_rule);
    add("chain", 15_000, "packages", Plan, |size| generate::chain(size, false));
    add("broken chain", 15_000, "packages", Plan, |size| generate::chain(size, true));
    add("broken chain", 15_000, "packages", WhyNot, |size| generate::chain(size, true));
    add("failing providers", 20_000, "packages", Plan, generate::failing_providers);
    add("dense APIs", 1_200, "packages × size/6 APIs", Plan, |size| {
        generate::dense_apis(size, size / 6)
    });
    for question in [Validate, List, Graph, Show, Plan] {
        add("channels", 100_000, "channels", question, generate::channels);
    }
    add("cycle", 2_000, "packages", Check, generate::cycle);
    add("3-SAT", 400, "variables", Plan, |size| generate::three_sat(size, 1));
    add("long ranges", 64, "KB in each of 20 ranges", Lint, long_ranges);
    if let Some(community) = community {
        trials.extend(on_operator_hub(community)?);
    }
    Ok(trials)
}

fn generated(
    name: &'static str,
    size: usize,
    unit: &'static str,
    question: Question,
    family: fn(usize) -> Family,
) -> Trial<'static> {
    Trial {
        name,
        size,
        unit,
        question,
        packages: match question {
            Question::Plan | Question::WhyNot | Question::Graph | Question::Show => {
                vec![family(size).root]
            }
            Question::Check | Question::Lint | Question::Validate | Question::List => Vec::new(),
        },
        text: Box::new(move || family(size).text()),
        files: Vec::new(),
    }
}

/// Returns the questions about OperatorHub: one nested rule next to a part of it, two packages that share an
/// API, and Subscriptions to many of its packages.
fn on_operator_hub(community: &Path) -> anyhow::Result<Vec<Trial<'static>>> {
    let files = files_below(community)?;
    let packages: Vec<String> = files.iter().filter_map(|file| package(file)).collect();
    let trial = |name, size, unit, question, packages: Vec<String>, files: &[PathBuf]| Trial {
        name,
        size,
        unit,
        question,
        packages,
        text: Box::new(String::new),
        files: files.to_vec(),
    };
    let mut trials = Vec::new();
    for (question, divisor) in [Question::Plan, Question::Check]
        .into_iter()
        .flat_map(|question| DIVISORS.map(|divisor| (question, divisor)))
    {
        let size = files.len() / divisor;
        let rule = generate::nested_rule(0);
        let root = match question {
            Question::Plan => vec![rule.root.clone()],
            _ => Vec::new(),
        };
        let name = "nested CEL rule, OperatorHub";
        let next_to = trial(name, size, "packages", question, root, &files[..size]);
        trials.push(Trial { text: Box::new(move || rule.text()), ..next_to });
    }
    let (both, plan) = (SHARED_API.map(str::to_owned).to_vec(), Question::Plan);
    let name = "packages that share an API, OperatorHub";
    trials.push(trial(name, 2, "Subscriptions", plan, both, &files));
    for divisor in DIVISORS {
        let size = packages.len() / divisor;
        let chosen = packages[..size].to_vec();
        let name = "all packages, OperatorHub";
        trials.push(trial(name, size, "Subscriptions", plan, chosen, &files));
    }
    Ok(trials)
}

/// Returns the package of a file of OperatorHub, which is called like it.
fn package(file: &Path) -> Option<String> {
    Some(file.file_stem()?.to_str()?.to_owned())
}

/// Returns bundles with ranges of so many KB.
fn long_ranges(kilobytes: usize) -> Family {
    let mut family = generate::long_ranges(LONG_RANGES);
    let bundles = family.packages.iter_mut().flat_map(|package| &mut package.bundles);
    for need in bundles.flat_map(|bundle| &mut bundle.needs) {
        if let Need::Package { range, .. } = need
            && let Some(start) = range.get(..kilobytes * 1000)
            && let Some(end) = start.rfind(" || ")
        {
            range.truncate(end);
        }
    }
    family
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_name_catalogs_and_packages() {
        let words = |question| {
            let trial =
                generated("chain", 2, "packages", question, |size| generate::chain(size, true));
            let mut command = Command::new("operon");
            trial.ask(&mut command, Path::new("catalog"));
            let words: Vec<&str> =
                command.get_args().map(|word| word.to_str().expect("text")).collect();
            words.join(" ")
        };
        let expected = [
            (Question::Plan, "plan --catalog catalog --subscribe root"),
            (Question::WhyNot, "why-not root --catalog catalog"),
            (Question::Check, "catalog check catalog"),
            (Question::Lint, "catalog lint catalog"),
            (Question::Validate, "catalog validate catalog"),
            (Question::List, "catalog list channels catalog"),
            (Question::Graph, "catalog graph catalog root"),
            (Question::Show, "catalog show catalog root"),
        ];
        for (question, expected) in expected {
            assert_eq!(words(question), expected);
        }
    }
}
