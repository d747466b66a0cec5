//! Tests requirements against one candidate.
//!
//! Properties with malformed values match nothing. Whether a candidate may be used at all, and
//! how good it is, is not asked here.

use std::convert::Infallible;

use operon_version::Version;

use crate::api::GroupVersionKind;
use crate::cel::CelRule;
use crate::constraint::{Constraint, Constraints, Requirement};
use crate::fields::fields_of;
use crate::property::Property;

/// Holds what requirements look at in a bundle.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Holds the name of the bundle, as `etcdoperator.v0.9.4`.
    pub name: &'a str,
    /// Holds the package that the catalog lists the bundle in; may be empty.
    pub package: &'a str,
    /// Holds the version that the catalog or the installed operator states.
    pub version: Option<&'a Version>,
    /// Holds the properties.
    pub properties: &'a [Property],
}

/// Returns `true` if a candidate fulfils a constraint. A rule without an answer is not fulfilled.
pub fn matches(constraint: &Constraint, candidate: &Candidate<'_>) -> bool {
    let evaluate = |rule: &CelRule| {
        let answer = rule.program().evaluate(candidate.properties);
        Ok::<bool, Infallible>(matches!(answer, Ok(true)))
    };
    match matches_with(constraint, candidate, evaluate) {
        Ok(answer) => answer,
        Err(impossible) => match impossible {},
    }
}

/// Returns `true` if a candidate fulfils a constraint, where the caller evaluates rules.
///
/// The first error of `evaluate` ends the test.
pub fn matches_with<E>(
    constraint: &Constraint,
    candidate: &Candidate<'_>,
    mut evaluate: impl FnMut(&CelRule) -> Result<bool, E>,
) -> Result<bool, E> {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut current = constraint;
    loop {
        let mut answer = match &current.requirement {
            Requirement::All(parts) => begin(&mut open, parts, Quantifier::All),
            Requirement::Any(parts) => begin(&mut open, parts, Quantifier::Any),
            Requirement::Not(parts) => begin(&mut open, parts, Quantifier::Not),
            Requirement::Gvk(api) => Some(provides(candidate, api)),
            Requirement::Package { name, range } => Some(
                belongs_to(candidate, name)
                    && has_version(candidate, |version| range.contains(version)),
            ),
            Requirement::Label(label) => Some(has_label(candidate, label)),
            Requirement::Cel(rule) => Some(evaluate(rule)?),
        };
        // Answers go up as long as they settle the compound they belong to.
        current = loop {
            let Some(level) = open.last_mut() else {
                return Ok(answer.unwrap_or(false));
            };
            let settled = answer.is_some_and(|answer| answer == level.quantifier.settling());
            match level.rest.next() {
                Some(next) if !settled => break next,
                Some(_) | None => {
                    answer = Some(level.quantifier.result(settled));
                    open.pop();
                }
            }
        };
    }
}

/// Returns the APIs that properties say are provided, as often as they say so.
pub fn provided_apis(properties: &[Property]) -> impl Iterator<Item = GroupVersionKind> {
    properties
        .iter()
        .filter(|property| property.property_type == "olm.gvk")
        .filter_map(|property| fields_of(property, ["group", "version", "kind"]))
        .map(|[group, version, kind]| GroupVersionKind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        })
}

/// Returns the names and versions of packages that properties state.
pub fn stated_packages(properties: &[Property]) -> impl Iterator<Item = [&str; 2]> {
    properties
        .iter()
        .filter(|property| property.property_type == "olm.package")
        .filter_map(|property| fields_of(property, ["packageName", "version"]))
}

struct Open<'a> {
    quantifier: Quantifier,
    rest: std::slice::Iter<'a, Constraint>,
}

#[derive(Clone, Copy)]
enum Quantifier {
    All,
    Any,
    Not,
}

impl Quantifier {
    /// Returns the answer of a part that settles the whole.
    fn settling(self) -> bool {
        match self {
            Self::All => false,
            Self::Any | Self::Not => true,
        }
    }

    fn result(self, settled: bool) -> bool {
        match self {
            Self::All | Self::Not => !settled,
            Self::Any => settled,
        }
    }
}

fn begin<'a>(
    open: &mut Vec<Open<'a>>,
    parts: &'a Constraints,
    quantifier: Quantifier,
) -> Option<bool> {
    open.push(Open { quantifier, rest: parts.iter() });
    None
}

fn provides(candidate: &Candidate<'_>, api: &GroupVersionKind) -> bool {
    let wanted = [&api.group, &api.version, &api.kind].map(String::as_str);
    of_type(candidate, "olm.gvk")
        .filter_map(|property| fields_of(property, ["group", "version", "kind"]))
        .any(|fields| fields == wanted)
}

fn belongs_to(candidate: &Candidate<'_>, package: &str) -> bool {
    stated_packages(candidate.properties).any(|[name, _]| name == package)
        || candidate.package == package
}

/// Upstream: the name and the version may match in different `olm.package` properties.
fn has_version(candidate: &Candidate<'_>, fits: impl Fn(&Version) -> bool) -> bool {
    let stated =
        |[_, version]: [&str; 2]| Version::parse(version).is_ok_and(|version| fits(&version));
    stated_packages(candidate.properties).any(stated) || candidate.version.is_some_and(&fits)
}

fn has_label(candidate: &Candidate<'_>, label: &str) -> bool {
    of_type(candidate, "olm.label")
        .filter_map(|property| fields_of(property, ["label"]))
        .any(|[found]| found == label)
}

fn of_type<'a>(
    candidate: &Candidate<'a>,
    property_type: &'static str,
) -> impl Iterator<Item = &'a Property> {
    candidate.properties.iter().filter(move |property| property.property_type == property_type)
}
