//! Why building a space stops, and how upstream words several failures.

use super::Space;
use crate::budget::Spent;
use crate::semantics::FailureScope;
use crate::universe::Content;

/// Why building stops.
pub(super) enum Halt {
    /// Something could not be read.
    Failure(String),
    /// The budget is spent.
    Spent(Spent),
}

impl Halt {
    /// Returns what ran out, if that is why building stops.
    pub(super) fn spent(&self) -> Option<Spent> {
        match self {
            Self::Spent(spent) => Some(*spent),
            Self::Failure(_) => None,
        }
    }
}

impl From<Spent> for Halt {
    fn from(spent: Spent) -> Self {
        Self::Spent(spent)
    }
}

impl From<String> for Halt {
    fn from(failure: String) -> Self {
        Self::Failure(failure)
    }
}

/// Upstream: any catalog that cannot be read stops the namespace, and wins over other failures.
fn source_failures(space: &Space<'_>) -> Option<String> {
    if space.semantics.failures == FailureScope::Part {
        return None;
    }
    let unavailable = space.universe.sources.iter().filter_map(|source| match &source.content {
        Content::Ready(_) => None,
        Content::Unavailable(reason) => {
            Some(format!("error using catalogsource {}: {reason}", source.name))
        }
    });
    aggregate(unavailable.collect())
}

/// Upstream: failures of all requests are reported together.
pub(super) fn upstream_failure(space: &Space<'_>, failures: Vec<String>) -> Result<(), Halt> {
    match source_failures(space).or_else(|| aggregate(failures)) {
        Some(failure) => Err(Halt::Failure(failure)),
        None => Ok(()),
    }
}

/// Upstream: several failures are shown in brackets, each once.
fn aggregate(mut failures: Vec<String>) -> Option<String> {
    failures.sort();
    failures.dedup();
    match failures.len() {
        0 | 1 => failures.pop(),
        _ => Some(format!("[{}]", failures.join(", "))),
    }
}
