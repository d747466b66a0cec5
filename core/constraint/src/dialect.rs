//! Which of two readings of a constraint is wanted.
//!
//! Upstream's documentation and upstream's code differ in a few places. The difference is kept in
//! this one value, so that no caller needs to know the places.

/// Names a reading of constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// What the documentation promises: `package.name` is a spelling of `package.packageName`, a
    /// constraint has at most 64 KiB, and questionable constraints are warned about.
    Documented,
    /// What upstream's code does.
    Upstream,
}

/// Limits the bytes of an `olm.constraint` value as documented.
pub const MAX_DOCUMENTED_CONSTRAINT_BYTES: usize = 65_536;

/// Limits the bytes of an `olm.constraint` value as upstream's code does.
pub const MAX_UPSTREAM_CONSTRAINT_BYTES: usize = 131_072;

impl Dialect {
    /// Returns the largest `olm.constraint` value that is read.
    pub fn max_constraint_bytes(self) -> usize {
        match self {
            Self::Documented => MAX_DOCUMENTED_CONSTRAINT_BYTES,
            Self::Upstream => MAX_UPSTREAM_CONSTRAINT_BYTES,
        }
    }
}
