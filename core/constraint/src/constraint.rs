//! What a bundle requires, as a tree.
//!
//! A constraint is tested against one candidate at a time: `all` wants one candidate that fulfils
//! everything, not several that do so together.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use operon_version::VersionRange;

use crate::api::GroupVersionKind;
use crate::cel::CelRule;
use crate::json::MAX_JSON_DEPTH;
use crate::predicate::upstream_predicate_text;

/// Limits how deeply constraints nest. Each level takes three of JSON and the innermost one, so
/// upstream stops reading at the same depth.
pub const MAX_CONSTRAINT_NESTING: usize = MAX_JSON_DEPTH / 3 + 1;

/// Holds one requirement and what to tell people when it cannot be met.
#[derive(Clone)]
pub struct Constraint {
    /// Holds the author's words; upstream shows them for `cel` only.
    pub failure_message: Option<String>,
    /// Holds what is required.
    pub requirement: Requirement,
}

/// Names what a candidate must be.
#[derive(Clone)]
pub enum Requirement {
    /// It provides an API, as `etcd.database.coreos.com/v1beta2 EtcdCluster`.
    Gvk(GroupVersionKind),
    /// It belongs to a package and has a version in a range, as `prometheus` `>0.27.0`.
    Package {
        /// Holds the name of the package.
        name: String,
        /// Holds the range.
        range: VersionRange,
    },
    /// Its properties satisfy a rule, as `properties.exists(p, p.type == "certified")`.
    Cel(CelRule),
    /// It fulfils all of these; with none, every candidate does.
    All(Constraints),
    /// It fulfils one of these; with none, no candidate does.
    Any(Constraints),
    /// It fulfils none of these.
    Not(Constraints),
    /// It has a label, as `lts`.
    Label(String),
}

/// Holds the parts of a compound constraint.
#[derive(Clone, Default)]
pub struct Constraints {
    parts: Arc<[Constraint]>,
}

impl Requirement {
    /// Returns the parts of a compound requirement.
    pub fn parts(&self) -> Option<&Constraints> {
        match self {
            Self::All(parts) | Self::Any(parts) | Self::Not(parts) => Some(parts),
            Self::Gvk(_) | Self::Package { .. } | Self::Cel(_) | Self::Label(_) => None,
        }
    }

    /// Compares everything but the parts of compounds.
    fn has_head_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Gvk(left), Self::Gvk(right)) => left == right,
            (
                Self::Package { name, range },
                Self::Package { name: other_name, range: other_range },
            ) => name == other_name && range == other_range,
            (Self::Cel(left), Self::Cel(right)) => left == right,
            (Self::Label(left), Self::Label(right)) => left == right,
            (Self::All(left), Self::All(right))
            | (Self::Any(left), Self::Any(right))
            | (Self::Not(left), Self::Not(right)) => left.len() == right.len(),
            _ => false,
        }
    }
}

impl FromIterator<Constraint> for Constraints {
    fn from_iter<T: IntoIterator<Item = Constraint>>(parts: T) -> Self {
        Self { parts: parts.into_iter().collect() }
    }
}

impl Deref for Constraints {
    type Target = [Constraint];

    fn deref(&self) -> &[Constraint] {
        &self.parts
    }
}

impl PartialEq for Constraint {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = vec![(self, other)];
        while let Some((left, right)) = pairs.pop() {
            let same = left.failure_message == right.failure_message
                && left.requirement.has_head_of(&right.requirement);
            if !same {
                return false;
            }
            if let (Some(left), Some(right)) = (left.requirement.parts(), right.requirement.parts())
            {
                pairs.extend(left.iter().zip(right.iter()));
            }
        }
        true
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Constraint({:?})", upstream_predicate_text(self))
    }
}

impl Drop for Constraints {
    fn drop(&mut self) {
        let mut orphans = Vec::new();
        self.release_parts(&mut orphans);
        // Each constraint is emptied before it goes, so no drop nests in another.
        while let Some(mut orphan) = orphans.pop() {
            match &mut orphan.requirement {
                Requirement::All(parts) | Requirement::Any(parts) | Requirement::Not(parts) => {
                    parts.release_parts(&mut orphans);
                }
                Requirement::Gvk(_)
                | Requirement::Package { .. }
                | Requirement::Cel(_)
                | Requirement::Label(_) => {}
            }
        }
    }
}

impl Constraints {
    fn release_parts(&mut self, orphans: &mut Vec<Constraint>) {
        if let Some(parts) = Arc::get_mut(&mut self.parts) {
            let compound = parts
                .iter_mut()
                .filter(|part| part.requirement.parts().is_some_and(|parts| !parts.is_empty()));
            orphans.extend(compound.map(|part| {
                let nothing = Constraint {
                    failure_message: None,
                    requirement: Requirement::Label(String::new()),
                };
                std::mem::replace(part, nothing)
            }));
        }
    }
}
