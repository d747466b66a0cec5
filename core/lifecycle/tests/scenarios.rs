//! Runs every scenario of `scenarios/lifecycle` on a simulated cluster, each as a test of its own name.
//!
//! The tests are the directories, so a new scenario needs no line here. The harness prints what that of
//! the standard library does, and takes the same filters.

use std::{
    collections::BTreeSet,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process::ExitCode,
    sync::Mutex,
    thread,
    time::Instant,
};

use operon_sim::{Author, SimStage, Stage, parse_scenario, run_scenario};

/// The exit code of a test binary with a failed test.
const FAILED: u8 = 101;

fn main() -> ExitCode {
    let options = match Options::parse(env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(FAILED);
        }
    };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lifecycle");
    let all = scenarios(&directory);
    let chosen: Vec<&String> = all.iter().filter(|name| options.includes(name)).collect();
    if options.is_list {
        chosen.iter().for_each(|name| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let begun = Instant::now();
    println!("\nrunning {} tests", chosen.len());
    let failures = run_all(&directory, &chosen, options.threads);
    if !failures.is_empty() {
        println!("\nfailures:\n");
        failures.iter().for_each(|(name, reason)| println!("---- {name} ----\n{reason}\n"));
        println!("\nfailures:");
        failures.iter().for_each(|(name, _)| println!("    {name}"));
    }
    println!(
        "\ntest result: {}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if failures.is_empty() { "ok" } else { "FAILED" },
        chosen.len() - failures.len(),
        failures.len(),
        all.len() - chosen.len(),
        begun.elapsed().as_secs_f64(),
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// What the command line asks for, in the words of the standard harness.
#[derive(Debug, Default)]
struct Options {
    filters: Vec<String>,
    skipped: Vec<String>,
    is_exact: bool,
    is_list: bool,
    /// Whether only ignored tests are asked for: no scenario is one.
    is_ignored: bool,
    threads: Option<usize>,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments.flat_map(|argument| {
            let split = argument.split_once('=').filter(|(name, _)| name.starts_with("--"));
            match split {
                Some((name, value)) => vec![name.to_owned(), value.to_owned()],
                None => vec![argument],
            }
        });
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
            match argument.as_str() {
                "--skip" => options.skipped.push(value()?),
                "--exact" => options.is_exact = true,
                "--list" => options.is_list = true,
                "--ignored" => options.is_ignored = true,
                "--test-threads" => {
                    let text = value()?;
                    let count = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
                    options.threads = Some(count);
                }
                "--color" | "--format" | "-Z" => drop(value()?),
                // Output is never captured, and no scenario is ignored.
                "--nocapture" | "--no-capture" | "--show-output" | "--include-ignored"
                | "--quiet" | "-q" => {}
                other if other.starts_with('-') => {
                    return Err(format!("unknown option `{other}`"));
                }
                _ => options.filters.push(argument),
            }
        }
        Ok(options)
    }

    fn includes(&self, name: &str) -> bool {
        let is_match = |filter: &String| match self.is_exact {
            true => name == filter,
            false => name.contains(filter.as_str()),
        };
        !self.is_ignored
            && (self.filters.is_empty() || self.filters.iter().any(is_match))
            && !self.skipped.iter().any(is_match)
    }
}

/// Returns the names of the scenarios.
fn scenarios(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).expect("scenarios/lifecycle is a directory");
    let names = entries.map(|entry| entry.expect("a readable entry").file_name());
    names.map(|name| name.into_string().expect("a name in UTF-8")).collect()
}

/// Runs scenarios in parallel; returns those that failed, by name, each with the reason.
fn run_all(directory: &Path, names: &[&String], threads: Option<usize>) -> Vec<(String, String)> {
    let available = || thread::available_parallelism().map_or(1, usize::from);
    let queue = Mutex::new(names.iter());
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads.unwrap_or_else(available).max(1) {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("no runner panics").next();
                    let Some(name) = next else { break };
                    let outcome = run(&directory.join(name));
                    println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
                    if let Err(reason) = outcome {
                        let mut failures = failures.lock().expect("no runner panics");
                        failures.push(((*name).clone(), reason));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no runner panics");
    failures.sort();
    failures
}

/// Runs the scenario of a directory; a panic is a failure like any other.
fn run(directory: &Path) -> Result<(), String> {
    let path = directory.join("scenario.yaml");
    let work = || {
        let text = fs::read_to_string(&path);
        let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let scenario = parse_scenario(&text).map_err(|error| error.to_string())?;
        let mut stage = SimStage::new();
        run_scenario(&scenario, &mut stage).map_err(|failure| failure.to_string())?;
        expect_silence_after_restart(&mut stage)
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a message")))
    })
}

/// A controller that was restarted decides everything again, and writes nothing. Only what was refused is
/// tried once more, because failures are not counted across restarts.
fn expect_silence_after_restart(stage: &mut SimStage) -> Result<(), String> {
    stage.settle()?;
    let cluster = stage.cluster().clone();
    cluster.forget_refusal();
    cluster.record();
    stage.restart()?;
    stage.settle()?;
    if !cluster.last_refusal().is_empty() {
        return Ok(());
    }
    let journal = cluster.take_journal();
    let written = journal.iter().filter(|written| written.author == Author::Engine);
    let keys: Vec<String> = written
        .flat_map(|written| written.changes.iter().map(|(key, _, _)| key.to_string()))
        .collect();
    if keys.is_empty() {
        return Ok(());
    }
    Err(format!("after a restart this was written: {}", keys.join(", ")))
}
