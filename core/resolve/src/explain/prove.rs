//! Derives from the facts of a conflict what must be there and what cannot be, with reasons.
//!
//! A conflict has few facts, so this is done again and again with plain loops: the reasons matter
//! here, not the speed. What simple steps cannot derive is left open.

use std::collections::BTreeMap;

use operon_constraint::Constraint;

use crate::conflict::{Conflict, Fact, Operator};

/// An operator of a conflict, or a way of one.
pub(super) type Id = usize;

/// The facts of a conflict with operators as numbers.
#[derive(Debug, Default)]
pub(super) struct Known<'c> {
    numbers: BTreeMap<&'c Operator, Id>,
    pub(super) operators: Vec<&'c Operator>,
    pub(super) wanted: Vec<&'c str>,
    pub(super) options: Vec<Options<'c>>,
    pub(super) needs: Vec<Need<'c>>,
    pub(super) rivals: Vec<Rivals<'c>>,
    pub(super) updates: Vec<(Id, Id)>,
    pub(super) excludes: Vec<Exclusion<'c>>,
    pub(super) freestanding: Vec<Id>,
    pub(super) unusable: Vec<(Id, &'c Fact)>,
}

#[derive(Debug)]
pub(super) struct Options<'c> {
    pub(super) request: &'c str,
    pub(super) package: &'c str,
    pub(super) operators: Vec<Id>,
}

#[derive(Debug)]
pub(super) struct Need<'c> {
    pub(super) operator: Id,
    pub(super) constraint: &'c Constraint,
    pub(super) candidates: Vec<Id>,
}

#[derive(Debug)]
pub(super) struct Rivals<'c> {
    pub(super) fact: &'c Fact,
    pub(super) members: Vec<Id>,
}

#[derive(Debug)]
pub(super) struct Exclusion<'c> {
    pub(super) operator: Id,
    pub(super) constraint: &'c Constraint,
    pub(super) excluded: Vec<Id>,
}

/// What is known about an operator.
#[derive(Debug, Clone, Default)]
pub(super) enum Value {
    #[default]
    Open,
    Must(Must),
    Cannot(Cannot),
}

/// Why an operator must be there.
#[derive(Debug, Clone)]
pub(super) enum Must {
    /// It runs and no request refers to it.
    Runs,
    /// A request has no other option left.
    OnlyOption(usize),
    /// A need has no other candidate left.
    Needed(usize),
    /// It is supposed, to see what follows.
    Supposed,
}

/// Why an operator cannot be there.
#[derive(Debug, Clone)]
pub(super) enum Cannot {
    /// A fact says so.
    Unusable(usize),
    /// Nothing meets a need of it.
    Unmet(usize),
    /// It may not run beside another that must be there.
    Rival { rivals: usize, other: Id },
    /// It and its own update or predecessor may not both run.
    Update { other: Id },
    /// Another operator's constraint, or its own, excludes it.
    Excluded { exclusion: usize },
    /// It excludes something that must be there.
    Excludes { exclusion: usize, other: Id },
    /// Supposing it leads to a contradiction.
    Leads(Box<(State, Contradiction)>),
}

/// Where the facts do not fit.
#[derive(Debug, Clone)]
pub(super) enum Contradiction {
    /// A request has no option left.
    NoOption(usize),
    /// An operator must be there and cannot be.
    Both { operator: Id, cannot: Cannot },
}

/// How deep suppositions are nested: people cannot follow more.
const MAX_SUPPOSITIONS: usize = 2;

/// How much work suppositions may be for one explanation, counted in operators and needs looked at.
const MAX_PROBE_WORK: usize = 4_000_000;

/// How many suppositions are tried for one explanation, however small it is.
const MAX_PROBES: usize = 4_000;

/// The suppositions that may still be tried.
#[derive(Debug)]
pub(super) struct Probes(usize);

impl Probes {
    /// Returns as many as the size of a conflict allows.
    pub(super) fn new(known: &Known<'_>) -> Self {
        let size = known.operators.len() + known.needs.len() + known.rivals.len();
        Self(MAX_PROBES.min(MAX_PROBE_WORK / size.max(1)))
    }

    fn take(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

/// What is known about all operators.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) values: Vec<Value>,
}

impl State {
    pub(super) fn cannot(&self, id: Id) -> Option<&Cannot> {
        match &self.values[id] {
            Value::Cannot(cannot) => Some(cannot),
            Value::Open | Value::Must(_) => None,
        }
    }

    fn is_must(&self, id: Id) -> bool {
        matches!(self.values[id], Value::Must(_))
    }
}

impl<'c> Known<'c> {
    /// Reads the facts of a conflict.
    pub(super) fn new(conflict: &'c Conflict) -> Self {
        let mut known = Self::default();
        for fact in &conflict.facts {
            known.add(fact);
        }
        known
    }

    fn id(&mut self, operator: &'c Operator) -> Id {
        let next = self.operators.len();
        let id = *self.numbers.entry(operator).or_insert(next);
        if id == next {
            self.operators.push(operator);
        }
        id
    }

    fn ids(&mut self, operators: &'c [Operator]) -> Vec<Id> {
        operators.iter().map(|operator| self.id(operator)).collect()
    }

    fn add(&mut self, fact: &'c Fact) {
        match fact {
            Fact::Wanted { request } => self.wanted.push(request),
            Fact::Options { request, package, options } => {
                let operators = self.ids(options);
                self.options.push(Options { request, package, operators });
            }
            Fact::NotFound { .. } => {}
            Fact::Freestanding { operator } => {
                let id = self.id(operator);
                self.freestanding.push(id);
            }
            Fact::Deprecated { operator } | Fact::Malformed { operator, .. } => {
                let id = self.id(operator);
                self.unusable.push((id, fact));
            }
            Fact::Needs { operator, constraint, candidates } => {
                let (operator, candidates) = (self.id(operator), self.ids(candidates));
                self.needs.push(Need { operator, constraint, candidates });
            }
            Fact::Excludes { operator, constraint, excluded } => {
                let (operator, excluded) = (self.id(operator), self.ids(excluded));
                self.excludes.push(Exclusion { operator, constraint, excluded });
            }
            Fact::Updates { operator, current } => {
                let pair = (self.id(operator), self.id(current));
                self.updates.push(pair);
            }
            Fact::OneProvider { providers: members, .. } | Fact::OnePerPackage { members, .. } => {
                let members = self.ids(members);
                self.rivals.push(Rivals { fact, members });
            }
        }
    }

    /// Derives what follows from the facts when only these requests are asked for.
    pub(super) fn derive(&self, requests: &[usize]) -> (State, Option<Contradiction>) {
        let mut state = State { values: vec![Value::Open; self.operators.len()] };
        for &id in &self.freestanding {
            state.values[id] = Value::Must(Must::Runs);
        }
        let contradiction = self.propagate(&mut state, requests);
        (state, contradiction)
    }

    /// Supposes an operator and tells what goes wrong then, if a few suppositions can tell.
    pub(super) fn suppose(
        &self,
        state: &State,
        operator: Id,
        requests: &[usize],
        probes: &mut Probes,
    ) -> Option<(State, Contradiction)> {
        let mut supposed = state.clone();
        supposed.values[operator] = Value::Must(Must::Supposed);
        let contradiction = self.refute(&mut supposed, requests, MAX_SUPPOSITIONS, probes)?;
        Some((supposed, contradiction))
    }

    /// Derives a contradiction by simple steps, or by supposing each way to go on in turn.
    ///
    /// The recursion is bounded by `depth`, the work by the probes that are left.
    fn refute(
        &self,
        state: &mut State,
        requests: &[usize],
        depth: usize,
        probes: &mut Probes,
    ) -> Option<Contradiction> {
        loop {
            let contradiction = self.propagate(state, requests);
            if contradiction.is_some() || depth == 0 {
                return contradiction;
            }
            let mut learnt = false;
            for open in self.open_choices(state, requests) {
                if !probes.take() {
                    return None;
                }
                let mut supposed = state.clone();
                supposed.values[open] = Value::Must(Must::Supposed);
                if let Some(found) = self.refute(&mut supposed, requests, depth - 1, probes) {
                    let cannot = match found {
                        Contradiction::Both { operator, cannot } if operator == open => {
                            match cannot {
                                Cannot::Leads(_) | Cannot::Unmet(_) => Cannot::Leads(Box::new((
                                    supposed,
                                    Contradiction::Both { operator, cannot },
                                ))),
                                plain => plain,
                            }
                        }
                        other => Cannot::Leads(Box::new((supposed, other))),
                    };
                    state.values[open] = Value::Cannot(cannot);
                    learnt = true;
                    break;
                }
            }
            if !learnt {
                return None;
            }
        }
    }

    /// Returns the operators of which one must be there, for every choice that is still open.
    fn open_choices(&self, state: &State, requests: &[usize]) -> Vec<Id> {
        let needed = self
            .needs
            .iter()
            .filter(|need| state.is_must(need.operator))
            .map(|need| &need.candidates);
        let wanted = requests.iter().map(|&number| &self.options[number].operators);
        let mut open: Vec<Id> = Vec::new();
        for candidates in needed.chain(wanted) {
            if candidates.iter().any(|&id| state.is_must(id)) {
                continue;
            }
            for &id in candidates {
                if matches!(state.values[id], Value::Open) && !open.contains(&id) {
                    open.push(id);
                }
            }
        }
        open
    }

    fn propagate(&self, state: &mut State, requests: &[usize]) -> Option<Contradiction> {
        loop {
            let before = state.values.iter().filter(|value| matches!(value, Value::Open)).count();
            let found = self
                .look_at_unusable(state)
                .or_else(|| self.look_at_rivals(state))
                .or_else(|| self.look_at_exclusions(state))
                .or_else(|| self.look_at_needs(state))
                .or_else(|| self.look_at_options(state, requests));
            if found.is_some() {
                return found;
            }
            let after = state.values.iter().filter(|value| matches!(value, Value::Open)).count();
            if before == after {
                return None;
            }
        }
    }

    fn look_at_unusable(&self, state: &mut State) -> Option<Contradiction> {
        (0..self.unusable.len())
            .find_map(|number| rule_out(state, self.unusable[number].0, Cannot::Unusable(number)))
    }

    fn look_at_needs(&self, state: &mut State) -> Option<Contradiction> {
        for (number, need) in self.needs.iter().enumerate() {
            let open: Vec<Id> =
                need.candidates.iter().copied().filter(|&id| state.cannot(id).is_none()).collect();
            if open.is_empty() {
                let contradiction = rule_out(state, need.operator, Cannot::Unmet(number));
                if contradiction.is_some() {
                    return contradiction;
                }
            } else if state.is_must(need.operator) && open.iter().all(|&id| id == open[0]) {
                require(state, open[0], Must::Needed(number));
            }
        }
        None
    }

    fn look_at_rivals(&self, state: &mut State) -> Option<Contradiction> {
        for (number, rivals) in self.rivals.iter().enumerate() {
            for (place, &member) in rivals.members.iter().enumerate() {
                let twice = rivals.members[..place].contains(&member);
                if !twice && !state.is_must(member) {
                    continue;
                }
                let cannot = Cannot::Rival { rivals: number, other: member };
                let others = rivals.members.iter().filter(|&&id| twice || id != member);
                for &other in others {
                    let contradiction = rule_out(state, other, cannot.clone());
                    if contradiction.is_some() {
                        return contradiction;
                    }
                }
            }
        }
        for &(update, current) in &self.updates {
            for (one, other) in [(update, current), (current, update)] {
                if state.is_must(one) {
                    let contradiction = rule_out(state, other, Cannot::Update { other: one });
                    if contradiction.is_some() {
                        return contradiction;
                    }
                }
            }
        }
        None
    }

    fn look_at_exclusions(&self, state: &mut State) -> Option<Contradiction> {
        for (number, exclusion) in self.excludes.iter().enumerate() {
            let must = exclusion.excluded.iter().copied().find(|&id| state.is_must(id));
            let own = exclusion.excluded.contains(&exclusion.operator);
            if let Some(other) = must.or(own.then_some(exclusion.operator)) {
                let cannot = Cannot::Excludes { exclusion: number, other };
                let contradiction = rule_out(state, exclusion.operator, cannot);
                if contradiction.is_some() {
                    return contradiction;
                }
            }
            if state.is_must(exclusion.operator) {
                for &id in &exclusion.excluded {
                    let cannot = Cannot::Excluded { exclusion: number };
                    let contradiction = rule_out(state, id, cannot);
                    if contradiction.is_some() {
                        return contradiction;
                    }
                }
            }
        }
        None
    }

    fn look_at_options(&self, state: &mut State, requests: &[usize]) -> Option<Contradiction> {
        for &number in requests {
            let operators = &self.options[number].operators;
            let open: Vec<Id> =
                operators.iter().copied().filter(|&id| state.cannot(id).is_none()).collect();
            if open.is_empty() {
                return Some(Contradiction::NoOption(number));
            }
            if open.iter().all(|&id| id == open[0]) {
                require(state, open[0], Must::OnlyOption(number));
            }
        }
        None
    }
}

fn require(state: &mut State, id: Id, must: Must) {
    if matches!(state.values[id], Value::Open) {
        state.values[id] = Value::Must(must);
    }
}

fn rule_out(state: &mut State, id: Id, cannot: Cannot) -> Option<Contradiction> {
    match state.values[id] {
        Value::Open => {
            state.values[id] = Value::Cannot(cannot);
            None
        }
        Value::Cannot(_) => None,
        Value::Must(_) => Some(Contradiction::Both { operator: id, cannot }),
    }
}
