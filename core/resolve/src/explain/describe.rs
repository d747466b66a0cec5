//! From derived reasons to steps in words.
//!
//! Reasons of one operator are phrases without a subject, so that versions that fail for the same
//! reason can share it; what must be there is said in whole sentences.

use operon_catalog::Package;
use operon_constraint::{Constraint, Requirement};

use super::fold::{fold_names, fold_operators, fold_versions};
use super::prove::{Cannot, Contradiction, Id, Known, Must, State, Value};
use super::{Because, BecauseKind};
use crate::conflict::{Fact, Operator};
use crate::universe::{Content, Universe};
use crate::words;

/// Chains longer than this are cut; nobody reads them.
const MAX_DEPTH: usize = 14;

/// Different reasons of versions of one list; more are counted.
const MAX_GROUPS: usize = 6;

/// Puts reasons into words.
pub(super) struct Describer<'d> {
    pub(super) universe: &'d Universe<'d>,
    pub(super) known: &'d Known<'d>,
}

impl Describer<'_> {
    fn operator(&self, id: Id) -> &Operator {
        self.known.operators[id]
    }

    fn name(&self, id: Id) -> String {
        self.operator(id).name.clone()
    }

    /// Says why each of these cannot be, versions with the same reason together.
    pub(super) fn groups(&self, state: &State, ids: &[Id], depth: usize) -> Vec<Because> {
        let mut groups: Vec<(Because, Vec<Id>)> = Vec::new();
        for &id in ids {
            let Some(cannot) = state.cannot(id) else { continue };
            let reason = self.reason(state, id, cannot, depth + 1);
            match groups.iter_mut().find(|(known, _)| same_reason(known, &reason)) {
                Some((_, members)) if members.contains(&id) => {}
                Some((_, members)) => members.push(id),
                None => groups.push((reason, vec![id])),
            }
        }
        let more = groups.len().saturating_sub(MAX_GROUPS);
        let mut described: Vec<Because> = groups
            .into_iter()
            .take(MAX_GROUPS)
            .map(|(reason, members)| self.versions(&members, reason))
            .collect();
        if more > 0 {
            described.push(step(
                BecauseKind::Versions,
                format!("{more} more groups of versions, each for a reason of its own"),
            ));
        }
        described
    }

    fn versions(&self, members: &[Id], reason: Because) -> Because {
        let operators: Vec<Operator> =
            members.iter().map(|&id| self.operator(id).clone()).collect();
        // A way of an operator is no operator; it is what the way needs that counts.
        if operators.iter().all(|operator| operator.way != 0) {
            return reason;
        }
        Because {
            kind: BecauseKind::Versions,
            text: fold_operators(&operators),
            message: String::new(),
            operators,
            because: vec![reason],
        }
    }

    /// Says why one operator cannot be there, as a phrase that follows its name.
    fn reason(&self, state: &State, id: Id, cannot: &Cannot, depth: usize) -> Because {
        if depth > MAX_DEPTH {
            return step(BecauseKind::Leads, "cannot be there for reasons further down".to_owned());
        }
        match cannot {
            Cannot::Unusable(number) => match self.known.unusable[*number].1 {
                Fact::Malformed { error, .. } => {
                    step(BecauseKind::Malformed, format!("cannot be used: {error}"))
                }
                _ => step(
                    BecauseKind::Deprecated,
                    "is marked as not to be installed (olm.deprecated)".to_owned(),
                ),
            },
            Cannot::Unmet(number) => {
                let need = &self.known.needs[*number];
                let because = if need.candidates.is_empty() {
                    vec![self.nothing(need.constraint)]
                } else {
                    self.groups(state, &need.candidates, depth)
                };
                Because { because, ..needs(need.constraint) }
            }
            Cannot::Rival { rivals, other } if *other == id => step(
                BecauseKind::Rival,
                format!("lists {} twice, so it stands in its own way", self.shared(*rivals)),
            ),
            Cannot::Rival { rivals, other } => {
                let both = match self.known.rivals[*rivals].fact {
                    Fact::OnePerPackage { .. } => {
                        format!("both are of {}", self.shared(*rivals))
                    }
                    _ => format!("both provide {}", self.shared(*rivals)),
                };
                let text = format!("cannot run beside {}: {both}", self.name(*other));
                let because = vec![self.given(state, *other, depth + 1)];
                Because { because, ..step(BecauseKind::Rival, text) }
            }
            Cannot::Update { other } => Because {
                because: vec![self.given(state, *other, depth + 1)],
                ..step(BecauseKind::Rival, format!("would take the place of {}", self.name(*other)))
            },
            Cannot::Excluded { exclusion } => {
                let exclusion = &self.known.excludes[*exclusion];
                let by = self.name(exclusion.operator);
                Because {
                    message: message(exclusion.constraint),
                    because: vec![self.given(state, exclusion.operator, depth + 1)],
                    ..step(BecauseKind::Excluded, format!("is excluded by {by}"))
                }
            }
            Cannot::Excludes { exclusion, other } => {
                let constraint = self.known.excludes[*exclusion].constraint;
                let because = if *other == id {
                    Vec::new()
                } else {
                    vec![self.given(state, *other, depth + 1)]
                };
                let own = if *other == id { ", and is that itself" } else { "" };
                let text = format!("must not run beside {}{own}", words::need(constraint));
                Because {
                    message: message(constraint),
                    because,
                    ..step(BecauseKind::Excluded, text)
                }
            }
            Cannot::Leads(supposition) => {
                let (supposed, contradiction) = supposition.as_ref();
                self.leads(supposed, id, contradiction, depth + 1)
            }
        }
    }

    fn shared(&self, rivals: usize) -> String {
        match self.known.rivals[rivals].fact {
            Fact::OnePerPackage { package, .. } => format!("package {package}"),
            Fact::OneProvider { api, .. } => format!("API {}", words::api(api)),
            _ => String::new(),
        }
    }

    /// Says what goes wrong when an operator is supposed.
    pub(super) fn leads(
        &self,
        state: &State,
        id: Id,
        contradiction: &Contradiction,
        depth: usize,
    ) -> Because {
        match contradiction {
            Contradiction::NoOption(number) => {
                let options = &self.known.options[*number];
                if let Some(step) = self.rival_of_all(state, id, *number) {
                    return step;
                }
                let because = self.groups(state, &options.operators, depth);
                let text = format!("would leave nothing for Subscription {}", options.request);
                Because { because, ..step(BecauseKind::Leads, text) }
            }
            Contradiction::Both { operator, cannot } if *operator == id => {
                self.reason(state, id, cannot, depth)
            }
            Contradiction::Both { operator, cannot } => {
                let reason = self.reason(state, *operator, cannot, depth);
                let text = format!(
                    "cannot be together with what is needed: {} {}",
                    self.name(*operator),
                    reason.text
                );
                let mut because = vec![self.given(state, *operator, depth + 1)];
                because.extend(reason.because);
                Because { because, message: reason.message, ..step(BecauseKind::Leads, text) }
            }
        }
    }

    /// Says that an operator may not run beside anything that a request can have, if one rule says so.
    fn rival_of_all(&self, state: &State, id: Id, number: usize) -> Option<Because> {
        let options = &self.known.options[number];
        let mut rule = None;
        for &option in &options.operators {
            match state.cannot(option) {
                Some(Cannot::Rival { rivals, other })
                    if *other == id && rule.is_none_or(|rule| rule == *rivals) =>
                {
                    rule = Some(*rivals);
                }
                _ => return None,
            }
        }
        let rule = rule?;
        let operators: Vec<Operator> =
            options.operators.iter().map(|&option| self.operator(option).clone()).collect();
        let both = match self.known.rivals[rule].fact {
            Fact::OnePerPackage { .. } => format!("both are of {}", self.shared(rule)),
            _ => format!("both provide {}", self.shared(rule)),
        };
        let given = Because {
            operators: operators.clone(),
            ..step(
                BecauseKind::Given,
                format!(
                    "Subscription {} can have only {}",
                    options.request,
                    fold_operators(&operators)
                ),
            )
        };
        let what = match fold_names(&operators) {
            1 => fold_operators(&operators),
            _ => format!("any of {}", fold_operators(&operators)),
        };
        Some(Because {
            because: vec![given],
            ..step(BecauseKind::Rival, format!("cannot run beside {what}: {both}"))
        })
    }

    /// Says why an operator must be there, as a sentence.
    fn given(&self, state: &State, id: Id, depth: usize) -> Because {
        let name = self.name(id);
        let sentence = |text: String| step(BecauseKind::Given, text);
        if depth > MAX_DEPTH {
            return sentence(format!("{name} must be there"));
        }
        match &state.values[id] {
            Value::Must(Must::Runs) => {
                sentence(format!("{name} runs here, and no Subscription refers to it"))
            }
            Value::Must(Must::Supposed) => sentence(format!("{name} is the one that is asked for")),
            Value::Must(Must::OnlyOption(number)) => {
                let options = &self.known.options[*number];
                let others = self.others(&options.operators, id);
                let request = options.request;
                let mut given = if self.operator(id).source.is_none() {
                    let stays = if others.is_empty() {
                        "which has no update to move to"
                    } else {
                        "and none of its updates is possible"
                    };
                    sentence(format!("{name} is installed by Subscription {request}, {stays}"))
                } else if others.is_empty() {
                    sentence(format!("Subscription {request} can only have {name}"))
                } else {
                    sentence(format!("Subscription {request} can have nothing but {name}"))
                };
                given.because = self.groups(state, &others, depth);
                given
            }
            Value::Must(Must::Needed(number)) => {
                let need = &self.known.needs[*number];
                let by = self.name(need.operator);
                let others = self.others(&need.candidates, id);
                let only = if others.is_empty() { "" } else { ", and nothing else can meet that" };
                let mut given =
                    sentence(format!("{by} needs {}{only}", words::need(need.constraint)));
                given.message = message(need.constraint);
                given.because = self.groups(state, &others, depth);
                if !matches!(state.values[need.operator], Value::Must(Must::Supposed)) {
                    given.because.push(self.given(state, need.operator, depth + 1));
                }
                given
            }
            Value::Open | Value::Cannot(_) => sentence(format!("{name} must be there")),
        }
    }

    /// Returns the operators of a list that are other bundles than this one.
    fn others(&self, ids: &[Id], id: Id) -> Vec<Id> {
        let is_other = |other: &Id| self.operator(*other).name != self.operator(id).name;
        ids.iter().copied().filter(is_other).collect()
    }

    /// Says that nothing meets a need, and what comes close.
    fn nothing(&self, constraint: &Constraint) -> Because {
        let catalogs = || {
            self.universe.sources.iter().filter_map(|source| match source.content {
                Content::Ready(catalog) => Some((&source.name, catalog)),
                Content::Unavailable(_) => None,
            })
        };
        let text = match &constraint.requirement {
            Requirement::Package { name, .. } => {
                let versions: Vec<String> = catalogs()
                    .filter_map(|(_, catalog)| catalog.package(name))
                    .flat_map(Package::bundles)
                    .map(|bundle| bundle.version_text().to_owned())
                    .collect();
                if versions.is_empty() {
                    format!("no visible catalog has a package {name}")
                } else {
                    let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
                    format!("the visible catalogs have {name} {} only", fold_versions(&versions))
                }
            }
            Requirement::Gvk(wanted) => {
                let mut others: Vec<String> = catalogs()
                    .flat_map(|(_, catalog)| catalog.apis())
                    .filter(|api| api.group() == wanted.group && api.kind() == wanted.kind)
                    .filter(|api| api.version() != wanted.version && api.providers().len() > 0)
                    .map(|api| api.version().to_owned())
                    .collect();
                others.sort();
                others.dedup();
                let skipped = catalogs()
                    .filter_map(|(_, catalog)| catalog.api(wanted))
                    .flat_map(|api| api.providers().map(|bundle| bundle.name().to_owned()))
                    .next();
                match (skipped, others.is_empty()) {
                    (Some(bundle), _) => format!(
                        "no bundle that its channel still offers provides it ({bundle} is skipped)"
                    ),
                    (None, true) => "nothing in the visible catalogs provides it".to_owned(),
                    (None, false) => format!(
                        "nothing in the visible catalogs provides that version of it, only {}",
                        others.join(", ")
                    ),
                }
            }
            Requirement::Label(_)
            | Requirement::Cel(_)
            | Requirement::All(_)
            | Requirement::Any(_)
            | Requirement::Not(_) => "nothing in the visible catalogs is like that".to_owned(),
        };
        step(BecauseKind::Nothing, text)
    }
}

fn needs(constraint: &Constraint) -> Because {
    Because {
        message: message(constraint),
        ..step(BecauseKind::Needs, format!("needs {}", words::need(constraint)))
    }
}

fn message(constraint: &Constraint) -> String {
    // A rule is called by its message already.
    match (&constraint.requirement, &constraint.failure_message) {
        (Requirement::Cel(_), _) | (_, None) => String::new(),
        (_, Some(message)) => message.clone(),
    }
}

pub(super) fn step(kind: BecauseKind, text: String) -> Because {
    Because { kind, text, message: String::new(), operators: Vec::new(), because: Vec::new() }
}

/// Compares reasons but not the operators they speak of.
fn same_reason(left: &Because, right: &Because) -> bool {
    left.kind == right.kind
        && left.text == right.text
        && left.message == right.message
        && left.because.len() == right.because.len()
        && left.because.iter().zip(&right.because).all(|(left, right)| same_reason(left, right))
}
