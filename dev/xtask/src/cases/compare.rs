//! One answer against what upstream answered: outcome, operators, steps and text.
//!
//! Only what upstream itself answers every time is compared strictly. For the rest it is counted
//! how often we give one of its answers.

use serde_json::Value;

/// What one comparison says; `None` where there is nothing to compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Whether upstream answers differently from run to run.
    pub(crate) is_unstable: bool,
    pub(crate) outcome: Option<bool>,
    pub(crate) operators: Option<bool>,
    pub(crate) steps: Option<bool>,
    pub(crate) text: Option<bool>,
    /// For an unstable case: whether our operators are those of one of upstream's answers.
    pub(crate) is_alternative: bool,
}

impl Verdict {
    /// Returns the verdict on an answer of which only the outcome counts.
    pub(crate) fn of_outcome(is_right: bool) -> Self {
        Self { outcome: Some(is_right), ..Self::default() }
    }

    /// Tells whether everything that was compared is the same.
    pub(crate) fn agrees(&self) -> bool {
        let parts = [self.outcome, self.operators, self.steps, self.text];
        !parts.contains(&Some(false))
    }

    /// Names what differs.
    pub(crate) fn differences(&self) -> String {
        let parts = [
            ("outcome", self.outcome),
            ("operators", self.operators),
            ("steps", self.steps),
            ("text", self.text),
        ];
        let differing = parts.iter().filter(|(_, part)| *part == Some(false));
        differing.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// Compares an answer with what upstream answered.
pub(crate) fn compare(expected: &Value, got: &Value) -> Verdict {
    let outcome = expected["outcome"] == got["outcome"];
    let determinism = &expected["determinism"];
    if determinism["stable"] == false {
        return Verdict {
            is_unstable: true,
            is_alternative: is_alternative(expected, got),
            ..Verdict::default()
        };
    }
    let mut verdict = Verdict::of_outcome(outcome);
    if !outcome {
        return verdict;
    }
    match expected["outcome"].as_str() {
        Some("resolved") => {
            verdict.operators = Some(list(expected, "operators") == list(got, "operators"));
            if let Some(steps) = expected.get("steps") {
                verdict.steps = Some(same_steps(steps, &got["steps"]));
            }
        }
        Some("unsat" | "error") if determinism["distinctErrors"] == 1 => {
            let is_same = |name: &str| expected[name] == got[name];
            let conflicts = list(expected, "conflicts") == list(got, "conflicts");
            verdict.text = Some(is_same("error") && conflicts);
        }
        // A catalog that is refused is refused in other words than upstream's.
        Some(_) | None => {}
    }
    verdict
}

/// Tells whether a line is an answer at all.
pub(crate) fn is_answer(got: &Value) -> bool {
    matches!(got["outcome"].as_str(), Some("resolved" | "unsat"))
}

fn is_alternative(expected: &Value, got: &Value) -> bool {
    let is_same = |alternative: &Value| {
        alternative["outcome"] == got["outcome"]
            && list(alternative, "operators") == list(got, "operators")
    };
    let alternatives = expected["determinism"]["alternatives"].as_array();
    is_same(expected) || alternatives.is_some_and(|list| list.iter().any(is_same))
}

/// Steps have no order upstream: what was recorded is sorted, but by a key of the recorder's.
fn same_steps(expected: &Value, got: &Value) -> bool {
    let sorted = |steps: &Value, part: &str| {
        let mut texts: Vec<String> = list(steps, part).iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    let parts = ["bundleLookups", "newSubscriptions", "updatedSubscriptions", "otherSteps"];
    parts.iter().all(|part| sorted(expected, part) == sorted(got, part))
}

/// Returns a list; an absent one and `null` are empty.
fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_upstream_answers_every_time_is_compared() {
        let stable = |mut value: Value, errors: u64| {
            value["determinism"] = json!({"stable": true, "distinctErrors": errors});
            value
        };
        let resolved = json!({"outcome": "resolved", "operators": [{"name": "a"}],
            "steps": {"bundleLookups": [{"path": "p"}], "newSubscriptions": []}});
        let other = json!({"outcome": "resolved", "operators": [{"name": "b"}]});
        let unsat = json!({"outcome": "unsat", "error": "x", "conflicts": ["y"]});
        let worded = json!({"outcome": "unsat", "error": "z", "conflicts": ["y"]});
        let two_steps =
            |paths: [&str; 2]| json!({"outcome": "resolved", "steps": {"bundleLookups": paths}});
        for (expected, got, differences) in [
            (stable(resolved.clone(), 0), &resolved, ""),
            (stable(resolved.clone(), 0), &other, "operators, steps"),
            (stable(other.clone(), 0), &resolved, "operators"),
            (stable(two_steps(["a", "b"]), 0), &two_steps(["b", "a"]), ""),
            (stable(two_steps(["a", "b"]), 0), &two_steps(["a", "a"]), "steps"),
            (stable(resolved.clone(), 0), &unsat, "outcome"),
            (stable(unsat.clone(), 1), &unsat, ""),
            (stable(unsat.clone(), 1), &worded, "text"),
            (stable(unsat.clone(), 2), &worded, ""),
            (
                stable(json!({"outcome": "resolved"}), 0),
                &json!({"outcome": "resolved", "operators": [], "steps": {}}),
                "",
            ),
            (
                json!({"outcome": "catalog-invalid", "error": "x"}),
                &json!({"outcome": "catalog-invalid", "error": "y"}),
                "",
            ),
        ] {
            let verdict = compare(&expected, got);
            assert_eq!(verdict.differences(), differences, "{expected} {got}");
            assert_eq!(verdict.agrees(), differences.is_empty());
        }
    }

    #[test]
    fn unstable_cases_never_fail_but_alternatives_are_counted() {
        let expected = json!({"outcome": "resolved", "operators": ["a"], "determinism": {
            "stable": false, "alternatives": [{"outcome": "resolved", "operators": ["b"]}]}});
        for (operator, is_alternative) in [("a", true), ("b", true), ("c", false)] {
            let verdict =
                compare(&expected, &json!({"outcome": "resolved", "operators": [operator]}));
            assert!(verdict.agrees() && verdict.is_unstable);
            assert_eq!(verdict.is_alternative, is_alternative);
        }
    }
}
