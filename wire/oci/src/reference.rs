//! Image references, such as `quay.io/operators/etcd:v0.9.4`.
//!
//! They are read by Docker's grammar and normalised as Docker does: a name without a host is one of
//! Docker Hub's, and a name without tag and digest means `latest`. Whether anything exists behind a
//! reference is not asked here.

mod grammar;

use std::{fmt, str::FromStr};

use crate::{Digest, DigestError};

/// Limits the host with its port: 253 characters of a name, a colon and five digits, rounded up.
pub const MAX_HOST_LENGTH: usize = 260;
/// Limits the repository as the distribution specification's implementations do.
pub const MAX_REPOSITORY_LENGTH: usize = 255;
/// Limits the tag as its grammar does.
pub const MAX_TAG_LENGTH: usize = 128;

/// The host that names without a host belong to.
const DOCKER_HUB: &str = "docker.io";
/// The host that serves Docker Hub.
const DOCKER_HUB_SERVER: &str = "registry-1.docker.io";
/// The older name of Docker Hub.
const DOCKER_HUB_INDEX: &str = "index.docker.io";
/// The namespace of names such as `nginx`.
const OFFICIAL_NAMESPACE: &str = "library/";
const DEFAULT_TAG: &str = "latest";

/// Names an image: a registry, a repository in it, and a tag, a digest or both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

/// Says which part of a text keeps it from being a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// There is nothing to read.
    #[error("the image reference is empty")]
    Empty,
    /// The text begins as an address of the web does.
    #[error("the image reference `{text}` begins with `{scheme}`; leave that away")]
    Scheme {
        /// The text, shortened.
        text: String,
        /// The beginning, such as `https://`.
        scheme: &'static str,
    },
    /// A part has a form that it must not have.
    #[error("the {part} `{text}` of an image reference {problem}")]
    Malformed {
        /// `registry`, `repository` or `tag`.
        part: &'static str,
        /// The part, shortened.
        text: String,
        /// What is wrong, such as "must not have capital letters; write `nginx`".
        problem: String,
    },
    /// A part is longer than it may be.
    #[error("the {part} of an image reference has {length} characters, more than {limit}")]
    TooLong {
        /// `registry`, `repository` or `tag`.
        part: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// What stands behind `@` is no digest.
    #[error("the image reference `{text}` has a malformed digest: {source}")]
    Digest {
        /// The whole reference, shortened.
        text: String,
        /// What is wrong with it.
        source: DigestError,
    },
}

impl Reference {
    /// Reads a reference and normalises it.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        grammar::parse(text)
    }

    /// Returns the host with its port, such as `docker.io` or `localhost:5000`, as it was written.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// Returns the repository, such as `library/nginx`.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the tag; there is one, or a digest, or both.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns the digest, which wins over the tag.
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// Returns the host to talk to: Docker Hub is served under another name than its own.
    pub fn registry_host(&self) -> &str {
        if self.is_docker_hub() { DOCKER_HUB_SERVER } else { &self.registry }
    }

    /// Returns what a registry is asked for: the digest, or else the tag.
    pub fn manifest_name(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, Some(tag)) => tag.clone(),
            (None, None) => DEFAULT_TAG.to_owned(),
        }
    }

    /// Returns `registry/repository`, without tag and digest.
    pub fn name(&self) -> String {
        format!("{}/{}", self.registry, self.repository)
    }

    /// Returns the short form that people write: `nginx` for `docker.io/library/nginx:latest`.
    pub fn familiar(&self) -> String {
        let mut text = match self.repository.strip_prefix(OFFICIAL_NAMESPACE) {
            Some(official) if self.is_docker_hub() && !official.contains('/') => {
                official.to_owned()
            }
            _ if self.is_docker_hub() && !self.seems_to_begin_with_a_host() => {
                self.repository.clone()
            }
            _ => self.name(),
        };
        match self.tag() {
            Some(DEFAULT_TAG) if self.digest.is_none() => {}
            Some(tag) => text.extend([":", tag]),
            None => {}
        }
        if let Some(digest) = &self.digest {
            text.extend(["@", &digest.to_string()]);
        }
        text
    }

    /// Returns the reference with a digest; the tag stays, as a note of where the digest was found.
    #[must_use]
    pub fn with_digest(&self, digest: Digest) -> Self {
        Self { digest: Some(digest), ..self.clone() }
    }

    /// Returns the reference with a tag instead of its tag and digest.
    pub fn with_tag(&self, tag: &str) -> Result<Self, ReferenceError> {
        grammar::check_tag(tag)?;
        Ok(Self { tag: Some(tag.to_owned()), digest: None, ..self.clone() })
    }

    /// Returns the reference without its tag, where a digest says enough.
    #[must_use]
    pub fn without_tag(&self) -> Self {
        let tag = if self.digest.is_some() { None } else { self.tag.clone() };
        Self { tag, ..self.clone() }
    }

    /// `docker.io/localhost/a` has no shorter form: `localhost/a` lies elsewhere.
    fn seems_to_begin_with_a_host(&self) -> bool {
        let first = self.repository.split_once('/').map(|(first, _)| first);
        first.is_some_and(|first| first == "localhost" || first.contains('.'))
    }

    fn is_docker_hub(&self) -> bool {
        self.registry.eq_ignore_ascii_case(DOCKER_HUB)
    }
}

/// Shows the full form, such as `docker.io/library/nginx:latest`.
impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(formatter, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(formatter, "@{digest}")?;
        }
        Ok(())
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        Self::parse(text)
    }
}
