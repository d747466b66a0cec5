//! What a resolution says: the parts of the namespace, and for each what to do or why nothing can
//! be done.

use std::fmt;

use operon_catalog::EntryId;

use crate::budget::Spent;
use crate::conflict::Conflict;
use crate::universe::SourceName;

/// The answer for a namespace.
#[derive(Debug, Clone, Default)]
pub struct Resolution {
    /// The independent parts, ordered by their first request or installed operator. Upstream's
    /// dialect knows one part only.
    pub parts: Vec<Part>,
    /// What people should know although it stopped nothing, in a fixed order.
    pub notices: Vec<Notice>,
    /// How much work it was.
    pub effort: Effort,
}

/// Requests and installed operators that can influence each other; requests for something new that
/// cannot be fulfilled stand apart from them.
#[derive(Debug, Clone)]
pub struct Part {
    /// The names of its requests, in order.
    pub requests: Vec<String>,
    /// The names of its installed operators, in order.
    pub installed: Vec<String>,
    /// What to do.
    pub result: Result<Answer, Failure>,
}

/// The operators that should run next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The bundles to add, as fresh installations or as updates: sorted by package, name,
    /// channel, catalog namespace, catalog.
    pub additions: Vec<Addition>,
    /// The installed operators that stay as they are, sorted by name.
    pub kept: Vec<Kept>,
}

/// A bundle to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The bundle's name, which its ClusterServiceVersion will have.
    pub name: String,
    /// Its package.
    pub package: String,
    /// The channel it comes from.
    pub channel: String,
    /// The catalog it comes from.
    pub source: SourceName,
    /// Its entry in that catalog.
    pub entry: EntryId,
    /// Its version as written.
    pub version: String,
    /// The installed operator that it replaces, or else what the catalog says it replaces; may
    /// be empty.
    pub replaces: String,
    /// The installed operator that goes away for it; empty for a fresh installation.
    pub updates: String,
    /// Its image; empty when its manifests are in the catalog.
    pub image: String,
    /// Whether a request asks to start with this bundle.
    pub is_starting: bool,
    /// Why it is here.
    pub reasons: Vec<Reason>,
}

/// An installed operator that stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The name of its ClusterServiceVersion.
    pub name: String,
    /// The package, if it is known.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Why it is here.
    pub reasons: Vec<Reason>,
}

/// Why an operator is in the answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The request of this name asks for it.
    Requested(String),
    /// It runs, and no request refers to it.
    Freestanding,
    /// Another operator of the answer needs it.
    Needed {
        /// The name of that operator's bundle.
        by: String,
        /// What it needs, for people.
        requirement: String,
        /// The author's words; may be empty.
        message: String,
    },
}

/// Why a part has no answer.
#[derive(Debug, Clone)]
pub enum Failure {
    /// No set of operators fulfils everything: the conflicts that were found, at least one, each
    /// about other requests or installed operators than the ones before.
    Conflicts(Vec<Conflict>),
    /// Something could not be read; the text says what. Upstream's texts in its dialect.
    Error(String),
    /// The budget was spent before there was an answer.
    TooExpensive(Expense),
    /// An answer was found, but the checker refuses it: a defect of this program.
    Defect(String),
}

/// What cost the most in a decision that was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expense {
    /// The bundle that cost the most; empty when no single one stands out.
    pub bundle: String,
    /// The need of the bundle that cost the most, in words; empty when it is not about one need.
    pub need: String,
    /// What ran out.
    pub spent: Spent,
    /// How much of it the whole decision had: steps or bytes.
    pub limit: u64,
}

const MEBIBYTE: u64 = 1024 * 1024;

/// How many characters of a need are shown: rules may be a hundred thousand characters long.
const MAX_NEED_SHOWN: usize = 200;

impl fmt::Display for Expense {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bundle, need, spent, limit } = self;
        formatter.write_str("resolution is too expensive: it exceeds the budget of ")?;
        match spent {
            Spent::Steps => write!(formatter, "{limit} steps")?,
            Spent::Bytes => write!(formatter, "{} MiB of memory", limit / MEBIBYTE)?,
        }
        if !bundle.is_empty() {
            write!(formatter, "; bundle {bundle} costs the most")?;
        }
        if !need.is_empty() {
            let shown: String = need.chars().take(MAX_NEED_SHOWN).collect();
            let rest = if shown.len() < need.len() { "…" } else { "" };
            write!(formatter, ", because it needs {shown}{rest}")?;
        }
        Ok(())
    }
}

/// What people should know although it stopped nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Notice {
    /// The request it concerns; empty when it concerns the namespace.
    pub request: String,
    /// What kind of thing it is.
    pub kind: NoticeKind,
    /// The sentence.
    pub text: String,
}

/// The kinds of notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticeKind {
    /// A package, channel or catalog is gone and the operator is kept.
    Vanished,
    /// A catalog could not be read and was left out.
    SourceUnavailable,
    /// A bundle cannot be used because a property of it is malformed.
    Malformed,
    /// A Subscription takes over an installed operator that had none.
    Adopted,
    /// An installed operator is going away because another one replaces it.
    BeingReplaced,
    /// An installed operator's properties cannot be read.
    Unreadable,
}

/// How much work a resolution was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// Operators that were looked at.
    pub operators: usize,
    /// Rules between them.
    pub rules: usize,
    /// Steps of the search.
    pub steps: u64,
    /// Dead ends of the search.
    pub conflicts: u64,
    /// Steps spent on finding out why parts have no answer.
    pub conflict_steps: u64,
}
