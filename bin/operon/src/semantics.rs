//! The choice between the two dialects, the same for every command that resolves.

use clap::ValueEnum;
use operon_resolve::Semantics;

/// Whose rules count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SemanticsChoice {
    /// What the documents describe; a failure stops only what depends on it
    Documented,
    /// What upstream's program does, its texts included
    Upstream,
}

impl SemanticsChoice {
    /// Returns the rules.
    pub(crate) fn semantics(self) -> Semantics {
        match self {
            Self::Documented => Semantics::documented(),
            Self::Upstream => Semantics::upstream(),
        }
    }

    /// Returns the name that is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Upstream => "upstream",
        }
    }
}
