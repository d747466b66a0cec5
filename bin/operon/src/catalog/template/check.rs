//! The documents that came out of a template, checked like a catalog.
//!
//! The rules are those of `operon catalog validate`; advice is left to `operon catalog lint`.

use operon_bundle::Severity as Weight;
use operon_catalog::{Diagnostic, Note, Place, Severity};
use operon_fbc::{MemoryFile, read_catalog};

use crate::{
    catalog::render::{
        documents::Notation,
        report::{MAX_SHOWN, Report, Spot, not_shown},
    },
    output::stderr_text,
};

/// What stands for the path of the expanded template in findings.
const PATH: &str = "<expanded template>";

/// Prints what is wrong with expanded documents, and tells whether that matters: not for a part of
/// a catalog.
pub(super) fn check(text: String, notation: Notation, is_part: bool) -> bool {
    let file = MemoryFile {
        path: format!("catalog.{}", notation.extension()),
        content: text.into_bytes(),
    };
    let files = [file];
    let catalog = read_catalog(&files);
    let mut findings: Vec<(Weight, Diagnostic)> = Vec::new();
    for finding in catalog.diagnostics() {
        let weight = match finding.severity() {
            Severity::Error if is_part => Weight::Warning,
            Severity::Error => Weight::Error,
            Severity::Warning => Weight::Warning,
            Severity::Advice => continue,
        };
        findings.push((weight, finding));
    }
    if findings.len() > MAX_SHOWN {
        findings.sort_by_key(|(weight, _)| *weight);
    }
    for (weight, finding) in findings.iter().take(MAX_SHOWN) {
        stderr_text(&report(finding, *weight, &files[0].content));
    }
    stderr_text(&not_shown(findings.len()));
    findings.iter().all(|(weight, _)| *weight != Weight::Error)
}

fn report(finding: &Diagnostic, severity: Weight, text: &[u8]) -> String {
    let spot = |place: Place, label| Spot {
        path: PATH.to_owned(),
        range: Some((text, place.range())),
        label,
    };
    let first = finding.place.map(|place| spot(place, finding.label.as_str()));
    let related = finding.related.iter().map(|(place, label)| spot(*place, label));
    let mut report = Report {
        severity,
        rule_id: finding.rule.id(),
        message: &finding.message,
        spots: first.into_iter().chain(related).collect(),
        why: Vec::new(),
        help: Vec::new(),
    };
    for note in &finding.notes {
        match note {
            Note::Why(text) => report.why.push(text),
            Note::Help(text) => report.help.push(text),
        }
    }
    report.text()
}
