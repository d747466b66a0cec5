//! A bounded collection of findings: a catalog that is wrong a million times says so once.

use std::collections::BTreeMap;

use crate::{Diagnostic, Rule};

/// How many findings of one rule are kept; nobody reads more, and memory stays bounded.
pub const MAX_FINDINGS_PER_RULE: usize = 1_000;

/// Findings in the order they were made, and how many of each rule there were.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    kept: Vec<Diagnostic>,
    counts: BTreeMap<Rule, usize>,
}

impl Findings {
    /// Adds a finding.
    pub fn push(&mut self, finding: Diagnostic) {
        let count = self.counts.entry(finding.rule).or_default();
        *count += 1;
        if *count <= MAX_FINDINGS_PER_RULE {
            self.kept.push(finding);
        }
    }

    /// Adds the findings of another collection behind these.
    pub fn append(&mut self, other: Findings) {
        let listed = |rule: Rule| other.kept.iter().filter(|finding| finding.rule == rule).count();
        let unlisted: Vec<(Rule, usize)> =
            other.counts.iter().map(|(rule, count)| (*rule, count - listed(*rule))).collect();
        for finding in other.kept {
            self.push(finding);
        }
        for (rule, count) in unlisted {
            *self.counts.entry(rule).or_default() += count;
        }
    }

    /// Returns the findings, with a last one for each rule that found more than are kept.
    pub fn finish(self) -> Vec<Diagnostic> {
        let mut findings = self.kept;
        for (rule, count) in self.counts {
            if count > MAX_FINDINGS_PER_RULE {
                let more = count - MAX_FINDINGS_PER_RULE;
                findings.push(Diagnostic::new(
                    rule,
                    format!("{more} more findings of this rule are not listed"),
                ));
            }
        }
        findings
    }
}
