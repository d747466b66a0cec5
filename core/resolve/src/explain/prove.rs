//! Derives from the facts of a conflict what must be there and what cannot be, with reasons.
//!
//! Facts are looked at in passes and in a fixed order, which decides the reason that is given
//! where there are several. A pass looks only at facts that may say more than before, so a
//! derivation takes time in proportion to what it derives. What simple steps cannot derive is
//! left open.

use std::collections::BTreeSet;

use super::known::{FactId, FactKind, Id, Known};
use crate::budget::Budget;

/// What is known about an operator.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Value {
    #[default]
    Open,
    Must(Must),
    Cannot(Cannot),
}

/// Why an operator must be there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Must {
    /// It runs and no request refers to it.
    Runs,
    /// A request has no other option left.
    OnlyOption(u32),
    /// A need has no other candidate left.
    Needed(u32),
    /// It is supposed, to see what follows.
    Supposed,
}

/// Why an operator cannot be there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cannot {
    /// A fact says so.
    Unusable(u32),
    /// Nothing meets a need of it.
    Unmet(u32),
    /// It may not run beside another that must be there.
    Rival { rivals: u32, other: u32 },
    /// It and its own update or predecessor may not both run.
    Update { other: u32 },
    /// Another operator's constraint, or its own, excludes it.
    Excluded { exclusion: u32 },
    /// It excludes something that must be there.
    Excludes { exclusion: u32, other: u32 },
    /// Supposing it leads to a contradiction.
    Leads(SuppositionId),
}

/// Where the facts do not fit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Contradiction {
    /// A request has no option left.
    NoOption(u32),
    /// An operator must be there and cannot be.
    Both { operator: u32, cannot: Cannot },
}

/// The number of a supposition among those of a proof.
#[derive(Debug, Clone, Copy)]
pub(super) struct SuppositionId(u32);

/// Refuted suppositions: what follows from each, and where that does not fit.
#[derive(Debug, Default)]
pub(super) struct Suppositions(Vec<(State, Contradiction)>);

impl Suppositions {
    pub(super) fn get(&self, id: SuppositionId) -> &(State, Contradiction) {
        &self.0[id.0 as usize]
    }
}

/// How deep suppositions are nested: people cannot follow more.
const MAX_SUPPOSITIONS: usize = 2;

/// How much work suppositions may be for one explanation, counted in operators and needs looked at.
const MAX_PROBE_WORK: usize = 4_000_000;

/// How many suppositions are tried for one explanation, however small it is.
const MAX_PROBES: usize = 4_000;

/// Limits the bytes of the suppositions that a proof keeps, which count among those of the decision. A proof
/// with that much in it is never readable.
const MAX_PROOF_BYTES: usize = 16 * 1024 * 1024;

/// A proof in progress: refuted suppositions that later steps refer to, and what it may still cost.
///
/// Suppositions are kept once and referred to by number, so what many of them have in common is
/// never copied.
#[derive(Debug)]
pub(super) struct Proof<'b> {
    pub(super) suppositions: Suppositions,
    kept_bytes: usize,
    probes: usize,
    budget: &'b mut Budget,
}

impl<'b> Proof<'b> {
    /// Begins a proof; how many suppositions it may try depends on the size of the conflict.
    pub(super) fn new(known: &Known<'_>, budget: &'b mut Budget) -> Self {
        let size = known.operators.len() + known.needs.len() + known.rivals.len();
        let probes = MAX_PROBES.min(MAX_PROBE_WORK / size.max(1));
        Self { suppositions: Suppositions::default(), kept_bytes: 0, probes, budget }
    }

    /// Keeps a refuted supposition, so that it can be referred to; `None` when the proof is too large.
    pub(super) fn keep(&mut self, state: State, contradiction: Contradiction) -> Option<Cannot> {
        let bytes = state.values.len() * size_of::<Value>();
        self.kept_bytes += bytes;
        if self.kept_bytes > MAX_PROOF_BYTES || self.budget.occupy(bytes as u64).is_err() {
            return None;
        }
        let id = SuppositionId(self.suppositions.0.len() as u32);
        self.suppositions.0.push((state, contradiction));
        Some(Cannot::Leads(id))
    }

    fn take_probe(&mut self) -> bool {
        self.probes = self.probes.saturating_sub(1);
        self.probes > 0
    }

    /// Spends steps; returns `true` if the proof may go on.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.budget.spend(steps as u64).is_ok()
    }
}

/// What is known about all operators.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) values: Vec<Value>,
}

impl State {
    pub(super) fn cannot(&self, id: Id) -> Option<Cannot> {
        match self.values[id] {
            Value::Cannot(cannot) => Some(cannot),
            Value::Open | Value::Must(_) => None,
        }
    }

    fn is_must(&self, id: Id) -> bool {
        matches!(self.values[id], Value::Must(_))
    }
}

/// A state, and the facts that may say more about it.
#[derive(Debug, Clone)]
pub(super) struct Derivation<'k, 'c> {
    known: &'k Known<'c>,
    pub(super) state: State,
    /// For each kind of fact the numbers of those to look at.
    waiting: [BTreeSet<u32>; FactKind::ALL.len()],
    /// The requests that are asked for, in order.
    requests: &'k [usize],
}

impl<'k, 'c> Derivation<'k, 'c> {
    /// Derives what follows from the facts when only these requests, in order, are asked for.
    pub(super) fn new(
        known: &'k Known<'c>,
        requests: &'k [usize],
        proof: &mut Proof<'_>,
    ) -> (Self, Option<Contradiction>) {
        let state = State { values: vec![Value::Open; known.operators.len()] };
        let waiting = FactKind::ALL.map(|kind| match kind {
            FactKind::Options => requests.iter().map(|&number| number as u32).collect(),
            _ => (0..known.count(kind) as u32).collect(),
        });
        let mut derivation = Self { known, state, waiting, requests };
        for &id in &known.freestanding {
            derivation.set(id, Value::Must(Must::Runs));
        }
        let contradiction = derivation.propagate(proof);
        (derivation, contradiction)
    }

    /// Sets what is known about an operator; facts that it concerns are looked at again.
    pub(super) fn set(&mut self, id: Id, value: Value) {
        self.state.values[id] = value;
        let concerned: &[FactId] = match value {
            Value::Open => &[],
            Value::Must(_) => self.known.concerned_by_must(id),
            Value::Cannot(_) => self.known.concerned_by_cannot(id),
        };
        for &FactId { kind, number } in concerned {
            let is_asked = kind != FactKind::Options
                || self.requests.binary_search(&(number as usize)).is_ok();
            if is_asked {
                self.waiting[kind as usize].insert(number);
            }
        }
    }

    /// Supposes an operator and returns what goes wrong then, if a few suppositions can show it.
    pub(super) fn suppose(
        &self,
        operator: Id,
        proof: &mut Proof<'_>,
    ) -> Option<(State, Contradiction)> {
        if !proof.spend(self.state.values.len() / 8) {
            return None;
        }
        let mut supposed = self.clone();
        supposed.set(operator, Value::Must(Must::Supposed));
        let contradiction = supposed.refute(MAX_SUPPOSITIONS, proof)?;
        Some((supposed.state, contradiction))
    }

    /// Derives a contradiction by simple steps, or by supposing each way to go on in turn.
    ///
    /// The recursion is bounded by `depth`, the work by the probes and the steps that are left.
    fn refute(&mut self, depth: usize, proof: &mut Proof<'_>) -> Option<Contradiction> {
        loop {
            let contradiction = self.propagate(proof);
            if contradiction.is_some() || depth == 0 {
                return contradiction;
            }
            let mut learnt = false;
            for open in self.open_choices(proof) {
                if !proof.take_probe() || !proof.spend(self.state.values.len() / 8) {
                    return None;
                }
                let mut supposed = self.clone();
                supposed.set(open, Value::Must(Must::Supposed));
                let Some(found) = supposed.refute(depth - 1, proof) else { continue };
                let cannot = match found {
                    Contradiction::Both { operator, cannot }
                        if operator as Id == open && !rests_on_others(cannot) =>
                    {
                        cannot
                    }
                    other => proof.keep(supposed.state, other)?,
                };
                self.set(open, Value::Cannot(cannot));
                learnt = true;
                break;
            }
            if !learnt {
                return None;
            }
        }
    }

    /// Returns the operators of which one must be there, for every choice that is still open.
    fn open_choices(&self, proof: &mut Proof<'_>) -> Vec<Id> {
        let needed = self
            .known
            .needs
            .iter()
            .filter(|need| self.state.is_must(need.operator))
            .map(|need| &need.candidates);
        let wanted = self.requests.iter().map(|&number| &self.known.options[number].operators);
        let mut open: Vec<Id> = Vec::new();
        let mut is_listed = vec![false; self.state.values.len()];
        let mut looked_at = self.known.needs.len() / 8;
        for candidates in needed.chain(wanted) {
            looked_at += candidates.len();
            if candidates.iter().any(|&id| self.state.is_must(id)) {
                continue;
            }
            for &id in candidates {
                if matches!(self.state.values[id], Value::Open)
                    && !std::mem::replace(&mut is_listed[id], true)
                {
                    open.push(id);
                }
            }
        }
        if proof.spend(looked_at) { open } else { Vec::new() }
    }

    /// Looks at facts until none says more; a proof that may not go on leaves the rest open.
    fn propagate(&mut self, proof: &mut Proof<'_>) -> Option<Contradiction> {
        loop {
            for kind in FactKind::ALL {
                let mut next = 0;
                while let Some(&number) = self.waiting[kind as usize].range(next..).next() {
                    self.waiting[kind as usize].remove(&number);
                    next = number + 1;
                    let (contradiction, looked_at) = self.look_at(kind, number);
                    if contradiction.is_some() || !proof.spend(looked_at) {
                        return contradiction;
                    }
                }
            }
            if self.waiting.iter().all(BTreeSet::is_empty) {
                return None;
            }
        }
    }

    /// Looks at a fact; returns what does not fit, and how many operators were looked at.
    fn look_at(&mut self, kind: FactKind, number: u32) -> (Option<Contradiction>, usize) {
        let known = self.known;
        let place = number as usize;
        match kind {
            FactKind::Unusable => {
                (self.rule_out(known.unusable[place].0, Cannot::Unusable(number)), 1)
            }
            FactKind::Rivals => (self.look_at_rivals(number), known.rivals[place].members.len()),
            FactKind::Update => {
                let (update, current) = known.updates[place];
                let pairs = [(update, current), (current, update)];
                let found = pairs.into_iter().find_map(|(one, other)| {
                    let cannot = Cannot::Update { other: one as u32 };
                    if self.state.is_must(one) { self.rule_out(other, cannot) } else { None }
                });
                (found, 2)
            }
            FactKind::Exclusion => {
                (self.look_at_exclusion(number), known.excludes[place].excluded.len())
            }
            FactKind::Need => (self.look_at_need(number), known.needs[place].candidates.len()),
            FactKind::Options => {
                (self.look_at_options(number), known.options[place].operators.len())
            }
        }
    }

    fn look_at_need(&mut self, number: u32) -> Option<Contradiction> {
        let need = &self.known.needs[number as usize];
        match self.only_open(&need.candidates) {
            Left::Nothing => self.rule_out(need.operator, Cannot::Unmet(number)),
            Left::One(id) if self.state.is_must(need.operator) => {
                self.require(id, Must::Needed(number));
                None
            }
            Left::One(_) | Left::Several => None,
        }
    }

    fn look_at_rivals(&mut self, number: u32) -> Option<Contradiction> {
        let rivals = &self.known.rivals[number as usize];
        for (place, &member) in rivals.members.iter().enumerate() {
            let twice = rivals.is_repeated[place];
            if !twice && !self.state.is_must(member) {
                continue;
            }
            let cannot = Cannot::Rival { rivals: number, other: member as u32 };
            let others = rivals.members.iter().filter(|&&id| twice || id != member);
            for &other in others {
                let contradiction = self.rule_out(other, cannot);
                if contradiction.is_some() {
                    return contradiction;
                }
            }
            if twice {
                // Now all of them are ruled out.
                return None;
            }
        }
        None
    }

    fn look_at_exclusion(&mut self, number: u32) -> Option<Contradiction> {
        let exclusion = &self.known.excludes[number as usize];
        let must = exclusion.excluded.iter().copied().find(|&id| self.state.is_must(id));
        if let Some(other) = must.or(exclusion.is_own.then_some(exclusion.operator)) {
            let cannot = Cannot::Excludes { exclusion: number, other: other as u32 };
            let contradiction = self.rule_out(exclusion.operator, cannot);
            if contradiction.is_some() {
                return contradiction;
            }
        }
        if !self.state.is_must(exclusion.operator) {
            return None;
        }
        let cannot = Cannot::Excluded { exclusion: number };
        exclusion.excluded.iter().find_map(|&id| self.rule_out(id, cannot))
    }

    fn look_at_options(&mut self, number: u32) -> Option<Contradiction> {
        match self.only_open(&self.known.options[number as usize].operators) {
            Left::Nothing => return Some(Contradiction::NoOption(number)),
            Left::One(id) => self.require(id, Must::OnlyOption(number)),
            Left::Several => {}
        }
        None
    }

    /// Returns what of a list can still be there.
    fn only_open(&self, ids: &[Id]) -> Left {
        let mut open = ids.iter().copied().filter(|&id| self.state.cannot(id).is_none());
        match open.next() {
            None => Left::Nothing,
            Some(first) if open.all(|id| id == first) => Left::One(first),
            Some(_) => Left::Several,
        }
    }

    fn require(&mut self, id: Id, must: Must) {
        if matches!(self.state.values[id], Value::Open) {
            self.set(id, Value::Must(must));
        }
    }

    fn rule_out(&mut self, id: Id, cannot: Cannot) -> Option<Contradiction> {
        match self.state.values[id] {
            Value::Open => {
                self.set(id, Value::Cannot(cannot));
                None
            }
            Value::Cannot(_) => None,
            Value::Must(_) => Some(Contradiction::Both { operator: id as u32, cannot }),
        }
    }
}

/// What of a list can still be there.
enum Left {
    Nothing,
    One(Id),
    Several,
}

/// Returns `true` if a reason cannot be understood without what was supposed.
pub(super) fn rests_on_others(cannot: Cannot) -> bool {
    match cannot {
        Cannot::Unmet(_) | Cannot::Leads(_) => true,
        Cannot::Unusable(_)
        | Cannot::Rival { .. }
        | Cannot::Update { .. }
        | Cannot::Excluded { .. }
        | Cannot::Excludes { .. } => false,
    }
}
