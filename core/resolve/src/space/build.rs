//! Builds a space: from installed operators and requests to everything that could meet a need.

use std::collections::{BTreeMap, HashSet};

use super::costliest::{Costliest, Mark};
use super::failures::{Halt, upstream_failure};
use super::formula::Shape;
use super::matching::SHARE_OF_PROPERTIES;
use super::needs::{self, NeedMemo, states_a_need};
use super::options::{Options, options};
use super::{
    Choice, Forbidden, FormulaId, List, Node, NodeId, Rule, SourceIndex, Space, exclusive,
    installed, sources,
};
use crate::budget::{
    BYTES_FOR_A_MEMBER, BYTES_FOR_AN_OPERATOR, Budget, STEPS_FOR_A_RULE, STEPS_FOR_AN_OPERATOR,
    Spent,
};
use crate::resolution::{Expense, Failure, Notice, NoticeKind};
use crate::semantics::{FailureScope, Semantics};
use crate::universe::{Content, Request, Universe};

/// How much of what is left of a budget the needs of one request may take, where a failure
/// concerns only that request: what is left must suffice for the others.
const SHARE_OF_A_REQUEST: u64 = 2;

/// Builds the space of a universe and requests; fails only where a failure stops the namespace.
pub(crate) fn build<'u>(
    universe: &'u Universe<'u>,
    requests: &'u [Request],
    semantics: Semantics,
    budget: &mut Budget,
) -> Result<Space<'u>, Failure> {
    let mut ordered: Vec<&Request> = requests.iter().collect();
    ordered.sort_by(|left, right| left.name.cmp(&right.name));
    ordered.dedup_by(|second, first| second.name == first.name);
    let sources = sources::ready_sources(universe);
    let attribution =
        installed::attribute(universe, &ordered, &sources, semantics).map_err(Failure::Error)?;
    let mut space = Space {
        universe,
        requests: ordered,
        semantics,
        sources,
        installed: attribution.installed,
        currents: attribution.currents,
        nodes: Vec::new(),
        rules: Vec::new(),
        formulas: Vec::new(),
        lists: Vec::new(),
        notices: attribution.notices,
        unfinished: Vec::new(),
    };
    let mut builder = Builder::new(Vec::new(), budget);
    match builder.fill(&mut space) {
        Ok(()) => Ok(space),
        Err(Halt::Failure(failure)) => Err(Failure::Error(failure)),
        Err(Halt::Spent(spent)) => Err(Failure::TooExpensive(builder.expense(&space, spent))),
    }
}

pub(super) struct Builder<'u, 'b> {
    needs: NeedMemo<'u>,
    /// Operators whose needs have not been looked at.
    fresh: Vec<NodeId>,
    /// What must not be there, to be looked up when all operators are known.
    exclusions: Vec<(NodeId, FormulaId)>,
    costliest: Costliest,
    budget: &'b mut Budget,
}

impl<'u, 'b> Builder<'u, 'b> {
    pub(super) fn new(fresh: Vec<NodeId>, budget: &'b mut Budget) -> Self {
        let needs = NeedMemo::default();
        Self { needs, fresh, exclusions: Vec::new(), costliest: Costliest::default(), budget }
    }

    pub(super) fn expense(&self, space: &Space<'_>, spent: Spent) -> Expense {
        let (node, need) = self.costliest.of(spent);
        space.expense(node, need, spent, self.budget)
    }

    pub(super) fn fill(&mut self, space: &mut Space<'u>) -> Result<(), Halt> {
        self.budget.occupy(self.budget.limits().bytes / SHARE_OF_PROPERTIES)?;
        for number in 0..space.requests.len() {
            space.add_node(Node::Request(number));
        }
        for position in 0..space.installed.len() {
            let node = space.add_node(Node::Installed(position));
            self.fresh.push(node);
        }
        for number in 0..space.requests.len() {
            space.rules.push(Rule::Root(NodeId(number as u32)));
        }
        for position in 0..space.installed.len() {
            if space.installed[position].request.is_none() && !self.is_named(space, position) {
                space.rules.push(Rule::Root(space.installed_node(position)));
            }
        }
        // Upstream: what installed operators need is looked at first, and a failure there is the
        // only one reported.
        self.fresh.reverse();
        self.in_share(space, Self::expand)?;
        let mut failures = Vec::new();
        for number in 0..space.requests.len() {
            let expanded = self.in_share(space, |builder, space| {
                builder.add_request(space, number)?;
                builder.expand(space)
            });
            match expanded {
                Ok(()) => {}
                Err(Halt::Failure(failure)) => failures.push(failure),
                Err(halt @ Halt::Spent(_)) => return Err(halt),
            }
        }
        upstream_failure(space, failures)?;
        self.add_exclusions(space)?;
        exclusive::add_rules(space, self.budget)?;
        note_sources(space);
        space.notices.sort();
        space.notices.dedup();
        Ok(())
    }

    /// Fills a space that has all entries of catalogs and no requests; the needs of one operator may
    /// take no more than these steps.
    pub(super) fn fill_whole(&mut self, space: &mut Space<'u>, max_steps: u64) -> Result<(), Halt> {
        self.fresh.reverse();
        while let Some(node) = self.fresh.pop() {
            let others = std::mem::take(&mut self.fresh);
            let held = self.budget.hold_back_beyond(max_steps);
            self.fresh.push(node);
            let result = self.in_share(space, Self::expand);
            self.budget.give_back(held);
            self.fresh = others;
            result?;
        }
        self.add_exclusions(space)?;
        exclusive::add_rules(space, self.budget)?;
        note_sources(space);
        space.notices.sort();
        space.notices.dedup();
        Ok(())
    }

    /// Does some work with a share of the budget. Where failures concern only a part of the
    /// namespace, operators that are not finished then are noted, and building goes on.
    fn in_share(
        &mut self,
        space: &mut Space<'u>,
        work: impl FnOnce(&mut Self, &mut Space<'u>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        if space.semantics.failures == FailureScope::Namespace {
            return work(self, space);
        }
        let others = std::mem::take(&mut self.costliest);
        let held = self.budget.hold_back_all_but(SHARE_OF_A_REQUEST);
        let result = work(self, space);
        self.budget.give_back(held);
        let result = match result {
            Err(Halt::Spent(spent)) => {
                let expense = self.expense(space, spent);
                let unfinished = std::mem::take(&mut self.fresh).into_iter();
                space.unfinished.extend(unfinished.map(|node| (node, expense.clone())));
                Ok(())
            }
            other => other,
        };
        self.costliest = others.max(self.costliest);
        result
    }

    fn add_exclusions(&mut self, space: &mut Space<'u>) -> Result<(), Halt> {
        let mut excluded: BTreeMap<FormulaId, List> = BTreeMap::new();
        for (trigger, formula) in std::mem::take(&mut self.exclusions) {
            self.in_share(space, |builder, space| {
                builder.fresh.push(trigger);
                builder.costliest = Costliest::new(trigger, Some(formula));
                let list = match excluded.get(&formula) {
                    Some(list) => *list,
                    None => {
                        let nodes = builder.needs.excluded(space, formula, builder.budget)?;
                        *excluded.entry(formula).or_insert(space.add_list(nodes))
                    }
                };
                space.rules.push(Rule::Exclude { trigger, list, formula });
                builder.fresh.clear();
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Upstream: an operator that several requests name is freestanding for none of them.
    fn is_named(&self, space: &Space<'_>, position: usize) -> bool {
        space.currents.contains(&Some(position))
    }

    fn add_request(&mut self, space: &mut Space<'u>, number: usize) -> Result<(), Halt> {
        let trigger = NodeId(number as u32);
        // A request without all of its options is not finished.
        self.fresh.push(trigger);
        let found = options(space, number, &mut self.fresh, self.budget)?;
        self.fresh.retain(|&node| node != trigger);
        match found {
            Options::Missing(missing) => {
                let why = Forbidden::NotFound(missing);
                space.rules.push(Rule::Forbid { node: trigger, why });
            }
            Options::Some { entries, current } => {
                let current = current.map(|position| space.installed_node(position));
                for &update in current.iter().flat_map(|_| &entries) {
                    let current = current.unwrap_or(update);
                    space.rules.push(Rule::Update { update, current });
                }
                let list = space.add_list(entries.into_iter().chain(current));
                space.rules.push(Rule::Choose { trigger, list, why: Choice::Options(number) });
            }
        }
        Ok(())
    }

    /// Looks at the needs of operators until all that could meet one are known.
    fn expand(&mut self, space: &mut Space<'u>) -> Result<(), Halt> {
        while let Some(node) = self.fresh.pop() {
            let result = match space.nodes[node.index()] {
                Node::Entry { source, bundle, .. } => {
                    self.expand_entry(space, node, source, bundle)
                }
                Node::Installed(position) => self.expand_installed(space, node, position),
                Node::Request(_) | Node::Way(_) => Ok(()),
            };
            if matches!(result, Err(Halt::Spent(_))) {
                self.fresh.push(node);
            }
            result?;
        }
        Ok(())
    }

    fn expand_entry(
        &mut self,
        space: &mut Space<'u>,
        node: NodeId,
        source: SourceIndex,
        bundle: operon_catalog::BundleId,
    ) -> Result<(), Halt> {
        let catalog = space.sources[source.index()].catalog;
        self.charge_operator(node)?;
        let mut seen: HashSet<FormulaId> = HashSet::new();
        for property in catalog.bundle_by_id(bundle).properties() {
            if property.kind == needs::DEPRECATED {
                forbid(space, node, Forbidden::Deprecated);
            }
            if !states_a_need(property.kind) {
                continue;
            }
            match self.needs.formula(space, property.kind, property.value, self.budget)? {
                Ok(formula) if !seen.insert(formula) => {}
                Ok(formula) => self.add_need(space, node, formula, Some(source))?,
                Err(error) if space.semantics.failures == FailureScope::Namespace => {
                    return Err(Halt::Failure(error));
                }
                Err(error) => {
                    let text = format!(
                        "{} cannot be used, because its {} is malformed: {error}",
                        catalog.bundle_by_id(bundle).name(),
                        property.kind
                    );
                    let request = String::new();
                    space.notices.push(Notice { request, kind: NoticeKind::Malformed, text });
                    forbid(space, node, Forbidden::Malformed(error));
                }
            }
        }
        if space.semantics.tell_as_upstream {
            self.repeat_unmet_needs(space, node, source, bundle)?;
        }
        Ok(())
    }

    /// Upstream: needs of the two older types are listed once more after all others, and of several
    /// needs that nothing meets the last one listed is told.
    fn repeat_unmet_needs(
        &mut self,
        space: &mut Space<'u>,
        node: NodeId,
        source: SourceIndex,
        bundle: operon_catalog::BundleId,
    ) -> Result<(), Halt> {
        let catalog = space.sources[source.index()].catalog;
        let older = ["olm.gvk.required", "olm.package.required"];
        for property in catalog.bundle_by_id(bundle).properties() {
            if !older.contains(&property.kind) {
                continue;
            }
            let formula =
                self.needs.formula(space, property.kind, property.value, self.budget)??;
            let list = self.candidates(space, formula, Some(source))?;
            if space.list(list).is_empty() {
                let why = Choice::Need(formula);
                space.rules.push(Rule::Choose { trigger: node, list, why });
            }
        }
        Ok(())
    }

    fn expand_installed(
        &mut self,
        space: &mut Space<'u>,
        node: NodeId,
        position: usize,
    ) -> Result<(), Halt> {
        self.charge_operator(node)?;
        let stops_all = space.semantics.failures == FailureScope::Namespace;
        let home = self.home_of(space, position);
        for (kind, value) in std::mem::take(&mut space.installed[position].needs) {
            if kind == needs::DEPRECATED {
                if !space.semantics.keep_deprecated {
                    forbid(space, node, Forbidden::Deprecated);
                }
                continue;
            }
            let semantics = space.semantics;
            let formulas = &mut space.formulas;
            match needs::parse_need(formulas, &kind, &value, semantics, self.budget)? {
                Ok(formula) => self.add_need(space, node, formula, home)?,
                Err(error) if stops_all => return Err(Halt::Failure(error)),
                Err(error) => {
                    let name = &space.installed[position].installed.name;
                    let text = format!(
                        "what {name} needs cannot be read: its {kind} is malformed: {error}"
                    );
                    let request = String::new();
                    space.notices.push(Notice { request, kind: NoticeKind::Malformed, text });
                }
            }
        }
        Ok(())
    }

    /// Returns the catalog that is searched first for an installed operator's needs. Upstream: none.
    fn home_of(&self, space: &Space<'_>, position: usize) -> Option<SourceIndex> {
        if !space.semantics.search_own_catalog_first {
            return None;
        }
        let request = space.requests[space.installed[position].request?];
        let sources = &space.sources;
        let index = sources.iter().position(|ready| Some(ready.name) == request.source.as_ref())?;
        Some(SourceIndex(index as u32))
    }

    /// Adds the rules of a need, part by part.
    fn add_need(
        &mut self,
        space: &mut Space<'u>,
        operator: NodeId,
        formula: FormulaId,
        home: Option<SourceIndex>,
    ) -> Result<(), Halt> {
        let begin = Mark::of(self.budget);
        let result = self.add_parts(space, operator, formula, home);
        self.costliest.note_need(operator, formula, begin, self.budget);
        result
    }

    fn add_parts(
        &mut self,
        space: &mut Space<'u>,
        operator: NodeId,
        formula: FormulaId,
        home: Option<SourceIndex>,
    ) -> Result<(), Halt> {
        let mut open = vec![(operator, formula)];
        while let Some((trigger, formula)) = open.pop() {
            self.budget.spend(STEPS_FOR_A_RULE)?;
            match &space.formulas[formula.index()].shape {
                Shape::Some if space.is_native(formula) => {}
                Shape::Some => {
                    let list = self.candidates(space, formula, home)?;
                    space.rules.push(Rule::Choose { trigger, list, why: Choice::Need(formula) });
                }
                Shape::None => self.exclusions.push((trigger, formula)),
                Shape::All(parts) => {
                    open.extend(parts.iter().rev().map(|&part| (trigger, part)));
                }
                Shape::Any(parts) => {
                    let parts = parts.clone();
                    if let Some(nodes) =
                        self.alternatives(space, trigger, &parts, home, &mut open)?
                    {
                        self.budget.spend(nodes.len() as u64)?;
                        self.budget.occupy(nodes.len() as u64 * BYTES_FOR_A_MEMBER)?;
                        let list = space.add_list(nodes);
                        let why = Choice::Need(formula);
                        space.rules.push(Rule::Choose { trigger, list, why });
                    }
                }
            }
        }
        Ok(())
    }

    fn candidates(
        &mut self,
        space: &mut Space<'u>,
        formula: FormulaId,
        home: Option<SourceIndex>,
    ) -> Result<List, Halt> {
        self.needs.candidates(space, formula, home, &mut self.fresh, self.budget)
    }

    fn charge_operator(&mut self, node: NodeId) -> Result<(), Spent> {
        self.costliest.note_operator(node);
        self.budget.occupy(BYTES_FOR_AN_OPERATOR)?;
        self.budget.spend(STEPS_FOR_AN_OPERATOR)
    }

    /// Returns the nodes of which one meets one of the parts; none when the cluster meets one.
    fn alternatives(
        &mut self,
        space: &mut Space<'u>,
        trigger: NodeId,
        parts: &[FormulaId],
        home: Option<SourceIndex>,
        open: &mut Vec<(NodeId, FormulaId)>,
    ) -> Result<Option<Vec<NodeId>>, Halt> {
        let mut nodes = Vec::new();
        let mut waiting: Vec<FormulaId> = parts.iter().rev().copied().collect();
        while let Some(part) = waiting.pop() {
            match &space.formulas[part.index()].shape {
                Shape::Some if space.is_native(part) => return Ok(None),
                Shape::Some => {
                    let list = self.candidates(space, part, home)?;
                    nodes.extend_from_slice(space.list(list));
                }
                Shape::Any(parts) => waiting.extend(parts.iter().rev()),
                Shape::None | Shape::All(_) => {
                    let way = space.add_node(Node::Way(trigger));
                    nodes.push(way);
                    open.push((way, part));
                }
            }
        }
        Ok(Some(nodes))
    }
}

fn forbid(space: &mut Space<'_>, node: NodeId, why: Forbidden) {
    space.rules.push(Rule::Forbid { node, why });
}

fn note_sources(space: &mut Space<'_>) {
    for source in &space.universe.sources {
        if let Content::Unavailable(reason) = &source.content {
            space.notices.push(Notice {
                request: String::new(),
                kind: NoticeKind::SourceUnavailable,
                text: format!("the catalog {} was left out: {reason}", source.name),
            });
        }
    }
}
