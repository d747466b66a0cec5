//! What is said about a part of a namespace that has no answer.
//!
//! Explanations are made by the resolver's room; here they only get their form for people and
//! for programs.

use operon_resolve::{
    Because, Budget, Explanation, Failure, Operator, Request, Semantics, Universe,
    explain::{self, render_text},
};

use crate::output::{Json, clean};

/// How many lines of a chain of reasons are shown: two screens.
const MAX_TOLD_LINES: usize = 80;

/// Why a part has no answer.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// What kind of failure it is, for programs.
    kind: &'static str,
    /// Explanations of conflicts; none for other failures.
    explanations: Vec<Explanation>,
    /// What went wrong, where it is no conflict.
    error: String,
}

impl Told {
    /// Explains a failure and looks for ways out.
    pub(crate) fn of(
        universe: &Universe<'_>,
        requests: &[Request],
        semantics: &Semantics,
        budget: &mut Budget,
        failure: &Failure,
    ) -> Self {
        let error = |kind, error: String| Self { kind, explanations: Vec::new(), error };
        match failure {
            Failure::Conflicts(conflicts) => {
                let explained = conflicts.iter().map(|conflict| {
                    explain::explain(universe, requests, semantics, budget, conflict)
                });
                let explanations = explained.collect();
                Self { kind: "conflict", explanations, error: String::new() }
            }
            Failure::Error(text) => error("error", text.clone()),
            Failure::TooExpensive(expense) => error("too-expensive", expense.to_string()),
            Failure::Defect(text) => {
                error("defect", format!("an answer was found and refused by the checker: {text}"))
            }
        }
    }

    /// Leaves the ways out away, where the question was only a supposition.
    pub(crate) fn without_ways_out(mut self) -> Self {
        for explanation in &mut self.explanations {
            explanation.ways_out.clear();
        }
        self
    }

    /// Returns the first sentence.
    pub(crate) fn headline(&self) -> &str {
        self.explanations.first().map_or(&self.error, |explanation| &explanation.headline)
    }

    /// Prints everything for people.
    pub(crate) fn text(&self) -> String {
        if self.explanations.is_empty() {
            return clean(&self.error) + "\n";
        }
        let texts = self.explanations.iter().map(cleaned).map(|explanation| {
            let whole = render_text(&explanation);
            let ways = render_text(&Explanation { ways_out: Vec::new(), ..explanation });
            let (tree, ways) = whole.split_at_checked(ways.len()).unwrap_or((&whole, ""));
            cut(tree) + ways
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the members of the answer for programs.
    pub(crate) fn members(&self) -> Vec<(&'static str, Json)> {
        vec![
            ("kind", Json::text(self.kind)),
            ("headline", Json::text(self.headline())),
            ("explanations", Json::list(self.explanations.iter().map(explanation_json))),
        ]
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

/// Cuts a chain of reasons that nobody would read to its end.
fn cut(tree: &str) -> String {
    let lines = tree.lines().count();
    if lines <= MAX_TOLD_LINES {
        return tree.to_owned();
    }
    let kept: Vec<&str> = tree.lines().take(MAX_TOLD_LINES).collect();
    format!("{}\n… {} more lines: -o json has them\n", kept.join("\n"), lines - MAX_TOLD_LINES)
}

fn explanation_json(explanation: &Explanation) -> Json {
    let ways = explanation.ways_out.iter().map(|way| {
        Json::Object(vec![("text", Json::text(&way.text)), ("checked", Json::Bool(way.checked))])
    });
    Json::Object(vec![
        ("requests", Json::texts(&explanation.requests)),
        ("headline", Json::text(&explanation.headline)),
        ("because", Json::list(explanation.because.iter().map(because_json))),
        ("waysOut", Json::list(ways)),
    ])
}

/// The depth of the tree is bounded by whoever explains.
fn because_json(step: &Because) -> Json {
    Json::Object(vec![
        ("kind", Json::text(step.kind.name())),
        ("text", Json::text(&step.text)),
        ("message", Json::text(&step.message)),
        ("operators", Json::list(step.operators.iter().map(operator_json))),
        ("because", Json::list(step.because.iter().map(because_json))),
    ])
}

fn operator_json(operator: &Operator) -> Json {
    let source = operator.source.as_ref();
    Json::Object(vec![
        ("name", Json::text(&operator.name)),
        ("package", Json::text(&operator.package)),
        ("version", Json::text(&operator.version)),
        ("channel", Json::text(&operator.channel)),
        ("catalog", Json::optional(source.map(|source| &source.name))),
        ("catalogNamespace", Json::optional(source.map(|source| &source.namespace))),
    ])
}
