//! Turns a written constraint into a requirement.
//!
//! Here it is decided which of several stated kinds counts, ranges are read and rules compiled.
//! The first fault in reading order is reported, as upstream does.

use operon_version::VersionRange;

use crate::cel::{CelRule, CompileBudget};
use crate::constraint::{Constraint, Constraints, Requirement};
use crate::document::{
    CompoundKind, ConstraintDocument, WrittenCompound, WrittenConstraint, WrittenPackage,
};
use crate::error::ConstraintFault;
use crate::warning::{ConstraintWarning, MAX_WARNINGS, WarningKind};

/// Returns the requirement that a document states.
pub(crate) fn resolve(
    document: &ConstraintDocument,
    budget: &mut CompileBudget,
) -> Result<Constraint, ConstraintFault> {
    let mut open: Vec<Building<'_>> = Vec::new();
    let mut position = 0;
    loop {
        let written = &document.constraints[position];
        let mut finished = match head(written, budget)? {
            Head::Leaf(requirement) => Some(finish(written, requirement)),
            Head::Compound(kind, parts) => {
                open.push(Building {
                    written,
                    kind,
                    rest: parts.iter(),
                    parts: Vec::with_capacity(parts.len()),
                });
                None
            }
        };
        position = loop {
            let Some(level) = open.last_mut() else {
                // Only a finished constraint leaves no level open.
                return finished.ok_or(ConstraintFault::Empty);
            };
            level.parts.extend(finished.take());
            if let Some(next) = level.rest.next() {
                break *next;
            }
            finished = open.pop().map(Building::finish);
        };
    }
}

/// Returns what upstream accepts silently but an author should know.
pub(crate) fn warnings(document: &ConstraintDocument) -> Vec<ConstraintWarning> {
    let mut found = Vec::new();
    let mut visits = vec![Visit { position: 0, step: None }];
    let mut next = 0;
    while next < visits.len() && found.len() < MAX_WARNINGS {
        let written = &document.constraints[visits[next].position];
        let stated = stated_kinds(written);
        for kind in questionable(written, &stated, next == 0) {
            let place = place_of(&visits, next);
            found.push(ConstraintWarning { place, kind });
        }
        let is_used = |kind: &CompoundKind| stated.first() == Some(&kind.key());
        if let Some(kind) = CompoundKind::ALL.into_iter().find(is_used) {
            let parts = written.compound(kind).map_or(&[][..], WrittenCompound::parts);
            visits.extend(
                parts.iter().enumerate().map(|(index, part)| Visit {
                    position: *part,
                    step: Some((next, kind, index)),
                }),
            );
        }
        next += 1;
    }
    found.truncate(MAX_WARNINGS);
    found
}

/// Holds a constraint to look at and how it was reached: from which visit, and as which part.
struct Visit {
    position: usize,
    step: Option<(usize, CompoundKind, usize)>,
}

fn place_of(visits: &[Visit], visit: usize) -> String {
    let mut steps = Vec::new();
    let mut current = visits[visit].step;
    while let Some((from, kind, index)) = current {
        steps.push(format!("{}[{index}]", kind.key()));
        current = visits[from].step;
    }
    steps.reverse();
    steps.join(".")
}

fn questionable(
    written: &WrittenConstraint,
    stated: &[&'static str],
    outermost: bool,
) -> Vec<WarningKind> {
    let mut kinds = Vec::new();
    if let [used, ignored @ ..] = stated
        && !ignored.is_empty()
    {
        kinds.push(WarningKind::SeveralKinds { used, ignored: ignored.to_vec() });
    }
    let by_name = |package: &WrittenPackage| package.documented_name;
    if written.package.as_ref().is_some_and(by_name) {
        kinds.push(WarningKind::UpstreamRefusesName);
    }
    let used = stated.first().copied();
    if used == Some("not") && outermost {
        kinds.push(WarningKind::NotAlone);
    }
    let is_empty = |compound: &WrittenCompound| compound.parts().is_empty();
    if used == Some("any") && written.compound(CompoundKind::Any).is_some_and(is_empty) {
        kinds.push(WarningKind::NeverFulfilled);
    }
    kinds
}

enum Head<'a> {
    Leaf(Requirement),
    Compound(CompoundKind, &'a [usize]),
}

struct Building<'a> {
    written: &'a WrittenConstraint,
    kind: CompoundKind,
    rest: std::slice::Iter<'a, usize>,
    parts: Vec<Constraint>,
}

impl Building<'_> {
    fn finish(self) -> Constraint {
        let parts = Constraints::from_iter(self.parts);
        let requirement = match self.kind {
            CompoundKind::All => Requirement::All(parts),
            CompoundKind::Any => Requirement::Any(parts),
            CompoundKind::Not => Requirement::Not(parts),
        };
        finish(self.written, requirement)
    }
}

fn finish(written: &WrittenConstraint, requirement: Requirement) -> Constraint {
    let message = &written.failure_message;
    Constraint { failure_message: (!message.is_empty()).then(|| message.clone()), requirement }
}

/// Upstream: of several stated kinds the first of gvk, package, all, any, not and cel counts.
fn head<'a>(
    written: &'a WrittenConstraint,
    budget: &mut CompileBudget,
) -> Result<Head<'a>, ConstraintFault> {
    if let Some(api) = &written.gvk {
        return Ok(Head::Leaf(Requirement::Gvk(api.clone())));
    }
    if let Some(package) = &written.package {
        let range = VersionRange::parse(&package.range).map_err(ConstraintFault::Range)?;
        let name = package.name.clone();
        return Ok(Head::Leaf(Requirement::Package { name, range }));
    }
    for kind in CompoundKind::ALL {
        if let Some(compound) = written.compound(kind) {
            return Ok(Head::Compound(kind, compound.parts()));
        }
    }
    match &written.cel {
        Some(rule) => {
            let rule = CelRule::new_within(rule, budget).map_err(ConstraintFault::Rule)?;
            Ok(Head::Leaf(Requirement::Cel(rule)))
        }
        None => Err(ConstraintFault::Empty),
    }
}

/// Lists the kinds that a constraint states, the one that counts first.
fn stated_kinds(written: &WrittenConstraint) -> Vec<&'static str> {
    let mut stated = Vec::new();
    if written.gvk.is_some() {
        stated.push("gvk");
    }
    if written.package.is_some() {
        stated.push("package");
    }
    for kind in CompoundKind::ALL {
        if written.compound(kind).is_some() {
            stated.push(kind.key());
        }
    }
    if written.cel.is_some() {
        stated.push("cel");
    }
    stated
}
