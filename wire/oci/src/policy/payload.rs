//! The payload of a cosign signature: the bytes that were signed.

use operon_document::json::Tape;

use super::{PolicyError, strict::Strict};
use crate::Digest;

/// Limits a payload. It holds a digest, a name and the annotations of the signer; cosign writes 300 bytes.
pub const MAX_SIGNATURE_PAYLOAD_BYTES: usize = 64 << 10;

/// The value of `critical.type` in payloads of images.
const SIGNATURE_TYPE: &str = "cosign container image signature";

/// Which image a signature is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignaturePayload {
    /// The digest of the image's manifest.
    pub manifest_digest: Digest,
    /// The name of the image; cosign writes the repository without a tag.
    pub docker_reference: String,
}

/// Why a payload is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload of the signature is invalid: {0}")]
pub struct PayloadError(pub(super) String);

impl SignaturePayload {
    /// Parses a payload as strictly as Podman does. The signature must be verified before.
    pub fn parse(bytes: &[u8]) -> Result<Self, PayloadError> {
        if bytes.len() > MAX_SIGNATURE_PAYLOAD_BYTES {
            let problem = format!("it has more than {MAX_SIGNATURE_PAYLOAD_BYTES} bytes");
            return Err(PayloadError(problem));
        }
        read(bytes).map_err(|error| PayloadError(error.to_string()))
    }
}

fn read(bytes: &[u8]) -> Result<SignaturePayload, PolicyError> {
    let mut tape = Tape::new();
    let top = Strict::parse(bytes, &mut tape)?;
    let [critical, optional] = top.exactly(["critical", "optional"])?;
    check_optional(&optional)?;
    let [kind, image, identity] = critical.exactly(["type", "image", "identity"])?;
    if kind.string()? != SIGNATURE_TYPE {
        return Err(kind.error(format!("expected `{SIGNATURE_TYPE}`")));
    }
    let [digest] = image.exactly(["docker-manifest-digest"])?;
    let [name] = identity.exactly(["docker-reference"])?;
    let manifest_digest =
        Digest::parse(&digest.string()?).map_err(|error| digest.error(error.to_string()))?;
    Ok(SignaturePayload { manifest_digest, docker_reference: name.string()?.into_owned() })
}

/// Upstream: cosign writes `null` without annotations; two names have a type, the others are ignored.
fn check_optional(optional: &Strict<'_>) -> Result<(), PolicyError> {
    if optional.is_null() {
        return Ok(());
    }
    let entries = optional.entries()?;
    entries.get("creator").map(Strict::string).transpose()?;
    entries.get("timestamp").map(Strict::integer).transpose()?;
    Ok(())
}
