//! What the terminal can show.
//!
//! Only asked when output goes to a terminal; everywhere else the answer is fixed, so that what is
//! piped or tested does not depend on where it runs.

use std::env;

use terminal_size::{Height, Width, terminal_size};

use super::stdout_is_terminal;

/// The width for output that goes to no terminal.
pub(crate) const DEFAULT_WIDTH: usize = 100;

/// Returns the number of columns to lay out for.
pub(crate) fn width() -> usize {
    if !stdout_is_terminal() {
        return DEFAULT_WIDTH;
    }
    let from_environment = env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let from_terminal = || terminal_size().map(|(Width(columns), _)| usize::from(columns));
    from_environment.or_else(from_terminal).filter(|&columns| columns > 0).unwrap_or(DEFAULT_WIDTH)
}

/// Returns the number of lines that the terminal shows at once.
pub(crate) fn height() -> usize {
    terminal_size().map_or(usize::MAX, |(_, Height(lines))| usize::from(lines))
}

/// Returns `true` if the terminal has the characters that lines are drawn with.
pub(crate) fn has_unicode() -> bool {
    !matches!(env::var("TERM").as_deref(), Ok("dumb" | "linux"))
}
