//! Images on the disk: layouts, archives of layouts, what `docker save` writes, and plain archives.
//!
//! They are unpacked into the cache as images from registries are, so they are opened the same way. What
//! they hold is compared with its digests, too.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use operon_oci::{
    Algorithm, ArchivedImage, DOCKER_ARCHIVE_MANIFEST, Descriptor, Digest, Document, DocumentError,
    Hasher, ImageConfig, Index, LAYOUT_FILE, LAYOUT_INDEX, LayerCompression, MAX_CONFIG_BYTES,
    MAX_MANIFEST_BYTES, Manifest, Platform, REF_NAME_ANNOTATION, check_layout, docker_archive,
};

use super::{
    FetchContext, Images, MAX_INDEX_DEPTH, Tree,
    archive::{TarFile, decompressed, sniff},
    gather::too_deep,
    kept_tree,
    purpose::{Purpose, Wish},
    unpack::{Gathered, LayerFile},
};
use crate::{Choice, Location, PullError, store::TreeKey};

/// How much of a file is hashed at a time.
const HASH_BYTES: usize = 1 << 20;

/// How many names of images a message lists.
const MAX_LISTED: usize = 10;

/// The files of an image on the disk.
#[derive(Debug)]
pub(super) enum Files {
    Directory(PathBuf),
    Archive(TarFile),
}

impl Images {
    pub(super) fn fetch_local(
        &self,
        location: &Location,
        context: &FetchContext<'_>,
    ) -> Result<Tree, PullError> {
        let purpose = context.purpose;
        let workspace = self.store.workspace()?;
        let limit = self.options.limits.image_bytes;
        let tar = |file: &Path| TarFile::open(file, &workspace, limit);
        let shown = location.to_string();
        let gathered = match location {
            Location::Layout { directory, image } => {
                self.layout(&Files::Directory(directory.clone()), image, &shown, purpose)?
            }
            Location::LayoutArchive { file, image } => {
                self.layout(&Files::Archive(tar(file)?), image, &shown, purpose)?
            }
            Location::DockerArchive { file, image } => {
                self.docker_archive(&Files::Archive(tar(file)?), image, &shown, purpose)?
            }
            Location::Archive(file) => plain_archive(file, &shown)?,
            Location::Path(_)
            | Location::Image(_)
            | Location::Address(_)
            | Location::ConfigMap(_) => {
                let what = "no image on the disk";
                return Err(PullError::Elsewhere { location: shown, what });
            }
        };
        let digest = gathered.digest.clone();
        let scope = context.scope.clone();
        let key = TreeKey { digest: digest.clone(), kind: purpose.kind(), scope };
        let kept = match self.store.tree(&key) {
            Some(kept) => kept,
            None => {
                verify(&gathered, self.options.limits.layers.decompressed_bytes)?;
                self.keep(gathered, context, &workspace)?
            }
        };
        kept_tree(digest, kept, &shown, context.allowance)
    }

    fn layout(
        &self,
        files: &Files,
        choice: &Choice,
        shown: &str,
        purpose: Purpose,
    ) -> Result<Gathered, PullError> {
        let document = PullError::document(shown);
        check_layout(&files.read(LAYOUT_FILE, MAX_MANIFEST_BYTES)?).map_err(document)?;
        let index = files.read(LAYOUT_INDEX, MAX_MANIFEST_BYTES)?;
        let index = Index::parse(&index).map_err(document)?;
        let mut chosen = self.choose(files, &index, choice)?.clone();
        for _ in 0..MAX_INDEX_DEPTH {
            let bytes = files.blob(&chosen, shown, "the manifest", MAX_MANIFEST_BYTES)?;
            match Document::parse(&bytes, Some(&chosen.media_type)).map_err(document)? {
                Document::Manifest(manifest) => {
                    return self.layout_image(files, chosen.digest, manifest, shown, purpose);
                }
                Document::Index(index) => {
                    let fitting = Platform::choose(&index, &self.options.platform);
                    let fitting = fitting.map_err(PullError::platform(shown))?;
                    chosen = fitting.clone();
                }
            }
        }
        Err(too_deep(shown))
    }

    fn choose<'i>(
        &self,
        files: &Files,
        index: &'i Index,
        choice: &'i Choice,
    ) -> Result<&'i Descriptor, PullError> {
        let images = &index.manifests;
        let found = match choice {
            Choice::Tag(tag) => index.named(tag).next(),
            Choice::Digest(digest) => images.iter().find(|image| image.digest == *digest),
            Choice::Only if images.len() == 1 => images.first(),
            // Several images without a tag may still be one image for several platforms.
            Choice::Only => {
                let is_tagged =
                    |image: &Descriptor| image.annotations.contains_key(REF_NAME_ANNOTATION);
                let platform = &self.options.platform;
                let is_choice = !images.iter().any(is_tagged);
                is_choice.then(|| Platform::choose(index, platform).ok()).flatten()
            }
        };
        found.ok_or_else(|| {
            let names = images.iter().map(|image| {
                let name = image.annotations.get(REF_NAME_ANNOTATION);
                name.map_or_else(|| format!("`@{}`", image.digest), |name| format!("`:{name}`"))
            });
            files.no_such_image(choice, names.collect())
        })
    }

    fn layout_image(
        &self,
        files: &Files,
        digest: Digest,
        manifest: Manifest,
        shown: &str,
        purpose: Purpose,
    ) -> Result<Gathered, PullError> {
        let what = "the configuration";
        let config = files.blob(&manifest.config, shown, what, MAX_CONFIG_BYTES)?;
        let config = ImageConfig::parse(&config).map_err(PullError::document(shown))?;
        let wishes = purpose.wishes(shown, &config.labels)?;
        let compressions = self.check_layers(&manifest, &config, shown)?;
        let mut layers = Vec::new();
        let described = manifest.layers.into_iter().zip(compressions).zip(config.diff_ids);
        for ((layer, compression), diff_id) in described {
            let (path, offset, length) = files.place(&blob_name(&layer.digest))?;
            if length != layer.size {
                return Err(PullError::WrongLength {
                    reference: shown.to_owned(),
                    what: format!("layer {}", layers.len() + 1),
                    expected: layer.size,
                    found: length,
                });
            }
            let (digest, diff_id) = (layer.digest, Some(diff_id));
            layers.push(LayerFile { path, offset, length, compression, digest, diff_id });
        }
        let shown = shown.to_owned();
        Ok(Gathered { shown, digest, labels: config.labels, wishes, layers, is_proven: true })
    }

    fn docker_archive(
        &self,
        files: &Files,
        choice: &Choice,
        shown: &str,
        purpose: Purpose,
    ) -> Result<Gathered, PullError> {
        let document = PullError::document(shown);
        let list = files.read(DOCKER_ARCHIVE_MANIFEST, MAX_MANIFEST_BYTES)?;
        let images = docker_archive(&list).map_err(document)?;
        let is_it = |image: &&ArchivedImage| match choice {
            Choice::Only => images.len() == 1,
            Choice::Digest(digest) => image.config.contains(digest.hex()),
            Choice::Tag(tag) => image.repo_tags.iter().any(|name| {
                name == tag || name.rsplit_once(':').is_some_and(|(_, end)| end == tag)
            }),
        };
        let Some(image) = images.iter().find(is_it) else {
            let names = images.iter().flat_map(|image| &image.repo_tags);
            let names = names.map(|name| format!("`:{name}`")).collect();
            return Err(files.no_such_image(choice, names));
        };
        let bytes = files.read(&image.config, MAX_CONFIG_BYTES)?;
        let config = ImageConfig::parse(&bytes).map_err(document)?;
        let wishes = purpose.wishes(shown, &config.labels)?;
        if config.diff_ids.len() != image.layers.len() {
            return Err(PullError::Document {
                reference: shown.to_owned(),
                source: Box::new(DocumentError::LayersDiffer {
                    layers: image.layers.len(),
                    diff_ids: config.diff_ids.len(),
                }),
            });
        }
        let mut layers = Vec::new();
        for (name, digest) in image.layers.iter().zip(config.diff_ids) {
            let (path, offset, length) = files.place(name)?;
            let compression = sniff(&path, offset)?.unwrap_or(LayerCompression::Plain);
            // Docker names layers by their plain form, which `verify` compares.
            layers.push(LayerFile { path, offset, length, compression, digest, diff_id: None });
        }
        let (shown, digest) = (shown.to_owned(), Digest::of(&bytes));
        Ok(Gathered { shown, digest, labels: config.labels, wishes, layers, is_proven: true })
    }
}

/// Takes the archive of a directory for an image of one layer, all of which is wanted.
fn plain_archive(file: &Path, shown: &str) -> Result<Gathered, PullError> {
    let length = file.metadata().map_err(PullError::disk("read", file))?.len();
    let Some(compression) = sniff(file, 0)? else {
        return Err(PullError::Archive {
            path: file.to_owned(),
            problem: "it is neither a tar archive nor one that is compressed with gzip or zstd"
                .to_owned(),
        });
    };
    let path = file.to_owned();
    let (digest, diff_id) = (Digest::of(b""), None);
    let mut layer = LayerFile { path, offset: 0, length, compression, digest, diff_id };
    layer.digest = hash(&mut layer.open()?, Algorithm::Sha256, file)?;
    Ok(Gathered {
        shown: shown.to_owned(),
        digest: layer.digest.clone(),
        labels: std::collections::BTreeMap::new(),
        wishes: vec![Wish { path: String::new(), name: "" }],
        layers: vec![layer],
        is_proven: false,
    })
}

/// Compares layers with their digests. Docker names layers by their plain form.
fn verify(image: &Gathered, limit: u64) -> Result<(), PullError> {
    let is_docker = image.shown.starts_with("docker-archive:");
    for (index, layer) in image.layers.iter().enumerate() {
        let what = || format!("layer {}", index + 1);
        let algorithm = layer.digest.algorithm();
        let found = if is_docker {
            let plain = decompressed(layer.open()?, layer.compression)
                .map_err(PullError::disk("decompress", &layer.path))?;
            let mut plain = plain.take(limit + 1);
            let found = hash(&mut plain, algorithm, &layer.path)?;
            if plain.limit() == 0 {
                let reference = image.shown.clone();
                return Err(PullError::TooLarge { reference, what: what(), limit });
            }
            found
        } else {
            hash(&mut layer.open()?, algorithm, &layer.path)?
        };
        if found != layer.digest {
            return Err(PullError::DigestMismatch {
                reference: image.shown.clone(),
                what: what(),
                expected: layer.digest.clone(),
                found,
            });
        }
    }
    Ok(())
}

fn hash(reader: &mut dyn Read, algorithm: Algorithm, path: &Path) -> Result<Digest, PullError> {
    let mut hasher = Hasher::new(algorithm);
    let mut buffer = vec![0; HASH_BYTES];
    loop {
        match reader.read(&mut buffer).map_err(PullError::disk("read", path))? {
            0 => return Ok(hasher.finish()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

pub(super) fn blob_name(digest: &Digest) -> String {
    format!("blobs/{}/{}", digest.algorithm().name(), digest.hex())
}

impl Files {
    fn named(&self) -> &Path {
        match self {
            Self::Directory(directory) => directory,
            Self::Archive(archive) => archive.named(),
        }
    }

    pub(super) fn place(&self, name: &str) -> Result<(PathBuf, u64, u64), PullError> {
        let missing = || PullError::Archive {
            path: self.named().to_owned(),
            problem: format!("it has no `{name}`; is it an image of this kind, and is it whole?"),
        };
        match self {
            Self::Archive(archive) => archive.place(name).ok_or_else(missing),
            Self::Directory(directory) => {
                let path = directory.join(name);
                let length = path.metadata().map_err(|_| missing())?.len();
                Ok((path, 0, length))
            }
        }
    }

    pub(super) fn read(&self, name: &str, limit: usize) -> Result<Vec<u8>, PullError> {
        let (path, offset, length) = self.place(name)?;
        if length > limit as u64 {
            return Err(PullError::TooLarge {
                reference: self.named().display().to_string(),
                what: format!("`{name}`"),
                limit: limit as u64,
            });
        }
        let read = || {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(length).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(PullError::disk("read", &path))
    }

    pub(super) fn blob(
        &self,
        blob: &Descriptor,
        shown: &str,
        what: &str,
        limit: usize,
    ) -> Result<Vec<u8>, PullError> {
        let bytes = self.read(&blob_name(&blob.digest), limit)?;
        let mut hasher = Hasher::new(blob.digest.algorithm());
        hasher.update(&bytes);
        let found = hasher.finish();
        if found == blob.digest {
            return Ok(bytes);
        }
        Err(PullError::DigestMismatch {
            reference: shown.to_owned(),
            what: what.to_owned(),
            expected: blob.digest.clone(),
            found,
        })
    }

    fn no_such_image(&self, choice: &Choice, mut names: Vec<String>) -> PullError {
        let count = names.len();
        names.sort();
        names.truncate(MAX_LISTED);
        let problem = match (choice, count) {
            (_, 0) => "it holds no image".to_owned(),
            (Choice::Only, _) => {
                format!("it holds {count} images; append one of {}", names.join(", "))
            }
            (choice, _) => {
                format!("it holds no image `{choice}`; there are {}", names.join(", "))
            }
        };
        PullError::Archive { path: self.named().to_owned(), problem }
    }
}
