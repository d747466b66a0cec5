//! Where a journey starts: an installed operator, whether or not the catalog still has its bundle.
//!
//! A version that is no longer published can still be updated, by name or by skipRange; nothing here
//! demands that it exists.

use std::{collections::BTreeSet, error::Error, fmt};

use operon_version::Version;

use crate::{Bundle, Package};

/// An installed operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The name of its ClusterServiceVersion; empty when only its version is known.
    pub name: String,
    /// Its version, if it is known.
    pub version: Option<Version>,
    /// What the catalog knows of it.
    pub origin: Origin,
}

/// What a catalog knows of an installed operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The package has a bundle of this name.
    Published,
    /// Only `replaces` or `skips` mention the name; a version is read from the name itself.
    Mentioned,
    /// The package does not mention it, so that only a skipRange can update it.
    Unknown,
}

/// Why an installed operator cannot be told from the text a user gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstalledError {
    /// Several bundles have the version, such as releases of it.
    Ambiguous {
        /// The version as given.
        version: String,
        /// The bundles that have it.
        names: Vec<String>,
    },
    /// The text is no version, and no bundle or edge of the package has the name.
    NotFound {
        /// The text as given.
        text: String,
    },
}

impl fmt::Display for InstalledError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstalledError::Ambiguous { version, names } => write!(
                formatter,
                "several bundles have version `{version}`: `{}`; give one of these names",
                names.join("`, `")
            ),
            InstalledError::NotFound { text } => {
                write!(formatter, "`{text}` is neither a version nor a bundle of this package")
            }
        }
    }
}

impl Error for InstalledError {}

impl Installed {
    /// Returns a bundle of the catalog as an installed operator.
    pub fn published(bundle: Bundle<'_>) -> Self {
        Self {
            name: bundle.name().to_owned(),
            version: bundle.version(),
            origin: Origin::Published,
        }
    }

    /// Returns a name that the catalog only mentions as an installed operator.
    pub fn mentioned(name: &str) -> Self {
        Self { name: name.to_owned(), version: version_in_name(name), origin: Origin::Mentioned }
    }

    /// Finds what a user means by the name of a bundle, a mentioned name, or a version.
    pub fn find(package: Package<'_>, text: &str) -> Result<Self, InstalledError> {
        if let Some(bundle) = package.bundle(text) {
            return Ok(Self::published(bundle));
        }
        let mentioned = mentioned_names(package);
        if mentioned.contains(text) {
            return Ok(Self::mentioned(text));
        }
        let digits = text.strip_prefix('v').unwrap_or(text);
        let Ok(version) = Version::parse(digits) else {
            return Err(InstalledError::NotFound { text: text.to_owned() });
        };
        let mut bundles: Vec<Bundle<'_>> = package
            .bundles()
            .filter(|bundle| bundle.version().as_ref() == Some(&version))
            .collect();
        // Build metadata does not order versions, but it tells them apart where it is written.
        if bundles.iter().any(|bundle| bundle.version_text() == digits) {
            bundles.retain(|bundle| bundle.version_text() == digits);
        }
        match bundles.as_slice() {
            [] => {}
            [only] => return Ok(Self::published(*only)),
            several => {
                let names = several.iter().map(|bundle| bundle.name().to_owned()).collect();
                return Err(InstalledError::Ambiguous { version: digits.to_owned(), names });
            }
        }
        let by_name =
            mentioned.into_iter().find(|name| version_in_name(name).as_ref() == Some(&version));
        Ok(match by_name {
            Some(name) => Self::mentioned(name),
            None => Self { name: String::new(), version: Some(version), origin: Origin::Unknown },
        })
    }

    /// Returns every version a user of the package may have: the published ones and the names that
    /// `replaces` and `skips` mention, the oldest first, names without a version before all others.
    pub fn all(package: Package<'_>) -> Vec<Self> {
        let mut found: Vec<(Option<Version>, u32, String, Self)> = Vec::new();
        for bundle in package.bundles() {
            let installed = Self::published(bundle);
            let name = installed.name.clone();
            found.push((installed.version.clone(), bundle.version_rank(), name, installed));
        }
        for name in mentioned_names(package) {
            let installed = Self::mentioned(name);
            found.push((installed.version.clone(), 0, name.to_owned(), installed));
        }
        found.sort_by(|left, right| (&left.0, left.1, &left.2).cmp(&(&right.0, right.1, &right.2)));
        found.into_iter().map(|(_, _, _, installed)| installed).collect()
    }

    /// Returns the shortest text that tells it apart for people: its version, or else its name.
    pub fn label(&self) -> String {
        match (&self.version, self.name.as_str()) {
            (Some(version), _) => version.to_string(),
            (None, name) => name.to_owned(),
        }
    }
}

/// Reads the version that a name such as `etcdoperator.v0.9.4` ends with.
pub fn version_in_name(name: &str) -> Option<Version> {
    name.match_indices(['.', '-']).find_map(|(position, _)| {
        let rest = &name[position + 1..];
        Version::parse(rest.strip_prefix('v').unwrap_or(rest)).ok()
    })
}

/// Returns the names that edges of a package mention and no bundle has.
fn mentioned_names(package: Package<'_>) -> BTreeSet<&str> {
    let entries = package.channels().flat_map(|channel| channel.entries());
    entries
        .flat_map(|entry| entry.replaces().into_iter().chain(entry.skips()))
        .filter(|name| !name.is_empty() && package.bundle(name).is_none())
        .collect()
}
