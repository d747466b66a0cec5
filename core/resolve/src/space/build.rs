//! Builds a space: from installed operators and requests to everything that could meet a need.

use std::collections::BTreeMap;

use super::formula::Shape;
use super::needs::{self, NeedMemo, states_a_need};
use super::options::{Options, options};
use super::{
    Choice, Forbidden, FormulaId, List, Node, NodeId, Rule, SourceIndex, Space, exclusive,
    installed, sources,
};
use crate::resolution::{Notice, NoticeKind};
use crate::semantics::{FailureScope, Semantics};
use crate::universe::{Content, Request, Universe};

/// Builds the space of a universe and requests; fails only where a failure stops the namespace.
pub(crate) fn build<'u>(
    universe: &'u Universe<'u>,
    requests: &'u [Request],
    semantics: Semantics,
) -> Result<Space<'u>, String> {
    let mut ordered: Vec<&Request> = requests.iter().collect();
    ordered.sort_by(|left, right| left.name.cmp(&right.name));
    ordered.dedup_by(|second, first| second.name == first.name);
    let sources = sources::ready_sources(universe);
    let attribution = installed::attribute(universe, &ordered, &sources, semantics)?;
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
    };
    Builder { needs: NeedMemo::default(), fresh: Vec::new(), exclusions: Vec::new() }
        .fill(&mut space)?;
    Ok(space)
}

pub(super) struct Builder<'u> {
    pub(super) needs: NeedMemo<'u>,
    /// Operators whose needs have not been looked at.
    pub(super) fresh: Vec<NodeId>,
    /// What must not be there, to be looked up when all operators are known.
    pub(super) exclusions: Vec<(NodeId, FormulaId)>,
}

impl<'u> Builder<'u> {
    pub(super) fn fill(mut self, space: &mut Space<'u>) -> Result<(), String> {
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
        self.expand(space)?;
        let mut failures = Vec::new();
        for number in 0..space.requests.len() {
            self.add_request(space, number);
            failures.extend(self.expand(space).err());
        }
        upstream_failure(space, failures)?;
        let mut excluded: BTreeMap<FormulaId, List> = BTreeMap::new();
        for (trigger, formula) in std::mem::take(&mut self.exclusions) {
            let list = *excluded.entry(formula).or_insert_with(|| {
                let nodes = self.needs.excluded(space, formula);
                space.add_list(nodes)
            });
            space.rules.push(Rule::Exclude { trigger, list, formula });
        }
        exclusive::add_rules(space);
        note_sources(space);
        space.notices.sort();
        space.notices.dedup();
        Ok(())
    }

    /// Upstream: an operator that several requests name is freestanding for none of them.
    fn is_named(&self, space: &Space<'_>, position: usize) -> bool {
        space.currents.contains(&Some(position))
    }

    fn add_request(&mut self, space: &mut Space<'u>, number: usize) {
        let trigger = NodeId(number as u32);
        match options(space, number, &mut self.fresh) {
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
    }

    /// Looks at the needs of operators until all that could meet one are known.
    fn expand(&mut self, space: &mut Space<'u>) -> Result<(), String> {
        while let Some(node) = self.fresh.pop() {
            match space.nodes[node.index()] {
                Node::Entry { source, bundle, .. } => {
                    self.expand_entry(space, node, source, bundle)?;
                }
                Node::Installed(position) => self.expand_installed(space, node, position)?,
                Node::Request(_) | Node::Way(_) => {}
            }
        }
        Ok(())
    }

    fn expand_entry(
        &mut self,
        space: &mut Space<'u>,
        node: NodeId,
        source: SourceIndex,
        bundle: operon_catalog::BundleId,
    ) -> Result<(), String> {
        let catalog = space.sources[source.index()].catalog;
        let mut seen: Vec<FormulaId> = Vec::new();
        for property in catalog.bundle_by_id(bundle).properties() {
            if property.kind == needs::DEPRECATED {
                forbid(space, node, Forbidden::Deprecated);
            }
            if !states_a_need(property.kind) {
                continue;
            }
            match self.needs.formula(space, property.kind, property.value) {
                Ok(formula) if seen.contains(&formula) => {}
                Ok(formula) => {
                    seen.push(formula);
                    self.add_need(space, node, formula, Some(source))?;
                }
                Err(error) if space.semantics.failures == FailureScope::Namespace => {
                    return Err(error);
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
    ) -> Result<(), String> {
        let catalog = space.sources[source.index()].catalog;
        let older = ["olm.gvk.required", "olm.package.required"];
        for property in catalog.bundle_by_id(bundle).properties() {
            if !older.contains(&property.kind) {
                continue;
            }
            let formula = self.needs.formula(space, property.kind, property.value)?;
            let list = self.needs.candidates(space, formula, Some(source), &mut self.fresh)?;
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
    ) -> Result<(), String> {
        let stops_all = space.semantics.failures == FailureScope::Namespace;
        let home = self.home_of(space, position);
        for (kind, value) in std::mem::take(&mut space.installed[position].needs) {
            if kind == needs::DEPRECATED {
                if !space.semantics.keep_deprecated {
                    forbid(space, node, Forbidden::Deprecated);
                }
                continue;
            }
            match needs::parse_need(&mut space.formulas, &kind, &value, space.semantics) {
                Ok(formula) => self.add_need(space, node, formula, home)?,
                Err(error) if stops_all => return Err(error),
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
    ) -> Result<(), String> {
        let mut open = vec![(operator, formula)];
        while let Some((trigger, formula)) = open.pop() {
            match &space.formulas[formula.index()].shape {
                Shape::Some if space.is_native(formula) => {}
                Shape::Some => {
                    let list = self.needs.candidates(space, formula, home, &mut self.fresh)?;
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
                        let list = space.add_list(nodes);
                        let why = Choice::Need(formula);
                        space.rules.push(Rule::Choose { trigger, list, why });
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the nodes of which one meets one of the parts; none when the cluster meets one.
    fn alternatives(
        &mut self,
        space: &mut Space<'u>,
        trigger: NodeId,
        parts: &[FormulaId],
        home: Option<SourceIndex>,
        open: &mut Vec<(NodeId, FormulaId)>,
    ) -> Result<Option<Vec<NodeId>>, String> {
        let mut nodes = Vec::new();
        let mut waiting: Vec<FormulaId> = parts.iter().rev().copied().collect();
        while let Some(part) = waiting.pop() {
            match &space.formulas[part.index()].shape {
                Shape::Some if space.is_native(part) => return Ok(None),
                Shape::Some => {
                    let list = self.needs.candidates(space, part, home, &mut self.fresh)?;
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

/// Upstream: any catalog that cannot be read stops the namespace, and wins over other failures.
fn source_failures(space: &Space<'_>) -> Option<String> {
    if space.semantics.failures == FailureScope::Part {
        return None;
    }
    let unavailable = space.universe.sources.iter().filter_map(|source| match &source.content {
        Content::Ready(_) => None,
        Content::Unavailable(reason) => {
            Some(format!("error using catalogsource {}: {reason}", source.name))
        }
    });
    aggregate(unavailable.collect())
}

fn upstream_failure(space: &Space<'_>, failures: Vec<String>) -> Result<(), String> {
    match source_failures(space).or_else(|| aggregate(failures)) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// Upstream: several failures are shown in brackets, each once.
fn aggregate(mut failures: Vec<String>) -> Option<String> {
    failures.sort();
    failures.dedup();
    match failures.len() {
        0 | 1 => failures.pop(),
        _ => Some(format!("[{}]", failures.join(", "))),
    }
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
