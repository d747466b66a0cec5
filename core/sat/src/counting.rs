//! A contradiction found by counting: more wishes than places.
//!
//! Clauses alone need exponentially many steps to see that nine cannot sit on eight chairs. Here wishes are matched
//! with at-most-one groups instead: if wishes without a common candidate have all their candidates in fewer
//! groups than they are many, they cannot all be fulfilled. It looks only at what the assumptions already
//! force, and a contradiction it does not see may well exist.

use std::collections::{BTreeMap, VecDeque};

use crate::literal::{Literal, Variable};
use crate::solver::Solver;

/// The most wishes that are matched; matching takes the product of wishes and candidates in the worst case.
const MAX_WISHES: usize = 1024;

/// The most candidates that are looked at.
const MAX_CANDIDATES: usize = 1 << 16;

/// Wishes to be matched with groups.
struct Matching {
    /// By wish the groups it can be fulfilled in.
    groups: Vec<Vec<u32>>,
    /// By group the wish it is given to.
    owners: BTreeMap<u32, usize>,
    /// By wish the group it has.
    owned: Vec<Option<u32>>,
}

/// Wishes that have fewer groups than they are many.
struct Shortage {
    wishes: Vec<usize>,
    groups: Vec<u32>,
}

impl Solver {
    /// Looks for wishes that cannot all be fulfilled on level 1.
    ///
    /// Returns literals, all false now, of which one must be true in every solution.
    pub(crate) fn count_wishes(&mut self) -> Option<Vec<Literal>> {
        let choices = self.countable_choices();
        let mut degrees: BTreeMap<u32, usize> = BTreeMap::new();
        for choice in &choices {
            let mut groups: Vec<u32> =
                self.open_candidates(*choice).flat_map(|c| self.active_groups(c)).collect();
            groups.sort_unstable();
            groups.dedup();
            for group in groups {
                *degrees.entry(group).or_default() += 1;
            }
        }
        let mut matching = Matching {
            groups: Vec::new(),
            owners: BTreeMap::new(),
            owned: vec![None; choices.len()],
        };
        for choice in &choices {
            // Of several groups of a candidate the most wanted one is the most likely to be short.
            let mut groups: Vec<u32> = self
                .open_candidates(*choice)
                .filter_map(|candidate| {
                    self.active_groups(candidate).max_by_key(|group| degrees[group])
                })
                .collect();
            groups.sort_unstable();
            groups.dedup();
            matching.groups.push(groups);
        }
        for wish in 0..choices.len() {
            if let Err(shortage) = matching.give_group_to(wish, &mut self.steps) {
                return Some(self.contradiction(&choices, &shortage));
            }
        }
        None
    }

    /// Returns unfulfilled choices in force without common candidates, all of whose candidates are in groups.
    fn countable_choices(&mut self) -> Vec<u32> {
        let holding = self.trail.literals.iter().filter(|literal| literal.is_positive());
        let triggered = holding.flat_map(|literal| self.index.triggered.of(literal.variable()));
        let mut countable = Vec::new();
        let mut taken = Vec::new();
        for choice in self.index.roots.iter().chain(triggered) {
            let candidates = self.index.candidates(*choice);
            self.steps += 1 + candidates.len() as u64;
            if countable.len() >= MAX_WISHES || taken.len() + candidates.len() > MAX_CANDIDATES {
                break;
            }
            let guard = self.index.choice(*choice).guard;
            let is_countable = guard.is_none_or(|guard| self.trail.is_true(guard.positive()))
                && !candidates.iter().any(|candidate| {
                    self.trail.is_true(*candidate) || self.seen[candidate.variable().index()]
                })
                && self.open_candidates(*choice).all(|c| self.active_groups(c).next().is_some());
            if is_countable {
                let before = taken.len();
                taken.extend(self.open_candidates(*choice));
                for candidate in &taken[before..] {
                    self.seen[candidate.index()] = true;
                }
                countable.push(*choice);
            }
        }
        for candidate in taken {
            self.seen[candidate.index()] = false;
        }
        countable
    }

    fn open_candidates(&self, choice: u32) -> impl Iterator<Item = Variable> {
        let candidates = self.index.candidates(choice).iter().map(|candidate| candidate.variable());
        candidates.filter(|candidate| self.trail.is_open(*candidate))
    }

    fn active_groups(&self, member: Variable) -> impl Iterator<Item = u32> {
        self.index.groups_of_member.of(member).iter().copied().filter(|group| {
            let guard = self.index.problem.groups[*group as usize].guard;
            guard.is_none_or(|guard| self.trail.is_true(guard.positive()))
        })
    }

    fn contradiction(&self, choices: &[u32], shortage: &Shortage) -> Vec<Literal> {
        let mut literals = Vec::new();
        for wish in &shortage.wishes {
            let choice = self.index.choice(choices[*wish]);
            literals.extend(choice.guard.into_iter().chain(choice.trigger).map(Variable::negative));
            let candidates = self.index.problem.candidates(choice).iter();
            literals.extend(candidates.filter(|candidate| self.trail.is_false(**candidate)));
        }
        for group in &shortage.groups {
            let guard = self.index.problem.groups[*group as usize].guard;
            literals.extend(guard.map(Variable::negative));
        }
        literals
    }
}

impl Matching {
    /// Gives the wish a group, moving other wishes to other groups if need be.
    fn give_group_to(&mut self, wish: usize, steps: &mut u64) -> Result<(), Shortage> {
        // By reached group the wish that asked for it.
        let mut asked_by: BTreeMap<u32, usize> = BTreeMap::new();
        let mut asking = VecDeque::from([wish]);
        let mut wishes = Vec::new();
        while let Some(asker) = asking.pop_front() {
            wishes.push(asker);
            for group in &self.groups[asker] {
                *steps += 1;
                if asked_by.contains_key(group) {
                    continue;
                }
                asked_by.insert(*group, asker);
                if let Some(owner) = self.owners.get(group) {
                    asking.push_back(*owner);
                } else {
                    self.move_along(*group, &asked_by);
                    return Ok(());
                }
            }
        }
        Err(Shortage { wishes, groups: asked_by.into_keys().collect() })
    }

    /// Gives a free group to the wish that asked for it, its former group to the one that asked for that, and so on.
    fn move_along(&mut self, free: u32, asked_by: &BTreeMap<u32, usize>) {
        let mut next = Some(free);
        while let Some(group) = next {
            let asker = asked_by[&group];
            self.owners.insert(group, asker);
            next = self.owned[asker].replace(group);
        }
    }
}
