//! How it ended: why an operator does not run, and what to do about it.

use std::path::Path;

use super::{row::Standing, status::Status};
use crate::output::clean;

/// Says what keeps a cluster from being as it should be; empty if nothing does.
pub(super) fn reasons(status: &Status, problems: &[String], directory: &Path) -> String {
    let mut text = String::new();
    let mut say = |line: &str| {
        text.push_str(&clean(line));
        text.push('\n');
    };
    for problem in problems {
        say(&format!("not applied: {problem}"));
    }
    for row in status.operators.iter().filter(|row| row.standing != Standing::Running) {
        let yet = if row.standing == Standing::Waiting { " yet" } else { "" };
        say(&format!("{} does not run{yet}: {}", row.name, row.detail));
    }
    for row in status.catalogs.iter().filter(|row| row.state != "ready") {
        say(&format!("catalog {} is {}: {}", row.name, row.state, row.detail));
    }
    let dir = match directory.to_str() {
        Some(".") => String::new(),
        _ => format!(" --dir {}", directory.display()),
    };
    for row in status.operators.iter().filter(|row| row.needs_approval) {
        say(&format!("next: operon approve {} -n {}{dir}", row.package, row.namespace));
    }
    text
}

/// Tells whether everything is as it should be.
pub(super) fn is_well(status: &Status, problems: &[String]) -> bool {
    problems.is_empty() && status.operators.iter().all(|row| row.standing == Standing::Running)
}
