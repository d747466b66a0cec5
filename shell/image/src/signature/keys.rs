//! Public keys: ECDSA, RSA and Ed25519 in PEM, as cosign and OpenSSL write them.

use std::path::Path;

use aws_lc_rs::{
    encoding::AsDer,
    signature::{
        ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P521_SHA256_ASN1, ED25519,
        ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
    },
};
use operon_oci::KeySource;

use super::read_limited;
use crate::PullError;

/// Limits a key file. The largest key that is accepted has 8,192 bits, 1.5 KiB as PEM.
const MAX_KEY_BYTES: usize = 64 << 10;

/// The algorithms of signers. Upstream: payloads are hashed with SHA-256 whatever the curve is.
const SIGNERS: Kind = Kind {
    algorithms: &[
        &ECDSA_P256_SHA256_ASN1,
        &ECDSA_P384_SHA256_ASN1,
        &ECDSA_P521_SHA256_ASN1,
        &ED25519,
        &RSA_PKCS1_2048_8192_SHA256,
    ],
    expected: "an ECDSA key on P-256, P-384 or P-521, an Ed25519 key, or an RSA key of 2,048 to 8,192 bits",
};

/// The algorithms of transparency logs.
const LOGS: Kind = Kind {
    algorithms: &[&ECDSA_P256_SHA256_ASN1, &ECDSA_P384_SHA256_ASN1, &ECDSA_P521_SHA256_ASN1],
    expected: "an ECDSA key on P-256, P-384 or P-521",
};

/// The algorithms that a key may be for.
struct Kind {
    algorithms: &'static [&'static dyn VerificationAlgorithm],
    expected: &'static str,
}

/// A public key that signatures are verified with.
#[derive(Debug)]
pub(super) struct PublicKey {
    key: ParsedPublicKey,
    /// The key as a DER-encoded `SubjectPublicKeyInfo`.
    der: Vec<u8>,
}

impl PublicKey {
    /// Returns `true` if the owner of the key has signed `message`.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify_sig(message, signature).is_ok()
    }

    /// Returns `true` if a PEM text holds the same key.
    pub(super) fn is_in(&self, pem: &[u8]) -> bool {
        pem::parse(pem).is_ok_and(|block| block.contents() == self.der)
    }
}

/// Reads the keys of signers.
pub(super) fn of_signers(policy: &Path, source: &KeySource) -> Result<Vec<PublicKey>, PullError> {
    read(policy, source, &SIGNERS)
}

/// Reads the keys of transparency logs.
pub(super) fn of_logs(policy: &Path, source: &KeySource) -> Result<Vec<PublicKey>, PullError> {
    read(policy, source, &LOGS)
}

/// Reads the keys of a requirement. One bad key fails them all, so that a fallback key is not found to be
/// unusable on the day that it is needed.
fn read(policy: &Path, source: &KeySource, kind: &Kind) -> Result<Vec<PublicKey>, PullError> {
    let wrong = |problem| PullError::Policy { path: policy.to_owned(), problem };
    let key = |shown: &str, pem: &[u8]| {
        parse(pem, kind).map_err(|problem| wrong(format!("{shown}: {problem}")))
    };
    match source {
        KeySource::Data(keys) => {
            let numbered = keys.iter().zip(1..);
            numbered.map(|(pem, number)| key(&format!("key {number} in the policy"), pem)).collect()
        }
        KeySource::Paths(paths) => {
            let read = |path: &String| {
                let shown = format!("the key `{path}`");
                let pem = read_limited(Path::new(path), MAX_KEY_BYTES)
                    .map_err(|error| wrong(format!("{shown} cannot be read: {error}")))?;
                key(&shown, &pem)
            };
            paths.iter().map(read).collect()
        }
    }
}

/// Parses the first block of a PEM text.
fn parse(pem: &[u8], kind: &Kind) -> Result<PublicKey, String> {
    if pem.len() > MAX_KEY_BYTES {
        return Err(format!("it has more than {MAX_KEY_BYTES} bytes"));
    }
    let block =
        pem::parse(pem).map_err(|error| format!("it is not a public key in PEM: {error}"))?;
    if !matches!(block.tag(), "PUBLIC KEY" | "RSA PUBLIC KEY") {
        return Err(format!("expected PEM of a `PUBLIC KEY`, found `{}`", block.tag()));
    }
    let parsed = |algorithm: &&'static dyn VerificationAlgorithm| {
        ParsedPublicKey::new(*algorithm, block.contents()).ok()
    };
    let key = kind.algorithms.iter().find_map(parsed);
    let key = key.ok_or_else(|| format!("expected {}", kind.expected))?;
    let der = AsDer::as_der(&key).map_err(|_| "it cannot be encoded again".to_owned())?;
    Ok(PublicKey { der: der.as_ref().to_vec(), key })
}
