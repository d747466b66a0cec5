//! Commands that run to their end, and what they said when they failed.
//!
//! What keeps running is started in [`process`](crate::process).

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::RigError;

/// How much of the end of a log is shown: enough for the reason, not a screenful of stack traces.
const LOG_TAIL_BYTES: u64 = 3000;

/// Runs a command that must succeed, and returns what it printed.
pub(crate) fn run(command: &mut Command) -> Result<String, RigError> {
    let output = command.stdin(Stdio::null()).output();
    let output =
        output.map_err(|source| RigError::CannotRun { command: shown(command), source })?;
    printed(command, &output)
}

/// Runs a command that reads a text and must succeed.
pub(crate) fn run_with_input(command: &mut Command, input: &str) -> Result<String, RigError> {
    let command_line = shown(command);
    let cannot_run = |source| RigError::CannotRun { command: command_line.clone(), source };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cannot_run)?;
    let mut stdin = child.stdin.take().expect("bug: the input was asked for");
    // Who does not read its input says why on the other side.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().map_err(cannot_run)?;
    printed(command, &output)
}

fn printed(command: &Command, output: &Output) -> Result<String, RigError> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let output = String::from_utf8_lossy(&said).trim().to_owned();
    Err(RigError::Failed { command: shown(command), output })
}

/// Shows a command as it would be typed.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns the last lines of a log; an unreadable one is said to be so.
pub(crate) fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let start = length.saturating_sub(LOG_TAIL_BYTES);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(LOG_TAIL_BYTES).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // The first line is rarely whole.
        let whole = text.split_once('\n').filter(|_| start > 0).map(|(_, rest)| rest.to_owned());
        Ok(whole.unwrap_or(text))
    };
    match read() {
        Ok(text) if text.trim().is_empty() => "(it is empty)".to_owned(),
        Ok(text) => text.trim_end().to_owned(),
        Err(error) => format!("(it cannot be read: {error})"),
    }
}
