//! Ascending versions, as releases of an operator have them.

use std::fmt;

use super::random::Random;

/// A version; a release candidate carries its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GeneratedVersion {
    pub(crate) major: usize,
    pub(crate) minor: usize,
    pub(crate) patch: usize,
    pub(crate) candidate: Option<usize>,
}

impl fmt::Display for GeneratedVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch, candidate } = self;
        write!(formatter, "{major}.{minor}.{patch}")?;
        match candidate {
            Some(number) => write!(formatter, "-rc.{number}"),
            None => Ok(()),
        }
    }
}

/// Returns ascending versions, the first of them 0.1.0.
pub(crate) fn versions(count: usize, random: &mut Random) -> Vec<GeneratedVersion> {
    let mut next = GeneratedVersion { major: 0, minor: 1, patch: 0, candidate: None };
    let mut versions = Vec::with_capacity(count);
    while versions.len() < count {
        // A candidate is followed by its release, if there is room for it.
        if !versions.is_empty() && random.percent(8) {
            versions.push(GeneratedVersion { candidate: Some(1), ..next });
        }
        if versions.len() < count {
            versions.push(next);
        }
        next = successor(next, random);
    }
    versions
}

fn successor(version: GeneratedVersion, random: &mut Random) -> GeneratedVersion {
    let GeneratedVersion { major, minor, patch, .. } = version;
    let (major, minor, patch) = match random.below(100) {
        0..60 => (major, minor, patch + 1),
        60..95 => (major, minor + 1, 0),
        _ => (major + 1, 0, 0),
    };
    GeneratedVersion { major, minor, patch, candidate: None }
}

#[cfg(test)]
mod tests {
    use operon_version::Version;

    use super::*;

    #[test]
    fn versions_ascend() {
        for stream in 0..20 {
            let versions = versions(237, &mut Random::new(1, stream));
            assert_eq!(versions.len(), 237);
            let parsed: Vec<Version> = versions
                .iter()
                .map(|version| Version::parse(&version.to_string()).expect("a strict version"))
                .collect();
            assert!(parsed.is_sorted_by(|one, next| one < next));
            assert_eq!(versions[0].to_string(), "0.1.0");
        }
    }
}
