//! The answer to a case, before it is printed.

use std::time::Duration;

use operon_api::Subscription;
use operon_resolve::{Addition, BundleLookup, NewSubscription, NoticeKind};

use crate::explanation;

/// The answer to a case.
#[derive(Debug, Default)]
pub(super) struct Answered {
    pub(super) id: String,
    pub(super) namespace: String,
    pub(super) outcome: Verdict,
    /// The bundles to add, of all parts that have an answer.
    pub(super) operators: Vec<Addition>,
    /// Why there is no answer, in one text; empty when there is one.
    pub(super) error: String,
    /// The facts that cannot hold together, as upstream words them.
    pub(super) conflicts: Vec<String>,
    pub(super) steps: Option<StepsToTake>,
    pub(super) parts: Vec<PartAnswer>,
    pub(super) notices: Vec<Told>,
    pub(super) timing: Timing,
}

/// How a resolution ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Every part of the namespace has an answer.
    Resolved,
    /// The facts of some part cannot hold together.
    Unsatisfiable,
    /// A catalog is one that upstream's tools refuse.
    CatalogInvalid,
    /// Something else is wrong; the text says what.
    #[default]
    Error,
    /// The line is not a case at all.
    NotACase,
}

/// What is to be unpacked, created and changed.
#[derive(Debug, Default)]
pub(super) struct StepsToTake {
    pub(super) bundle_lookups: Vec<BundleLookup>,
    pub(super) new_subscriptions: Vec<NewSubscription>,
    /// Subscriptions, with the bundle that each moves to.
    pub(super) updated_subscriptions: Vec<(Subscription, String)>,
    /// Bundles whose manifests are in the catalog.
    pub(super) inline: Vec<Addition>,
}

/// What is said about one part of the namespace.
#[derive(Debug)]
pub(super) struct PartAnswer {
    pub(super) requests: Vec<String>,
    pub(super) installed: Vec<String>,
    pub(super) outcome: Verdict,
    /// The names of bundles to add.
    pub(super) operators: Vec<String>,
    /// The names of installed operators that stay.
    pub(super) kept: Vec<String>,
    pub(super) error: String,
    /// The conflicts, each as upstream words its facts.
    pub(super) conflicts: Vec<Vec<String>>,
    /// Why there is no answer, for people; not looked for where many cases are answered.
    pub(super) explanation: Option<explanation::Told>,
}

/// Something people should know although it stopped nothing.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) kind: &'static str,
    /// The Subscription it is about; may be empty.
    pub(super) request: String,
    pub(super) text: String,
    pub(super) help: String,
}

impl Told {
    /// Returns a notice that is about no Subscription.
    pub(super) fn new(kind: &'static str, text: String, help: &str) -> Self {
        Self { kind, request: String::new(), text, help: help.to_owned() }
    }
}

/// How long things took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Timing {
    /// Opening or reading the catalogs.
    pub(super) catalogs: Duration,
    /// Resolving.
    pub(super) resolve: Duration,
    /// Resolving, and working out the steps.
    pub(super) resolve_steps: Duration,
}

impl Answered {
    /// Returns the answer to a line that is not a case.
    pub(super) fn not_a_case(number: usize, reason: &str) -> Self {
        let error = format!("line {number} is not a case: {reason}");
        Self { outcome: Verdict::NotACase, error, ..Self::default() }
    }

    /// Returns the answer to a line on which this program failed.
    pub(super) fn defect(number: usize) -> Self {
        let error = format!("line {number}: a defect of this program; please report the case");
        Self { outcome: Verdict::Error, error, ..Self::default() }
    }

    pub(super) fn is_resolved(&self) -> bool {
        self.outcome == Verdict::Resolved
    }

    pub(super) fn is_case(&self) -> bool {
        self.outcome != Verdict::NotACase
    }
}

impl Verdict {
    /// Returns the word that programs see.
    pub(super) fn word(self) -> &'static str {
        match self {
            Verdict::Resolved => "resolved",
            Verdict::Unsatisfiable => "unsat",
            Verdict::CatalogInvalid => "catalog-invalid",
            Verdict::Error | Verdict::NotACase => "error",
        }
    }
}

/// Returns the name of a kind of notice.
pub(super) fn notice_name(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Vanished => "vanished",
        NoticeKind::SourceUnavailable => "source-unavailable",
        NoticeKind::Malformed => "malformed",
        NoticeKind::Adopted => "adopted",
        NoticeKind::BeingReplaced => "being-replaced",
        NoticeKind::Unreadable => "unreadable",
    }
}
