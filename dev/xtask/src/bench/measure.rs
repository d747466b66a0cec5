//! Running a command and measuring it: wall time, and the most memory it had at once.
//!
//! Time and memory are taken in different runs, because whoever watches the memory costs time.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

/// GNU time, which knows the peak memory of a process that has ended.
const GNU_TIME: &str = "/usr/bin/time";

/// How often the memory of a running process is looked at where GNU time is missing.
const POLL: Duration = Duration::from_millis(1);

/// The figures of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Wall times, the shortest first; never empty.
    walls: Vec<Duration>,
    /// The most memory the process had at once; `None` where it cannot be known.
    pub(crate) peak_kibibytes: Option<u64>,
}

impl Measured {
    /// Keeps the wall times of at least one run.
    pub(crate) fn new(mut walls: Vec<Duration>, peak_kibibytes: Option<u64>) -> Self {
        assert!(!walls.is_empty(), "bug: a scenario is measured at least once");
        walls.sort();
        Self { walls, peak_kibibytes }
    }

    /// Returns the wall time in the middle; of two in the middle, the longer one.
    pub(crate) fn median(&self) -> Duration {
        self.walls[self.walls.len() / 2]
    }

    /// Returns the shortest wall time.
    pub(crate) fn shortest(&self) -> Duration {
        self.walls[0]
    }

    /// Returns the longest wall time.
    pub(crate) fn longest(&self) -> Duration {
        self.walls[self.walls.len() - 1]
    }
}

/// What a finished command left behind.
pub(crate) struct Finished {
    /// `None` when a signal ended it.
    pub(crate) exit_code: Option<i32>,
    pub(crate) wall: Duration,
    /// Standard output, where it was read.
    pub(crate) printed: String,
    pub(crate) complaints: String,
}

/// Runs a command to its end and discards its standard output.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<Finished> {
    run_with(command, Stdio::null())
}

/// Runs a command to its end and reads its standard output.
pub(crate) fn run_and_read(command: &mut Command) -> anyhow::Result<Finished> {
    run_with(command, Stdio::piped())
}

fn run_with(command: &mut Command, standard_output: Stdio) -> anyhow::Result<Finished> {
    let start = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .stdout(standard_output)
        .stderr(Stdio::piped())
        .output()
        .with_context(|| format!("cannot run `{}`", command.get_program().to_string_lossy()))?;
    let wall = start.elapsed();
    let [printed, complaints] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    Ok(Finished { exit_code: output.status.code(), wall, printed, complaints })
}

/// Resources that a process used, as far as they can be known here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Resources {
    /// The most memory it had at once.
    pub(crate) peak_kibibytes: Option<u64>,
    /// Time on all processors, which other processes of a busy machine hardly change.
    pub(crate) processor: Option<Duration>,
}

/// Runs a command and returns its peak memory in KiB, if that can be known here.
pub(crate) fn peak_memory(command: &Command, scratch: &Path) -> anyhow::Result<Option<u64>> {
    Ok(resources(command, scratch)?.peak_kibibytes)
}

/// Runs a command and returns the resources that it used.
pub(crate) fn resources(command: &Command, scratch: &Path) -> anyhow::Result<Resources> {
    if Path::new(GNU_TIME).is_file() {
        return resources_by_gnu_time(command, &scratch.join("peak-memory"));
    }
    Ok(Resources { peak_kibibytes: peak_by_polling(command)?, processor: None })
}

fn resources_by_gnu_time(command: &Command, report: &PathBuf) -> anyhow::Result<Resources> {
    let mut timed = Command::new(GNU_TIME);
    timed.args(["--format", "%M %U %S", "--output"]).arg(report).arg(command.get_program());
    timed.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => timed.env(name, value),
            None => timed.env_remove(name),
        };
    }
    run(&mut timed)?;
    let text = fs::read_to_string(report).context("GNU time wrote no report")?;
    Ok(read_report(&text))
}

/// Reads KiB, and seconds in the program and in the kernel: the last line, behind a note that the command
/// failed.
fn read_report(report: &str) -> Resources {
    let numbers: Vec<f64> = report.lines().last().map_or(Vec::new(), |line| {
        line.split_whitespace().map_while(|number| number.parse().ok()).collect()
    });
    match numbers[..] {
        [peak, user, system] => Resources {
            peak_kibibytes: Some(peak as u64),
            processor: Duration::try_from_secs_f64(user + system).ok(),
        },
        _ => Resources::default(),
    }
}

fn peak_by_polling(command: &Command) -> anyhow::Result<Option<u64>> {
    let mut polled = Command::new(command.get_program());
    polled.args(command.get_args()).stdout(Stdio::null()).stderr(Stdio::null());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            polled.env(name, value);
        }
    }
    let mut child = polled.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let seen = fs::read_to_string(&status).ok().and_then(|text| high_water_mark(&text));
        peak = peak.max(seen);
        if let Some(ended) = child.try_wait()? {
            if ended.code().is_none() {
                bail!("`{}` was ended by a signal", command.get_program().to_string_lossy());
            }
            return Ok(peak);
        }
        thread::sleep(POLL);
    }
}

/// Reads the peak memory of a process from what Linux says about it.
fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_taken_from_sorted_times() {
        let milliseconds = |list: &[u64]| list.iter().copied().map(Duration::from_millis).collect();
        let measured = Measured::new(milliseconds(&[30, 10, 20, 50, 40]), Some(7));
        let figures = [measured.median(), measured.shortest(), measured.longest()];
        assert_eq!(figures, [30, 10, 50].map(Duration::from_millis));
        assert_eq!(Measured::new(milliseconds(&[4, 2]), None).median(), Duration::from_millis(4));
    }

    #[test]
    fn reports_of_memory_are_read() {
        let used = |peak, milliseconds| Resources {
            peak_kibibytes: Some(peak),
            processor: Some(Duration::from_millis(milliseconds)),
        };
        assert_eq!(read_report("23456 1.50 0.25\n"), used(23_456, 1750));
        let failed = "Command exited with non-zero status 1\n812 0.00 0.01\n";
        assert_eq!(read_report(failed), used(812, 10));
        assert_eq!(read_report(""), Resources::default());
        let status = "Name:\toperon\nVmPeak:\t  9000 kB\nVmHWM:\t  4321 kB\nVmRSS:\t 12 kB\n";
        assert_eq!(high_water_mark(status), Some(4321));
        assert_eq!(high_water_mark("Name:\tgone\n"), None);
    }
}
