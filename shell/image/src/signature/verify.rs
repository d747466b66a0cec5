//! Verifying the signatures of an image against the requirements of a policy.

use std::path::{Path, PathBuf};

use operon_document::decode_base64;
use operon_oci::{
    Descriptor, Digest, Policy, Reference, RekorBundle, Requirement, SignaturePayload,
    SignedIdentity, SigstoreSigned,
};

use super::{
    BUNDLE_ANNOTATION, SIGNATURE_ANNOTATION,
    keys::{self, PublicKey},
};
use crate::PullError;

/// How many rejected signatures a message explains.
const EXPLAINED_SIGNATURES: usize = 3;

/// A signature as it was found; nothing about it is verified.
#[derive(Debug)]
pub(crate) struct Signature {
    payload: Vec<u8>,
    /// The signature of the payload, in base64.
    signature: Option<String>,
    /// The promise of a transparency log, in JSON.
    bundle: Option<String>,
}

impl Signature {
    pub(crate) fn new(descriptor: &Descriptor, payload: Vec<u8>) -> Self {
        let annotation = |name: &str| descriptor.annotations.get(name).cloned();
        Self {
            payload,
            signature: annotation(SIGNATURE_ANNOTATION),
            bundle: annotation(BUNDLE_ANNOTATION),
        }
    }
}

/// What a policy demands of the signatures of one image.
#[derive(Debug)]
pub(crate) struct Demand {
    policy: PathBuf,
    /// The entry of the policy, for messages.
    entry: String,
    image: Reference,
    signed: Vec<Signed>,
}

/// A `sigstoreSigned` requirement with its keys.
#[derive(Debug)]
struct Signed {
    keys: Vec<PublicKey>,
    log_keys: Option<Vec<PublicKey>>,
    identity: SignedIdentity,
}

impl Demand {
    /// Returns what a policy demands of an image in a registry, named as the user wrote it. Returns `None`
    /// if it needs no signature, and an error if the policy rejects the image whatever its signatures are.
    pub(crate) fn of_image(
        path: &Path,
        policy: &Policy,
        image: &Reference,
    ) -> Result<Option<Self>, PullError> {
        let selected = policy.for_image(image);
        let mut demand = Self {
            policy: path.to_owned(),
            entry: selected.to_string(),
            image: image.clone(),
            signed: Vec::new(),
        };
        for requirement in selected.requirements {
            let rejected =
                |problem: String| rejected(path, &demand.entry, &image.to_string(), problem);
            match requirement {
                Requirement::AcceptAnything => {}
                Requirement::Reject => return Err(rejected("the entry is `reject`".to_owned())),
                Requirement::Unsupported { feature } => return Err(rejected(unsupported(feature))),
                Requirement::SigstoreSigned(required) => {
                    let signed = Signed::read(path, required)?;
                    demand.signed.push(signed);
                }
            }
        }
        Ok((!demand.signed.is_empty()).then_some(demand))
    }

    /// Checks whether a policy accepts an image in local files, which have no signatures.
    pub(crate) fn check_local(
        path: &Path,
        policy: &Policy,
        transport: &str,
        place: &str,
        shown: &str,
    ) -> Result<(), PullError> {
        let selected = policy.for_path(transport, place);
        let problem = |requirement: &Requirement| match requirement {
            Requirement::AcceptAnything => None,
            Requirement::Reject => Some("the entry is `reject`".to_owned()),
            Requirement::Unsupported { feature } => Some(unsupported(feature)),
            Requirement::SigstoreSigned(_) => {
                Some("a signature is required, but images in local files have none".to_owned())
            }
        };
        match selected.requirements.iter().find_map(problem) {
            None => Ok(()),
            Some(problem) => Err(rejected(path, &selected.to_string(), shown, problem)),
        }
    }

    /// Checks that signatures of the manifest `digest` meet every requirement.
    pub(crate) fn check(&self, digest: &Digest, signatures: &[Signature]) -> Result<(), String> {
        self.signed.iter().try_for_each(|signed| {
            let mut problems = Vec::new();
            for signature in signatures {
                match signed.check(&self.image, digest, signature) {
                    Ok(()) => return Ok(()),
                    Err(problem) => problems.push(problem),
                }
            }
            problems.dedup();
            let more = problems.len().saturating_sub(EXPLAINED_SIGNATURES);
            problems.truncate(EXPLAINED_SIGNATURES);
            Err(match (problems.as_slice(), more) {
                ([], _) => format!("{digest} has no signature"),
                (problems, 0) => problems.join("; "),
                (problems, more) => format!("{}; and {more} more", problems.join("; ")),
            })
        })
    }

    /// Returns the error for an image that does not meet the requirements.
    pub(crate) fn rejected(&self, problem: String) -> PullError {
        rejected(&self.policy, &self.entry, &self.image.to_string(), problem)
    }
}

impl Signed {
    fn read(policy: &Path, required: &SigstoreSigned) -> Result<Self, PullError> {
        let SigstoreSigned { keys, rekor_keys, identity } = required;
        Ok(Self {
            keys: keys::of_signers(policy, keys)?,
            log_keys: rekor_keys.as_ref().map(|keys| keys::of_logs(policy, keys)).transpose()?,
            identity: identity.clone(),
        })
    }

    /// Checks one signature. The payload is parsed only after its signature was verified.
    fn check(
        &self,
        image: &Reference,
        digest: &Digest,
        signature: &Signature,
    ) -> Result<(), String> {
        let bytes = signature.signature.as_ref().ok_or("a signature has no value")?;
        let bytes =
            decode_base64(bytes.as_bytes()).map_err(|error| format!("a signature is {error}"))?;
        let mut signers = self.keys.iter().filter(|key| key.has_signed(&signature.payload, &bytes));
        let signer = signers.next().ok_or("no trusted key has made the signature")?;
        if let Some(log_keys) = &self.log_keys {
            check_log(log_keys, signer, signature, &bytes)?;
        }
        let payload =
            SignaturePayload::parse(&signature.payload).map_err(|error| error.to_string())?;
        if payload.manifest_digest != *digest {
            return Err(format!(
                "the signature is for {}, not for {digest}",
                payload.manifest_digest
            ));
        }
        if !self.identity.accepts(image, &payload.docker_reference) {
            let mut named = payload.docker_reference;
            named.retain(|character| !character.is_control());
            return Err(format!(
                "the signature is for the name `{named}`, which `signedIdentity` does not accept"
            ));
        }
        Ok(())
    }
}

/// Checks that a transparency log has recorded the signature of a payload with the key of its signer.
fn check_log(
    log_keys: &[PublicKey],
    signer: &PublicKey,
    signature: &Signature,
    bytes: &[u8],
) -> Result<(), String> {
    let bundle = signature.bundle.as_ref().ok_or("the signature has no Rekor bundle")?;
    let bundle = RekorBundle::parse(bundle).map_err(|error| error.to_string())?;
    if !log_keys.iter().any(|key| key.has_signed(&bundle.signed_bytes, &bundle.log_signature)) {
        return Err("no trusted transparency log has recorded the signature".to_owned());
    }
    let is_recorded = bundle.signature == bytes
        && bundle.payload_sha256 == Digest::of(&signature.payload).hex()
        && signer.is_in(&bundle.public_key);
    if is_recorded { Ok(()) } else { Err("the Rekor bundle is for another signature".to_owned()) }
}

fn unsupported(feature: &str) -> String {
    let what = match feature {
        "signedBy" => "`signedBy` (OpenPGP signatures) is",
        "signedBaseLayer" => "`signedBaseLayer` is",
        "fulcio" => "`fulcio` (short-lived certificates) is",
        _ => "`pki` (certificates) is",
    };
    format!(
        "{what} not supported; use `sigstoreSigned` with `keyPath`, `keyPaths`, `keyData` or `keyDatas`"
    )
}

fn rejected(policy: &Path, entry: &str, image: &str, problem: String) -> PullError {
    PullError::Signature {
        reference: image.to_owned(),
        path: policy.to_owned(),
        entry: entry.to_owned(),
        problem,
    }
}
