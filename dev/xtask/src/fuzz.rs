//! `cargo xtask fuzz`: feeds the readers with hostile input.
//!
//! The targets are written in `fuzz/fuzz_targets`; here they are seeded with the inputs of the
//! reference vectors and started. What a target finds is kept in `fuzz/artifacts`, and the line
//! that replays it is printed by cargo-fuzz.

mod seeds;

use std::{fs, path::Path, process::Command};

use anyhow::{Context, bail};

use crate::{
    arguments::{Arguments, Known},
    workspace::{Workspace, find_program},
};

/// The longest input that is tried: larger ones slow the search down more than they find.
const MAX_INPUT_BYTES: usize = 64 * 1024;

/// An input that takes longer counts as one that hangs: with the sanitizer, everything takes ten times as long.
const MAX_INPUT_SECONDS: u32 = 60;

/// Targets whose threads may still be ending when leaks are looked for: what the C library keeps for them would
/// be reported.
const WITH_THREADS: [&str; 3] = ["kubeconfig", "registry_connection", "registry_requests"];

/// Runs the verb; returns whether no target found anything.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    let known = Known { switches: &[], valued: &["--seconds"] };
    let arguments = Arguments::parse(arguments, &known)?;
    let seconds: u32 = arguments.value("--seconds", 60)?;
    let available = targets(&workspace.root.join("fuzz/fuzz_targets"))?;
    let [wanted] = &arguments.words[..] else {
        bail!(
            "usage: cargo xtask fuzz TARGET|all [--seconds N]\nhint: targets are {}",
            available.join(", ")
        );
    };
    let chosen: Vec<&String> =
        available.iter().filter(|target| wanted == "all" || *target == wanted).collect();
    if chosen.is_empty() {
        bail!("there is no fuzz target `{wanted}`; there are: {}", available.join(", "));
    }
    install_cargo_fuzz()?;
    let mut is_sound = true;
    for target in chosen {
        seed(workspace, target)?;
        println!("\n=== fuzz {target}, {seconds} s ===");
        is_sound &= fuzz(workspace, target, seconds)?;
    }
    Ok(is_sound)
}

/// Returns the names of the targets, sorted.
fn targets(directory: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(directory)
        .with_context(|| format!("there are no fuzz targets at `{}`", directory.display()))?;
    let mut targets: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned()))
        .collect();
    targets.sort();
    Ok(targets)
}

fn install_cargo_fuzz() -> anyhow::Result<()> {
    if find_program("cargo-fuzz").is_some() {
        return Ok(());
    }
    println!("cargo-fuzz is not there; installing it");
    // The toolchain's own `cargo` does not know `+nightly`; rustup's does.
    let status = Command::new("cargo").args(["install", "--locked", "cargo-fuzz"]).status()?;
    if !status.success() {
        bail!("`cargo install --locked cargo-fuzz` failed");
    }
    Ok(())
}

fn seed(workspace: &Workspace, target: &str) -> anyhow::Result<()> {
    if target == "resolve" {
        return seed_with_scenarios(workspace, target);
    }
    if let Some(inputs) = seeds::generated(target, &workspace.root)? {
        return write_seeds(workspace, target, &inputs);
    }
    let Some(vectors) = workspace.shared("vectors") else {
        println!("left out: seeds, because ../shared/vectors is not there");
        return Ok(());
    };
    let Some(file) = seeds::vector_file(target) else {
        println!("no vectors are known for `{target}`; it starts from nothing");
        return Ok(());
    };
    let path = vectors.join(file);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let corpus = workspace.root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    let inputs = seeds::inputs(&text)?;
    for (number, input) in inputs.iter().enumerate() {
        fs::write(corpus.join(format!("vector-{number:05}")), input)?;
    }
    println!("{} inputs of {file} are in `{}`", inputs.len(), corpus.display());
    Ok(())
}

/// Writes generated inputs: no reference vectors exist for these targets.
fn write_seeds(workspace: &Workspace, target: &str, inputs: &[Vec<u8>]) -> anyhow::Result<()> {
    let corpus = workspace.root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    for (number, input) in inputs.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{number:05}")), input)?;
    }
    println!("{} inputs are in `{}`", inputs.len(), corpus.display());
    Ok(())
}

/// The scenarios are whole worlds: the catalogs of each, a line `%%%`, and its manifests.
fn seed_with_scenarios(workspace: &Workspace, target: &str) -> anyhow::Result<()> {
    let corpus = workspace.root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    let scenarios = workspace.root.join("scenarios/resolution");
    let mut count = 0;
    for scenario in fs::read_dir(&scenarios)? {
        let scenario = scenario?;
        let mut input = Vec::new();
        for catalog in fs::read_dir(scenario.path().join("catalogs"))? {
            input.extend(fs::read(catalog?.path().join("catalog.yaml"))?);
        }
        input.extend(b"\n%%%\n");
        input.extend(fs::read(scenario.path().join("cluster.yaml"))?);
        fs::write(corpus.join(scenario.file_name()), input)?;
        count += 1;
    }
    println!("{count} scenarios are in `{}`", corpus.display());
    Ok(())
}

fn fuzz(workspace: &Workspace, target: &str, seconds: u32) -> anyhow::Result<bool> {
    let looks_for_leaks = !WITH_THREADS.contains(&target);
    let status = Command::new("cargo")
        .current_dir(&workspace.root)
        .args(["+nightly", "fuzz", "run", target, "--"])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={MAX_INPUT_BYTES}"))
        .arg(format!("-timeout={MAX_INPUT_SECONDS}"))
        .arg(format!("-detect_leaks={}", u8::from(looks_for_leaks)))
        .status()
        .context("cannot run `cargo +nightly fuzz`\nhint: rustup toolchain install nightly")?;
    Ok(status.success())
}
