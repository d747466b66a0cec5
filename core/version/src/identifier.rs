//! One dot-separated identifier of a pre-release or of a bundle release.
//!
//! Build metadata is not made of these: it has no order, so it stays plain text.

use std::fmt;

use crate::quote::quote;
use crate::version_error::{VersionError, VersionPart};

/// Orders as SemVer demands: numbers by value, before words, which order by their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identifier {
    /// Holds an identifier of digits only, as the `1` of `rc.1`.
    Numeric(u64),
    /// Holds any other identifier, as the `rc` of `rc.1`.
    Alphanumeric(Box<str>),
}

impl Identifier {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, VersionError> {
        if text.is_empty() {
            Err(VersionError::EmptyIdentifier { part: VersionPart::Prerelease })
        } else if text.iter().all(u8::is_ascii_digit) {
            parse_number(VersionPart::Prerelease, text).map(Self::Numeric)
        } else {
            parse_word(VersionPart::Prerelease, text).map(Self::Alphanumeric)
        }
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numeric(number) => write!(formatter, "{number}"),
            Self::Alphanumeric(word) => formatter.write_str(word),
        }
    }
}

/// Reads a decimal number without leading zeroes.
pub(crate) fn parse_number(part: VersionPart, text: &[u8]) -> Result<u64, VersionError> {
    if !text.iter().all(u8::is_ascii_digit) {
        return Err(VersionError::InvalidCharacters { part, quoted: quote(text) });
    }
    if text.len() > 1 && text.starts_with(b"0") {
        return Err(VersionError::LeadingZeroes { part, quoted: quote(text) });
    }
    if text.is_empty() {
        return Err(VersionError::MissingNumber);
    }
    text.iter()
        .try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add((digit - b'0').into()))
        .ok_or_else(|| VersionError::NumberTooLarge { quoted: quote(text) })
}

/// Reads a non-empty word of ASCII letters, digits and hyphens.
pub(crate) fn parse_word(part: VersionPart, text: &[u8]) -> Result<Box<str>, VersionError> {
    if text.is_empty() {
        return Err(VersionError::EmptyIdentifier { part });
    }
    if !text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
        return Err(VersionError::InvalidCharacters { part, quoted: quote(text) });
    }
    Ok(text.iter().copied().map(char::from).collect())
}

/// Writes the items with a full stop between each two.
pub(crate) fn write_dotted<Item: fmt::Display>(
    formatter: &mut fmt::Formatter<'_>,
    items: &[Item],
) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        let separator = if position == 0 { "" } else { "." };
        write!(formatter, "{separator}{item}")?;
    }
    Ok(())
}
