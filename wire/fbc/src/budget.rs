//! Limits for reading catalogs whose authors are not trusted.
//!
//! What documents declare is held in memory until the catalog is built, and a few bytes of text declare many
//! times as much: `{}` is an entry of a channel. So declarations are counted while they are read, and nothing
//! more is read once they exceed a limit.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// What an allocation takes beyond its bytes: its header, and the rounding of its size.
const ALLOCATION_BYTES: usize = 24;

/// How many times the size of an element a growing list may hold.
const LIST_GROWTH: usize = 2;

/// How much the documents of one catalog may declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// The most bytes of memory that all declarations may take.
    pub declared_bytes: u64,
    /// The most bundles.
    pub bundles: u64,
    /// The most bytes of one name: of a package, a channel, an entry, a bundle, or the type of a property.
    /// Findings repeat names, so long ones cost time again and again.
    pub name_bytes: usize,
}

/// A limit that the documents of a catalog exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadExcess {
    /// See [`ReadLimits::declared_bytes`].
    DeclaredBytes(u64),
    /// See [`ReadLimits::bundles`].
    Bundles(u64),
    /// See [`ReadLimits::name_bytes`].
    NameBytes(usize),
}

impl fmt::Display for ReadExcess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeclaredBytes(limit) => {
                write!(formatter, "declarations that take more than {limit} bytes of memory")
            }
            Self::Bundles(limit) => write!(formatter, "more than {limit} bundles"),
            Self::NameBytes(limit) => write!(formatter, "a name of more than {limit} bytes"),
        }
    }
}

/// Counts what the documents of one catalog declare. Several readers may share it.
#[derive(Debug, Default)]
pub struct ReadBudget {
    /// Without limits, nothing is counted.
    limits: Option<ReadLimits>,
    declared_bytes: AtomicU64,
    bundles: AtomicU64,
    excess: OnceLock<ReadExcess>,
}

impl ReadBudget {
    /// Creates a budget that everything fits into.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Creates a budget with limits.
    pub fn new(limits: ReadLimits) -> Self {
        Self { limits: Some(limits), ..Self::default() }
    }

    /// Returns the limit that was exceeded first, if one was.
    pub fn excess(&self) -> Option<ReadExcess> {
        self.excess.get().copied()
    }

    /// Returns how many bytes the declarations take that were counted.
    pub fn declared_bytes(&self) -> u64 {
        self.declared_bytes.load(Ordering::Relaxed)
    }

    /// Counts an element of a list with its texts. Returns `false` if a limit is exceeded.
    pub(crate) fn charge<T>(&self, texts: &[&str]) -> bool {
        let texts = texts.iter().filter(|text| !text.is_empty());
        let texts: usize = texts.map(|text| text.len() + ALLOCATION_BYTES).sum();
        self.charge_bytes(LIST_GROWTH * size_of::<T>() + texts)
    }

    /// Counts bytes. Returns `false` if a limit is exceeded.
    pub(crate) fn charge_bytes(&self, bytes: usize) -> bool {
        let Some(limits) = &self.limits else { return true };
        let before = self.declared_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before.saturating_add(bytes as u64) > limits.declared_bytes {
            self.exceed(ReadExcess::DeclaredBytes(limits.declared_bytes));
        }
        self.excess.get().is_none()
    }

    /// Counts a bundle.
    pub(crate) fn charge_bundle(&self) {
        let Some(limits) = &self.limits else { return };
        if self.bundles.fetch_add(1, Ordering::Relaxed) >= limits.bundles {
            self.exceed(ReadExcess::Bundles(limits.bundles));
        }
    }

    /// Checks the length of a name.
    pub(crate) fn check_name(&self, name: &str) {
        if let Some(limits) = &self.limits
            && name.len() > limits.name_bytes
        {
            self.exceed(ReadExcess::NameBytes(limits.name_bytes));
        }
    }

    fn exceed(&self, excess: ReadExcess) {
        // The first one counts; the others follow from reading at the same time.
        let _ = self.excess.set(excess);
    }
}
