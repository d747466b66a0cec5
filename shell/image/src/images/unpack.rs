//! Laying the layers of an image upon each other, and keeping the wanted directories on the disk.
//!
//! What a layer means is decided in `wire/oci`; here contents become files. Nothing is written outside
//! the workspace.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Component, Path, PathBuf},
};

use operon_oci::{
    Digest, LayerCompression,
    layer::{BlobId, LayerError, LayerLimits, LayerProblem, Overlay, Sink, Unpacked, Wanted},
};

use super::{FetchContext, Images, purpose::Wish};
use crate::{
    Allowance, PullError,
    cache::{new_private_directory, new_private_file, private_directory},
    quota::Charge,
    store::{KeptTree, Record, TreeKey, Workspace, disk_bytes},
};

/// How often layers are applied: once more where hard links lead out of what is wanted.
const MAX_PASSES: usize = 2;

/// How many notes about what was left out are kept.
const MAX_NOTES: usize = 100;

/// The directory of a workspace that becomes the tree.
const CONTENTS: &str = "contents";

/// A layer on the disk whose digest was compared.
#[derive(Debug, Clone)]
pub(super) struct LayerFile {
    /// The file that it is, or is a part of.
    pub(super) path: PathBuf,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) compression: LayerCompression,
    pub(super) digest: Digest,
    /// The digest of the decompressed layer in the image's configuration; `None` for what has none.
    pub(super) diff_id: Option<Digest>,
}

impl LayerFile {
    pub(super) fn open(&self) -> Result<impl Read + use<>, PullError> {
        let mut file = File::open(&self.path).map_err(PullError::disk("read", &self.path))?;
        file.seek(SeekFrom::Start(self.offset)).map_err(PullError::disk("read", &self.path))?;
        Ok(file.take(self.length))
    }
}

/// An image whose layers lie on the disk.
#[derive(Debug)]
pub(super) struct Gathered {
    /// What the image is called in messages.
    pub(super) shown: String,
    /// What names it in the cache.
    pub(super) digest: Digest,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) wishes: Vec<Wish>,
    /// The layers, the lowest first.
    pub(super) layers: Vec<LayerFile>,
    /// Whether digests that others computed prove that the layers are complete.
    pub(super) is_proven: bool,
}

impl Images {
    /// Unpacks an image and keeps what is wanted of it.
    pub(super) fn keep(
        &self,
        mut image: Gathered,
        context: &FetchContext<'_>,
        workspace: &Workspace,
    ) -> Result<KeptTree, PullError> {
        let (purpose, left) = (context.purpose, context.allowance.left());
        let mut limits = self.options.limits.layers;
        let is_quota = left < limits.kept_bytes;
        limits.kept_bytes = limits.kept_bytes.min(left);
        let _slot = context.allowance.reading_slot();
        let flat = flatten(&image, limits, workspace, context.allowance);
        let (unpacked, blobs, _charge) = flat.map_err(|error| match error {
            PullError::Layer { source, .. } if is_quota && is_too_much(&source) => {
                context.allowance.exceeded(&image.shown)
            }
            error => error,
        })?;
        if let [wish] = image.wishes.as_mut_slice()
            && wish.path.is_empty()
            && let Some(top) = only_directory(&unpacked)
            && !purpose.needs().is_empty()
            && !purpose.needs().starts_with(top)
        {
            top.clone_into(&mut wish.path);
        }
        let contents = workspace.file(CONTENTS);
        let files = place(&image, &unpacked, &blobs, &contents)?;
        let needed = purpose.needs();
        if !files.keys().any(|path| path.starts_with(needed)) {
            let places: Vec<String> =
                image.wishes.iter().map(|wish| format!("`/{}`", wish.path)).collect();
            let problem = format!("it has no files in {}", places.join(" and "));
            return Err(purpose.not_this(&image.shown, problem));
        }
        let notes = unpacked.findings.iter().take(MAX_NOTES).map(ToString::to_string).collect();
        let Gathered { shown: reference, digest, labels, .. } = image;
        let scope = context.scope.clone();
        let key = TreeKey { digest: digest.clone(), kind: purpose.kind(), scope };
        let record = Record { reference, digest, labels, notes, files };
        let kept = self.store.keep_tree(&key, workspace, &record)?;
        self.prune();
        Ok(kept)
    }
}

/// Applies the layers; the contents of files lie in the returned directory under their numbers, and are charged as
/// they are written.
fn flatten(
    image: &Gathered,
    limits: LayerLimits,
    workspace: &Workspace,
    allowance: &Allowance,
) -> Result<(Unpacked, PathBuf, Charge), PullError> {
    let is_everything = image.wishes.iter().any(|wish| wish.path.is_empty());
    let mut wanted = if is_everything {
        Wanted::everything()
    } else {
        let paths = image.wishes.iter().map(|wish| &wish.path);
        Wanted::directories(paths)
            .expect("bug: a label that leads out of the image was let through")
    };
    let mut pass = 0;
    loop {
        pass += 1;
        let blobs = workspace.file(&format!("files-{pass}"));
        new_private_directory(&blobs).map_err(PullError::disk("make", &blobs))?;
        let refusal = RefCell::new(None);
        let charge = allowance.charge(&image.shown, 0)?;
        let sink = FileSink::new(&blobs, &image.shown, charge, &refusal);
        let mut overlay = Overlay::new(wanted.clone(), limits, sink);
        for layer in &image.layers {
            let blob = layer.open()?;
            let applied = if image.is_proven {
                let diff_id = layer.diff_id.as_ref();
                overlay.apply_compared(&layer.digest, diff_id, layer.compression, blob)
            } else {
                overlay.apply_whole(&layer.digest, layer.compression, blob)
            };
            applied.map_err(|source| {
                refusal.take().unwrap_or_else(|| layer_error(image, &blobs, source))
            })?;
        }
        let (unpacked, sink) = overlay.finish();
        let charge = sink.charge;
        if unpacked.needed.is_empty() || pass == MAX_PASSES {
            return Ok((unpacked, blobs, charge));
        }
        wanted = wanted.and_files(&unpacked.needed);
        fs::remove_dir_all(&blobs).map_err(PullError::disk("remove", &blobs))?;
    }
}

/// Returns `true` if a layer was refused because more files would have to be kept than may be.
fn is_too_much(error: &LayerError) -> bool {
    matches!(error.problem, LayerProblem::TooManyKeptBytes { .. })
}

/// A disk that refuses is no fault of the layer.
fn layer_error(image: &Gathered, blobs: &Path, error: LayerError) -> PullError {
    match error.problem {
        LayerProblem::Sink { source, .. } => {
            PullError::Disk { action: "write", path: blobs.to_owned(), source }
        }
        _ => PullError::Layer { reference: image.shown.clone(), source: Box::new(error) },
    }
}

/// Returns the directory that everything lies in, as in an archive of a directory with its name.
fn only_directory(unpacked: &Unpacked) -> Option<&str> {
    let mut tops = unpacked.files.keys().map(|path| path.split_once('/').map(|(top, _)| top));
    let first = tops.next()??;
    tops.all(|top| top == Some(first)).then_some(first)
}

/// Moves contents to the paths that they have in the tree.
fn place(
    image: &Gathered,
    unpacked: &Unpacked,
    blobs: &Path,
    contents: &Path,
) -> Result<BTreeMap<String, u64>, PullError> {
    new_private_directory(contents).map_err(PullError::disk("make", contents))?;
    let mut files = BTreeMap::new();
    let mut placed: BTreeMap<BlobId, PathBuf> = BTreeMap::new();
    for wish in &image.wishes {
        for (path, file) in &unpacked.files {
            let Some(path) = wish.path_in_tree(path) else { continue };
            let target = contents.join(&path);
            assert_inside(&path);
            if let Some(parent) = target.parent() {
                private_directory(parent).map_err(PullError::disk("make", parent))?;
            }
            let moved = match placed.get(&file.blob) {
                // Several names of one content: nobody writes to these files, so they may share it.
                Some(first) => fs::hard_link(first, &target),
                None => fs::rename(blobs.join(file.blob.0.to_string()), &target),
            };
            moved.map_err(PullError::disk("move a file to", &target))?;
            placed.entry(file.blob).or_insert(target);
            files.insert(path, file.size);
        }
    }
    Ok(files)
}

/// Paths were checked when layers were read; this is the last place before the disk.
fn assert_inside(path: &str) {
    let is_plain = |part| matches!(part, Component::Normal(_));
    assert!(Path::new(path).components().all(is_plain), "bug: `{path}` leads out of the tree");
}

impl Wish {
    /// Returns where a file of the image lies in the tree; `None` when it is not wished for.
    fn path_in_tree(&self, path: &str) -> Option<String> {
        let rest = match path.strip_prefix(self.path.as_str())? {
            rest if self.path.is_empty() => rest,
            "" => path.rsplit('/').next()?,
            rest => rest.strip_prefix('/')?,
        };
        Some(if self.name.is_empty() { rest.to_owned() } else { format!("{}/{rest}", self.name) })
    }
}

/// How many bytes are charged at once while files are written: charging asks for a lock.
const CHARGED_STEP: u64 = 16 << 20;

/// Writes contents to numbered files.
#[derive(Debug)]
struct FileSink<'s> {
    directory: &'s Path,
    open: Option<File>,
    /// The image, for errors.
    shown: &'s str,
    charge: Charge,
    /// How many bytes of the charge are not written yet.
    spare: u64,
    /// Why no more may be written.
    refusal: &'s RefCell<Option<PullError>>,
}

impl<'s> FileSink<'s> {
    fn new(
        directory: &'s Path,
        shown: &'s str,
        charge: Charge,
        refusal: &'s RefCell<Option<PullError>>,
    ) -> Self {
        Self { directory, open: None, shown, charge, spare: 0, refusal }
    }

    fn path(&self, blob: BlobId) -> PathBuf {
        self.directory.join(blob.0.to_string())
    }

    /// Charges bytes before they are written.
    fn take(&mut self, bytes: u64) -> io::Result<()> {
        if bytes > self.spare {
            let step = bytes.max(CHARGED_STEP);
            self.charge.grow(self.shown, step).map_err(|refusal| {
                *self.refusal.borrow_mut() = Some(refusal);
                io::Error::from(io::ErrorKind::QuotaExceeded)
            })?;
            self.spare += step;
        }
        self.spare -= bytes;
        Ok(())
    }
}

impl Sink for FileSink<'_> {
    fn begin(&mut self, blob: BlobId, size: u64) -> io::Result<()> {
        self.take(disk_bytes(size))?;
        self.open = Some(new_private_file(&self.path(blob))?);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = self.open.as_mut().expect("bug: a piece came before its file was begun");
        file.write_all(bytes)
    }

    fn end(&mut self) -> io::Result<()> {
        self.open = None;
        Ok(())
    }

    fn discard(&mut self, blob: BlobId) -> io::Result<()> {
        let path = self.path(blob);
        self.spare += disk_bytes(fs::metadata(&path)?.len());
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wished_directories_get_their_names() {
        let wish = |path: &str, name| Wish { path: path.to_owned(), name };
        let claims = [
            (wish("configs", ""), "configs/a/b.yaml", Some("a/b.yaml")),
            (wish("configs", ""), "configs2/a.yaml", None),
            (wish("configs/only.yaml", ""), "configs/only.yaml", Some("only.yaml")),
            (wish("", ""), "a/b.yaml", Some("a/b.yaml")),
            (wish("deploy/olm", "manifests"), "deploy/olm/csv.yaml", Some("manifests/csv.yaml")),
            (wish("manifests", "manifests"), "metadata/a.yaml", None),
        ];
        for (wish, path, expected) in claims {
            assert_eq!(wish.path_in_tree(path).as_deref(), expected, "{wish:?} {path}");
        }
    }
}
