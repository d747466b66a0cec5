//! Admission: no image is used that the signature policy rejects, whether it is fetched or cached.

use std::{fs, path::Path, time::SystemTime};

use operon_oci::{
    Digest, Document, MAX_SIGNATURE_PAYLOAD_BYTES, Manifest, OCI_MANIFEST, Platform, Reference,
};

use super::{Images, MAX_INDEX_DEPTH};
use crate::{
    Location, PullError,
    registry::Repository,
    signature::{Demand, MAX_SIGNATURES, Signature, payloads, signature_tag},
    store::CacheScope,
};

impl Images {
    /// Checks that the signature policy accepts an image in a registry whose digest is known.
    ///
    /// An index that is signed vouches for the manifests that it names by digest. Otherwise the manifest
    /// for the platform must be signed. Signatures come from the cache if those satisfy the policy, and
    /// else from the registry.
    pub(super) fn admit(
        &self,
        image: &Reference,
        digest: &Digest,
        scope: &CacheScope,
    ) -> Result<(), PullError> {
        let Some((path, policy)) = self.options.signatures.read()? else { return Ok(()) };
        let Some(demand) = Demand::of_image(path, &policy, image)? else { return Ok(()) };
        let mut subjects = vec![digest.clone()];
        subjects.extend(self.cached_platform(digest, scope));
        let is_signed = |subject: &Digest| {
            let signatures = self.cached_signatures(image, subject, scope);
            signatures.is_some_and(|signatures| demand.check(subject, &signatures).is_ok())
        };
        if subjects.iter().any(is_signed) {
            return Ok(());
        }
        if self.options.offline {
            let problem = "the cache has no signatures that satisfy it, and nothing may be fetched";
            return Err(demand.rejected(problem.to_owned()));
        }
        self.with_places(self.deadline(), image, async |place: &Repository| {
            let signatures = self.fetch_signatures(place, image, digest, scope).await?;
            let Err(problem) = demand.check(digest, &signatures) else { return Ok(()) };
            let (chosen, _) = self.manifest(place, digest, scope, &image.to_string()).await?;
            if chosen == *digest {
                return Err(demand.rejected(problem));
            }
            let signatures = self.fetch_signatures(place, image, &chosen, scope).await?;
            let checked = demand.check(&chosen, &signatures);
            checked.map_err(|second| demand.rejected(format!("{problem}; {second}")))
        })
    }

    /// Checks that the signature policy accepts an image in local files.
    pub(super) fn admit_local(&self, location: &Location) -> Result<(), PullError> {
        let Some((policy_path, policy)) = self.options.signatures.read()? else { return Ok(()) };
        let absolute = |path: &Path| -> Result<String, PullError> {
            let path = fs::canonicalize(path).map_err(PullError::disk("read", path))?;
            Ok(path.to_string_lossy().into_owned())
        };
        let (transport, path) = match location {
            Location::Layout { directory, .. } => ("oci", absolute(directory)?),
            Location::LayoutArchive { file, .. } => ("oci-archive", absolute(file)?),
            Location::DockerArchive { .. } => ("docker-archive", String::new()),
            // Directories and archives of files are not images.
            Location::Path(_)
            | Location::Archive(_)
            | Location::Image(_)
            | Location::Address(_)
            | Location::ConfigMap(_) => return Ok(()),
        };
        let shown = location.to_string();
        Demand::check_local(policy_path, &policy, transport, &path, &shown)
    }

    /// Returns the manifest for the platform if the digest is that of an index in the cache.
    fn cached_platform(&self, digest: &Digest, scope: &CacheScope) -> Option<Digest> {
        let mut chosen = None;
        for _ in 0..MAX_INDEX_DEPTH {
            let bytes = self.store.document(chosen.as_ref().unwrap_or(digest), scope)?;
            let Ok(Document::Index(index)) = Document::parse(&bytes, None) else { break };
            chosen = Some(Platform::choose(&index, &self.options.platform).ok()?.digest.clone());
        }
        chosen
    }

    /// Returns the signatures of a manifest that were fetched before; `None` if something is missing.
    fn cached_signatures(
        &self,
        image: &Reference,
        digest: &Digest,
        scope: &CacheScope,
    ) -> Option<Vec<Signature>> {
        let reference = image.with_tag(&signature_tag(digest)).ok()?;
        let (manifest, _) = self.store.recall(&reference, scope)?;
        let bytes = self.store.document(&manifest, scope)?;
        let Ok(Document::Manifest(manifest)) = Document::parse(&bytes, None) else { return None };
        let payloads = payloads(&manifest).take(MAX_SIGNATURES);
        payloads
            .map(|part| Some(Signature::new(part, self.store.document(&part.digest, scope)?)))
            .collect()
    }

    /// Fetches the signatures of a manifest from where cosign stores them, and caches them.
    async fn fetch_signatures(
        &self,
        place: &Repository,
        image: &Reference,
        digest: &Digest,
        scope: &CacheScope,
    ) -> Result<Vec<Signature>, PullError> {
        let tag = signature_tag(digest);
        // A digest that is too long for a tag cannot have signatures.
        let Ok(reference) = image.with_tag(&tag) else { return Ok(Vec::new()) };
        let shown = reference.to_string();
        let fetched = match place.manifest(&tag).await {
            Err(PullError::NotFound { .. }) => return Ok(Vec::new()),
            fetched => fetched?,
        };
        let document = Document::parse(&fetched.bytes, fetched.media_type.as_deref())
            .map_err(PullError::document(&shown))?;
        let manifest = expect_signatures(document, &shown)?;
        let mut signatures = Vec::new();
        for part in payloads(&manifest) {
            let limit = MAX_SIGNATURE_PAYLOAD_BYTES as u64;
            let payload = place.small_blob(part, "the payload of a signature", limit).await?;
            self.store.keep_document(&part.digest, scope, &payload)?;
            signatures.push(Signature::new(part, payload));
        }
        self.store.keep_document(&fetched.digest, scope, &fetched.bytes)?;
        self.store.remember(&reference, scope, &fetched.digest, SystemTime::now())?;
        Ok(signatures)
    }
}

fn expect_signatures(document: Document, shown: &str) -> Result<Manifest, PullError> {
    let wrong = |problem: String| PullError::Archive { path: shown.into(), problem };
    match document {
        Document::Manifest(manifest) if manifest.media_type == OCI_MANIFEST => {
            let count = payloads(&manifest).count();
            if count > MAX_SIGNATURES {
                return Err(wrong(format!(
                    "it has {count} signatures, more than {MAX_SIGNATURES}"
                )));
            }
            Ok(manifest)
        }
        Document::Manifest(_) | Document::Index(_) => {
            Err(wrong(format!("expected signatures in a manifest of type `{OCI_MANIFEST}`")))
        }
    }
}
