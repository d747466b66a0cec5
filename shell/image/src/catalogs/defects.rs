//! What is wrong with a catalog, in one sentence.

use std::io;

use operon_catalog::{Diagnostic, Rule, Severity};

use crate::{Lines, OpenedCatalog, contents::is_path};

/// Returns what is wrong with the catalog at `address`; empty for one without errors. Where paths may
/// stand for images, they are no error.
pub(super) fn defects(opened: &OpenedCatalog, address: &str, may_name_paths: bool) -> String {
    let findings = opened.catalog().diagnostics();
    let errors: Vec<Diagnostic> = findings
        .filter(|finding| finding.severity() == Severity::Error)
        .filter(|finding| !(may_name_paths && is_about_a_path(opened, finding)))
        .collect();
    // What cannot be read comes before what is missing because of it.
    let Some(first) = errors.iter().min_by_key(|finding| finding.rule) else {
        return opened.emptiness(address).unwrap_or_default();
    };
    let count = errors.len();
    let place = first.place.map_or_else(String::new, |place| {
        let file = opened.catalog().file_path(place.file).to_owned();
        let position: io::Result<(usize, usize)> = Lines::new(opened).position(place);
        position.map_or_else(|_| format!("{file}: "), |(line, _)| format!("{file}:{line}: "))
    });
    let plural = if count == 1 { "an error".to_owned() } else { format!("{count} errors") };
    format!("the catalog has {plural}: {place}{}", first.message)
}

/// Tells whether a finding says that a path is no image.
fn is_about_a_path(opened: &OpenedCatalog, finding: &Diagnostic) -> bool {
    let written = || finding.place.and_then(|place| opened.text(place).ok()).unwrap_or_default();
    let image = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        is_path(text.trim_matches(['"', '\'']))
    };
    finding.rule == Rule::ImageInvalid && image(&written())
}
