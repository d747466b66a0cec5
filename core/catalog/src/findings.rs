//! A bounded collection of findings: a catalog that is wrong a million times says so once.

use std::collections::BTreeMap;

use crate::{Diagnostic, Rule};

/// How many findings of one rule are kept; nobody reads more, and memory stays bounded.
pub const MAX_FINDINGS_PER_RULE: usize = 1_000;

/// The most bytes of all texts of the findings that are kept. A thousand findings have less than one megabyte,
/// so the rules share this without getting into each other's way.
pub const MAX_FINDINGS_BYTES: usize = 32 << 20;

/// The most bytes of one text of a finding. Names in a catalog may have megabytes, and each finding about them
/// repeats them.
pub const MAX_FINDING_TEXT_BYTES: usize = 4 << 10;

/// Findings in the order they were made, and how many of each rule there were.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    kept: Vec<Diagnostic>,
    counts: BTreeMap<Rule, usize>,
    /// The bytes of the texts of `kept`.
    bytes: usize,
}

impl Findings {
    /// Adds a finding.
    pub fn push(&mut self, mut finding: Diagnostic) {
        let count = self.counts.entry(finding.rule).or_default();
        *count += 1;
        if *count > MAX_FINDINGS_PER_RULE {
            return;
        }
        finding.texts_mut().for_each(shorten);
        let bytes: usize = finding.texts_mut().map(|text| text.len()).sum();
        if self.bytes + bytes <= MAX_FINDINGS_BYTES {
            self.bytes += bytes;
            self.kept.push(finding);
        }
    }

    /// Returns how many bytes the texts of the findings have.
    pub fn text_bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the findings of another collection behind these.
    pub fn append(&mut self, other: Findings) {
        let unlisted = other.unlisted();
        for finding in other.kept {
            self.push(finding);
        }
        for (rule, count) in unlisted {
            *self.counts.entry(rule).or_default() += count;
        }
    }

    /// Returns how many findings of each rule are not kept.
    fn unlisted(&self) -> Vec<(Rule, usize)> {
        let mut unlisted = self.counts.clone();
        for finding in &self.kept {
            if let Some(count) = unlisted.get_mut(&finding.rule) {
                *count -= 1;
            }
        }
        unlisted.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    /// Returns the findings, with a last one for each rule that found more than are kept.
    pub fn finish(self) -> Vec<Diagnostic> {
        let unlisted = self.unlisted();
        let mut findings = self.kept;
        for (rule, more) in unlisted {
            findings.push(Diagnostic::new(
                rule,
                format!("{more} more findings of this rule are not listed"),
            ));
        }
        findings
    }
}

fn shorten(text: &mut String) {
    if text.len() > MAX_FINDING_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_FINDING_TEXT_BYTES));
        text.push('…');
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_hold_a_bounded_number_of_bytes() {
        let long = "ä".repeat(8 << 10);
        let finding = |rule| Diagnostic::new(rule, &long).label(&long).why(&long).help(&long);
        let mut findings = Findings::default();
        let rules = [Rule::DuplicateEntry, Rule::DuplicateBundle, Rule::DuplicateChannel];
        for rule in rules {
            let mut part = Findings::default();
            (0..900).for_each(|_| part.push(finding(rule)));
            findings.append(part);
        }
        assert!(findings.text_bytes() <= MAX_FINDINGS_BYTES, "{}", findings.text_bytes());
        let finished = findings.finish();
        let bytes: usize = finished.iter().map(|finding| finding.message.len()).sum();
        assert!(bytes <= MAX_FINDINGS_BYTES, "{bytes}");
        for rule in rules {
            let of_rule = |finding: &&Diagnostic| finding.rule == rule;
            let last = finished.iter().rfind(of_rule).expect("every rule is named");
            let listed = finished.iter().filter(of_rule).count();
            let more = last.message.split(' ').next().and_then(|number| number.parse().ok());
            assert_eq!(listed - usize::from(more.is_some()) + more.unwrap_or(0), 900, "{rule:?}");
        }
    }
}
