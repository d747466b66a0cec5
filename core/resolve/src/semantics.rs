//! The points in which the documents and upstream's program differ, one named choice each.

use operon_constraint::Dialect;

/// How requirements that have parts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConstraintReading {
    /// Over the set of operators in the result: several operators may meet `all` together, and
    /// `not` refuses every result that contains a match.
    WholeSet,
    /// Against one candidate at a time.
    OneCandidate,
}

/// Where updates of an installed operator may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateSources {
    /// From the catalog that the Subscription names, then from the other visible ones.
    AllVisible,
    /// From the catalog that the Subscription names.
    OwnOnly,
}

/// How far a failure reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureScope {
    /// It stops what depends on it; the rest of the namespace is resolved.
    Part,
    /// It stops the whole namespace.
    Namespace,
}

/// One choice for each point in which the two dialects differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semantics {
    /// How requirements that have parts are read.
    pub constraints: ConstraintReading,
    /// Where updates of an installed operator may come from.
    pub updates: UpdateSources,
    /// How constraint documents are read, and how large they may be.
    pub constraint_dialect: Dialect,
    /// How far a conflict, a catalog that cannot be read or a malformed property reaches.
    pub failures: FailureScope,
    /// Whether an API that the cluster provides by itself meets a requirement.
    pub count_native_apis: bool,
    /// Whether an installed operator that is marked `olm.deprecated` may stay.
    pub keep_deprecated: bool,
    /// Whether the needs of an installed operator are searched for first in the catalog that its
    /// Subscription names.
    pub search_own_catalog_first: bool,
    /// Whether an operator that lists an API twice stands in its own way.
    pub repeated_api_clashes: bool,
    /// Whether installed operators of one package that meet a need are taken for a channel, in which
    /// only one can be the head.
    pub installed_form_channels: bool,
    /// Whether conflicts are told as upstream tells them: rules as they are met without a search,
    /// options and unmet needs as often as they are listed, APIs before packages.
    pub tell_as_upstream: bool,
    /// Whether an installed operator stays when its package, channel or catalog is gone.
    pub keep_vanished: bool,
    /// Whether an operator that another installed one replaces is left out as going away.
    pub release_replaced: bool,
    /// Whether a Subscription takes over the installed operator it plainly means.
    pub adopt_freestanding: bool,
    /// Whether a bundle may replace an installed operator of another package.
    pub replace_other_packages: bool,
}

impl Semantics {
    /// Returns the behaviour that the documents describe.
    pub const fn documented() -> Self {
        Self {
            constraints: ConstraintReading::WholeSet,
            updates: UpdateSources::AllVisible,
            constraint_dialect: Dialect::Documented,
            failures: FailureScope::Part,
            count_native_apis: true,
            keep_deprecated: true,
            search_own_catalog_first: true,
            repeated_api_clashes: false,
            installed_form_channels: false,
            tell_as_upstream: false,
            keep_vanished: true,
            release_replaced: true,
            adopt_freestanding: true,
            replace_other_packages: false,
        }
    }

    /// Returns the behaviour of upstream's program.
    pub const fn upstream() -> Self {
        Self {
            constraints: ConstraintReading::OneCandidate,
            updates: UpdateSources::OwnOnly,
            constraint_dialect: Dialect::Upstream,
            failures: FailureScope::Namespace,
            count_native_apis: false,
            keep_deprecated: false,
            search_own_catalog_first: false,
            repeated_api_clashes: true,
            installed_form_channels: true,
            tell_as_upstream: true,
            keep_vanished: false,
            release_replaced: false,
            adopt_freestanding: false,
            replace_other_packages: true,
        }
    }
}

impl Default for Semantics {
    fn default() -> Self {
        Self::documented()
    }
}
