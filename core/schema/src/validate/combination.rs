//! `anyOf`, `oneOf`, `allOf`, `not` and dependencies.
//!
//! All of them judge the same value; only which errors are told differs.

use operon_object::{Value, quote};

use super::{Walker, report::Failures};
use crate::node::{Dependency, Node};

impl Walker {
    pub(super) fn combinations(&mut self, node: &Node, value: &Value) -> u64 {
        let mut matches = 1;
        if let Some(combinations) = &node.combinations {
            if !combinations.any_of.is_empty() {
                matches += self.any_of(&combinations.any_of, value);
            }
            if !combinations.one_of.is_empty() {
                matches += self.one_of(&combinations.one_of, value);
            }
            if !combinations.all_of.is_empty() {
                matches += self.all_of(&combinations.all_of, value);
            }
            if let Some(not) = &combinations.not {
                self.not(not, value);
            }
        }
        matches + self.dependencies(node, value)
    }

    fn any_of(&mut self, alternatives: &[Node], value: &Value) -> u64 {
        let mut best = Best::default();
        for alternative in alternatives {
            let mark = self.report.mark();
            let matches = self.node(alternative, value);
            match self.report.take_since(mark) {
                None => return matches,
                Some(failures) => best.offer(matches, failures),
            }
        }
        let path = quote(&self.path);
        self.composite(format!("{path} must validate at least one schema (anyOf)"));
        self.tell(best)
    }

    fn one_of(&mut self, alternatives: &[Node], value: &Value) -> u64 {
        let mut best = Best::default();
        let mut valid = 0_usize;
        let mut first_matches = 0;
        for alternative in alternatives {
            let mark = self.report.mark();
            let matches = self.node(alternative, value);
            match self.report.take_since(mark) {
                None => {
                    if valid == 0 {
                        first_matches = matches;
                    }
                    valid += 1;
                }
                Some(failures) => best.offer(matches, failures),
            }
        }
        let path = quote(&self.path);
        let rule = format!("{path} must validate one and only one schema (oneOf).");
        match valid {
            1 => first_matches,
            0 => {
                self.composite(format!("{rule} Found none valid"));
                self.tell(best)
            }
            valid => {
                self.composite(format!("{rule} Found {valid} valid alternatives"));
                0
            }
        }
    }

    fn all_of(&mut self, parts: &[Node], value: &Value) -> u64 {
        let mut matches = 0;
        let mut valid = 0;
        for part in parts {
            let mark = self.report.mark();
            matches += self.node(part, value);
            valid += usize::from(!self.report.has_failed_since(mark));
        }
        if valid < parts.len() {
            let path = quote(&self.path);
            let addition = if valid == 0 { ". None validated" } else { "" };
            self.composite(format!("{path} must validate all the schemas (allOf){addition}"));
        }
        matches
    }

    fn not(&mut self, not: &Node, value: &Value) {
        let mark = self.report.mark();
        self.node(not, value);
        if self.report.take_since(mark).is_none() {
            let path = quote(&self.path);
            self.composite(format!("{path} must not validate the schema (not)"));
        }
    }

    fn dependencies(&mut self, node: &Node, value: &Value) -> u64 {
        let Some(map) = value.as_map() else { return 0 };
        let mut matches = 0;
        for (name, dependency) in &node.map.dependencies {
            if !map.contains(name) {
                continue;
            }
            match dependency {
                Dependency::Like(like) => {
                    let length = self.path.len();
                    self.path.push('.');
                    self.path.push_str(name);
                    matches += self.node(like, value);
                    self.path.truncate(length);
                }
                Dependency::Names(names) => {
                    for missing in names.iter().filter(|name| !map.contains(name)) {
                        let path = quote(&self.path);
                        self.composite(format!("{path} has a dependency on {missing}"));
                    }
                }
            }
        }
        matches
    }

    fn tell(&mut self, best: Best) -> u64 {
        match best.failures {
            Some((matches, failures)) => {
                self.report.put(failures);
                matches
            }
            None => 0,
        }
    }
}

/// The errors of the alternative in which most was in order; of several the first.
#[derive(Default)]
struct Best {
    failures: Option<(u64, Failures)>,
}

impl Best {
    fn offer(&mut self, matches: u64, failures: Failures) {
        if self.failures.as_ref().is_none_or(|(best, _)| matches > *best) {
            self.failures = Some((matches, failures));
        }
    }
}
