//! Processes that outlive whoever started them, and are still told from others.
//!
//! The number of a process is used again by the system, so it is kept together with the time the process
//! started. Nothing here is ended by its name.

use std::{
    fmt, fs,
    process::{Child, Command},
    str::FromStr,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, kill_process, waitpid},
};

/// How often a process is looked at that should end.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// How long a killed process may take to be gone: the kernel frees its memory and its mounts.
const KILLED_WITHIN: Duration = Duration::from_secs(10);

/// A process, with the time it started in ticks since the system did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pid: Pid,
    started: u64,
}

impl Process {
    /// Starts a command; what it runs goes on when this program ends.
    pub(crate) fn start(command: &mut Command) -> std::io::Result<Self> {
        let child = command.spawn()?;
        Ok(Self::of_child(&child))
    }

    fn of_child(child: &Child) -> Self {
        let pid = Pid::from_child(child);
        // A child that ended at once is still there until it is waited for, so its time can be read.
        Self { pid, started: Seen::now(pid).map_or(0, |seen| seen.started) }
    }

    /// Returns the process of a number, if there is one now.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(number).ok()?)?;
        Seen::now(pid).map(|seen| Self { pid, started: seen.started })
    }

    /// Returns its number.
    pub(crate) fn number(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Tells whether it still runs.
    pub(crate) fn is_alive(&self) -> bool {
        // A child of ours that ended stays as a mere entry until it is waited for.
        let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
        Seen::now(self.pid).is_some_and(|seen| seen.started == self.started && !seen.is_over())
    }

    /// Sends a signal, unless the process is gone.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.is_alive() {
            // One that ends meanwhile cannot be signalled, and need not be.
            let _: Result<(), Errno> = kill_process(self.pid, signal);
        }
    }

    /// Asks it to end, and kills it if it has not done so in time; tells whether it is gone.
    pub(crate) fn end(&self, grace: Duration) -> bool {
        self.signal(Signal::TERM);
        self.ends_within(grace) || self.kill()
    }

    /// Kills it, and waits until it is gone; tells whether it is.
    pub(crate) fn kill(&self) -> bool {
        self.signal(Signal::KILL);
        self.ends_within(KILLED_WITHIN)
    }

    fn ends_within(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while self.is_alive() {
            if begun.elapsed() > limit {
                return false;
            }
            thread::sleep(LOOK_AGAIN);
        }
        true
    }
}

impl fmt::Display for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.number(), self.started)
    }
}

impl FromStr for Process {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (number, started) = text.trim().split_once(' ').ok_or(())?;
        let pid = number.parse().ok().and_then(Pid::from_raw).ok_or(())?;
        Ok(Self { pid, started: started.parse().map_err(|_| ())? })
    }
}

/// What the system says about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    state: char,
    threads: u64,
    started: u64,
}

impl Seen {
    fn now(pid: Pid) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Self::parse(&text)
    }

    /// Reads a line of `/proc/PID/stat`; the name in it is between parentheses and may hold anything.
    fn parse(line: &str) -> Option<Self> {
        /// The first field behind the name is the third of the line.
        const STATE: usize = 3;
        let (_, rest) = line.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - STATE).copied();
        Some(Self {
            state: field(STATE)?.chars().next()?,
            threads: field(20)?.parse().ok()?,
            started: field(22)?.parse().ok()?,
        })
    }

    /// Tells whether it ended and let go of everything. The first thread of a process may be a mere entry
    /// while others still hold its ports.
    fn is_over(self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x') && self.threads <= 1
    }
}

/// Returns all processes that there are now, with their command lines.
pub(crate) fn all() -> impl Iterator<Item = (Process, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter_map(|number| {
        let process = Process::of_number(number)?;
        let line = fs::read(format!("/proc/{number}/cmdline")).ok()?;
        Some((process, String::from_utf8_lossy(&line).replace('\0', " ")))
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_do_not_confuse() {
        let rest = "S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 4711 99 100";
        let expected = Seen { state: 'S', threads: 3, started: 4711 };
        for name in ["sh", "a) S 1 (b", "with space"] {
            let line = format!("7 ({name}) {rest}");
            assert_eq!(Seen::parse(&line), Some(expected), "{line}");
        }
        for line in ["", "7 (sh)", "7 (sh) S 1 2", "no parentheses"] {
            assert_eq!(Seen::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_process_is_over_when_its_last_thread_is() {
        let cases =
            [('S', 1, false), ('Z', 2, false), ('Z', 1, true), ('Z', 0, true), ('X', 0, true)];
        for (state, threads, expected) in cases {
            assert_eq!(
                Seen { state, threads, started: 1 }.is_over(),
                expected,
                "{state} {threads}"
            );
        }
    }

    #[test]
    fn a_process_is_known_again_and_ends() {
        let process = Process::start(Command::new("sleep").arg("600")).expect("sleep starts");
        let known_again: Process = process.to_string().parse().expect("what was written");
        assert_eq!(process, known_again);
        assert!(known_again.is_alive());
        let another = Process { started: process.started + 1, ..process };
        another.signal(Signal::KILL);
        assert!(!another.is_alive() && process.is_alive(), "a later process is not this one");
        assert!(known_again.end(Duration::from_secs(5)));
        assert!(!process.is_alive());
    }
}
