//! Rekor bundles: the promise of a transparency log that it has recorded a signature.
//!
//! cosign attaches the promise to the signature, so it can be verified without asking the log.

use operon_document::json::Tape;

use super::{PayloadError, PolicyError, strict::Strict};

/// Limits a bundle. It holds a key, a signature and a hash; cosign writes 2 KiB.
pub const MAX_REKOR_BUNDLE_BYTES: usize = 64 << 10;

/// The largest integer that canonical JSON represents exactly.
const MAX_EXACT_INTEGER: i64 = 1 << 53;

/// What a transparency log has signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RekorBundle {
    /// The signature of the log, an ECDSA signature in ASN.1.
    pub log_signature: Vec<u8>,
    /// The bytes that the log has signed: canonical JSON.
    pub signed_bytes: Vec<u8>,
    /// The public key of the recorded signature, as PEM.
    pub public_key: Vec<u8>,
    /// The recorded signature.
    pub signature: Vec<u8>,
    /// The SHA-256 of the signed payload, in hexadecimal digits.
    pub payload_sha256: String,
}

impl RekorBundle {
    /// Parses the annotation that cosign writes.
    pub fn parse(text: &str) -> Result<Self, PayloadError> {
        if text.len() > MAX_REKOR_BUNDLE_BYTES {
            let problem = format!("the Rekor bundle has more than {MAX_REKOR_BUNDLE_BYTES} bytes");
            return Err(PayloadError(problem));
        }
        read(text.as_bytes()).map_err(|error| PayloadError(format!("Rekor bundle: {error}")))
    }
}

fn read(text: &[u8]) -> Result<RekorBundle, PolicyError> {
    let mut tape = Tape::new();
    let top = Strict::parse(text, &mut tape)?;
    let [log_signature, payload] = top.exactly(["SignedEntryTimestamp", "Payload"])?;
    let [body, time, index, log] =
        payload.exactly(["body", "integratedTime", "logIndex", "logID"])?;
    // Canonical JSON escapes nothing in these texts and sorts by name, so it is written directly.
    let canonical = format!(
        r#"{{"body":"{}","integratedTime":{},"logID":"{}","logIndex":{}}}"#,
        plain(&body)?,
        exact(&time)?,
        plain(&log)?,
        exact(&index)?
    );
    let decoded = body.base64()?;
    let mut tape = Tape::new();
    let record = Strict::parse(&decoded, &mut tape)?;
    let [version, kind, spec] = record.exactly(["apiVersion", "kind", "spec"])?;
    if kind.string()? != "hashedrekord" || version.string()? != "0.0.1" {
        return Err(kind.error("expected `hashedrekord` of version `0.0.1`"));
    }
    let [data, signature] = spec.exactly(["data", "signature"])?;
    let [hash] = data.exactly(["hash"])?;
    let [algorithm, value] = hash.exactly(["algorithm", "value"])?;
    if algorithm.string()? != "sha256" {
        return Err(algorithm.error("expected `sha256`"));
    }
    let [content, public_key] = signature.exactly(["content", "publicKey"])?;
    let [public_key] = public_key.exactly(["content"])?;
    Ok(RekorBundle {
        log_signature: log_signature.base64()?,
        signed_bytes: canonical.into_bytes(),
        public_key: public_key.base64()?,
        signature: content.base64()?,
        payload_sha256: value.string()?.into_owned(),
    })
}

/// Returns a text of base64 or hexadecimal digits.
fn plain<'a>(value: &Strict<'a>) -> Result<std::borrow::Cow<'a, str>, PolicyError> {
    let text = value.string()?;
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    if is_plain { Ok(text) } else { Err(value.error("expected base64 or hexadecimal digits")) }
}

fn exact(value: &Strict<'_>) -> Result<i64, PolicyError> {
    let number = value.integer()?;
    let is_exact = (-MAX_EXACT_INTEGER..=MAX_EXACT_INTEGER).contains(&number);
    if is_exact { Ok(number) } else { Err(value.error("the number is too large")) }
}
