//! What operators need, and which operators would do.

use std::collections::HashMap;

use operon_constraint::{Candidate, Constraint, Requirement, matches, parse_property};

use super::formula::{self, Formula, Shape};
use super::matching::{PropertyMemo, matching_bundles, preferred_entries};
use super::{FormulaId, List, Node, NodeId, SourceIndex, Space};

/// The property that marks a bundle as one that must not be installed.
pub(super) const DEPRECATED: &str = "olm.deprecated";

/// Tells whether properties of this type state a need.
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
    properties: HashMap<SourceIndex, PropertyMemo>,
}

impl<'u> NeedMemo<'u> {
    /// Returns the formula of a bundle's property, or why it is malformed.
    pub(super) fn formula(
        &mut self,
        space: &mut Space<'u>,
        kind: &'u str,
        value: &'u str,
    ) -> Result<FormulaId, String> {
        if let Some(known) = self.parsed.get(&(kind, value)) {
            return known.clone();
        }
        let parsed = parse_need(&mut space.formulas, kind, value, space.semantics);
        self.parsed.insert((kind, value), parsed.clone());
        parsed
    }

    /// Returns who meets a need of one operator, the preferred one first; nodes that are new are
    /// put on `fresh`.
    pub(super) fn candidates(
        &mut self,
        space: &mut Space<'u>,
        formula: FormulaId,
        home: Option<SourceIndex>,
        fresh: &mut Vec<NodeId>,
    ) -> Result<List, String> {
        if let Some(&list) = self.lists.get(&(formula, home)) {
            return Ok(list);
        }
        let mut nodes = installed_candidates(space, formula)?;
        let others = (0..space.sources.len() as u32).map(SourceIndex);
        for source in home.into_iter().chain(others.filter(|&other| Some(other) != home)) {
            nodes.extend_from_slice(self.found(space, formula, source, fresh));
        }
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
    ) -> &[NodeId] {
        let memo = self.properties.entry(source).or_default();
        self.found.entry((formula, source)).or_insert_with(|| {
            let catalog = space.sources[source.index()].catalog;
            let constraint = &space.formulas[formula.index()].constraint;
            let bundles = matching_bundles(catalog, constraint, memo);
            preferred_entries(catalog, &bundles)
                .into_iter()
                .map(|(entry, bundle)| space.entry_node(source, entry, bundle, fresh))
                .collect()
        })
    }

    /// Returns the nodes that match what must not be there.
    pub(super) fn excluded(&mut self, space: &Space<'u>, formula: FormulaId) -> Vec<NodeId> {
        let constraint = &space.formulas[formula.index()].constraint;
        let matched: Vec<_> = space
            .sources
            .iter()
            .enumerate()
            .map(|(index, source)| {
                let memo = self.properties.entry(SourceIndex(index as u32)).or_default();
                matching_bundles(source.catalog, constraint, memo)
            })
            .collect();
        let is_excluded = |node: &Node| match *node {
            Node::Entry { source, bundle, .. } => {
                matched[source.index()].binary_search(&bundle).is_ok()
            }
            Node::Installed(position) => installed_matches(space, position, constraint),
            Node::Request(_) | Node::Way(_) => false,
        };
        let nodes = space.nodes.iter().enumerate();
        nodes.filter(|(_, node)| is_excluded(node)).map(|(index, _)| NodeId(index as u32)).collect()
    }
}

/// Reads a property that states a need.
pub(super) fn parse_need(
    formulas: &mut Vec<Formula>,
    kind: &str,
    value: &str,
    semantics: crate::semantics::Semantics,
) -> Result<FormulaId, String> {
    match parse_property(kind, value, semantics.constraint_dialect) {
        Ok(Some(parsed)) => Ok(formula::add(formulas, &parsed.constraint, semantics.constraints)),
        Ok(None) => Err(format!("{kind} states no need")),
        Err(error) => Err(error.to_string()),
    }
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

    /// Tells whether the cluster itself meets a need.
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

fn installed_matches(space: &Space<'_>, position: usize, constraint: &Constraint) -> bool {
    let operator = &space.installed[position];
    let candidate = Candidate {
        name: &operator.installed.name,
        package: &operator.package,
        version: Some(&operator.installed.version),
        properties: &operator.properties,
    };
    matches(constraint, &candidate)
}

/// Returns the installed operators that meet a need, ordered by package and name.
fn installed_candidates(space: &Space<'_>, formula: FormulaId) -> Result<Vec<NodeId>, String> {
    let constraint = &space.formulas[formula.index()].constraint;
    let mut found: Vec<usize> = (0..space.installed.len())
        .filter(|&position| installed_matches(space, position, constraint))
        .collect();
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
