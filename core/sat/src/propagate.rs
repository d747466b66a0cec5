//! What follows from the assignment: clauses with one literal left, groups with one true member.
//!
//! Nothing is decided here. Groups are followed directly, without clauses for their pairs.

use crate::literal::{Literal, Variable};
use crate::problem::Group;
use crate::solver::Solver;
use crate::store::ClauseReference;
use crate::trail::Reason;
use crate::watches::Watch;

/// A constraint all of whose literals are false.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Conflict {
    Clause(ClauseReference),
    Binary(Literal, Literal),
    Ternary(Literal, Literal, Literal),
}

impl Solver {
    /// Follows up every assigned literal; returns the first constraint that cannot hold any more.
    pub(crate) fn propagate(&mut self) -> Option<Conflict> {
        while let Some(literal) = self.trail.literals.get(self.trail.propagated).copied() {
            self.trail.propagated += 1;
            self.steps += 1;
            self.statistics.propagations += 1;
            if literal.is_positive() {
                let conflict = self
                    .propagate_member(literal.variable())
                    .or_else(|| self.propagate_guard(literal.variable()));
                if conflict.is_some() {
                    return conflict;
                }
            }
            let conflict = self.propagate_watches(!literal);
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// A member became true: the others of its groups cannot be.
    fn propagate_member(&mut self, member: Variable) -> Option<Conflict> {
        for place in self.index.groups_of_member.range(member) {
            let group = self.index.groups_of_member.item(place);
            let holder = *self.holders[group as usize].get_or_insert(member);
            let Group { guard, .. } = self.index.problem.groups[group as usize];
            match guard {
                Some(guard) if self.trail.is_open(guard) => {
                    if holder != member {
                        let reason = Reason::Ternary(holder.negative(), member.negative());
                        self.trail.assign(guard.negative(), reason);
                    }
                }
                Some(guard) if self.trail.is_false(guard.positive()) => {}
                Some(_) | None => {
                    let conflict = self.exclude_others(group, member, guard);
                    if conflict.is_some() {
                        return conflict;
                    }
                }
            }
        }
        None
    }

    /// A guard became true: groups with a true member begin to act.
    fn propagate_guard(&mut self, guard: Variable) -> Option<Conflict> {
        for place in self.index.groups_of_guard.range(guard) {
            self.steps += 1;
            let group = self.index.groups_of_guard.item(place);
            if let Some(holder) = self.holders[group as usize] {
                let conflict = self.exclude_others(group, holder, Some(guard));
                if conflict.is_some() {
                    return conflict;
                }
            }
        }
        None
    }

    fn exclude_others(
        &mut self,
        group: u32,
        holder: Variable,
        guard: Option<Variable>,
    ) -> Option<Conflict> {
        let members = self.index.problem.group_members(group);
        self.steps += members.len() as u64;
        let because = holder.negative();
        let reason = match guard {
            Some(guard) => Reason::Ternary(because, guard.negative()),
            None => Reason::Binary(because),
        };
        for member in members.iter().filter(|member| **member != holder) {
            if self.trail.is_open(*member) {
                self.trail.assign(member.negative(), reason);
            } else if self.trail.is_true(member.positive()) {
                return Some(match guard {
                    Some(guard) => Conflict::Ternary(because, member.negative(), guard.negative()),
                    None => Conflict::Binary(because, member.negative()),
                });
            }
        }
        None
    }

    /// A watched literal became false: its clauses need another one to watch, or force one.
    fn propagate_watches(&mut self, falsified: Literal) -> Option<Conflict> {
        let (start, length) = self.watches.bounds(falsified);
        self.steps += length as u64;
        let mut kept = 0;
        let mut read = 0;
        let mut conflict = None;
        while read < length {
            let watch = self.watches.at(start + read);
            read += 1;
            if self.trail.is_true(watch.other) {
                self.watches.put(start + kept, watch);
                kept += 1;
                continue;
            }
            if watch.clause == ClauseReference::BINARY {
                self.watches.put(start + kept, watch);
                kept += 1;
                if self.trail.is_false(watch.other) {
                    conflict = Some(Conflict::Binary(falsified, watch.other));
                    break;
                }
                self.trail.assign(watch.other, Reason::Binary(falsified));
                continue;
            }
            match self.rewatch(watch, falsified) {
                Rewatched::Elsewhere => {}
                Rewatched::Here(watch) => {
                    self.watches.put(start + kept, watch);
                    kept += 1;
                }
                Rewatched::Failed(watch) => {
                    self.watches.put(start + kept, watch);
                    kept += 1;
                    conflict = Some(Conflict::Clause(watch.clause));
                    break;
                }
            }
        }
        if kept < read {
            while read < length {
                self.watches.put(start + kept, self.watches.at(start + read));
                kept += 1;
                read += 1;
            }
            self.watches.truncate(falsified, kept);
        }
        conflict
    }

    fn rewatch(&mut self, watch: Watch, falsified: Literal) -> Rewatched {
        let clause = watch.clause;
        if self.store.literal(clause, 0) == falsified {
            self.store.swap(clause, 0, 1);
        }
        let first = self.store.literal(clause, 0);
        let renewed = Watch { other: first, clause };
        if first != watch.other && self.trail.is_true(first) {
            return Rewatched::Here(renewed);
        }
        let Solver { store, trail, steps, .. } = self;
        if let Some(position) = store.find_unwatched(clause, |other| !trail.is_false(other), steps)
        {
            self.store.swap(clause, 1, position);
            self.watches.push(self.store.literal(clause, 1), renewed);
            return Rewatched::Elsewhere;
        }
        if self.trail.is_false(first) {
            return Rewatched::Failed(renewed);
        }
        self.trail.assign(first, Reason::Clause(clause));
        Rewatched::Here(renewed)
    }
}

/// What became of a watch whose literal is false.
enum Rewatched {
    /// The clause watches another literal now.
    Elsewhere,
    /// The clause holds, or has just forced its last literal.
    Here(Watch),
    /// The clause cannot hold.
    Failed(Watch),
}
