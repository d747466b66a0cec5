//! Only one module prints: it replaces what acts on a terminal in the text of catalogs and clusters.
//!
//! Tests, examples and build scripts are exempt, and so are the tools of development.

use super::{SourceFile, Violation, named_paths};

/// The module that writes to standard output and standard error.
const STDIO_FILE: &str = "bin/operon/src/output/stdio.rs";

/// The module that draws progress bars.
const PROGRESS_FILE: &str = "bin/operon/src/output/progress.rs";

/// Macros that print as they are given.
const MACROS: &[&str] = &["print!", "println!", "eprint!", "eprintln!"];

/// Functions that open the streams, in whatever module they are named.
const STREAMS: &[&str] = &["stdout", "stderr"];

/// Names in `std::io` that hold the streams, or import them.
const HOLDERS: &[&str] = &["Stdout", "Stderr", "StdoutLock", "StderrLock", "*"];

/// Crates that write to the streams by themselves.
const PRINTING_CRATES: &[&str] = &["anstream"];

/// Types that draw on standard error.
const BARS: &[&str] = &["indicatif::ProgressBar", "indicatif::MultiProgress", "indicatif::*"];

/// Reports every way to print that does not pass through the one module.
pub(super) fn check(file: &SourceFile<'_>, violations: &mut Vec<Violation>) {
    let is_exempt = |part: &str| matches!(part, "examples" | "build.rs");
    if file.path == STDIO_FILE || file.path.split('/').any(is_exempt) {
        return;
    }
    let code = &file.scanned.code;
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let macros = MACROS.iter().flat_map(|name| {
        let found = code.match_indices(name);
        found.filter(|(offset, _)| !code[..*offset].ends_with(is_part))
    });
    let mut found: Vec<(usize, String)> =
        macros.map(|(offset, name)| (offset, name.to_owned())).collect();
    for named in named_paths(file.scanned) {
        if prints(&named.path, file.path) {
            found.push((named.offset, named.path));
        }
    }
    for (offset, what) in found {
        if file.is_shipped(offset) {
            let advice = format!(
                "`{what}`: return a value, or print with `crate::output` in the binary, which \
                 makes untrusted text harmless"
            );
            violations.push(file.violation(offset, "printing", advice));
        }
    }
}

/// Returns `true` if a path names a stream, or something that writes to one.
fn prints(path: &str, file: &str) -> bool {
    let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
    let is_stream =
        STREAMS.contains(&name) || (HOLDERS.contains(&name) && matches!(module, "io" | "std::io"));
    let root = path.split("::").next().unwrap_or(path);
    let is_bar = BARS.iter().any(|bar| path == *bar || path.starts_with(&format!("{bar}::")));
    is_stream || PRINTING_CRATES.contains(&root) || (is_bar && file != PROGRESS_FILE)
}
