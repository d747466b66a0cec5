//! A conflict: facts that cannot hold together, as data.
//!
//! The facts are a minimal set: without any one of them there would be an answer. What to tell
//! people about them is made in `explain`.

use operon_constraint::{Constraint, GroupVersionKind};

use crate::universe::SourceName;

/// Why a part of a namespace has no answer.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// The facts that cannot hold together, in the order of requests, installed operators, needs
    /// and rules.
    pub facts: Vec<Fact>,
    /// Whether leaving out any one fact would give an answer; false when the budget ended first.
    pub minimal: bool,
    /// The requests that the facts are about, in order.
    pub requests: Vec<String>,
}

/// An operator that facts speak of: an entry of a channel, or an installed one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operator {
    /// The catalog; `None` for an installed operator.
    pub source: Option<SourceName>,
    /// The package; may be empty for an installed operator.
    pub package: String,
    /// The channel; empty for an installed operator.
    pub channel: String,
    /// The name of the bundle or ClusterServiceVersion.
    pub name: String,
    /// The version as written; may be empty.
    pub version: String,
    /// 0 for the operator itself, another number for a way to meet a constraint of it that has
    /// parts: such a way is no operator, but has needs of its own.
    pub way: u32,
}

/// Something that must hold.
#[derive(Debug, Clone)]
pub enum Fact {
    /// A request exists, so it must be fulfilled.
    Wanted {
        /// The request's name.
        request: String,
    },
    /// A request is fulfilled by one of these, the preferred one first; the last one may be what
    /// is installed.
    Options {
        /// The request's name.
        request: String,
        /// The package it asks for.
        package: String,
        /// The operators that would do, without repetitions.
        options: Vec<Operator>,
    },
    /// A request names something that does not exist.
    NotFound {
        /// The request's name.
        request: String,
        /// What is missing.
        missing: Missing,
    },
    /// An operator runs, and no request refers to it, so it stays.
    Freestanding {
        /// The operator.
        operator: Operator,
    },
    /// A bundle is marked as one that must not be installed (`olm.deprecated`).
    Deprecated {
        /// The bundle.
        operator: Operator,
    },
    /// A bundle cannot be used because a property of it is malformed.
    Malformed {
        /// The bundle.
        operator: Operator,
        /// What is wrong.
        error: String,
    },
    /// An operator needs one of the candidates; there may be none.
    Needs {
        /// The operator that needs something.
        operator: Operator,
        /// What it needs.
        constraint: Constraint,
        /// The operators that would do, the preferred one first.
        candidates: Vec<Operator>,
    },
    /// An operator excludes others.
    Excludes {
        /// The operator that excludes them.
        operator: Operator,
        /// The whole constraint that says so.
        constraint: Constraint,
        /// The operators that match what must not be there.
        excluded: Vec<Operator>,
    },
    /// An update and what it updates cannot both run.
    Updates {
        /// The update.
        operator: Operator,
        /// The installed operator that it updates.
        current: Operator,
    },
    /// Only one operator may provide an API.
    OneProvider {
        /// The API.
        api: GroupVersionKind,
        /// The operators that provide it, as often as they list it.
        providers: Vec<Operator>,
    },
    /// Only one operator may come from a package.
    OnePerPackage {
        /// The package.
        package: String,
        /// The operators of the package.
        members: Vec<Operator>,
    },
}

impl Fact {
    /// Counts the operators that the fact names.
    pub fn operators(&self) -> usize {
        match self {
            Self::Wanted { .. } | Self::NotFound { .. } => 0,
            Self::Freestanding { .. } | Self::Deprecated { .. } | Self::Malformed { .. } => 1,
            Self::Updates { .. } => 2,
            Self::Options { options: several, .. }
            | Self::OneProvider { providers: several, .. }
            | Self::OnePerPackage { members: several, .. } => several.len(),
            Self::Needs { candidates: several, .. } | Self::Excludes { excluded: several, .. } => {
                1 + several.len()
            }
        }
    }
}

/// What a request names in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The catalog is not visible or empty.
    Catalog {
        /// Its name.
        source: SourceName,
    },
    /// The catalog cannot be read.
    Unavailable {
        /// Its name.
        source: SourceName,
        /// Why not.
        reason: String,
    },
    /// The catalog has no such package.
    Package {
        /// The package.
        package: String,
    },
    /// The package has no such channel.
    Channel {
        /// The package.
        package: String,
        /// The channel.
        channel: String,
    },
    /// The channel has no bundle of the name to start with.
    Start {
        /// The package.
        package: String,
        /// The channel.
        channel: String,
        /// The bundle.
        starting_csv: String,
    },
    /// None of the bundles that the request may move to is offered.
    Allowed {
        /// The package.
        package: String,
        /// Who limits them.
        because: String,
    },
}
