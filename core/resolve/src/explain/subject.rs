//! What a conflict is about, and the sentence that says it.

use super::describe::{Describer, Proved, step};
use super::fold::fold_names;
use super::known::Known;
use super::not_found;
use super::prove::{Contradiction, Derivation, Proof, State, Value, rests_on_others};
use super::{Because, BecauseKind};
use crate::budget::Budget;
use crate::conflict::{Conflict, Fact, Operator};
use crate::universe::{Request, Universe};

/// Returns the sentence that a person needs and the chain of reasons.
pub(super) fn tell(
    universe: &Universe<'_>,
    requests: &[Request],
    conflict: &Conflict,
    budget: &mut Budget,
) -> (String, Vec<Because>) {
    for fact in &conflict.facts {
        if let Fact::NotFound { request, missing } = fact {
            let text = not_found::tell(universe, requests, request, missing);
            return (text.clone(), vec![step(BecauseKind::NotFound, text)]);
        }
    }
    let known = Known::new(conflict);
    let mut proof = Proof::new(&known, budget);
    if known.options.is_empty() {
        return freestanding(universe, &known, &mut proof);
    }
    for subject in by_preference(&known) {
        if let Some((headline, because)) = about(universe, &known, subject, &mut proof)
            && count(&because) <= MAX_STEPS_TOLD
        {
            return (headline, because);
        }
    }
    together(&known)
}

/// A chain with more steps than this explains nothing; then the facts are told side by side.
const MAX_STEPS_TOLD: usize = 150;

/// Counts the steps of trees, without recursion.
fn count(because: &[Because]) -> usize {
    let mut open: Vec<&Because> = because.iter().collect();
    let mut steps = 0;
    while let Some(step) = open.pop() {
        steps += 1;
        open.extend(&step.because);
    }
    steps
}

/// Requests for something new come first: what runs was there before.
fn by_preference(known: &Known<'_>) -> Vec<usize> {
    let is_installed = |number: &usize| {
        let operators = &known.options[*number].operators;
        operators.iter().any(|&id| known.operators[id].source.is_none())
    };
    let mut order: Vec<usize> = (0..known.options.len()).collect();
    order.sort_by_key(is_installed);
    order
}

/// Explains a conflict from the point of view of one request, if simple steps can.
fn about(
    universe: &Universe<'_>,
    known: &Known<'_>,
    subject: usize,
    proof: &mut Proof<'_>,
) -> Option<(String, Vec<Because>)> {
    let others: Vec<usize> = (0..known.options.len()).filter(|&other| other != subject).collect();
    if !proof.spend(known.operators.len() + others.len()) {
        return None;
    }
    let (mut derivation, contradiction) = Derivation::new(known, &others, proof);
    if contradiction.is_some() {
        return None;
    }
    let options = &known.options[subject];
    for &id in &options.operators {
        if derivation.state.cannot(id).is_some() {
            continue;
        }
        let (supposed, contradiction) = derivation.suppose(id, proof)?;
        let cannot = match contradiction {
            // What is wrong with the option itself needs no supposition, unless it rests on one.
            Contradiction::Both { operator, cannot }
                if operator as usize == id && !rests_on_others(cannot) =>
            {
                copy_derived(&mut derivation, &supposed);
                cannot
            }
            other => proof.keep(supposed, other)?,
        };
        derivation.set(id, Value::Cannot(cannot));
    }
    let describer = Describer::new(universe, known);
    let proved = Proved { suppositions: &proof.suppositions, state: &derivation.state };
    let because = describer.groups(proved, &options.operators, 0);
    if describer.is_spent() {
        return None;
    }
    let is_new = options.operators.iter().all(|&id| known.operators[id].source.is_some());
    let subject = if is_new {
        format!("{} cannot be installed", options.package)
    } else {
        format!("{} cannot be kept working", options.package)
    };
    Some((headline(&subject, &because), because))
}

/// What was derived on the way to a contradiction explains it.
fn copy_derived(derivation: &mut Derivation<'_, '_>, supposed: &State) {
    for (id, &derived) in supposed.values.iter().enumerate() {
        let is_open = matches!(derivation.state.values[id], Value::Open);
        if is_open && matches!(derived, Value::Cannot(_)) {
            derivation.set(id, derived);
        }
    }
}

/// Explains operators that no request refers to and that cannot work, alone or together.
fn freestanding(
    universe: &Universe<'_>,
    known: &Known<'_>,
    proof: &mut Proof<'_>,
) -> (String, Vec<Because>) {
    let (derivation, contradiction) = Derivation::new(known, &[], proof);
    let Some(Contradiction::Both { operator, cannot }) = contradiction else {
        return together(known);
    };
    let operator = operator as usize;
    let mut broken = derivation.state;
    broken.values[operator] = Value::Cannot(cannot);
    let describer = Describer::new(universe, known);
    let proved = Proved { suppositions: &proof.suppositions, state: &broken };
    let because = describer.groups(proved, &[operator], 0);
    if describer.is_spent() {
        return together(known);
    }
    let name = &known.operators[operator].name;
    let subject = format!("{name} runs here without a Subscription and cannot work");
    (headline(&subject, &because), because)
}

/// How many facts are listed side by side; more are only counted.
const MAX_FACTS_LISTED: usize = MAX_STEPS_TOLD;

/// How many Subscriptions a sentence names before it only counts the rest.
const MAX_REQUESTS_NAMED: usize = 10;

/// Lists what cannot hold together where no single request is to blame.
fn together(known: &Known<'_>) -> (String, Vec<Because>) {
    let facts = known.options.len() + known.needs.len() + known.rivals.len();
    let options = known.options.iter().map(|options| {
        let operators = named(known, &options.operators);
        let text = format!(
            "Subscription {} wants one of {}",
            options.request,
            super::fold_operators(&operators)
        );
        Because { operators, ..step(BecauseKind::Together, text) }
    });
    let needs = known.needs.iter().map(|need| {
        let candidates = named(known, &need.candidates);
        let text = format!(
            "{} needs {}, which {} would meet",
            known.operators[need.operator].name,
            need.constraint,
            super::fold_operators(&candidates)
        );
        Because { operators: candidates, ..step(BecauseKind::Together, text) }
    });
    let rivals = known.rivals.iter().map(|rivals| {
        let operators = named(known, &rivals.members);
        let text = match rivals.fact {
            Fact::OneProvider { api, .. } => format!(
                "only one of them may provide API {}: {}",
                api,
                super::fold_operators(&operators)
            ),
            _ => format!("only one of {} may run", super::fold_operators(&operators)),
        };
        Because { operators, ..step(BecauseKind::Together, text) }
    });
    let mut because: Vec<Because> =
        options.chain(needs).chain(rivals).take(MAX_FACTS_LISTED).collect();
    if facts > MAX_FACTS_LISTED {
        let text = format!("{} more facts are not listed", facts - MAX_FACTS_LISTED);
        because.push(step(BecauseKind::Together, text));
    }
    let mut names: Vec<String> =
        known.options.iter().map(|options| options.request.to_owned()).collect();
    if names.len() > MAX_REQUESTS_NAMED {
        let more = names.len() - MAX_REQUESTS_NAMED;
        names.truncate(MAX_REQUESTS_NAMED);
        names.push(format!("{more} more"));
    }
    let headline = match names.as_slice() {
        [] => "the operators that run here cannot work together".to_owned(),
        [only] => format!("Subscription {only} cannot be fulfilled, whichever version is taken"),
        [rest @ .., last] => format!(
            "the Subscriptions {} and {last} cannot all be fulfilled, whichever versions are taken",
            rest.join(", ")
        ),
    };
    (headline, because)
}

fn named(known: &Known<'_>, ids: &[usize]) -> Vec<Operator> {
    ids.iter().map(|&id| known.operators[id].clone()).collect()
}

/// How many steps of the chain the first sentence goes down.
const HEADLINE_STEPS: usize = 5;

/// Tells the main chain in one sentence.
fn headline(subject: &str, because: &[Because]) -> String {
    let mut text = format!("{subject}: ");
    let Some(first) = because.first() else { return subject.to_owned() };
    let mut current = first;
    let mut is_first = true;
    for _ in 0..HEADLINE_STEPS {
        match current.kind {
            BecauseKind::Versions => {
                let Some(reason) = current.because.first() else { break };
                let many = fold_names(&current.operators) > 1;
                let cannot = reason.text.strip_prefix("cannot ").filter(|_| many);
                // Where versions fail for different reasons, the first ones are named.
                let is_whole = is_first && because.len() == 1;
                if is_first && !is_whole {
                    text.push_str(match (many, cannot) {
                        (false, _) => "",
                        (true, None) => "each of ",
                        (true, Some(_)) => "none of ",
                    });
                }
                let who = match (is_first, many, cannot.is_some()) {
                    (true, _, _) if !is_whole => current.text.clone(),
                    (true, false, _) => "it".to_owned(),
                    (true, true, false) => "every version of it".to_owned(),
                    (true, true, true) => "no version of it".to_owned(),
                    (false, false, _) => format!(", and {}", current.text),
                    (false, true, false) => format!(", and each of {}", current.text),
                    (false, true, true) => format!(", and none of {}", current.text),
                };
                match cannot {
                    Some(rest) => text.push_str(&format!("{who} can {rest}")),
                    None => text.push_str(&format!("{who} {}", reason.text)),
                }
                is_first = false;
                current = reason;
            }
            BecauseKind::Given | BecauseKind::Nothing | BecauseKind::Together => {
                text.push_str(&format!(", but {}", current.text));
            }
            BecauseKind::Needs
            | BecauseKind::Excluded
            | BecauseKind::Rival
            | BecauseKind::Deprecated
            | BecauseKind::Malformed
            | BecauseKind::NotFound
            | BecauseKind::Leads => {
                if is_first {
                    text.push_str(&format!("it {}", current.text));
                    is_first = false;
                }
            }
        }
        match current.because.first() {
            Some(next) if current.kind != BecauseKind::Given => current = next,
            Some(_) | None => break,
        }
    }
    if because.len() > 1 {
        text.push_str("; other versions fail for other reasons");
    }
    text
}
