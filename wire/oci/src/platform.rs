//! Platforms, and which image of an index is for which.
//!
//! The names of processors and their variants are compared as containerd does. An image of another
//! processor is never chosen, also where a machine could run it.

use std::fmt;

use crate::{
    Descriptor, Index,
    media_type::{ManifestType, manifest_type},
    printable::excerpt,
};

/// Names what an image runs on, such as `linux/arm64`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    /// The system, such as `linux`.
    pub os: String,
    /// The processor, such as `amd64`.
    pub architecture: String,
    /// The variant of the processor, such as `v7`.
    pub variant: Option<String>,
    /// The version of the system, which only Windows needs.
    pub os_version: Option<String>,
}

/// Says why no image can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlatformError {
    /// The text is no platform.
    #[error(
        "`{text}` is no platform; write `os/architecture` or `os/architecture/variant`, such as `linux/amd64`"
    )]
    Malformed {
        /// The text, shortened.
        text: String,
    },
    /// The index has images, but not for this platform.
    #[error("there is no image for `{wanted}`; there are images for {}", list(available))]
    NotThere {
        /// The platform that was asked for.
        wanted: Platform,
        /// The platforms that there are, sorted.
        available: Vec<Platform>,
    },
    /// The index has no image at all.
    #[error("the index lists no image")]
    NoImages,
}

/// How many platforms a message names.
const MAX_SHOWN_PLATFORMS: usize = 20;

fn list(platforms: &[Platform]) -> String {
    let shown: Vec<String> = platforms
        .iter()
        .take(MAX_SHOWN_PLATFORMS)
        .map(|platform| format!("`{}`", excerpt(&platform.to_string(), 60)))
        .collect();
    let rest = platforms.len().saturating_sub(MAX_SHOWN_PLATFORMS);
    match rest {
        0 => shown.join(", "),
        rest => format!("{} and {rest} more", shown.join(", ")),
    }
}

impl Platform {
    /// Returns the platform of Linux on a processor; upstream's tools look at no other system. Names
    /// of processors as Rust has them are understood, such as `x86_64`.
    pub fn linux(architecture: &str) -> Self {
        let platform = Self {
            os: "linux".to_owned(),
            architecture: architecture.to_owned(),
            ..Self::default()
        };
        platform.normalised()
    }

    /// Reads `os/architecture` or `os/architecture/variant`.
    pub fn parse(text: &str) -> Result<Self, PlatformError> {
        let malformed = || PlatformError::Malformed { text: excerpt(text, 80) };
        let is_word = |word: &&str| {
            !word.is_empty()
                && word.bytes().all(|letter| {
                    letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b'.')
                })
        };
        let words: Vec<&str> = text.split('/').take(4).collect();
        if !words.iter().all(is_word) {
            return Err(malformed());
        }
        let (os, architecture, variant) = match words[..] {
            [os, architecture] => (os, architecture, None),
            [os, architecture, variant] => (os, architecture, Some(variant.to_owned())),
            _ => return Err(malformed()),
        };
        let (os, architecture) = (os.to_owned(), architecture.to_owned());
        Ok(Self { os, architecture, variant, os_version: None }.normalised())
    }

    /// Returns the same platform with the names that Go uses, and without variants that say nothing.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let os = match self.os.to_ascii_lowercase().as_str() {
            "macos" => "darwin".to_owned(),
            os => os.to_owned(),
        };
        let variant = self.variant.as_deref().unwrap_or_default().to_ascii_lowercase();
        let architecture = self.architecture.to_ascii_lowercase();
        let (architecture, variant) = match (architecture.as_str(), variant.as_str()) {
            ("i386", _) => ("386", ""),
            ("x86_64" | "x86-64" | "amd64", "v1") => ("amd64", ""),
            ("x86_64" | "x86-64" | "amd64", variant) => ("amd64", variant),
            ("aarch64" | "arm64", "8" | "v8") => ("arm64", ""),
            ("aarch64" | "arm64", variant) => ("arm64", variant),
            ("armhf" | "arm", "" | "7") => ("arm", "v7"),
            ("armhf", variant) => ("arm", variant),
            ("armel", _) | ("arm", "6") => ("arm", "v6"),
            ("arm", "5") => ("arm", "v5"),
            ("arm", "8") => ("arm", "v8"),
            ("powerpc64le", variant) => ("ppc64le", variant),
            (architecture, variant) => (architecture, variant),
        };
        let variant = Some(variant.to_owned()).filter(|variant| !variant.is_empty());
        Self {
            os,
            architecture: architecture.to_owned(),
            variant,
            os_version: self.os_version.clone(),
        }
    }

    /// Returns the image of an index that fits a platform best: the same variant, else the highest
    /// lower one. An image that does not say what it runs on is taken where no other fits. What is
    /// not an image, such as an attestation, is never taken.
    pub fn choose<'a>(index: &'a Index, wanted: &Self) -> Result<&'a Descriptor, PlatformError> {
        let images = || index.images();
        let variants = wanted.normalised().accepted_variants();
        for accepted in variants {
            let is_it = |descriptor: &&Descriptor| {
                let platform = descriptor.platform.as_ref().map(Self::normalised);
                platform.is_some_and(|platform| platform.is_same_kind(&accepted))
            };
            if let Some(descriptor) = images().find(is_it) {
                return Ok(descriptor);
            }
        }
        if let Some(descriptor) = images().find(|descriptor| descriptor.platform.is_none()) {
            return Ok(descriptor);
        }
        let mut available: Vec<Self> =
            images().filter_map(|descriptor| descriptor.platform.clone()).collect();
        available.sort();
        available.dedup();
        if available.is_empty() {
            return Err(PlatformError::NoImages);
        }
        Err(PlatformError::NotThere { wanted: wanted.clone(), available })
    }

    fn is_same_kind(&self, other: &Self) -> bool {
        (&self.os, &self.architecture, &self.variant)
            == (&other.os, &other.architecture, &other.variant)
    }

    /// Returns this platform and those whose programs it runs too, the best first. A variant is a
    /// level: `v3` of amd64 runs what was built for `v2`.
    fn accepted_variants(&self) -> Vec<Self> {
        let lowest = match self.architecture.as_str() {
            "arm" => 5,
            "amd64" => 2,
            "arm64" => 9,
            _ => 0,
        };
        let with = |variant: Option<String>| Self { variant, ..self.clone() };
        let mut accepted = vec![self.clone()];
        let variant = self.variant.as_deref().and_then(|variant| variant.strip_prefix('v'));
        let level: Option<u8> = variant.and_then(|level| level.parse().ok());
        if let (Some(level), 1..) = (level, lowest) {
            let levels = (lowest..level).rev().map(|level| Some(format!("v{level}")));
            accepted.extend(levels.map(with));
        }
        if self.variant.is_some() && self.architecture != "arm" {
            accepted.push(with(None));
        }
        accepted
    }
}

impl Index {
    /// Returns the entries that are images, or indexes of images; attestations and their like are not.
    pub fn images(&self) -> impl Iterator<Item = &Descriptor> {
        self.manifests.iter().filter(|descriptor| is_image(descriptor))
    }
}

fn is_image(descriptor: &Descriptor) -> bool {
    let is_manifest = matches!(
        manifest_type(&descriptor.media_type),
        ManifestType::Manifest | ManifestType::Index
    );
    let is_unknown = descriptor
        .platform
        .as_ref()
        .is_some_and(|platform| platform.os == "unknown" || platform.architecture == "unknown");
    is_manifest && !is_unknown && !descriptor.annotations.contains_key("vnd.docker.reference.type")
}

/// Shows `os/architecture` or `os/architecture/variant`.
impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.os, self.architecture)?;
        if let Some(variant) = &self.variant {
            write!(formatter, "/{variant}")?;
        }
        Ok(())
    }
}
