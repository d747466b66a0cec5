//! What bundles require, and which bundles meet it.
//!
//! Requirements are tested against one bundle at a time, as resolvers do. Which of several fitting
//! bundles is preferred depends on channels and is decided elsewhere.

use operon_constraint::{
    Candidate, Constraint, Dialect, Property, Requirement, matches, parse_property,
    upstream_predicate_text,
};
use operon_version::VersionRange;

use crate::{Bundle, Catalog, GroupVersionKind};

/// Something a bundle requires.
pub(super) struct Need<'a> {
    /// What is required, as people read it.
    pub(super) text: String,
    /// Tells needs apart: equal needs have equal keys.
    pub(super) key: String,
    pub(super) kind: NeedKind<'a>,
}

pub(super) enum NeedKind<'a> {
    /// A bundle that provides an API.
    Api(GroupVersionKind),
    /// A bundle of a package with a version in a range.
    Package { name: &'a str, range: VersionRange },
    /// A bundle that fulfils a constraint.
    Constraint(Constraint),
    /// Nothing can be found, because the requirement cannot be read.
    Unreadable,
}

/// Returns what a bundle requires.
pub(super) fn needs_of(bundle: Bundle<'_>) -> Vec<Need<'_>> {
    let mut needs = Vec::new();
    for api in bundle.required_apis() {
        let name = api.name();
        needs.push(Need::new(format!("the API {name}"), NeedKind::Api(name)));
    }
    for (name, range) in bundle.required_packages() {
        let text = format!("package `{name}` in `{range}`");
        needs.push(match VersionRange::parse(range) {
            Ok(range) => Need::new(text, NeedKind::Package { name, range }),
            Err(error) => {
                Need::new(format!("{text}, which cannot be read: {error}"), NeedKind::Unreadable)
            }
        });
    }
    for property in bundle.properties() {
        if !matches!(property.kind, "olm.constraint" | "olm.label.required") {
            continue;
        }
        match parse_property(property.kind, property.value, Dialect::Documented) {
            Ok(None) => {}
            Ok(Some(parsed)) => needs.push(constraint_need(parsed.constraint)),
            Err(error) => {
                let text = format!("a constraint that cannot be read: {error}");
                needs.push(Need::new(text, NeedKind::Unreadable));
            }
        }
    }
    needs
}

impl<'a> Need<'a> {
    fn new(text: String, kind: NeedKind<'a>) -> Self {
        Self { key: text.clone(), text, kind }
    }

    /// Returns the needs that together make up this one, when no single bundle meets it.
    ///
    /// Documentation lets several operators meet the parts of `all` together; upstream wants one. A
    /// bundle that meets all of it is looked for first, so the parts serve both readings.
    pub(super) fn parts(&self) -> Option<Vec<Need<'a>>> {
        match &self.kind {
            NeedKind::Constraint(Constraint { requirement: Requirement::All(parts), .. }) => {
                Some(parts.iter().cloned().map(constraint_need).collect())
            }
            NeedKind::Constraint(_)
            | NeedKind::Api(_)
            | NeedKind::Package { .. }
            | NeedKind::Unreadable => None,
        }
    }

    /// Tells whether nothing has to be kept for it: `not` only forbids.
    pub(super) fn only_forbids(&self) -> bool {
        match &self.kind {
            NeedKind::Constraint(constraint) => {
                matches!(constraint.requirement, Requirement::Not(_))
            }
            NeedKind::Api(_) | NeedKind::Package { .. } | NeedKind::Unreadable => false,
        }
    }

    /// Returns the bundles of a catalog that meet the need, in any channel or none.
    pub(super) fn candidates<'c>(&self, catalog: &'c Catalog) -> Vec<Bundle<'c>> {
        match &self.kind {
            NeedKind::Api(name) => {
                let api = catalog.api(name);
                api.into_iter().flat_map(|api| api.providers()).collect()
            }
            NeedKind::Package { name, range } => {
                let bundles =
                    catalog.package(name).into_iter().flat_map(|package| package.bundles());
                let fits = |bundle: &Bundle<'_>| {
                    bundle.version().is_some_and(|version| range.contains(&version))
                };
                bundles.filter(fits).collect()
            }
            NeedKind::Constraint(constraint) => {
                catalog.bundles().filter(|bundle| fulfils(*bundle, constraint)).collect()
            }
            NeedKind::Unreadable => Vec::new(),
        }
    }

    /// Returns how many bundles have to be tested to find the candidates.
    pub(super) fn cost(&self, catalog: &Catalog) -> usize {
        match &self.kind {
            NeedKind::Constraint(_) => catalog.counts().bundles as usize,
            NeedKind::Api(_) | NeedKind::Package { .. } | NeedKind::Unreadable => 1,
        }
    }
}

fn constraint_need<'a>(constraint: Constraint) -> Need<'a> {
    let key = format!("an operator {}", upstream_predicate_text(&constraint));
    let text = match &constraint.failure_message {
        Some(message) if !message.is_empty() => message.clone(),
        Some(_) | None => key.clone(),
    };
    Need { text, key, kind: NeedKind::Constraint(constraint) }
}

fn fulfils(bundle: Bundle<'_>, constraint: &Constraint) -> bool {
    let properties: Vec<Property> = bundle
        .properties()
        .map(|property| Property::from_text(property.kind, property.value))
        .collect();
    let version = bundle.version();
    let candidate = Candidate {
        name: bundle.name(),
        package: bundle.package().name(),
        version: version.as_ref(),
        properties: &properties,
    };
    matches(constraint, &candidate)
}
