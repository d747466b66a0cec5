//! Image signatures: the signature policy, and whether the signatures of an image satisfy it.
//!
//! The policy and its keys are read for each image, so changes apply at once. Verdicts are never stored:
//! what the cache holds is the signatures themselves, which are verified again with each use. Finding them
//! is done in `images/admission.rs`.

mod keys;
#[cfg(test)]
mod tests;
mod verify;

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use operon_oci::{Digest, MAX_POLICY_BYTES, Manifest, Policy};

pub(crate) use self::verify::{Demand, Signature};
use crate::PullError;

/// Limits the signatures of an image. Each is verified with each key. cosign appends one per signing, and
/// a release pipeline signs an image a few times at most.
pub const MAX_SIGNATURES: usize = 64;

/// The media type of the payload of a signature.
const PAYLOAD_TYPE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// The annotation of a payload that holds its signature.
const SIGNATURE_ANNOTATION: &str = "dev.cosignproject.cosign/signature";
/// The annotation of a payload that holds the promise of a transparency log.
const BUNDLE_ANNOTATION: &str = "dev.sigstore.cosign/bundle";

/// Where the signature policy is read from.
#[derive(Debug, Clone, Default)]
pub struct SignaturePolicy {
    /// The file, in the format of `containers-policy.json`. Without one, signatures are not verified.
    pub file: Option<PathBuf>,
}

impl SignaturePolicy {
    /// Reads the policy; `None` if there is no file to read it from.
    ///
    /// A file that is missing or invalid is an error, so that nothing is pulled without its policy.
    pub fn read(&self) -> Result<Option<(&Path, Policy)>, PullError> {
        let Some(path) = &self.file else { return Ok(None) };
        let text =
            read_limited(path, MAX_POLICY_BYTES).map_err(|source| unreadable(path, &source))?;
        match Policy::parse(&text) {
            Ok(policy) => Ok(Some((path, policy))),
            Err(source) => {
                Err(PullError::Policy { path: path.clone(), problem: source.to_string() })
            }
        }
    }
}

/// Returns the tag at which cosign stores the signatures of an image.
pub(crate) fn signature_tag(digest: &Digest) -> String {
    format!("{}-{}.sig", digest.algorithm().name(), digest.hex())
}

/// Returns the parts of an image of signatures that are payloads, with what is known without fetching them.
pub(crate) fn payloads(manifest: &Manifest) -> impl Iterator<Item = &operon_oci::Descriptor> {
    manifest.layers.iter().filter(|layer| layer.media_type == PAYLOAD_TYPE)
}

fn unreadable(path: &Path, source: &io::Error) -> PullError {
    PullError::Policy { path: path.to_owned(), problem: source.to_string() }
}

/// Reads a file of at most `limit` bytes, and one byte more if it is longer.
fn read_limited(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
