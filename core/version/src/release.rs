//! The release of a bundle: a rebuild counter beside the version, and the order of both together.
//!
//! Whether a bundle may carry a release, and the name it then must have, is not decided here.

use std::{error, fmt};

use crate::identifier::{Identifier, write_dotted};
use crate::version::Version;
use crate::version_error::VersionError;

/// Limits the bytes of a release, as the ClusterServiceVersion schema does.
pub const MAX_RELEASE_LENGTH: usize = 20;

/// Holds a release such as `1` or `rc.2`; orders as pre-release identifiers do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(Box<[Identifier]>);

/// Holds a version and the release of its bundle, if it has one.
///
/// Orders by version, then no release before any, then by release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionRelease {
    /// Holds the version; its build metadata has no part in the order.
    pub version: Version,
    /// Holds the release; none orders before any.
    pub release: Option<Release>,
}

/// Says what is wrong with a release text, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseError {
    /// The text has more than [`MAX_RELEASE_LENGTH`] bytes.
    TooLong,
    /// Some segments are no identifiers: their positions from zero, and why.
    InvalidSegments(Vec<(usize, VersionError)>),
}

impl Release {
    /// Reads a release; the empty text means that there is none.
    pub fn parse(text: &str) -> Result<Option<Self>, ReleaseError> {
        if text.is_empty() {
            return Ok(None);
        }
        if text.len() > MAX_RELEASE_LENGTH {
            return Err(ReleaseError::TooLong);
        }
        let (mut identifiers, mut faults) = (Vec::new(), Vec::new());
        for (position, segment) in text.split('.').enumerate() {
            match Identifier::parse(segment.as_bytes()) {
                Ok(identifier) => identifiers.push(identifier),
                Err(fault) => faults.push((position, fault)),
            }
        }
        if faults.is_empty() {
            Ok(Some(Self(identifiers.into())))
        } else {
            Err(ReleaseError::InvalidSegments(faults))
        }
    }

    /// Returns the dot-separated identifiers; there is at least one.
    pub fn identifiers(&self) -> &[Identifier] {
        &self.0
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dotted(formatter, &self.0)
    }
}

impl fmt::Display for VersionRelease {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.release {
            Some(release) => write!(formatter, "{}-{release}", self.version),
            None => write!(formatter, "{}", self.version),
        }
    }
}

impl error::Error for ReleaseError {}

impl fmt::Display for ReleaseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => {
                write!(formatter, "exceeds maximum length of {MAX_RELEASE_LENGTH} characters")
            }
            Self::InvalidSegments(faults) => {
                for (index, (position, fault)) in faults.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "\n" };
                    write!(formatter, "{separator}segment {position}: {fault}")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_version_then_absence_then_release() {
        let ascending = [
            ("1.0.0-rc.1", "9"),
            ("1.0.0", ""),
            ("1.0.0", "1"),
            ("1.0.0", "1.0"),
            ("1.0.0", "2"),
            ("1.0.0", "10"),
            ("1.0.0", "-"),
            ("1.0.0", "rc"),
            ("1.0.1", ""),
        ]
        .map(|(version, release)| VersionRelease {
            version: Version::parse(version).unwrap(),
            release: Release::parse(release).unwrap(),
        });
        assert!(ascending.is_sorted_by(|left, right| left < right));
        assert_eq!(ascending.map(|both| both.to_string())[2..4], ["1.0.0-1", "1.0.0-1.0"]);
    }

    #[test]
    fn refuses_with_the_texts_of_upstream() {
        for (text, message) in [
            ("01", "segment 0: Numeric PreRelease version must not contain leading zeroes \"01\""),
            ("a+b", "segment 0: Invalid character(s) found in prerelease \"a+b\""),
            (".", "segment 0: Prerelease is empty\nsegment 1: Prerelease is empty"),
            ("a..b", "segment 1: Prerelease is empty"),
            (
                "99999999999999999999",
                "segment 0: strconv.ParseUint: parsing \"99999999999999999999\": value out of range",
            ),
            ("xxxxxxxxxxxxxxxxxxxxx", "exceeds maximum length of 20 characters"),
        ] {
            assert_eq!(Release::parse(text).unwrap_err().to_string(), message);
        }
    }
}
