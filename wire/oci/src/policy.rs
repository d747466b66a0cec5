//! Signature policies: `containers-policy.json` as Podman and Skopeo read it.
//!
//! A policy maps an image to the requirements that it must meet. This module parses the file, selects the
//! requirements for an image, compares identities, and reads the payload of signatures. Cryptography and
//! files are handled by `operon-image`.

mod identity;
mod payload;
mod read;
mod rekor;
mod scope;
mod strict;

use std::{collections::BTreeMap, fmt};

pub use self::{
    identity::SignedIdentity,
    payload::{MAX_SIGNATURE_PAYLOAD_BYTES, PayloadError, SignaturePayload},
    rekor::{MAX_REKOR_BUNDLE_BYTES, RekorBundle},
};
use crate::Reference;

/// Limits a policy file. Kubernetes limits a ConfigMap, from which the controller gets it, to the same size.
pub const MAX_POLICY_BYTES: usize = 1 << 20;

/// Limits the keys of one requirement. Each signature is tried with each key, and key rotation needs two.
pub const MAX_POLICY_KEYS: usize = 64;

/// The transport of images in registries.
const DOCKER: &str = "docker";

type Scopes = BTreeMap<String, Vec<Requirement>>;

/// Requirements for images, by transport and scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    default: Vec<Requirement>,
    transports: BTreeMap<String, Scopes>,
}

/// One condition that an image must meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// `insecureAcceptAnything`: every image meets it.
    AcceptAnything,
    /// `reject`: no image meets it.
    Reject,
    /// `sigstoreSigned`: the image needs a signature as cosign creates it.
    SigstoreSigned(SigstoreSigned),
    /// A valid requirement that cannot be verified here, so no image meets it.
    Unsupported {
        /// The type or field that cannot be verified, such as `signedBy`.
        feature: &'static str,
    },
}

/// The keys and the identity that a cosign signature must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigstoreSigned {
    /// Public keys of signers. A signature by one of them is enough.
    pub keys: KeySource,
    /// Public keys of transparency logs. If present, one of them must have logged the signature.
    pub rekor_keys: Option<KeySource>,
    /// The image name that the signature must contain.
    pub identity: SignedIdentity,
}

/// Where public keys come from; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// PEM files.
    Paths(Vec<String>),
    /// PEM texts inside the policy.
    Data(Vec<Vec<u8>>),
}

/// The requirements for one image, and the entry of the policy that they come from.
#[derive(Debug, Clone, Copy)]
pub struct Selected<'p> {
    /// The transport and the scope; `None` for the global default.
    pub entry: Option<(&'p str, &'p str)>,
    /// Requirements that must all be met; never empty.
    pub requirements: &'p [Requirement],
}

/// Why a policy file is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The file is too large.
    #[error("the signature policy has {bytes} bytes, more than {MAX_POLICY_BYTES}")]
    TooLarge {
        /// The size of the file.
        bytes: usize,
    },
    /// The file is not JSON.
    #[error("line {line}: not valid JSON: {problem}")]
    NotJson {
        /// The line, from one.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A field is unknown, missing or has an invalid value.
    #[error("line {line}: {field}: {problem}")]
    Field {
        /// The line, from one.
        line: usize,
        /// The path to the field, such as `transports.docker["quay.io"][0].keyPath`.
        field: String,
        /// What is wrong, and what is expected.
        problem: String,
    },
}

impl Policy {
    /// Parses a policy file. Unknown and repeated fields are errors, because a typing error must not weaken
    /// a policy.
    pub fn parse(text: &[u8]) -> Result<Self, PolicyError> {
        read::policy(text)
    }

    /// Selects the requirements for an image in a registry, named as the user wrote it.
    ///
    /// The order is: the image with its tag or digest, its repository, the namespaces above it, the host,
    /// `*.` wildcards of the host, the default of the transport, the global default. A reference with both
    /// a tag and a digest counts as one with a digest.
    pub fn for_image(&self, image: &Reference) -> Selected<'_> {
        self.select(DOCKER, scope::of_image(image))
    }

    /// Selects the requirements for an image in local files, such as `oci` at `/srv/layout`. The path must
    /// be absolute and free of symbolic links. An empty path has no scope of its own.
    pub fn for_path(&self, transport: &str, path: &str) -> Selected<'_> {
        self.select(transport, scope::of_path(path))
    }

    fn select(&self, transport: &str, candidates: Vec<String>) -> Selected<'_> {
        let found = self.transports.get_key_value(transport).and_then(|(transport, scopes)| {
            let last = std::iter::once(String::new());
            let (scope, requirements) = candidates
                .into_iter()
                .chain(last)
                .find_map(|scope| scopes.get_key_value(&scope))?;
            Some(Selected { entry: Some((transport, scope)), requirements })
        });
        found.unwrap_or(Selected { entry: None, requirements: &self.default })
    }
}

/// Shows the entry, such as "the entry `quay.io/team` for `docker`".
impl fmt::Display for Selected<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            None => write!(formatter, "the global default"),
            Some((transport, "")) => write!(formatter, "the default for `{transport}`"),
            Some((transport, scope)) => write!(formatter, "the entry `{scope}` for `{transport}`"),
        }
    }
}
