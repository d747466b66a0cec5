//! From derived reasons to steps in words.
//!
//! Reasons of one operator are phrases without a subject, so that versions that fail for the same
//! reason can share it; what must be there is said in whole sentences.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use operon_catalog::Package;
use operon_constraint::{Constraint, Requirement};

use super::fold::{fold_names, fold_operators, fold_versions};
use super::known::{Id, Known};
use super::prove::{Cannot, Contradiction, Must, State, Suppositions, Value};
use super::{Because, BecauseKind};
use crate::conflict::{Fact, Operator};
use crate::universe::{Content, Universe};

/// Chains longer than this are cut; nobody reads them.
const MAX_DEPTH: usize = 14;

/// Different reasons of versions of one list; more are counted.
const MAX_GROUPS: usize = 6;

/// Limits the bytes of the steps that describing one conflict may create, counted without giving
/// any back. Reasons are shared in a proof and repeated in words, so a small proof can be a huge
/// tree; a tree that anyone reads takes some ten thousand bytes.
const MAX_DESCRIBED_BYTES: usize = 16 * 1024 * 1024;

/// Puts reasons into words.
pub(super) struct Describer<'d> {
    universe: &'d Universe<'d>,
    pub(super) known: &'d Known<'d>,
    bytes_left: Cell<usize>,
}

/// What was proved, and the state that is spoken of.
#[derive(Clone, Copy)]
pub(super) struct Proved<'p> {
    pub(super) suppositions: &'p Suppositions,
    pub(super) state: &'p State,
}

impl<'d> Describer<'d> {
    pub(super) fn new(universe: &'d Universe<'d>, known: &'d Known<'d>) -> Self {
        Self { universe, known, bytes_left: Cell::new(MAX_DESCRIBED_BYTES) }
    }

    /// Returns `true` if so much was described that the last steps are missing.
    pub(super) fn is_spent(&self) -> bool {
        self.bytes_left.get() == 0
    }

    fn charge(&self, step: &Because) {
        let operators: usize = step.operators.iter().map(bytes_of).sum();
        let bytes = size_of::<Because>() + step.text.len() + step.message.len() + operators;
        self.bytes_left.set(self.bytes_left.get().saturating_sub(bytes));
    }

    fn operator(&self, id: Id) -> &Operator {
        self.known.operators[id]
    }

    fn name(&self, id: Id) -> String {
        self.operator(id).name.clone()
    }

    /// Says why each of these cannot be, versions with the same reason together.
    pub(super) fn groups(&self, proved: Proved<'_>, ids: &[Id], depth: usize) -> Vec<Because> {
        let mut groups: Vec<(Because, Vec<Id>)> = Vec::new();
        // Reasons that begin with the same words, by these words.
        let mut similar: HashMap<String, Vec<usize>> = HashMap::new();
        let mut seen: HashSet<Id> = HashSet::new();
        for &id in ids {
            let Some(cannot) = proved.state.cannot(id) else { continue };
            if !seen.insert(id) {
                continue;
            }
            let reason = self.reason(proved, id, cannot, depth + 1);
            let alike = similar.entry(reason.text.clone()).or_default();
            match alike.iter().find(|&&number| same_reason(&groups[number].0, &reason)) {
                Some(&number) => groups[number].1.push(id),
                None => {
                    alike.push(groups.len());
                    groups.push((reason, vec![id]));
                }
            }
            if self.is_spent() {
                break;
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
        let versions = Because {
            kind: BecauseKind::Versions,
            text: fold_operators(&operators),
            message: String::new(),
            operators,
            because: vec![reason],
        };
        self.charge(&versions);
        versions
    }

    /// Says why one operator cannot be there, as a phrase that follows its name.
    fn reason(&self, proved: Proved<'_>, id: Id, cannot: Cannot, depth: usize) -> Because {
        if depth > MAX_DEPTH || self.is_spent() {
            return step(BecauseKind::Leads, "cannot be there for reasons further down".to_owned());
        }
        let reason = self.reason_of(proved, id, cannot, depth);
        self.charge(&reason);
        reason
    }

    fn reason_of(&self, proved: Proved<'_>, id: Id, cannot: Cannot, depth: usize) -> Because {
        match cannot {
            Cannot::Unusable(number) => match self.known.unusable[number as usize].1 {
                Fact::Malformed { error, .. } => {
                    step(BecauseKind::Malformed, format!("cannot be used: {error}"))
                }
                _ => step(
                    BecauseKind::Deprecated,
                    "is marked as not to be installed (olm.deprecated)".to_owned(),
                ),
            },
            Cannot::Unmet(number) => {
                let need = &self.known.needs[number as usize];
                let because = if need.candidates.is_empty() {
                    vec![self.nothing(need.constraint)]
                } else {
                    self.groups(proved, &need.candidates, depth)
                };
                Because { because, ..needs(need.constraint) }
            }
            Cannot::Rival { rivals, other } if other as Id == id => step(
                BecauseKind::Rival,
                format!("lists {} twice, so it stands in its own way", self.shared(rivals)),
            ),
            Cannot::Rival { rivals, other } => {
                let both = match self.known.rivals[rivals as usize].fact {
                    Fact::OnePerPackage { .. } => {
                        format!("both are of {}", self.shared(rivals))
                    }
                    _ => format!("both provide {}", self.shared(rivals)),
                };
                let text = format!("cannot run beside {}: {both}", self.name(other as Id));
                let because = vec![self.given(proved, other as Id, depth + 1)];
                Because { because, ..step(BecauseKind::Rival, text) }
            }
            Cannot::Update { other } => Because {
                because: vec![self.given(proved, other as Id, depth + 1)],
                ..step(
                    BecauseKind::Rival,
                    format!("would take the place of {}", self.name(other as Id)),
                )
            },
            Cannot::Excluded { exclusion } => {
                let exclusion = &self.known.excludes[exclusion as usize];
                let by = self.name(exclusion.operator);
                Because {
                    message: message(exclusion.constraint),
                    because: vec![self.given(proved, exclusion.operator, depth + 1)],
                    ..step(BecauseKind::Excluded, format!("is excluded by {by}"))
                }
            }
            Cannot::Excludes { exclusion, other } => {
                let constraint = self.known.excludes[exclusion as usize].constraint;
                let is_own = other as Id == id;
                let because = if is_own {
                    Vec::new()
                } else {
                    vec![self.given(proved, other as Id, depth + 1)]
                };
                let own = if is_own { ", and is that itself" } else { "" };
                let text = format!("must not run beside {constraint}{own}");
                Because {
                    message: message(constraint),
                    because,
                    ..step(BecauseKind::Excluded, text)
                }
            }
            Cannot::Leads(supposition) => {
                let (supposed, contradiction) = proved.suppositions.get(supposition);
                let proved = Proved { state: supposed, ..proved };
                self.leads(proved, id, *contradiction, depth + 1)
            }
        }
    }

    fn shared(&self, rivals: u32) -> String {
        match self.known.rivals[rivals as usize].fact {
            Fact::OnePerPackage { package, .. } => format!("package {package}"),
            Fact::OneProvider { api, .. } => format!("API {api}"),
            _ => String::new(),
        }
    }

    /// Says what goes wrong when an operator is supposed.
    fn leads(
        &self,
        proved: Proved<'_>,
        id: Id,
        contradiction: Contradiction,
        depth: usize,
    ) -> Because {
        match contradiction {
            Contradiction::NoOption(number) => {
                let options = &self.known.options[number as usize];
                if let Some(step) = self.rival_of_all(proved.state, id, number) {
                    return step;
                }
                let because = self.groups(proved, &options.operators, depth);
                let text = format!("would leave nothing for Subscription {}", options.request);
                Because { because, ..step(BecauseKind::Leads, text) }
            }
            Contradiction::Both { operator, cannot } if operator as Id == id => {
                self.reason(proved, id, cannot, depth)
            }
            Contradiction::Both { operator, cannot } => {
                let operator = operator as Id;
                let reason = self.reason(proved, operator, cannot, depth);
                let text = format!(
                    "cannot be together with what is needed: {} {}",
                    self.name(operator),
                    reason.text
                );
                let mut because = vec![self.given(proved, operator, depth + 1)];
                because.extend(reason.because);
                Because { because, message: reason.message, ..step(BecauseKind::Leads, text) }
            }
        }
    }

    /// Says that an operator may not run beside anything that a request can have, if one rule says so.
    fn rival_of_all(&self, state: &State, id: Id, number: u32) -> Option<Because> {
        let options = &self.known.options[number as usize];
        let mut rule = None;
        for &option in &options.operators {
            match state.cannot(option) {
                Some(Cannot::Rival { rivals, other })
                    if other as Id == id && rule.is_none_or(|rule| rule == rivals) =>
                {
                    rule = Some(rivals);
                }
                _ => return None,
            }
        }
        let rule = rule?;
        let operators: Vec<Operator> =
            options.operators.iter().map(|&option| self.operator(option).clone()).collect();
        let both = match self.known.rivals[rule as usize].fact {
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
    fn given(&self, proved: Proved<'_>, id: Id, depth: usize) -> Because {
        if depth > MAX_DEPTH || self.is_spent() {
            return step(BecauseKind::Given, format!("{} must be there", self.name(id)));
        }
        let given = self.given_by(proved, id, depth);
        self.charge(&given);
        given
    }

    fn given_by(&self, proved: Proved<'_>, id: Id, depth: usize) -> Because {
        let name = self.name(id);
        let sentence = |text: String| step(BecauseKind::Given, text);
        match proved.state.values[id] {
            Value::Must(Must::Runs) => {
                sentence(format!("{name} runs here, and no Subscription refers to it"))
            }
            Value::Must(Must::Supposed) => sentence(format!("{name} is the one that is asked for")),
            Value::Must(Must::OnlyOption(number)) => {
                let options = &self.known.options[number as usize];
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
                given.because = self.groups(proved, &others, depth);
                given
            }
            Value::Must(Must::Needed(number)) => {
                let need = &self.known.needs[number as usize];
                let by = self.name(need.operator);
                let others = self.others(&need.candidates, id);
                let only = if others.is_empty() { "" } else { ", and nothing else can meet that" };
                let mut given = sentence(format!("{by} needs {}{only}", need.constraint));
                given.message = message(need.constraint);
                given.because = self.groups(proved, &others, depth);
                if !matches!(proved.state.values[need.operator], Value::Must(Must::Supposed)) {
                    given.because.push(self.given(proved, need.operator, depth + 1));
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
                    .flat_map(|(_, catalog)| catalog.api_versions(&wanted.group, &wanted.kind))
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
        ..step(BecauseKind::Needs, format!("needs {constraint}"))
    }
}

fn message(constraint: &Constraint) -> String {
    // A rule is called by its message already.
    match (&constraint.requirement, &constraint.failure_message) {
        (Requirement::Cel(_), _) | (_, None) => String::new(),
        (_, Some(message)) => message.clone(),
    }
}

/// Returns the bytes of an operator with its texts.
fn bytes_of(operator: &Operator) -> usize {
    let Operator { package, channel, name, version, .. } = operator;
    size_of::<Operator>() + package.len() + channel.len() + name.len() + version.len()
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
