//! What an image is made for, found out from its manifests alone.
//!
//! No layer is fetched, and nothing is kept beyond the documents themselves. What a platform is good for
//! is not judged here.

use std::collections::BTreeSet;

use operon_oci::{Digest, Document, Platform, Reference};

use super::{Images, MAX_INDEX_DEPTH, gather::too_deep};
use crate::{PullError, registry::Repository, store::CacheScope};

/// The most manifests that are looked at for one image: every platform that there is has a few, and most
/// indexes say what their images are for.
pub const MAX_LOOKED_AT_MANIFESTS: usize = 100;

impl Images {
    /// Asks the registry what an image is made for: one request for an index that says it, two for an image
    /// without one. An image that does not say it is made for a platform without names.
    pub fn platforms(&self, image: &Reference) -> Result<BTreeSet<Platform>, PullError> {
        if self.options.offline {
            return Err(PullError::Offline { reference: image.to_string() });
        }
        let (name, scope) = (image.manifest_name(), self.scope(image)?);
        self.with_places(self.deadline(), image, async |place: &Repository| {
            self.platforms_in(place, &name, &scope).await
        })
    }

    async fn platforms_in(
        &self,
        place: &Repository,
        name: &str,
        scope: &CacheScope,
    ) -> Result<BTreeSet<Platform>, PullError> {
        let shown = place.reference().to_string();
        let mut found = BTreeSet::new();
        let mut looked_at = 0;
        let mut level = vec![name.to_owned()];
        for _ in 0..=MAX_INDEX_DEPTH {
            let mut next = Vec::new();
            for name in level {
                looked_at += 1;
                if looked_at > MAX_LOOKED_AT_MANIFESTS {
                    let what = format!("the list of {MAX_LOOKED_AT_MANIFESTS} manifests");
                    let limit = MAX_LOOKED_AT_MANIFESTS as u64;
                    return Err(PullError::TooLarge { reference: shown, what, limit });
                }
                match self.document(place, &name, scope, &shown).await? {
                    Document::Manifest(manifest) => {
                        let config = self.config(place, &manifest, scope, &shown).await?;
                        found.insert(config.platform.normalised());
                    }
                    Document::Index(index) => {
                        for entry in index.images() {
                            match &entry.platform {
                                Some(platform) => {
                                    found.insert(platform.normalised());
                                }
                                None => next.push(entry.digest.to_string()),
                            }
                        }
                    }
                }
            }
            if next.is_empty() {
                return Ok(found);
            }
            level = next;
        }
        Err(too_deep(&shown))
    }

    /// Returns a manifest or an index; by digest, perhaps one that is kept.
    async fn document(
        &self,
        place: &Repository,
        name: &str,
        scope: &CacheScope,
        shown: &str,
    ) -> Result<Document, PullError> {
        let digest = Digest::parse(name).ok();
        let kept = digest.and_then(|digest| self.store.document(&digest, scope));
        let (bytes, media_type) = match kept {
            Some(bytes) => (bytes, None),
            None => {
                let fetched = place.manifest(name).await?;
                self.store.keep_document(&fetched.digest, scope, &fetched.bytes)?;
                (fetched.bytes, fetched.media_type)
            }
        };
        Document::parse(&bytes, media_type.as_deref()).map_err(PullError::document(shown))
    }
}
