//! From the digest of an image in a registry to its layers on the disk.
//!
//! Small documents come from the cache where it has them. What an image is for is decided from its
//! labels before the first layer is fetched.

use std::sync::{Arc, atomic::Ordering};

use operon_oci::{
    Descriptor, Digest, Document, ImageConfig, LayerCompression, MAX_CONFIG_BYTES, Manifest,
    Platform, Reference,
};
use tokio::task::JoinSet;

use super::{
    FetchContext, Images, MAX_INDEX_DEPTH,
    unpack::{Gathered, LayerFile},
};
use crate::{
    PullError,
    limits::PARALLEL_DOWNLOADS,
    quota::Charge,
    registry::Repository,
    store::{CacheScope, KeptTree, Workspace},
};

impl Images {
    /// Fetches an image by digest, and keeps what is wanted of it.
    pub(super) fn pull(
        &self,
        image: &Reference,
        digest: &Digest,
        context: &FetchContext<'_>,
    ) -> Result<KeptTree, PullError> {
        let workspace = self.store.workspace()?;
        let (gathered, _charge) =
            self.with_places(self.deadline(), image, async |place: &Repository| {
                self.gather(place, digest, context, &workspace).await
            })?;
        self.keep(gathered, context, &workspace)
    }

    async fn gather(
        &self,
        place: &Repository,
        digest: &Digest,
        context: &FetchContext<'_>,
        workspace: &Workspace,
    ) -> Result<(Gathered, Charge), PullError> {
        let scope = &context.scope;
        let shown = place.reference().to_string();
        let documents = async {
            let (digest, manifest) = self.manifest(place, digest, scope, &shown).await?;
            let config = self.config(place, &manifest, scope, &shown).await?;
            Ok((digest, manifest, config))
        };
        let (digest, manifest, config) = place.in_time(documents).await?;
        let wishes = context.purpose.wishes(&shown, &config.labels)?;
        let compressions = self.check_layers(&manifest, &config, &shown)?;
        let paths: Vec<_> = (0..manifest.layers.len())
            .map(|number| workspace.new_file(&format!("layer-{number}")))
            .collect::<Result<_, _>>()?;
        let total: u64 = manifest.layers.iter().map(|layer| layer.size).sum();
        // The layers lie in the workspace until the image is unpacked.
        let charge = context.allowance.charge_image(&shown, total)?;
        self.options.progress.total.fetch_add(total, Ordering::Relaxed);
        let wanted = manifest.layers.iter().cloned().zip(paths.iter().cloned());
        self.fetch_blobs(place, wanted).await?;
        let layers = manifest.layers.into_iter().zip(compressions).zip(paths);
        let layers = layers.zip(config.diff_ids);
        let layers = layers.map(|(((layer, compression), path), diff_id)| LayerFile {
            path,
            offset: 0,
            length: layer.size,
            compression,
            digest: layer.digest,
            diff_id: Some(diff_id),
        });
        let layers = layers.collect();
        let gathered =
            Gathered { shown, digest, labels: config.labels, wishes, layers, is_proven: true };
        Ok((gathered, charge))
    }

    /// Fetches several blobs at once.
    async fn fetch_blobs(
        &self,
        place: &Repository,
        wanted: impl Iterator<Item = (Descriptor, std::path::PathBuf)>,
    ) -> Result<(), PullError> {
        let mut wanted = wanted.enumerate();
        // Dropped, it ends what still runs.
        let mut running = JoinSet::new();
        loop {
            while running.len() < PARALLEL_DOWNLOADS
                && let Some((number, (blob, path))) = wanted.next()
            {
                let (place, progress) = (place.clone(), Arc::clone(&self.options.progress));
                running.spawn(async move {
                    let what = format!("layer {}", number + 1);
                    place.blob_to_file(&blob, &what, &path, &progress).await
                });
            }
            match running.join_next().await {
                None => return Ok(()),
                Some(Ok(fetched)) => fetched?,
                Some(Err(failed)) => std::panic::resume_unwind(failed.into_panic()),
            }
        }
    }

    /// Fetches the manifest behind a digest, through the index it may be in.
    pub(super) async fn manifest(
        &self,
        place: &Repository,
        digest: &Digest,
        scope: &CacheScope,
        shown: &str,
    ) -> Result<(Digest, Manifest), PullError> {
        let mut digest = digest.clone();
        for _ in 0..MAX_INDEX_DEPTH {
            let (bytes, media_type) = match self.store.document(&digest, scope) {
                Some(bytes) => (bytes, None),
                None => {
                    let fetched = place.manifest(&digest.to_string()).await?;
                    (fetched.bytes, fetched.media_type)
                }
            };
            let document = Document::parse(&bytes, media_type.as_deref())
                .map_err(PullError::document(shown))?;
            self.store.keep_document(&digest, scope, &bytes)?;
            match document {
                Document::Manifest(manifest) => return Ok((digest, manifest)),
                Document::Index(index) => {
                    let chosen = Platform::choose(&index, &self.options.platform);
                    let chosen = chosen.map_err(PullError::platform(shown))?;
                    digest = chosen.digest.clone();
                }
            }
        }
        Err(too_deep(shown))
    }

    pub(super) async fn config(
        &self,
        place: &Repository,
        manifest: &Manifest,
        scope: &CacheScope,
        shown: &str,
    ) -> Result<ImageConfig, PullError> {
        let config = &manifest.config;
        let bytes = match self.store.document(&config.digest, scope) {
            Some(bytes) => bytes,
            None => {
                let what = "the configuration";
                let bytes = place.small_blob(config, what, MAX_CONFIG_BYTES as u64).await?;
                self.store.keep_document(&config.digest, scope, &bytes)?;
                bytes
            }
        };
        ImageConfig::parse(&bytes).map_err(PullError::document(shown))
    }

    /// Compares what the manifest says of layers with what may be.
    pub(super) fn check_layers(
        &self,
        manifest: &Manifest,
        config: &ImageConfig,
        shown: &str,
    ) -> Result<Vec<LayerCompression>, PullError> {
        let reference = || shown.to_owned();
        let limits = &self.options.limits;
        let mut total: u64 = 0;
        let mut compressions = Vec::new();
        for (index, layer) in manifest.layers.iter().enumerate() {
            let number = index + 1;
            let compression = LayerCompression::of(&layer.media_type);
            compressions.push(compression.map_err(|source| PullError::LayerType {
                reference: reference(),
                number,
                source: Box::new(source),
            })?);
            total = total.saturating_add(layer.size);
            let (what, limit) = match layer.size > limits.layer_bytes {
                true => (format!("layer {number}"), limits.layer_bytes),
                false => ("everything".to_owned(), limits.image_bytes),
            };
            if layer.size > limits.layer_bytes || total > limits.image_bytes {
                return Err(PullError::TooLarge { reference: reference(), what, limit });
            }
        }
        config.check_layers(manifest).map_err(PullError::document(shown))?;
        Ok(compressions)
    }
}

pub(super) fn too_deep(shown: &str) -> PullError {
    PullError::Archive {
        path: shown.into(),
        problem: format!("its indexes point to indexes more than {MAX_INDEX_DEPTH} times"),
    }
}
