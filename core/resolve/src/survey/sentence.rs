//! Obstacles in words: phrases that follow the name of a bundle, on one line each.

use std::fmt;

use operon_constraint::{Constraint, Requirement};

use super::{Absence, Clause, Hindrance, Obstacle};
use crate::conflict::Operator;
use crate::explain::{fold_operators, fold_versions};

/// How many clauses of a contradiction are told; the others are counted.
const MAX_CLAUSES: usize = 8;

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Obstacle::Deprecated => {
                "is marked as one that must not be installed (olm.deprecated)".to_owned()
            }
            Obstacle::Malformed { error } => format!("has a malformed property: {error}"),
            Obstacle::ListedTwice { api } => {
                format!("provides API {api} twice, and so excludes itself")
            }
            Obstacle::ExcludesItself { excluded } => {
                format!("excludes {excluded}, and so itself")
            }
            Obstacle::Absent { need, absence } => absent(need, absence),
            Obstacle::Hindered { need, hindrances, more } => hindered(need, hindrances, *more),
            Obstacle::Stopped { operator, error } => format!(
                "leads to {}, which stops the whole namespace with a malformed property: {error}",
                operator.name
            ),
            Obstacle::Clash { operator, clauses } => clash(operator, clauses),
            Obstacle::Deeper => "cannot be installed either".to_owned(),
        };
        formatter.write_str(&text)
    }
}

fn absent(need: &Constraint, absence: &Absence) -> String {
    let needed = need.to_string();
    match absence {
        Absence::Api => format!("needs {needed}, which nothing here provides"),
        Absence::Package => format!("needs {needed}, and there is no such package here"),
        Absence::Versions(versions) => {
            let texts: Vec<&str> = versions.iter().map(String::as_str).collect();
            let verb = if texts.len() == 1 { "is" } else { "are" };
            format!("needs {needed}, and only {} {verb} here", fold_versions(&texts))
        }
        Absence::NotOffered(names) => {
            format!("needs {needed}, and no channel offers {}", names.join(", "))
        }
        Absence::Nothing => format!("needs {needed}, and there is none here"),
    }
}

fn hindered(need: &Constraint, hindrances: &[Hindrance], more: usize) -> String {
    let needed = need.to_string();
    match hindrances {
        [] => format!("needs {needed}, which cannot be installed either"),
        [only] if more == 0 && !only.package.is_empty() => {
            let subject = match &need.requirement {
                Requirement::Gvk(_) => format!("whose provider {}", only.package),
                Requirement::Package { .. } => "which".to_owned(),
                Requirement::Label(_)
                | Requirement::Cel(_)
                | Requirement::All(_)
                | Requirement::Any(_)
                | Requirement::Not(_) => format!("for which only {} would do, which", only.package),
            };
            format!("needs {needed}, {subject} {}", only.obstacle)
        }
        several => {
            let mut told: Vec<String> = several
                .iter()
                .map(|hindrance| match hindrance.package.as_str() {
                    "" => format!("one way {}", hindrance.obstacle),
                    package => format!("{package} {}", hindrance.obstacle),
                })
                .collect();
            if more > 0 {
                told.push(format!("nor can {more} more packages be installed"));
            }
            format!("needs {needed}, but {}", told.join("; "))
        }
    }
}

/// Tells what cannot hold together; bundles of the package itself are called `it`.
fn clash(operator: &Operator, clauses: &[Clause]) -> String {
    if clauses.is_empty() {
        return "brings with it what cannot be together".to_owned();
    }
    let mut told: Vec<String> = clauses
        .iter()
        .take(MAX_CLAUSES)
        .map(|clause| match clause.operators() {
            [] => clause.phrase(),
            [first, ..] if first.package == operator.package => format!("it {}", clause.phrase()),
            several => format!("{} {}", fold_operators(several), clause.phrase()),
        })
        .collect();
    if clauses.len() > MAX_CLAUSES {
        told.push(format!("{} more reasons", clauses.len() - MAX_CLAUSES));
    }
    format!("cannot be together with what it needs: {}", told.join("; "))
}
