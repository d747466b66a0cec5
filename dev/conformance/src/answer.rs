//! The answer to a case, before it is printed.

use std::time::Duration;

use operon_api::Subscription;
use operon_resolve::{Addition, BundleLookup, NewSubscription, NoticeKind};

use crate::explanation::FailureReport;

/// The answer to a case.
#[derive(Debug, Default)]
pub(crate) struct CaseAnswer {
    pub(crate) id: String,
    pub(crate) namespace: String,
    pub(crate) outcome: Outcome,
    /// The bundles to add, of all parts that have a solution.
    pub(crate) operators: Vec<Addition>,
    /// Why there is no solution, in one text; empty if there is one.
    pub(crate) error: String,
    /// The facts that cannot hold together, as upstream words them.
    pub(crate) conflicts: Vec<String>,
    pub(crate) steps: Option<Steps>,
    pub(crate) parts: Vec<PartAnswer>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) timing: Timing,
}

/// Outcome of a resolution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every part of the namespace has a solution.
    Resolved,
    /// The facts of some part cannot hold together.
    Unsatisfiable,
    /// Upstream's tools reject a catalog.
    CatalogInvalid,
    /// Another error, described by the text.
    #[default]
    Error,
    /// The line is not a case.
    NotACase,
}

/// Bundles to unpack, and Subscriptions to create and update.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub(crate) bundle_lookups: Vec<BundleLookup>,
    pub(crate) new_subscriptions: Vec<NewSubscription>,
    /// Subscriptions, each with its new bundle.
    pub(crate) updated_subscriptions: Vec<(Subscription, String)>,
    /// Bundles whose manifests are in the catalog.
    pub(crate) inline: Vec<Addition>,
}

/// CaseAnswer to one part of the namespace.
#[derive(Debug)]
pub(crate) struct PartAnswer {
    pub(crate) requests: Vec<String>,
    pub(crate) installed: Vec<String>,
    pub(crate) outcome: Outcome,
    /// The names of bundles to add.
    pub(crate) operators: Vec<String>,
    /// The names of installed operators that are kept.
    pub(crate) kept: Vec<String>,
    pub(crate) error: String,
    /// The conflicts, each as upstream words its facts.
    pub(crate) conflicts: Vec<Vec<String>>,
    /// Why there is no solution; not computed where many cases are answered.
    pub(crate) explanation: Option<FailureReport>,
}

/// A problem that did not stop the resolution.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) kind: &'static str,
    /// The Subscription concerned; may be empty.
    pub(crate) request: String,
    pub(crate) text: String,
    pub(crate) help: String,
}

impl Notice {
    /// Creates a notice that concerns no Subscription.
    pub(crate) fn new(kind: &'static str, text: String, help: &str) -> Self {
        Self { kind, request: String::new(), text, help: help.to_owned() }
    }
}

/// Durations of the steps.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Timing {
    /// Opening or reading the catalogs.
    pub(crate) catalogs: Duration,
    /// Resolving.
    pub(crate) resolve: Duration,
    /// Resolving, and computing the steps.
    pub(crate) resolve_steps: Duration,
}

impl CaseAnswer {
    /// Returns the answer to a line that is not a case.
    pub(crate) fn not_a_case(number: usize, reason: &str) -> Self {
        let error = format!("line {number} is not a case: {reason}");
        Self { outcome: Outcome::NotACase, error, ..Self::default() }
    }

    /// Returns the answer to a line on which this program failed.
    pub(crate) fn defect(number: usize) -> Self {
        let error = format!("line {number}: a defect of this program; please report the case");
        Self { outcome: Outcome::Error, error, ..Self::default() }
    }

    pub(crate) fn is_resolved(&self) -> bool {
        self.outcome == Outcome::Resolved
    }

    pub(crate) fn is_case(&self) -> bool {
        self.outcome != Outcome::NotACase
    }
}

impl Outcome {
    /// Returns the value of `outcome` in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Outcome::Resolved => "resolved",
            Outcome::Unsatisfiable => "unsat",
            Outcome::CatalogInvalid => "catalog-invalid",
            Outcome::Error | Outcome::NotACase => "error",
        }
    }
}

/// Returns the name of a kind of notice.
pub(crate) fn notice_name(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Vanished => "vanished",
        NoticeKind::SourceUnavailable => "source-unavailable",
        NoticeKind::Malformed => "malformed",
        NoticeKind::Adopted => "adopted",
        NoticeKind::BeingReplaced => "being-replaced",
        NoticeKind::Unreadable => "unreadable",
    }
}
