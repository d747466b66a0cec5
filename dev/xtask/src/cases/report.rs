//! What is printed: a table, the unstable cases, and the first differences in full.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{compare::Verdict, known::KnownDeviations};

/// How many differences are printed in full.
const SHOWN_DIFFERENCES: usize = 5;

/// The longest text of an answer that is printed.
const SHOWN_CHARACTERS: usize = 4000;

/// One case, compared.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) verdict: Verdict,
    /// The command that runs it again.
    pub(crate) replay: String,
    /// What upstream answered, where it was recorded.
    pub(crate) expected: Option<Value>,
    pub(crate) got: Value,
}

/// A file or directory of cases.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// Prints everything; returns whether no case deviates unexpectedly.
pub(crate) fn print(rows: &[Row], known: &KnownDeviations) -> bool {
    print!("{}", table(rows));
    print_unstable(rows);
    let deviating: Vec<&Case> =
        rows.iter().flat_map(|row| &row.cases).filter(|case| !case.verdict.agrees()).collect();
    let (expected, unexpected): (Vec<&Case>, Vec<&Case>) =
        deviating.into_iter().partition(|case| known.contains(&case.id));
    if !expected.is_empty() {
        println!("known deviations: {}", expected.len());
    }
    let deviating_ids: BTreeSet<&str> = expected.iter().map(|case| case.id.as_str()).collect();
    for id in known.ids().filter(|id| !deviating_ids.contains(id)) {
        println!("listed as a deviation, but agrees or is not among these cases: {id}");
    }
    for case in unexpected.iter().take(SHOWN_DIFFERENCES) {
        print_difference(case);
    }
    if unexpected.len() > SHOWN_DIFFERENCES {
        let ids: Vec<&str> =
            unexpected[SHOWN_DIFFERENCES..].iter().map(|case| case.id.as_str()).collect();
        println!("\n… and {} more: {}", ids.len(), ids.join(" "));
    }
    println!("{} unexpected deviations", unexpected.len());
    unexpected.is_empty()
}

/// Returns the table: how many cases of each file agree, part by part.
fn table(rows: &[Row]) -> String {
    let mut lines = vec![
        ["file", "cases", "compared", "outcome", "operators", "steps", "text"].map(str::to_owned),
    ];
    for row in rows {
        let is_compared = |case: &&Case| case.expected.is_some() && !case.verdict.is_unstable;
        let compared = row.cases.iter().filter(is_compared).count();
        let count = |part: fn(&Verdict) -> Option<bool>| {
            let results: Vec<bool> =
                row.cases.iter().filter_map(|case| part(&case.verdict)).collect();
            let agreeing = results.iter().filter(|&&agrees| agrees).count();
            format!("{agreeing} of {}", results.len())
        };
        let outcome = count(|verdict| verdict.outcome);
        lines.push([
            row.name.clone(),
            row.cases.len().to_string(),
            compared.to_string(),
            outcome,
            count(|verdict| verdict.operators),
            count(|verdict| verdict.steps),
            count(|verdict| verdict.text),
        ]);
    }
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}  "));
        text.push_str(cells.collect::<String>().trim_end());
        text.push('\n');
    }
    text
}

fn print_unstable(rows: &[Row]) {
    for row in rows {
        let unstable: Vec<&Case> =
            row.cases.iter().filter(|case| case.verdict.is_unstable).collect();
        if unstable.is_empty() {
            continue;
        }
        let others: Vec<&str> = unstable
            .iter()
            .filter(|case| !case.verdict.is_alternative)
            .map(|case| case.id.as_str())
            .collect();
        let equal = unstable.len() - others.len();
        print!(
            "{}: upstream is unstable on {}; we equal one of its answers on {equal}",
            row.name,
            unstable.len()
        );
        println!(
            "{}",
            if others.is_empty() {
                String::new()
            } else {
                format!(", not on {}", others.join(" "))
            }
        );
    }
}

fn print_difference(case: &Case) {
    println!("\n{}: {} differ", case.id, case.verdict.differences());
    if let Some(expected) = &case.expected {
        println!("  expected {}", shown(expected));
    }
    println!("  got      {}", shown(&case.got));
    println!("  replay   {}", case.replay);
}

/// Prints an answer without what is never compared.
fn shown(answer: &Value) -> String {
    let mut answer = answer.clone();
    if let Some(members) = answer.as_object_mut() {
        for name in ["timing", "determinism", "olm", "id", "namespace", "parts", "notices"] {
            members.remove(name);
        }
    }
    let text = answer.to_string();
    let mut shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(verdict: Verdict) -> Case {
        Case {
            id: "a".to_owned(),
            verdict,
            replay: String::new(),
            expected: Some(Value::Null),
            got: Value::Null,
        }
    }

    #[test]
    fn the_table_counts_part_by_part() {
        let stable =
            Verdict { operators: Some(true), steps: Some(false), ..Verdict::of_outcome(true) };
        let unstable = Verdict { is_unstable: true, ..Verdict::default() };
        let cases = vec![case(stable), case(Verdict::of_outcome(false)), case(unstable)];
        let rows = [Row { name: "tiny".to_owned(), cases }];
        let expected = "file  cases  compared  outcome  operators  steps   text\n\
                        tiny  3      2         1 of 2   1 of 1     0 of 1  0 of 0\n";
        assert_eq!(table(&rows), expected);
    }
}
