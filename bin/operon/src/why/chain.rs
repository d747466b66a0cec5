//! The chain from an operator up to what people asked for.
//!
//! How an operator was chosen among others is not told here.

use std::collections::{BTreeSet, VecDeque};

use operon_resolve::Reason;

use super::label;
use crate::plan::{PlanView, Row};

/// How many operators of a chain are told about; longer ones are cut with a sentence that says so.
const MAX_TOLD_OPERATORS: usize = 50;

/// Tells why an operator is here, then why those are here that need it, up to Subscriptions.
pub(super) fn sentences(plan: &PlanView, row: &Row, subscribed: &[String]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::from([row.name.as_str()]);
    let mut open: VecDeque<&Row> = VecDeque::from([row]);
    while let Some(row) = open.pop_front() {
        if seen.len() > MAX_TOLD_OPERATORS {
            sentences.push("The chain goes on; ask for one of its operators.".to_owned());
            break;
        }
        if row.reasons.is_empty() {
            sentences.push(format!("{} is here, and no reason is noted.", label(row)));
        }
        for (position, reason) in row.reasons.iter().enumerate() {
            let start = match position {
                0 => format!("{} is here because", label(row)),
                _ => "It is also here because".to_owned(),
            };
            sentences.push(format!("{start} {}.", because(plan, reason, subscribed)));
            let Reason::Needed { by, .. } = reason else { continue };
            // Whoever is asked for by a Subscription needs no sentence of its own.
            let next = plan.rows.iter().find(|row| row.name == *by);
            if let Some(next) = next.filter(|next| requested_by(next).is_none())
                && seen.insert(&next.name)
            {
                open.push_back(next);
            }
        }
    }
    sentences
}

fn because(plan: &PlanView, reason: &Reason, subscribed: &[String]) -> String {
    match reason {
        Reason::Requested(name) if subscribed.contains(name) => "you subscribe to it".to_owned(),
        Reason::Requested(name) => format!("Subscription {name} asks for it"),
        Reason::Freestanding => {
            "it runs and no Subscription refers to it, so it is left as it is".to_owned()
        }
        Reason::Needed { by, requirement, message } => {
            let needing = plan.rows.iter().find(|row| row.name == *by);
            let who = needing.map_or_else(|| by.clone(), label);
            let asked = match needing.and_then(requested_by) {
                Some(name) if subscribed.iter().any(|known| known == name) => {
                    ", which you subscribe to,".to_owned()
                }
                Some(name) => format!(", which Subscription {name} asks for,"),
                None => String::new(),
            };
            let mut text = format!("{who}{asked} needs {requirement}");
            if !message.is_empty() && !requirement.contains(message.as_str()) {
                text += &format!(" (\"{message}\")");
            }
            text
        }
    }
}

fn requested_by(row: &Row) -> Option<&str> {
    row.reasons.iter().find_map(|reason| match reason {
        Reason::Requested(name) => Some(name.as_str()),
        Reason::Freestanding | Reason::Needed { .. } => None,
    })
}
