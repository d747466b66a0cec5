//! Versions, version ranges and bundle releases, with exactly the order and grammar that
//! catalogs were written against.
//!
//! Ranges here are those of catalogs (`skipRange`, `olm.package.required`). The constraint
//! dialect of ClusterExtensions, with carets and commas, is deliberately not read here; the
//! lint only recognises it well enough to offer the right spelling.

mod dialect;
mod identifier;
mod interval;
mod lint;
mod quote;
mod range;
mod range_error;
mod release;
mod term;
mod trap;
mod version;
mod version_error;
mod wildcard;

pub use identifier::Identifier;
pub use version::{MAX_VERSION_LENGTH, Version};
pub use version_error::{VersionError, VersionPart};

pub use interval::Interval;
pub use range::{Comparator, MAX_RANGE_LENGTH, Operator, VersionRange};
pub use range_error::RangeError;

pub use release::{MAX_RELEASE_LENGTH, Release, ReleaseError, VersionRelease};

pub use lint::range_traps;
pub use trap::{RangeTrap, RangeTrapKind};
