//! A semantic version: reading, printing and order.
//!
//! Equality, order and hash follow precedence and so ignore build metadata; to tell `1.0.0+a`
//! from `1.0.0+b`, compare the printed texts.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::identifier::{Identifier, parse_number, parse_word, write_dotted};
use crate::term::trim_whitespace;
use crate::version_error::{VersionError, VersionPart};

/// Limits the bytes of a version text. Real versions stay under a hundred; names built from them
/// must fit the 253 bytes of a Kubernetes name. 16 KiB refuses nothing honest and keeps an error
/// text, which quotes its input up to three times, small beside any status.
pub const MAX_VERSION_LENGTH: usize = 16 * 1024;

/// Holds one version; cloning never copies the suffix, and a plain version allocates nothing.
#[derive(Clone)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    suffix: Option<Arc<Suffix>>,
}

struct Suffix {
    prerelease: Box<[Identifier]>,
    build: Box<[Box<str>]>,
}

impl Version {
    /// Returns the release `major.minor.patch`.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { major, minor, patch, suffix: None }
    }

    /// Reads a version that must be complete and canonical, as catalogs demand.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        Self::parse_bytes(text.as_bytes())
    }

    /// Reads like [`Version::parse`] from bytes that may not be UTF-8.
    pub fn parse_bytes(text: &[u8]) -> Result<Self, VersionError> {
        check_length(text)?;
        parse_complete(text)
    }

    /// Reads a version as the version field of a ClusterServiceVersion is read: white space
    /// around it, one `v` before it, leading zeroes and missing minor or patch are forgiven.
    pub fn parse_tolerant(text: &str) -> Result<Self, VersionError> {
        Self::parse_tolerant_bytes(text.as_bytes())
    }

    /// Reads like [`Version::parse_tolerant`] from bytes that may not be UTF-8.
    pub fn parse_tolerant_bytes(text: &[u8]) -> Result<Self, VersionError> {
        check_length(text)?;
        parse_complete(&complete(trim_whitespace(text))?)
    }

    /// Returns the first number.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// Returns the second number.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// Returns the third number.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// Returns the identifiers after the hyphen; none for a release.
    pub fn prerelease(&self) -> &[Identifier] {
        self.suffix.as_ref().map_or(&[], |suffix| &suffix.prerelease)
    }

    /// Returns the identifiers after the plus sign; they have no part in the order.
    pub fn build(&self) -> &[Box<str>] {
        self.suffix.as_ref().map_or(&[], |suffix| &suffix.build)
    }

    /// Tells whether this comes before the release of the same three numbers.
    pub fn has_prerelease(&self) -> bool {
        !self.prerelease().is_empty()
    }

    /// Returns the very next version in the order, or nothing after the last one.
    ///
    /// A pre-release is followed by itself with `.0` appended, a release by the lowest
    /// pre-release of the next patch: `1.0.0-rc` by `1.0.0-rc.0`, `1.0.0` by `1.0.1-0`.
    pub fn successor(&self) -> Option<Self> {
        if self.has_prerelease() {
            let zero = Identifier::Numeric(0);
            let longer = self.prerelease().iter().cloned().chain([zero]).collect();
            return Some(Self { suffix: Suffix::shared(longer, Box::new([])), ..*self });
        }
        let (major, minor, patch) = if let Some(patch) = self.patch.checked_add(1) {
            (self.major, self.minor, patch)
        } else if let Some(minor) = self.minor.checked_add(1) {
            (self.major, minor, 0)
        } else {
            (self.major.checked_add(1)?, 0, 0)
        };
        Some(Self::new(major, minor, patch).lowest_prerelease())
    }

    /// Returns the lowest version of all, `0.0.0-0`.
    pub(crate) fn lowest() -> Self {
        Self::new(0, 0, 0).lowest_prerelease()
    }

    /// Returns the three numbers without any suffix.
    pub(crate) fn release(&self) -> Self {
        Self::new(self.major, self.minor, self.patch)
    }

    /// Returns the lowest pre-release of the same three numbers.
    pub(crate) fn lowest_prerelease(&self) -> Self {
        let suffix = Suffix::shared(Box::new([Identifier::Numeric(0)]), Box::new([]));
        Self { suffix, ..*self }
    }

    fn numbers(&self) -> (u64, u64, u64) {
        (self.major, self.minor, self.patch)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers()
            .cmp(&other.numbers())
            .then_with(|| other.has_prerelease().cmp(&self.has_prerelease()))
            .then_with(|| self.prerelease().cmp(other.prerelease()))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl Hash for Version {
    fn hash<State: Hasher>(&self, state: &mut State) {
        (self.numbers(), self.prerelease()).hash(state);
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if self.has_prerelease() {
            formatter.write_str("-")?;
            write_dotted(formatter, self.prerelease())?;
        }
        if !self.build().is_empty() {
            formatter.write_str("+")?;
            write_dotted(formatter, self.build())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Version({self})")
    }
}

impl Suffix {
    fn shared(prerelease: Box<[Identifier]>, build: Box<[Box<str>]>) -> Option<Arc<Self>> {
        let present = !prerelease.is_empty() || !build.is_empty();
        present.then(|| Arc::new(Self { prerelease, build }))
    }
}

fn check_length(text: &[u8]) -> Result<(), VersionError> {
    if text.len() > MAX_VERSION_LENGTH {
        return Err(VersionError::TooLong { length: text.len() });
    }
    Ok(())
}

fn parse_complete(text: &[u8]) -> Result<Version, VersionError> {
    if text.is_empty() {
        return Err(VersionError::Empty);
    }
    let mut parts = text.splitn(3, |byte| *byte == b'.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(VersionError::MissingParts);
    };
    let major = parse_number(VersionPart::Major, major)?;
    let minor = parse_number(VersionPart::Minor, minor)?;
    let (rest, build) = cut(rest, b'+');
    let (patch, prerelease) = cut(rest, b'-');
    let patch = parse_number(VersionPart::Patch, patch)?;
    let prerelease = parse_dotted(prerelease, Identifier::parse)?;
    let build = parse_dotted(build, |text| parse_word(VersionPart::Build, text))?;
    Ok(Version { major, minor, patch, suffix: Suffix::shared(prerelease, build) })
}

fn cut(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == separator) {
        Some(position) => (&text[..position], Some(&text[position + 1..])),
        None => (text, None),
    }
}

fn parse_dotted<Item>(
    text: Option<&[u8]>,
    parse: impl Fn(&[u8]) -> Result<Item, VersionError>,
) -> Result<Box<[Item]>, VersionError> {
    text.into_iter().flat_map(|text| text.split(|byte| *byte == b'.')).map(parse).collect()
}

/// Brings a trimmed tolerant text into the shape that strict reading accepts.
fn complete(text: &[u8]) -> Result<Vec<u8>, VersionError> {
    let text = text.strip_prefix(b"v").unwrap_or(text);
    let mut parts: Vec<&[u8]> = text.splitn(3, |byte| *byte == b'.').collect();
    let last = parts.last().copied().unwrap_or_default();
    if parts.len() < 3 && last.iter().any(|byte| matches!(byte, b'+' | b'-')) {
        return Err(VersionError::ShortWithSuffix);
    }
    parts.resize(3, b"0");
    let parts: Vec<Vec<u8>> = parts.into_iter().map(without_leading_zeroes).collect();
    Ok(parts.join(&b'.'))
}

/// Upstream: a part that does not begin with a digit gains a zero (`-rc` becomes `0-rc`), unless
/// it is a single byte; the added zero is visible in error texts.
fn without_leading_zeroes(part: &[u8]) -> Vec<u8> {
    if part.len() < 2 {
        return part.to_vec();
    }
    let zeroes = part.iter().take_while(|byte| **byte == b'0').count();
    let rest = &part[zeroes..];
    let starts_with_digit = rest.first().is_some_and(u8::is_ascii_digit);
    let zero: &[u8] = if starts_with_digit { b"" } else { b"0" };
    [zero, rest].concat()
}
