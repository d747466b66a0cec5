//! What operators need, and which operators would do.

use std::borrow::Cow;
use std::collections::{HashMap, hash_map::Entry};

use operon_constraint::{Candidate, Constraint, Requirement, matches_with};

use super::failures::Halt;
use super::formula::{self, Formula, Shape};
use super::matching::{PropertyMemo, matching_bundles, preferred_entries};
use super::{FormulaId, List, Node, NodeId, SourceIndex, Space};
use crate::budget::{BYTES_FOR_A_MEMBER, Budget, Spent};

/// The property that marks a bundle as one that must not be installed.
pub(super) const DEPRECATED: &str = "olm.deprecated";

/// Returns `true` if properties of this type state a need.
pub(super) fn states_a_need(kind: &str) -> bool {
    matches!(
        kind,
        "olm.constraint" | "olm.gvk.required" | "olm.package.required" | "olm.label.required"
    )
}

/// What was found out about needs, so that it is found out once.
#[derive(Debug, Default)]
pub(super) struct NeedMemo<'u> {
    /// Needs of bundles by type and text of the property.
    parsed: HashMap<(&'u str, &'u str), Result<FormulaId, String>>,
    /// For a formula and a source: the entries that match, in order of preference.
    found: HashMap<(FormulaId, SourceIndex), Vec<NodeId>>,
    /// For a formula and the source that is searched first: all candidates.
    lists: HashMap<(FormulaId, Option<SourceIndex>), List>,
    properties: PropertyMemo,
}

impl<'u> NeedMemo<'u> {
    /// Returns the formula of a bundle's property, or why it is malformed.
    pub(super) fn formula(
        &mut self,
        space: &mut Space<'u>,
        kind: &'u str,
        value: &'u str,
        budget: &mut Budget,
    ) -> Result<Result<FormulaId, String>, Spent> {
        budget.spend(1 + value.len() as u64 / 16)?;
        if let Some(known) = self.parsed.get(&(kind, value)) {
            return Ok(known.clone());
        }
        let parsed = parse_need(&mut space.formulas, kind, value, space.semantics, budget)?;
        self.parsed.insert((kind, value), parsed.clone());
        Ok(parsed)
    }

    /// Returns who meets a need of one operator, the preferred one first; nodes that are new are
    /// put on `fresh`.
    pub(super) fn candidates(
        &mut self,
        space: &mut Space<'u>,
        formula: FormulaId,
        home: Option<SourceIndex>,
        fresh: &mut Vec<NodeId>,
        budget: &mut Budget,
    ) -> Result<List, Halt> {
        if let Some(&list) = self.lists.get(&(formula, home)) {
            return Ok(list);
        }
        let mut nodes = installed_candidates(space, formula, budget)?;
        let others = (0..space.sources.len() as u32).map(SourceIndex);
        for source in home.into_iter().chain(others.filter(|&other| Some(other) != home)) {
            nodes.extend_from_slice(self.found(space, formula, source, fresh, budget)?);
        }
        budget.spend(nodes.len() as u64)?;
        budget.occupy(nodes.len() as u64 * BYTES_FOR_A_MEMBER)?;
        let list = space.add_list(nodes);
        self.lists.insert((formula, home), list);
        Ok(list)
    }

    fn found(
        &mut self,
        space: &mut Space<'u>,
        formula: FormulaId,
        source: SourceIndex,
        fresh: &mut Vec<NodeId>,
        budget: &mut Budget,
    ) -> Result<&[NodeId], Spent> {
        match self.found.entry((formula, source)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(vacant) => {
                let catalog = space.sources[source.index()].catalog;
                let constraint = &space.formulas[formula.index()].constraint;
                let bundles =
                    matching_bundles(source, catalog, constraint, &mut self.properties, budget)?;
                let entries = preferred_entries(catalog, &bundles, budget)?;
                let nodes = entries.into_iter();
                let nodes = nodes
                    .map(|(entry, bundle)| space.entry_node(source, entry, bundle, fresh))
                    .collect();
                Ok(vacant.insert(nodes))
            }
        }
    }

    /// Returns the nodes that match what must not be there.
    pub(super) fn excluded(
        &mut self,
        space: &Space<'u>,
        formula: FormulaId,
        budget: &mut Budget,
    ) -> Result<Vec<NodeId>, Spent> {
        let constraint = &space.formulas[formula.index()].constraint;
        let mut matched = Vec::with_capacity(space.sources.len());
        for (index, source) in space.sources.iter().enumerate() {
            let (index, memo) = (SourceIndex(index as u32), &mut self.properties);
            matched.push(matching_bundles(index, source.catalog, constraint, memo, budget)?);
        }
        budget.spend(space.nodes.len() as u64)?;
        let mut nodes = Vec::new();
        for (index, node) in space.nodes.iter().enumerate() {
            let is_excluded = match *node {
                Node::Entry { source, bundle, .. } => {
                    matched[source.index()].binary_search(&bundle).is_ok()
                }
                Node::Installed(position) => {
                    installed_matches(space, position, constraint, budget)?
                }
                Node::Request(_) | Node::Way(_) => false,
            };
            if is_excluded {
                nodes.push(NodeId(index as u32));
            }
        }
        budget.occupy(nodes.len() as u64 * BYTES_FOR_A_MEMBER)?;
        Ok(nodes)
    }
}

/// Reads a property that states a need.
pub(super) fn parse_need(
    formulas: &mut Vec<Formula>,
    kind: &str,
    value: &str,
    semantics: crate::semantics::Semantics,
    budget: &mut Budget,
) -> Result<Result<FormulaId, String>, Spent> {
    Ok(match budget.read_need(kind, value, semantics.constraint_dialect)? {
        Ok(Some(parsed)) => Ok(formula::add(formulas, &parsed.constraint, semantics.constraints)),
        Ok(None) => Err(format!("{kind} states no need")),
        Err(error) => Err(error.to_string()),
    })
}

impl<'u> Space<'u> {
    /// Returns the node of a channel entry; one that is new is put on `fresh`.
    pub(super) fn entry_node(
        &mut self,
        source: SourceIndex,
        entry: operon_catalog::EntryId,
        bundle: operon_catalog::BundleId,
        fresh: &mut Vec<NodeId>,
    ) -> NodeId {
        if let Some(node) = self.sources[source.index()].node_of(entry) {
            return node;
        }
        let node = self.add_node(Node::Entry { source, entry, bundle });
        self.sources[source.index()].set_node(entry, node);
        fresh.push(node);
        node
    }

    /// Returns `true` if the cluster itself meets a need.
    pub(super) fn is_native(&self, formula: FormulaId) -> bool {
        let Formula { constraint, shape, .. } = &self.formulas[formula.index()];
        match (&constraint.requirement, shape, &self.universe.native_apis) {
            (Requirement::Gvk(api), Shape::Some, Some(native)) => {
                self.semantics.count_native_apis && native.contains(api)
            }
            _ => false,
        }
    }
}

fn installed_matches(
    space: &Space<'_>,
    position: usize,
    constraint: &Constraint,
    budget: &mut Budget,
) -> Result<bool, Spent> {
    let operator = &space.installed[position];
    let properties = &operator.properties;
    let candidate = Candidate {
        name: &operator.installed.name,
        package: &operator.package,
        version: Some(&operator.installed.version),
        properties,
    };
    budget.spend(1 + properties.len() as u64)?;
    matches_with(constraint, &candidate, |rule| {
        let digest = *operator.digest.get_or_init(|| {
            let texts = operator.texts.iter();
            budget.digest(texts.map(|(kind, value)| (kind.as_str(), value.as_str())))
        });
        budget.evaluate(rule, digest, || Cow::Borrowed(properties))
    })
}

/// Returns the installed operators that meet a need, ordered by package and name.
fn installed_candidates(
    space: &Space<'_>,
    formula: FormulaId,
    budget: &mut Budget,
) -> Result<Vec<NodeId>, Halt> {
    let constraint = &space.formulas[formula.index()].constraint;
    let mut found: Vec<usize> = Vec::new();
    for position in 0..space.installed.len() {
        if installed_matches(space, position, constraint, budget)? {
            found.push(position);
        }
    }
    found.sort_by_key(|&position| &space.installed[position].package);
    if space.semantics.installed_form_channels {
        found = upstream_installed_candidates(space, found)?;
    }
    Ok(found.into_iter().map(|position| space.installed_node(position)).collect())
}

/// Upstream: of freestanding operators with the same package only the first is seen, and any other
/// two of the same package are taken for a channel with two heads.
fn upstream_installed_candidates(
    space: &Space<'_>,
    found: Vec<usize>,
) -> Result<Vec<usize>, String> {
    let mut kept: Vec<usize> = Vec::new();
    for position in found {
        let operator = &space.installed[position];
        let twin = kept.iter().find(|&&other| space.installed[other].package == operator.package);
        match twin {
            None => kept.push(position),
            Some(&other) if operator.request == space.installed[other].request => {}
            Some(&other) => {
                let chains = [other, position]
                    .map(|position| space.installed[position].installed.name.clone());
                let error = operon_catalog::graph::OrderError::ManyChains(chains.to_vec());
                return Err(error.upstream_text("", &operator.package));
            }
        }
    }
    Ok(kept)
}
