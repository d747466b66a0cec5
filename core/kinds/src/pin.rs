//! The versions that a Subscription may move to.
//!
//! A pin narrows what the channel offers; it never makes a version reachable that the channel does
//! not lead to.

use std::fmt;

use operon_version::{Version, VersionRange};

/// The versions that a Subscription may move to.
#[derive(Debug, Clone)]
pub enum Pin {
    /// Exactly this version.
    Exact(Version),
    /// Every version of this range.
    Range {
        /// The range.
        range: VersionRange,
        /// The range as it is written.
        text: String,
    },
}

/// A pin that is neither a version nor a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinError {
    /// What is written.
    pub text: String,
    /// Why it is no range.
    pub reason: String,
}

impl fmt::Display for PinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, reason } = self;
        write!(
            formatter,
            "`{text}` is neither a version such as `1.4.3` nor a range such as `>=1.4.0 <1.5.0`: {reason}"
        )
    }
}

impl std::error::Error for PinError {}

impl Pin {
    /// Reads a version such as `1.4.3`, or a range such as `>=1.4.0 <1.5.0`.
    pub fn parse(text: &str) -> Result<Self, PinError> {
        let trimmed = text.trim();
        if let Ok(version) = Version::parse(trimmed) {
            return Ok(Self::Exact(version));
        }
        match VersionRange::parse(trimmed) {
            Ok(range) => Ok(Self::Range { range, text: trimmed.to_owned() }),
            Err(error) => Err(PinError { text: trimmed.to_owned(), reason: error.to_string() }),
        }
    }

    /// Tells whether a version is allowed.
    pub fn allows(&self, version: &Version) -> bool {
        match self {
            Self::Exact(exact) => exact == version,
            Self::Range { range, .. } => range.contains(version),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(version) => write!(formatter, "{version}"),
            Self::Range { text, .. } => formatter.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use operon_version::Version;

    use super::Pin;

    #[test]
    fn a_pin_is_a_version_or_a_range() {
        let claims = [
            ("1.4.3", "1.4.3", Some(true)),
            (" 1.4.3 ", "1.4.4", Some(false)),
            (">=1.4.0 <1.5.0", "1.4.9", Some(true)),
            (">=1.4.0 <1.5.0", "1.5.0", Some(false)),
            ("1.4.x", "1.4.7", Some(true)),
            ("latest", "1.0.0", None),
            ("", "1.0.0", None),
            ("v1.4.3", "1.4.3", None),
        ];
        for (pin, version, expected) in claims {
            let version = Version::parse(version).expect("the claim has a version");
            let got = Pin::parse(pin).ok().map(|pin| pin.allows(&version));
            assert_eq!(got, expected, "{pin:?} and {version}");
        }
        let error = Pin::parse("latest").expect_err("it is no pin").to_string();
        assert!(error.starts_with("`latest` is neither a version such as `1.4.3`"), "{error}");
    }
}
