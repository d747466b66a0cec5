//! A server of catalogs that is measured from outside.

use std::{
    fmt, fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// How soon a server that has no catalog yet is asked again.
const AGAIN: Duration = Duration::from_millis(1);

/// A running server; it ends with the measurement.
pub(super) struct Server {
    process: Child,
    start: Instant,
    address: String,
}

/// The memory of a process, in KiB.
pub(super) struct Memory {
    pub(super) resident: u64,
    pub(super) peak: u64,
}

/// What one reader got: the slowest of several.
pub(super) struct Streamed {
    bundles: u64,
    bytes: u64,
    time: Duration,
}

impl Server {
    /// Starts a server, and waits until it says where it listens.
    pub(super) fn start(mut command: Command) -> anyhow::Result<Self> {
        let start = Instant::now();
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start the server")?;
        let output = process.stderr.take().context("bug: the pipe was asked for")?;
        let mut lines = BufReader::new(output).lines();
        let address = loop {
            let line = lines.next().context("the server ended at once")??;
            if let Some(address) = line.strip_prefix("listening at ") {
                break address.to_owned();
            }
        };
        // Somebody has to read on, or the server would wait for room to write.
        thread::spawn(move || lines.for_each(drop));
        Ok(Self { process, start, address })
    }

    /// Asks until there is an answer; returns how long after its start that was. The start of the program
    /// that asks is part of it.
    pub(super) fn first_answer(&self, ask: impl Fn(&str) -> Command) -> anyhow::Result<Duration> {
        loop {
            let output = ask(&self.address).output().context("cannot ask the server")?;
            let elapsed = self.start.elapsed();
            if output.status.success() && !output.stdout.is_empty() {
                return Ok(elapsed);
            }
            if elapsed > PATIENCE {
                bail!("the server does not answer: {}", String::from_utf8_lossy(&output.stderr));
            }
            thread::sleep(AGAIN);
        }
    }

    /// Streams all bundles to so many readers at once.
    pub(super) fn streams(&self, reader: &Path, readers: usize) -> anyhow::Result<Streamed> {
        let begin = || {
            let mut command = Command::new(reader);
            command.arg(&self.address).stdin(Stdio::null()).stdout(Stdio::piped());
            command.spawn().with_context(|| format!("cannot run `{}`", reader.display()))
        };
        let running = (0..readers).map(|_| begin()).collect::<anyhow::Result<Vec<Child>>>()?;
        let mut slowest: Option<Streamed> = None;
        for child in running {
            let output = child.wait_with_output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let streamed = Streamed::parse(&text).context("a reader did not come to its end")?;
            if slowest.as_ref().is_none_or(|slowest| slowest.time < streamed.time) {
                slowest = Some(streamed);
            }
        }
        slowest.context("bug: there is a reader")
    }

    /// Returns how much memory the server has, mapped files included.
    pub(super) fn memory(&self) -> anyhow::Result<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok())
                .with_context(|| format!("the system does not tell `{name}`"))
        };
        Ok(Memory { resident: value("VmRSS:")?, peak: value("VmHWM:")? })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Streamed {
    /// Reads `BUNDLES BYTES MICROSECONDS`.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(|word| word.parse::<u64>().ok());
        let [bundles, bytes, micros] = [numbers.next()??, numbers.next()??, numbers.next()??];
        Some(Self { bundles, bytes, time: Duration::from_micros(micros) })
    }
}

impl fmt::Display for Streamed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time.as_secs_f64().max(f64::MIN_POSITIVE);
        let megabytes = self.bytes as f64 / 1e6;
        write!(
            formatter,
            "{} bundles, {megabytes:.1} MB in {seconds:.2} s: {:.0} bundles/s, {:.0} MB/s",
            self.bundles,
            self.bundles as f64 / seconds,
            megabytes / seconds
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_says_is_read_and_told() {
        let streamed = Streamed::parse("2000 5000000 500000\n").expect("three numbers");
        let told = "2000 bundles, 5.0 MB in 0.50 s: 4000 bundles/s, 10 MB/s";
        assert_eq!(streamed.to_string(), told);
        assert!(Streamed::parse("error").is_none());
    }
}
