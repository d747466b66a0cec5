//! What a conflict is about, and the sentence that says it.

use super::describe::{Describer, step};
use super::fold::fold_names;
use super::not_found;
use super::prove::{Cannot, Contradiction, Known, Probes, State, Value};
use super::{Because, BecauseKind};
use crate::conflict::{Conflict, Fact};
use crate::universe::{Request, Universe};

/// Returns the sentence that a person needs and the chain of reasons.
pub(super) fn tell(
    universe: &Universe<'_>,
    requests: &[Request],
    conflict: &Conflict,
) -> (String, Vec<Because>) {
    for fact in &conflict.facts {
        if let Fact::NotFound { request, missing } = fact {
            let text = not_found::tell(universe, requests, request, missing);
            return (text.clone(), vec![step(BecauseKind::NotFound, text)]);
        }
    }
    let known = Known::new(conflict);
    let describer = Describer { universe, known: &known };
    if known.options.is_empty() {
        return freestanding(&describer);
    }
    let mut probes = Probes::new(&known);
    for subject in by_preference(&known) {
        if let Some((headline, because)) = about(&describer, subject, &mut probes)
            && count(&because) <= MAX_STEPS_TOLD
        {
            return (headline, because);
        }
    }
    together(&describer)
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

/// Tells a conflict from the point of view of one request, if simple steps can.
fn about(
    describer: &Describer<'_>,
    subject: usize,
    probes: &mut Probes,
) -> Option<(String, Vec<Because>)> {
    let known = describer.known;
    let others: Vec<usize> = (0..known.options.len()).filter(|&other| other != subject).collect();
    let (mut state, contradiction) = known.derive(&others);
    if contradiction.is_some() {
        return None;
    }
    let options = &known.options[subject];
    for &id in &options.operators {
        if state.cannot(id).is_some() {
            continue;
        }
        let (supposed, contradiction) = known.suppose(&state, id, &others, probes)?;
        let cannot = match contradiction {
            // What is wrong with the option itself needs no supposition, unless it rests on one.
            Contradiction::Both { operator, cannot } if operator == id && !rests_on(&cannot) => {
                copy_derived(&mut state, &supposed);
                cannot
            }
            other => Cannot::Leads(Box::new((supposed, other))),
        };
        state.values[id] = Value::Cannot(cannot);
    }
    let because = describer.groups(&state, &options.operators, 0);
    let is_new = options.operators.iter().all(|&id| known.operators[id].source.is_some());
    let subject = if is_new {
        format!("{} cannot be installed", options.package)
    } else {
        format!("{} cannot be kept working", options.package)
    };
    Some((headline(&subject, &because), because))
}

fn rests_on(cannot: &Cannot) -> bool {
    match cannot {
        Cannot::Unmet(_) | Cannot::Leads(_) => true,
        Cannot::Unusable(_)
        | Cannot::Rival { .. }
        | Cannot::Update { .. }
        | Cannot::Excluded { .. }
        | Cannot::Excludes { .. } => false,
    }
}

/// What was derived on the way to a contradiction explains it.
fn copy_derived(state: &mut State, supposed: &State) {
    for (value, derived) in state.values.iter_mut().zip(&supposed.values) {
        if matches!(value, Value::Open) && matches!(derived, Value::Must(_)) {
            continue;
        }
        if matches!(value, Value::Open) {
            *value = derived.clone();
        }
    }
}

/// Operators that no request refers to are in each other's way, or need what is not there.
fn freestanding(describer: &Describer<'_>) -> (String, Vec<Because>) {
    let (state, contradiction) = describer.known.derive(&[]);
    match contradiction {
        Some(Contradiction::Both { operator, cannot }) => {
            let mut broken = state;
            broken.values[operator] = Value::Cannot(cannot);
            let because = describer.groups(&broken, &[operator], 0);
            let name = &describer.known.operators[operator].name;
            let subject = format!("{name} runs here without a Subscription and cannot work");
            (headline(&subject, &because), because)
        }
        Some(Contradiction::NoOption(_)) | None => together(describer),
    }
}

/// Lists what cannot hold together where no single request is to blame.
fn together(describer: &Describer<'_>) -> (String, Vec<Because>) {
    let known = describer.known;
    let mut because = Vec::new();
    for options in &known.options {
        let operators: Vec<_> =
            options.operators.iter().map(|&id| known.operators[id].clone()).collect();
        because.push(Because {
            operators: operators.clone(),
            ..step(
                BecauseKind::Together,
                format!(
                    "Subscription {} wants one of {}",
                    options.request,
                    super::fold_operators(&operators)
                ),
            )
        });
    }
    for need in &known.needs {
        let candidates: Vec<_> =
            need.candidates.iter().map(|&id| known.operators[id].clone()).collect();
        let text = format!(
            "{} needs {}, which {} would meet",
            known.operators[need.operator].name,
            crate::words::need(need.constraint),
            super::fold_operators(&candidates)
        );
        because.push(Because { operators: candidates, ..step(BecauseKind::Together, text) });
    }
    for rivals in &known.rivals {
        let operators: Vec<_> =
            rivals.members.iter().map(|&id| known.operators[id].clone()).collect();
        let text = match rivals.fact {
            Fact::OneProvider { api, .. } => format!(
                "only one of them may provide API {}: {}",
                crate::words::api(api),
                super::fold_operators(&operators)
            ),
            _ => format!("only one of {} may run", super::fold_operators(&operators)),
        };
        because.push(Because { operators, ..step(BecauseKind::Together, text) });
    }
    let names: Vec<&str> = known.options.iter().map(|options| options.request).collect();
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
