//! Why a text is not a version.
//!
//! The texts are upstream's, letter for letter and including its number parser's, so they are
//! not reworded here even where they could be clearer.

use std::{error, fmt};

use crate::version::MAX_VERSION_LENGTH;

/// Says what is wrong with a version text; every `quoted` is the faulty piece as Go quotes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionError {
    /// The text has more than [`MAX_VERSION_LENGTH`] bytes.
    TooLong {
        /// Counts the bytes of the text.
        length: usize,
    },
    /// The text is empty.
    Empty,
    /// Fewer than three dot-separated numbers, as in `1.2`.
    MissingParts,
    /// A shortened version with a suffix, as in `1.2-rc`, which tolerant reading refuses too.
    ShortWithSuffix,
    /// A character that this part cannot hold, as in `1.2.v3`.
    InvalidCharacters {
        /// Names the part.
        part: VersionPart,
        /// Shows the part.
        quoted: String,
    },
    /// A number that begins with a superfluous zero, as in `1.02.3`.
    LeadingZeroes {
        /// Names the part.
        part: VersionPart,
        /// Shows the number.
        quoted: String,
    },
    /// Nothing where a number must be, as in `1..3`.
    MissingNumber,
    /// A number above 2^64 - 1.
    NumberTooLarge {
        /// Shows the number.
        quoted: String,
    },
    /// Nothing where an identifier must be, as in `1.2.3-rc..1`.
    EmptyIdentifier {
        /// Names the part.
        part: VersionPart,
    },
}

/// Names a part of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionPart {
    /// The `1` of `1.2.3-rc+b`.
    Major,
    /// The `2` of `1.2.3-rc+b`.
    Minor,
    /// The `3` of `1.2.3-rc+b`.
    Patch,
    /// The `rc` of `1.2.3-rc+b`.
    Prerelease,
    /// The `b` of `1.2.3-rc+b`.
    Build,
}

impl error::Error for VersionError {}

impl fmt::Display for VersionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { length } => write!(
                formatter,
                "Version has {length} bytes, the limit is {MAX_VERSION_LENGTH}: shorten its suffix"
            ),
            Self::Empty => formatter.write_str("Version string empty"),
            Self::MissingParts => formatter.write_str("No Major.Minor.Patch elements found"),
            Self::ShortWithSuffix => {
                formatter.write_str("Short version cannot contain PreRelease/Build meta data")
            }
            Self::InvalidCharacters { part, quoted } => {
                let [place, ..] = part.names();
                write!(formatter, "Invalid character(s) found in {place} {quoted}")
            }
            Self::LeadingZeroes { part, quoted } => {
                let [_, subject, _] = part.names();
                write!(formatter, "{subject} must not contain leading zeroes {quoted}")
            }
            Self::MissingNumber => {
                formatter.write_str("strconv.ParseUint: parsing \"\": invalid syntax")
            }
            Self::NumberTooLarge { quoted } => {
                write!(formatter, "strconv.ParseUint: parsing {quoted}: value out of range")
            }
            Self::EmptyIdentifier { part } => {
                let [.., subject] = part.names();
                write!(formatter, "{subject} is empty")
            }
        }
    }
}

impl VersionPart {
    /// Upstream: a part has another name inside a sentence, as a number, and as a subject.
    fn names(self) -> [&'static str; 3] {
        match self {
            Self::Major => ["major number", "Major number", "Major number"],
            Self::Minor => ["minor number", "Minor number", "Minor number"],
            Self::Patch => ["patch number", "Patch number", "Patch number"],
            Self::Prerelease => ["prerelease", "Numeric PreRelease version", "Prerelease"],
            Self::Build => ["build meta data", "Build meta data", "Build meta data"],
        }
    }
}
