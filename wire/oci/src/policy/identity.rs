//! Signed identities: comparing the image name in a signature with the image that was requested.
//!
//! Hosts are compared regardless of case, so that writing a host differently does not evade an entry.

use crate::{Digest, Reference, ReferenceError};

/// The image name that a signature must contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedIdentity {
    /// `matchExact`: the requested name, tag or digest included.
    MatchExact,
    /// `matchRepoDigestOrExact`: the requested name. If a digest was requested, any tag of the repository.
    MatchRepoDigestOrExact,
    /// `matchRepository`: any tag or digest of the requested repository.
    MatchRepository,
    /// `exactReference`: this name.
    ExactReference(Named),
    /// `exactRepository`: any tag or digest of this repository.
    ExactRepository(Named),
    /// `remapIdentity`: as `matchRepoDigestOrExact`, after one prefix was replaced by another.
    RemapIdentity {
        /// The prefix of the requested name: a host, a namespace or a repository.
        prefix: String,
        /// The prefix of the signed name.
        signed_prefix: String,
    },
}

/// An image name without Docker's default tag: a signature for a whole repository is not one for `latest`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    name: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl Named {
    /// Parses a name as Docker writes it, without adding a tag.
    pub(super) fn parse(text: &str) -> Result<Self, ReferenceError> {
        let reference = Reference::parse(text)?;
        let last_part = text.rsplit('/').next().unwrap_or_default();
        let has_tag = last_part.split('@').next().unwrap_or_default().contains(':');
        Ok(Self {
            name: fold_host(&reference.name()),
            tag: reference.tag().filter(|_| has_tag).map(str::to_owned),
            digest: reference.digest().cloned(),
        })
    }

    /// Returns the name of a requested image. The digest wins over the tag, as it does when pulling.
    fn of(image: &Reference) -> Self {
        let digest = image.digest().cloned();
        let tag = image.tag().filter(|_| digest.is_none()).map(str::to_owned);
        Self { name: fold_host(&image.name()), tag, digest }
    }

    pub(super) fn is_repository(&self) -> bool {
        self.tag.is_none() && self.digest.is_none()
    }
}

impl SignedIdentity {
    /// Returns `true` if a signature for `signed` is a signature for `image`, named as the user wrote it.
    pub fn accepts(&self, image: &Reference, signed: &str) -> bool {
        let Ok(signed) = Named::parse(signed) else { return false };
        let image = Named::of(image);
        match self {
            Self::MatchExact => !signed.is_repository() && signed == image,
            Self::MatchRepoDigestOrExact => is_same_or_repository(&image, &signed),
            Self::MatchRepository => signed.name == image.name,
            Self::ExactReference(expected) => !signed.is_repository() && signed == *expected,
            Self::ExactRepository(expected) => signed.name == expected.name,
            Self::RemapIdentity { prefix, signed_prefix } => {
                let image = remap(image, prefix, signed_prefix);
                image.is_some_and(|image| is_same_or_repository(&image, &signed))
            }
        }
    }
}

fn is_same_or_repository(image: &Named, signed: &Named) -> bool {
    match &image.digest {
        // The signed digest is compared with the image in any case.
        Some(_) => !signed.is_repository() && signed.name == image.name,
        None => !signed.is_repository() && signed == image,
    }
}

/// Replaces the prefix of a name. Returns `None` if the result is not a name.
fn remap(mut image: Named, prefix: &str, signed_prefix: &str) -> Option<Named> {
    let Some(rest) = image.name.strip_prefix(prefix) else { return Some(image) };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Some(image);
    }
    let name = format!("{signed_prefix}{rest}");
    // Upstream: a result that is not in its full form, such as a host alone, matches nothing.
    let is_full =
        Named::parse(&name).is_ok_and(|parsed| parsed.is_repository() && parsed.name == name);
    image.name = name;
    is_full.then_some(image)
}

/// Parses a prefix of `remapIdentity`: a host, a namespace or a repository in its full form.
pub(super) fn prefix(text: &str) -> Option<String> {
    let below = format!("{text}/namespace/image");
    let reference = Reference::parse(&below).ok()?;
    (reference.name() == below).then(|| fold_host(text))
}

/// Returns a name with its host in lower case.
pub(super) fn fold_host(name: &str) -> String {
    let (host, rest) = name.split_at(name.find('/').unwrap_or(name.len()));
    format!("{}{rest}", host.to_ascii_lowercase())
}
