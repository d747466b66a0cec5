//! Why a part of a namespace has no solution, for the text output.

use operon_resolve::{
    Because, Budget, Explanation, Failure, Request, Semantics, Universe,
    explain::{self, render_text},
};

use crate::output::clean;

/// Lines of a chain of reasons that are printed: two screens.
const MAX_LINES: usize = 80;

/// Why a part has no solution.
#[derive(Debug)]
pub(crate) struct FailureReport {
    /// Kind of failure, for programs.
    pub(crate) kind: &'static str,
    /// Explanations of conflicts; empty for other failures.
    pub(crate) explanations: Vec<Explanation>,
    /// The error, if the failure is not a conflict.
    error: String,
}

impl FailureReport {
    /// Explains a failure and searches for ways out.
    pub(crate) fn new(
        universe: &Universe<'_>,
        requests: &[Request],
        semantics: &Semantics,
        budget: &mut Budget,
        failure: &Failure,
    ) -> Self {
        let (kind, error) = match failure {
            Failure::Conflicts(conflicts) => {
                let explained = conflicts.iter().map(|conflict| {
                    explain::explain(universe, requests, semantics, budget, conflict)
                });
                let explanations = explained.collect();
                return Self { kind: "conflict", explanations, error: String::new() };
            }
            Failure::Error(text) => ("error", text.clone()),
            Failure::TooExpensive(expense) => ("too-expensive", expense.to_string()),
            Failure::Defect(text) => {
                ("defect", format!("an answer was found and refused by the checker: {text}"))
            }
        };
        Self { kind, explanations: Vec::new(), error }
    }

    /// Returns the first sentence.
    pub(crate) fn headline(&self) -> &str {
        self.explanations.first().map_or(&self.error, |explanation| &explanation.headline)
    }

    /// Renders everything as text.
    pub(crate) fn text(&self) -> String {
        if self.explanations.is_empty() {
            return clean(&self.error) + "\n";
        }
        let texts = self.explanations.iter().map(cleaned).map(|explanation| {
            let whole = render_text(&explanation);
            let tree = render_text(&Explanation { ways_out: Vec::new(), ..explanation });
            let (tree, ways_out) = whole.split_at_checked(tree.len()).unwrap_or((&whole, ""));
            cut(tree) + ways_out
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Returns an explanation whose texts are one printable line each, so that its tree stays one.
fn cleaned(explanation: &Explanation) -> Explanation {
    let mut cleaned = explanation.clone();
    cleaned.headline = clean(&cleaned.headline);
    for way in &mut cleaned.ways_out {
        way.text = clean(&way.text);
    }
    let mut open: Vec<&mut Because> = cleaned.because.iter_mut().collect();
    while let Some(step) = open.pop() {
        step.text = clean(&step.text);
        step.message = clean(&step.message);
        open.extend(step.because.iter_mut());
    }
    cleaned
}

/// Cuts a chain of reasons that is too long to read.
fn cut(tree: &str) -> String {
    let lines = tree.lines().count();
    if lines <= MAX_LINES {
        return tree.to_owned();
    }
    let kept: Vec<&str> = tree.lines().take(MAX_LINES).collect();
    format!("{}\n… {} more lines: -o json has them\n", kept.join("\n"), lines - MAX_LINES)
}
