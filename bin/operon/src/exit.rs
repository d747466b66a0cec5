//! How a command ends: exit codes are part of the contract with scripts.

use std::{io, process::ExitCode};

use crate::output::stderr_error;

/// What a command found, once it could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Exit code 0.
    Done,
    /// Exit code 1: the answer is no, or the catalog has errors; it has been printed.
    Negative,
    /// Exit code 2: there is something to do; it has been printed.
    Changes,
}

/// The exit code of a plan that changes something, as other planning tools have it.
const CHANGES: u8 = 2;

/// Prints why a command could not do its work, and turns the result into an exit code.
pub(crate) fn report(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Negative) => ExitCode::FAILURE,
        Ok(Outcome::Changes) => ExitCode::from(CHANGES),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            stderr_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// A reader that has seen enough (`operon … | head`) is not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
