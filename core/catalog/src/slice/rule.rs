//! What a user asks to keep: a package, a channel of it, versions in a range.

use std::{error::Error, fmt};

use operon_version::{RangeError, VersionRange};

/// A wish to keep versions of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepRule {
    /// The package.
    pub package: String,
    /// The channel; `None` means every channel that has a version to keep.
    pub channel: Option<String>,
    /// The versions.
    pub versions: KeptVersions,
}

/// Which versions of a channel are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptVersions {
    /// All of them.
    All,
    /// Those in a range, such as `>=1.2.0 <2.0.0`.
    Range(VersionRange),
    /// The head only.
    Head,
}

/// Why a wish cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeepRuleError {
    /// There is no package before `/` or `@`.
    NoPackage,
    /// There is no channel behind `/`.
    NoChannel,
    /// The range behind `@` cannot be read.
    Range(RangeError),
}

impl fmt::Display for KeepRuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeepRuleError::NoPackage => write!(formatter, "it names no package"),
            KeepRuleError::NoChannel => write!(formatter, "there is no channel behind `/`"),
            KeepRuleError::Range(error) => {
                write!(formatter, "the version range cannot be read: {error}")
            }
        }
    }
}

impl Error for KeepRuleError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            KeepRuleError::NoPackage | KeepRuleError::NoChannel => None,
            KeepRuleError::Range(error) => Some(error),
        }
    }
}

impl KeepRule {
    /// Reads `package[/channel][@range]`.
    pub fn parse(text: &str) -> Result<Self, KeepRuleError> {
        let (place, range) = match text.split_once('@') {
            Some((place, range)) => (place, Some(range)),
            None => (text, None),
        };
        let (package, channel) = match place.split_once('/') {
            Some((package, channel)) => (package, Some(channel)),
            None => (place, None),
        };
        if package.is_empty() {
            return Err(KeepRuleError::NoPackage);
        }
        if channel.is_some_and(str::is_empty) {
            return Err(KeepRuleError::NoChannel);
        }
        let versions = match range {
            Some(range) => {
                KeptVersions::Range(VersionRange::parse(range).map_err(KeepRuleError::Range)?)
            }
            None => KeptVersions::All,
        };
        Ok(Self { package: package.to_owned(), channel: channel.map(str::to_owned), versions })
    }
}

/// Prints the rule as it is written.
impl fmt::Display for KeepRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.package)?;
        if let Some(channel) = &self.channel {
            write!(formatter, "/{channel}")?;
        }
        match &self.versions {
            KeptVersions::All | KeptVersions::Head => Ok(()),
            KeptVersions::Range(range) => write!(formatter, "@{range}"),
        }
    }
}
