//! The facts of a conflict, with operators as numbers and the way back from operators to facts.

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
    pub(super) options: Vec<Options<'c>>,
    pub(super) needs: Vec<Need<'c>>,
    pub(super) rivals: Vec<Rivals<'c>>,
    pub(super) updates: Vec<(Id, Id)>,
    pub(super) excludes: Vec<Exclusion<'c>>,
    pub(super) freestanding: Vec<Id>,
    pub(super) unusable: Vec<(Id, &'c Fact)>,
    /// For each operator the facts that may say more when it must be there.
    concerned_by_must: Vec<Vec<FactId>>,
    /// For each operator the facts that may say more when it cannot be there.
    concerned_by_cannot: Vec<Vec<FactId>>,
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
    /// The operators, as often as they are listed.
    pub(super) members: Vec<Id>,
    /// For each place in `members`, whether the operator was listed before.
    pub(super) is_repeated: Vec<bool>,
}

#[derive(Debug)]
pub(super) struct Exclusion<'c> {
    pub(super) operator: Id,
    pub(super) constraint: &'c Constraint,
    pub(super) excluded: Vec<Id>,
    /// Whether the operator is among those that it excludes.
    pub(super) is_own: bool,
}

/// The kinds of facts, in the order in which a pass of a derivation looks at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FactKind {
    Unusable,
    Rivals,
    Update,
    Exclusion,
    Need,
    Options,
}

impl FactKind {
    /// All kinds, in order.
    pub(super) const ALL: [Self; 6] =
        [Self::Unusable, Self::Rivals, Self::Update, Self::Exclusion, Self::Need, Self::Options];
}

/// The number of a fact among those of its kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct FactId {
    pub(super) kind: FactKind,
    pub(super) number: u32,
}

impl<'c> Known<'c> {
    /// Reads the facts of a conflict.
    pub(super) fn new(conflict: &'c Conflict) -> Self {
        let mut known = Self::default();
        for fact in &conflict.facts {
            known.add(fact);
        }
        known.link();
        known
    }

    /// Returns how many facts of a kind there are.
    pub(super) fn count(&self, kind: FactKind) -> usize {
        match kind {
            FactKind::Unusable => self.unusable.len(),
            FactKind::Rivals => self.rivals.len(),
            FactKind::Update => self.updates.len(),
            FactKind::Exclusion => self.excludes.len(),
            FactKind::Need => self.needs.len(),
            FactKind::Options => self.options.len(),
        }
    }

    /// Returns the facts that may say more when an operator must be there.
    pub(super) fn concerned_by_must(&self, id: Id) -> &[FactId] {
        &self.concerned_by_must[id]
    }

    /// Returns the facts that may say more when an operator cannot be there.
    pub(super) fn concerned_by_cannot(&self, id: Id) -> &[FactId] {
        &self.concerned_by_cannot[id]
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
            Fact::Wanted { .. } | Fact::NotFound { .. } => {}
            Fact::Options { request, package, options } => {
                let operators = self.ids(options);
                self.options.push(Options { request, package, operators });
            }
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
                let is_own = excluded.contains(&operator);
                self.excludes.push(Exclusion { operator, constraint, excluded, is_own });
            }
            Fact::Updates { operator, current } => {
                let pair = (self.id(operator), self.id(current));
                self.updates.push(pair);
            }
            Fact::OneProvider { providers: members, .. } | Fact::OnePerPackage { members, .. } => {
                let members = self.ids(members);
                let mut seen = std::collections::HashSet::new();
                let is_repeated = members.iter().map(|&member| !seen.insert(member)).collect();
                self.rivals.push(Rivals { fact, members, is_repeated });
            }
        }
    }

    /// Notes for each operator which facts speak of it.
    fn link(&mut self) {
        let count = self.operators.len();
        let mut must: Vec<Vec<FactId>> = vec![Vec::new(); count];
        let mut cannot: Vec<Vec<FactId>> = vec![Vec::new(); count];
        let fact = |kind, number: usize| FactId { kind, number: number as u32 };
        for (number, (id, _)) in self.unusable.iter().enumerate() {
            must[*id].push(fact(FactKind::Unusable, number));
        }
        for (number, rivals) in self.rivals.iter().enumerate() {
            for &member in &rivals.members {
                must[member].push(fact(FactKind::Rivals, number));
            }
        }
        for (number, &(update, current)) in self.updates.iter().enumerate() {
            must[update].push(fact(FactKind::Update, number));
            must[current].push(fact(FactKind::Update, number));
        }
        for (number, exclusion) in self.excludes.iter().enumerate() {
            for &id in exclusion.excluded.iter().chain([&exclusion.operator]) {
                must[id].push(fact(FactKind::Exclusion, number));
            }
        }
        for (number, need) in self.needs.iter().enumerate() {
            must[need.operator].push(fact(FactKind::Need, number));
            for &candidate in &need.candidates {
                cannot[candidate].push(fact(FactKind::Need, number));
            }
        }
        for (number, options) in self.options.iter().enumerate() {
            for &option in &options.operators {
                cannot[option].push(fact(FactKind::Options, number));
            }
        }
        self.concerned_by_must = must;
        self.concerned_by_cannot = cannot;
    }
}
