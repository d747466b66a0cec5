//! `cargo xtask sim`: simulated clusters with faults, and how much many namespaces take.
//!
//! What is simulated and what is checked lives in the room `sim`; here seeds are only handed out and
//! findings printed.

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use anyhow::{Context, bail};
use operon_sim::chaos::{Finding, Options, Tally, measure_scale, run_seed};

use crate::{
    arguments::{Arguments, Known},
    workspace::Workspace,
};

/// How many findings are printed in full.
const SHOWN_FINDINGS: usize = 3;

/// The sizes that are measured.
const SIZES: [usize; 3] = [10, 100, 1000];

/// Runs the verb; returns whether nothing was found.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    let known = Known {
        switches: &["--scale"],
        valued: &["--seeds", "--start", "--steps", "--replay", "--jobs", "--writes", "--scale-one"],
    };
    let arguments = Arguments::parse(arguments, &known)?;
    if let Some(word) = arguments.words.first() {
        bail!("`{word}` is not expected\nhint: cargo xtask sim --replay {word}");
    }
    if arguments.has("--scale-one") {
        return scale_one(arguments.value("--scale-one", 10)?);
    }
    if arguments.has("--scale") {
        return scale(workspace);
    }
    let defaults = Options::default();
    let options = Options {
        steps: arguments.value("--steps", defaults.steps)?,
        shown: arguments.value("--writes", defaults.shown)?,
        ..defaults
    };
    if arguments.has("--replay") {
        return Ok(replay(arguments.value("--replay", 1)?, &options));
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let start = arguments.value("--start", 1)?;
    let seeds = arguments.value("--seeds", 50)?;
    Ok(run_seeds(start, seeds, arguments.value("--jobs", cores)?, &options))
}

fn replay(seed: u64, options: &Options) -> bool {
    match run_seed(seed, options) {
        Ok(tally) => {
            println!("seed {seed}: nothing found");
            print_tally(&tally);
            true
        }
        Err(finding) => {
            println!("{finding}");
            false
        }
    }
}

fn run_seeds(start: u64, count: u64, jobs: usize, options: &Options) -> bool {
    let begun = Instant::now();
    let next = AtomicU64::new(start);
    let end = start.saturating_add(count);
    let total: Mutex<(Tally, Vec<Finding>)> = Mutex::default();
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let outcome = run_seed(seed, options);
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome {
                Ok(tally) => total.0.add(&tally),
                Err(finding) => {
                    println!("seed {seed}: {}: {}", finding.checker, finding.saw);
                    total.1.push(*finding);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(work);
        }
    });
    let (tally, mut findings) = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    findings.sort_by_key(|finding| finding.seed);
    for finding in findings.iter().take(SHOWN_FINDINGS) {
        println!("\n{finding}");
    }
    let mut by_checker: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &findings {
        *by_checker.entry(finding.checker).or_default() += 1;
    }
    println!("\n{count} seeds from {start} in {:.1} s", begun.elapsed().as_secs_f64());
    print_tally(&tally);
    for (checker, count) in by_checker {
        println!("  found: {count:6} {checker}");
    }
    findings.is_empty()
}

fn print_tally(tally: &Tally) {
    let Tally { faults, writes, turns, deeds } = tally;
    println!("  {deeds} deeds of people, {turns} turns, {writes} writes of the engine");
    for (name, count) in faults {
        println!("  {count:8} {name}");
    }
}

/// Measures each size in a process of its own, because memory is measured of a process.
fn scale(workspace: &Workspace) -> anyhow::Result<bool> {
    let mut is_sound = true;
    let mut before: Option<BTreeMap<String, f64>> = None;
    for size in SIZES {
        let size = size.to_string();
        let arguments =
            ["run", "--release", "-q", "-p", "xtask", "--", "sim", "--scale-one", &size];
        let output = workspace.cargo(&arguments).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        print!("{text}");
        if !output.status.success() {
            print!("{}", String::from_utf8_lossy(&output.stderr));
            is_sound = false;
        }
        let figures: BTreeMap<String, f64> = text
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
            .filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
            .collect();
        if let Some(before) = &before {
            let ratio = |(name, value): (&String, &f64)| {
                before.get(name).map(|old| format!("{name} x{:.1}", value / old.max(0.001)))
            };
            let ratios: Vec<String> = figures.iter().filter_map(ratio).collect();
            println!("  ten times as many namespaces: {}", ratios.join(", "));
        }
        before = Some(figures);
    }
    Ok(is_sound)
}

fn scale_one(namespaces: usize) -> anyhow::Result<bool> {
    let scale = measure_scale(namespaces);
    let memory = peak_megabytes()?;
    println!(
        "namespaces={} operators={} objects={} writes={} idle_writes={} turns={} seconds={:.2} megabytes={memory}",
        scale.namespaces,
        scale.operators,
        scale.objects,
        scale.writes,
        scale.idle_writes,
        scale.turns,
        scale.time.as_secs_f64(),
    );
    Ok(scale.operators == namespaces * 20 && scale.idle_writes == 0)
}

fn peak_megabytes() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("cannot read the memory used")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let digits = line.unwrap_or("0").trim().trim_end_matches(" kB").trim();
    Ok(digits.parse::<u64>().unwrap_or(0) / 1024)
}
