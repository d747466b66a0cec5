//! Copying images from registry to registry, into a layout or out of one, with all their platforms.
//!
//! An image goes over manifest by manifest and blob by blob, and only what the other side lacks is sent, so
//! that a copy that broke goes on where it stopped. Its tag is given last, when everything behind it is
//! there. Contents are not looked at.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use operon_oci::{Descriptor, Digest, Document, Reference};

use super::{
    Images, MAX_INDEX_DEPTH,
    gather::too_deep,
    origin::{LayoutReader, Origin},
    written::LayoutWriter,
};
use crate::{
    PullError,
    registry::{Content, Repository},
    store::Workspace,
};

/// The most manifests that are copied for one name: an index of every platform with attestations has a
/// hundredth.
pub const MAX_COPIED_MANIFESTS: usize = 10_000;

/// Parts of the types of layers that registries do not hold, because their makers do not allow it: those
/// of Windows. Images are copied without them, and registries take that.
const ABSENT_LAYERS: [&str; 2] = [".foreign.", ".nondistributable."];

/// Where an image is copied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyTarget {
    /// A registry. Without a tag, the image can be had by its digest alone.
    Registry(Reference),
    /// A layout on the disk, which is made if it is not there.
    Layout {
        /// Its directory.
        directory: PathBuf,
        /// The tag of the image in it.
        tag: String,
    },
}

/// What copying an image did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The digest of the image, the same on both sides.
    pub digest: Digest,
    /// How many bytes the blobs of the image have, each counted once.
    pub bytes: u64,
    /// How many bytes of blobs were sent, because the other side lacked them.
    pub sent_bytes: u64,
    /// Whether the other side lacked anything; it may have had all blobs in another repository.
    pub is_new: bool,
}

/// What copying an image would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prospect {
    /// The digest of the image.
    pub digest: Digest,
    /// The sizes of its blobs.
    pub blobs: BTreeMap<Digest, u64>,
    /// The blobs that the other side lacks.
    pub missing: BTreeSet<Digest>,
    /// Whether the other side has every manifest.
    pub is_there: bool,
}

/// Copies any number of images, also from several threads at once.
#[derive(Debug)]
pub struct Copier<'i> {
    images: &'i Images,
    /// Where images are looked for before registries are asked.
    stock: Option<LayoutReader>,
    /// For blobs that registries have, by host and digest, one repository: others can take them over
    /// from there.
    landed: Mutex<BTreeMap<(String, Digest), String>>,
}

/// A manifest or an index that is copied as it is.
struct Page {
    descriptor: Descriptor,
    bytes: Vec<u8>,
    blobs: Vec<Descriptor>,
}

/// The other side of a copy.
enum Side {
    Registry { home: Box<Repository>, tag: Option<String> },
    Layout { writer: LayoutWriter, tag: String },
}

impl Images {
    /// Prepares to copy images from registries.
    pub fn copier(&self) -> Copier<'_> {
        Copier { images: self, stock: None, landed: Mutex::default() }
    }

    /// Prepares to copy images out of a layout; those that it does not hold come from registries.
    pub fn copier_from(&self, layout: &Path) -> Result<Copier<'_>, PullError> {
        Ok(Copier { stock: Some(LayoutReader::open(layout)?), ..self.copier() })
    }
}

impl Copier<'_> {
    /// Copies an image with all its platforms.
    pub fn copy(&self, from: &Reference, to: &CopyTarget) -> Result<Copied, PullError> {
        let workspace = self.images.store.workspace()?;
        let side = self.side(from, to)?;
        self.with_pages(from, async |origin: &Origin<'_>, pages: &[Page]| {
            let mut sent_bytes = 0;
            let mut is_new = false;
            for page in pages.iter().rev() {
                if side.has_page(page).await? {
                    page.blobs.iter().for_each(|blob| self.remember(&side, blob));
                    continue;
                }
                for blob in &page.blobs {
                    if self.copy_blob(origin, &side, blob, &workspace).await? {
                        sent_bytes += blob.size;
                    }
                }
                side.put(page).await?;
                is_new = true;
            }
            let top = pages.first().expect("bug: there is the document that was asked for");
            side.name(top).await?;
            let bytes = sizes(pages).values().sum();
            Ok(Copied { digest: top.descriptor.digest.clone(), bytes, sent_bytes, is_new })
        })
    }

    /// Finds out what copying an image would do; nothing but manifests is fetched, nothing is written.
    pub fn look(&self, from: &Reference, to: &CopyTarget) -> Result<Prospect, PullError> {
        let side = match to {
            CopyTarget::Layout { directory, .. } if !directory.exists() => None,
            to => Some(self.side(from, to)?),
        };
        self.with_pages(from, async |_: &Origin<'_>, pages: &[Page]| {
            let mut missing = BTreeSet::new();
            let mut is_there = true;
            for page in pages {
                if let Some(side) = &side
                    && side.has_page(page).await?
                {
                    continue;
                }
                is_there = false;
                for blob in &page.blobs {
                    let has = match &side {
                        Some(side) => side.has_blob(blob).await?,
                        None => false,
                    };
                    if !has {
                        missing.insert(blob.digest.clone());
                    }
                }
            }
            let top = pages.first().expect("bug: there is the document that was asked for");
            let (digest, blobs) = (top.descriptor.digest.clone(), sizes(pages));
            Ok(Prospect { digest, blobs, missing, is_there })
        })
    }

    fn side(&self, from: &Reference, to: &CopyTarget) -> Result<Side, PullError> {
        if self.images.options.offline {
            return Err(PullError::Offline { reference: from.to_string() });
        }
        Ok(match to {
            CopyTarget::Registry(to) => Side::Registry {
                home: Box::new(self.images.registry.home(to)?),
                tag: to.tag().map(str::to_owned),
            },
            CopyTarget::Layout { directory, tag } => {
                Side::Layout { writer: LayoutWriter::open(directory)?, tag: tag.clone() }
            }
        })
    }

    /// Fetches all manifests behind a name from the first place that has them, and does something there.
    fn with_pages<T>(
        &self,
        from: &Reference,
        mut work: impl AsyncFnMut(&Origin<'_>, &[Page]) -> Result<T, PullError>,
    ) -> Result<T, PullError> {
        let deadline = self.images.deadline();
        if let Some((layout, digest)) =
            self.stock.as_ref().and_then(|layout| Some((layout, layout.find(from)?)))
        {
            let origin = Origin::Layout(layout);
            let name = digest.to_string();
            return self.images.run(deadline, from, async {
                work(&origin, &collect(&origin, &name).await?).await
            });
        }
        let name = from.manifest_name();
        let done = self.images.with_places(deadline, from, async |place: &Repository| {
            let origin = Origin::Registry(place);
            work(&origin, &collect(&origin, &name).await?).await
        });
        done.map_err(|error| match &self.stock {
            None => error,
            Some(layout) => PullError::Archive {
                path: layout.directory().to_owned(),
                problem: format!("it does not hold `{from}`, and elsewhere: {error}"),
            },
        })
    }

    /// Copies a blob unless it is there; tells whether it was sent.
    async fn copy_blob(
        &self,
        origin: &Origin<'_>,
        side: &Side,
        blob: &Descriptor,
        workspace: &Workspace,
    ) -> Result<bool, PullError> {
        if side.has_blob(blob).await? || self.take_over(origin, side, blob).await? {
            self.remember(side, blob);
            return Ok(false);
        }
        let limit = self.images.options.limits.layer_bytes;
        if blob.size > limit {
            let reference = origin.shown();
            return Err(PullError::TooLarge { reference, what: "a blob".to_owned(), limit });
        }
        let what = format!("the blob `{}`", blob.digest);
        let file = match side {
            Side::Registry { .. } => workspace.file("copied"),
            Side::Layout { writer, .. } => writer.aside(&blob.digest),
        };
        origin.blob_to_file(blob, &what, &file, &self.images.options.progress).await?;
        match side {
            Side::Registry { home, .. } => {
                home.push_blob(blob, Content::File(&file)).await?;
                fs::remove_file(&file).map_err(PullError::disk("remove", &file))?;
            }
            Side::Layout { writer, .. } => writer.keep(&file, &blob.digest)?,
        }
        self.remember(side, blob);
        Ok(true)
    }

    /// Lets the registry take a blob over from another of its repositories; tells whether it did.
    async fn take_over(
        &self,
        origin: &Origin<'_>,
        side: &Side,
        blob: &Descriptor,
    ) -> Result<bool, PullError> {
        let Side::Registry { home, .. } = side else { return Ok(false) };
        let landed = {
            let landed = self.landed.lock().unwrap_or_else(PoisonError::into_inner);
            landed.get(&(home.reference().registry_host().to_owned(), blob.digest.clone())).cloned()
        };
        let source = match origin {
            Origin::Registry(place) if home.is_same_registry(place) => {
                Some(place.reference().repository().to_owned())
            }
            Origin::Registry(_) | Origin::Layout(_) => None,
        };
        for repository in landed.into_iter().chain(source) {
            if repository != home.reference().repository()
                && home.mount_blob(&blob.digest, &repository).await?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn remember(&self, side: &Side, blob: &Descriptor) {
        if let Side::Registry { home, .. } = side {
            let reference = home.reference();
            let key = (reference.registry_host().to_owned(), blob.digest.clone());
            let mut landed = self.landed.lock().unwrap_or_else(PoisonError::into_inner);
            landed.entry(key).or_insert_with(|| reference.repository().to_owned());
        }
    }
}

impl Side {
    /// Tells whether a manifest is there, and with it everything that it names: registries take no
    /// manifest before that. A layout promises nothing.
    async fn has_page(&self, page: &Page) -> Result<bool, PullError> {
        match self {
            Self::Registry { home, .. } => home.has_manifest(&page.descriptor.digest).await,
            Self::Layout { writer, .. } => {
                if !writer.has(&page.descriptor.digest)? {
                    return Ok(false);
                }
                for blob in &page.blobs {
                    if !writer.has(&blob.digest)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    async fn has_blob(&self, blob: &Descriptor) -> Result<bool, PullError> {
        match self {
            Self::Registry { home, .. } => home.has_blob(&blob.digest).await,
            Self::Layout { writer, .. } => writer.has(&blob.digest),
        }
    }

    async fn put(&self, page: &Page) -> Result<(), PullError> {
        match self {
            Self::Registry { home, .. } => {
                let name = page.descriptor.digest.to_string();
                home.push_manifest(&name, &page.descriptor.media_type, &page.bytes).await
            }
            Self::Layout { writer, .. } => writer.write(&page.descriptor.digest, &page.bytes),
        }
    }

    /// Gives an image its tag.
    async fn name(&self, top: &Page) -> Result<(), PullError> {
        match self {
            Self::Registry { home, tag: Some(tag) } => {
                home.push_manifest(tag, &top.descriptor.media_type, &top.bytes).await
            }
            Self::Registry { tag: None, .. } => Ok(()),
            Self::Layout { writer, tag } => writer.name(tag, &top.descriptor),
        }
    }
}

fn sizes(pages: &[Page]) -> BTreeMap<Digest, u64> {
    let blobs = pages.iter().flat_map(|page| &page.blobs);
    blobs.map(|blob| (blob.digest.clone(), blob.size)).collect()
}

/// Fetches a manifest, or an index and all manifests in it; those that point come before those that are
/// pointed to.
async fn collect(origin: &Origin<'_>, name: &str) -> Result<Vec<Page>, PullError> {
    let shown = origin.shown();
    let mut documents: Vec<Page> = Vec::new();
    let mut level = vec![name.to_owned()];
    for _ in 0..=MAX_INDEX_DEPTH {
        let mut next = Vec::new();
        for name in level {
            if documents.iter().any(|known| known.descriptor.digest.to_string() == name) {
                continue;
            }
            if documents.len() == MAX_COPIED_MANIFESTS {
                let what = format!("the list of {MAX_COPIED_MANIFESTS} manifests");
                let limit = MAX_COPIED_MANIFESTS as u64;
                return Err(PullError::TooLarge { reference: shown, what, limit });
            }
            let fetched = origin.document(&name).await?;
            let document = Document::parse(&fetched.bytes, fetched.media_type.as_deref())
                .map_err(PullError::document(&shown))?;
            let (media_type, blobs) = match document {
                Document::Index(index) => {
                    next.extend(index.manifests.iter().map(|entry| entry.digest.to_string()));
                    (index.media_type, Vec::new())
                }
                Document::Manifest(manifest) => {
                    let is_held = |layer: &Descriptor| {
                        !ABSENT_LAYERS.iter().any(|part| layer.media_type.contains(part))
                    };
                    let layers = manifest.layers.into_iter().filter(is_held);
                    (manifest.media_type, layers.chain([manifest.config]).collect())
                }
            };
            let mut descriptor = Descriptor::of(&media_type, &fetched.bytes);
            descriptor.digest = fetched.digest;
            documents.push(Page { descriptor, bytes: fetched.bytes, blobs });
        }
        if next.is_empty() {
            return Ok(documents);
        }
        level = next;
    }
    Err(too_deep(&shown))
}
