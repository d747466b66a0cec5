//! Applying layers, from the lowest up.
//!
//! Each entry is looked at once: whiteouts by their name, everything else by its kind. What is not
//! wanted passes by unread.

use std::{collections::BTreeSet, io::Read};

use super::{
    BlobId, LayerError, LayerLimits, LayerProblem, MAX_PATH_BYTES, Sink, TreeFinding, Unpacked,
    Wanted,
    archive::{Archive, Entry, Kind},
    nodes::{Content, Lost, Nodes},
    path::{self, SHOWN_CHARACTERS},
    stream::Stream,
};
use crate::{Digest, LayerCompression, printable::excerpt};

/// A file with this name hides everything that lower layers have in its directory.
const OPAQUE: &str = ".wh..wh..opq";
/// A file whose name begins so hides the file with the rest of the name.
const WHITEOUT: &str = ".wh.";
/// A file whose name begins so belongs to a file system that is not used any more.
const WHITEOUT_META: &str = ".wh..wh.";
/// How many entries below wrong links are told.
const MAX_BELOW_LINK: usize = 1000;

/// How an archive has to end.
#[derive(Clone, Copy)]
enum Ending {
    /// With the block of zeros that ends an archive.
    Marked,
    /// Anywhere between two entries.
    Any,
}

/// Layers laid upon each other.
#[derive(Debug)]
pub struct Overlay<S> {
    wanted: Wanted,
    limits: LayerLimits,
    sink: S,
    nodes: Nodes,
    layers: usize,
    decompressed: u64,
    entries: u64,
    next_blob: u32,
    findings: BTreeSet<TreeFinding>,
    /// What this layer has already hidden: hiding it again would only take time.
    hidden: BTreeSet<(String, bool)>,
}

impl<S: Sink> Overlay<S> {
    /// Starts with no layer.
    pub fn new(wanted: Wanted, limits: LayerLimits, sink: S) -> Self {
        Self {
            wanted,
            limits,
            sink,
            nodes: Nodes::new(limits),
            layers: 0,
            decompressed: 0,
            entries: 0,
            next_blob: 0,
            findings: BTreeSet::new(),
            hidden: BTreeSet::new(),
        }
    }

    /// Lays a layer upon those that were applied before. The blob is read to its end; after an error the
    /// overlay is of no use any more.
    ///
    /// The digest of a layer proves that nothing is missing, so its archive may end without the block
    /// that ends an archive: some builders leave it out.
    pub fn apply(
        &mut self,
        digest: &Digest,
        compression: LayerCompression,
        blob: impl Read,
    ) -> Result<(), LayerError> {
        self.apply_with(Ending::Any, digest, None, compression, blob)
    }

    /// Does what [`apply`](Self::apply) does for an archive that nothing but itself proves complete:
    /// one that ends without its last block is refused.
    pub fn apply_whole(
        &mut self,
        digest: &Digest,
        compression: LayerCompression,
        blob: impl Read,
    ) -> Result<(), LayerError> {
        self.apply_with(Ending::Marked, digest, None, compression, blob)
    }

    /// Applies a layer like [`Self::apply`], and compares its archive with its diff id, the digest that the
    /// image's configuration has for it. A layer whose archive differs is refused.
    pub fn apply_compared(
        &mut self,
        digest: &Digest,
        diff_id: Option<&Digest>,
        compression: LayerCompression,
        blob: impl Read,
    ) -> Result<(), LayerError> {
        self.apply_with(Ending::Any, digest, diff_id, compression, blob)
    }

    fn apply_with(
        &mut self,
        ending: Ending,
        digest: &Digest,
        diff_id: Option<&Digest>,
        compression: LayerCompression,
        blob: impl Read,
    ) -> Result<(), LayerError> {
        self.layers += 1;
        self.hidden.clear();
        let number = self.layers;
        let error =
            |offset, problem| LayerError { number, digest: digest.clone(), offset, problem };
        let stream = Stream::open(blob, compression, self.limits, self.decompressed, diff_id)
            .map_err(|problem| error(None, problem))?;
        let mut archive = Archive::new(stream);
        let applied = self.apply_entries(&mut archive).and_then(|()| match ending {
            Ending::Marked if !archive.is_ended() => Err(LayerProblem::NoEnd),
            Ending::Marked | Ending::Any => Ok(()),
        });
        self.decompressed += archive.offset();
        applied.map_err(|problem| error(Some(archive.offset()), problem))
    }

    /// Returns what is left, and the sink.
    pub fn finish(self) -> (Unpacked, S) {
        (Unpacked::collect(&self.nodes, &self.wanted, self.findings), self.sink)
    }

    fn apply_entries(&mut self, archive: &mut Archive<'_>) -> Result<(), LayerProblem> {
        while let Some(entry) = archive.next_entry()? {
            self.entries += 1;
            if self.entries > self.limits.archive_entries {
                return Err(LayerProblem::TooManyEntries { limit: self.limits.archive_entries });
            }
            self.apply_entry(&entry, archive)?;
            for blob in self.nodes.take_released() {
                let path = String::from_utf8_lossy(&entry.name).into_owned();
                let problem = |source| LayerProblem::Sink { path, source };
                self.sink.discard(blob).map_err(problem)?;
            }
        }
        archive.finish()
    }

    fn apply_entry(
        &mut self,
        entry: &Entry,
        archive: &mut Archive<'_>,
    ) -> Result<(), LayerProblem> {
        if entry.kind == Kind::Ignored {
            return Ok(());
        }
        let Some(written) = self.wanted_path(&entry.name)? else {
            return Ok(());
        };
        let (directory, name) = path::split(&written);
        let directory = match self.nodes.walk(directory) {
            Ok(directory) => directory,
            Err(Lost::InLinks) => {
                self.note_below_link(written);
                return Ok(());
            }
            Err(Lost::OutOfSteps) => return Err(LayerProblem::TooManyLinks),
        };
        if let Some(hidden) = name.strip_prefix(WHITEOUT) {
            return self.hide(&directory, name, hidden);
        }
        let path = path::join(&directory, name);
        if !self.is_relevant(&path) {
            self.note_below_link(written);
            return Ok(());
        }
        let is_kept = self.wanted.is_kept(&path);
        match entry.kind {
            Kind::Ignored => Ok(()),
            Kind::Directory => self.nodes.insert(&path, self.layers, Content::Directory),
            Kind::SymbolicLink => {
                let target = link_target(&path, &entry.link)?;
                self.nodes.insert(&path, self.layers, Content::Link { target })
            }
            Kind::File if is_kept => self.keep(&path, entry.size, archive),
            Kind::HardLink if is_kept => self.link(&path, &entry.link),
            Kind::Sparse if is_kept => {
                Err(LayerProblem::Sparse { path: excerpt(&path, SHOWN_CHARACTERS) })
            }
            // A device, or something above a wanted directory, only takes the place of what was there.
            Kind::Device | Kind::File | Kind::HardLink | Kind::Sparse => {
                self.nodes.remove(&path);
                Ok(())
            }
        }
    }

    /// Returns the plain path of an entry that matters; whiteouts matter where what they hide does.
    fn wanted_path(&self, name: &[u8]) -> Result<Option<String>, LayerProblem> {
        let plain = match path::plain(name) {
            Ok(plain) => plain,
            // A strange name hurts nobody where it is not wanted; a `..` could be wanted.
            Err(problem @ LayerProblem::Traversal { .. }) => return Err(problem),
            Err(problem) => {
                let name = String::from_utf8_lossy(name);
                let name = name.trim_start_matches("./").trim_start_matches('/');
                return if self.wanted.is_result(name) { Err(problem) } else { Ok(None) };
            }
        };
        let (directory, name) = path::split(&plain.path);
        let meant = match name.strip_prefix(WHITEOUT) {
            Some(_) if name == OPAQUE => directory.to_owned(),
            Some(hidden) => path::join(directory, hidden),
            None => plain.path.clone(),
        };
        if plain.path.is_empty() || !self.is_relevant(&meant) {
            return Ok(None);
        }
        if plain.is_absolute {
            let path = excerpt(&plain.path, SHOWN_CHARACTERS);
            return Err(LayerProblem::Traversal {
                path: format!("/{path}"),
                reason: "is absolute; paths in a layer are relative",
            });
        }
        Ok(Some(plain.path))
    }

    fn is_relevant(&self, path: &str) -> bool {
        self.wanted.is_kept(path) || self.wanted.is_above(path)
    }

    fn note_below_link(&mut self, path: String) {
        if self.findings.len() < MAX_BELOW_LINK {
            self.findings.insert(TreeFinding::BelowLink { path });
        }
    }

    fn hide(&mut self, directory: &str, name: &str, hidden: &str) -> Result<(), LayerProblem> {
        if matches!(hidden, "" | "." | "..") {
            let path = excerpt(&path::join(directory, name), SHOWN_CHARACTERS);
            return Err(LayerProblem::BadPath { path, reason: "is a whiteout of no file" });
        }
        let is_opaque = name == OPAQUE;
        if name.starts_with(WHITEOUT_META) && !is_opaque {
            return Ok(());
        }
        let path = if is_opaque { directory.to_owned() } else { path::join(directory, hidden) };
        if !self.hidden.insert((path.clone(), is_opaque)) {
            return Ok(());
        }
        if self.hidden.len() + self.nodes.len() > self.limits.tree_entries {
            let limit = format!("{} entries", self.limits.tree_entries);
            return Err(LayerProblem::TooManyFiles { limit });
        }
        if is_opaque {
            self.nodes.hide_below(&path, self.layers);
        } else {
            self.nodes.hide(&path, self.layers);
        }
        Ok(())
    }

    /// Makes a path another name of a file.
    fn link(&mut self, path: &str, link: &[u8]) -> Result<(), LayerProblem> {
        // A target counts from the root of the image, with or without a slash.
        let written = path::plain(link)?.path;
        let (directory, name) = path::split(&written);
        let target = self.nodes.walk(directory).map(|directory| path::join(&directory, name));
        let target = target.unwrap_or(written);
        if target == path {
            return Ok(());
        }
        let content = match self.nodes.get(&target) {
            Some(Content::Directory) => Err("a directory"),
            Some(content) => Ok(content.clone()),
            None if self.wanted.is_kept(&target) => Err("not there"),
            None => Ok(Content::Elsewhere { target: target.clone() }),
        };
        let content = content.map_err(|found| LayerProblem::BadHardLink {
            path: excerpt(path, SHOWN_CHARACTERS),
            target: excerpt(&target, SHOWN_CHARACTERS),
            found,
        })?;
        self.nodes.insert(path, self.layers, content)
    }

    /// Passes the content of a file to the sink.
    fn keep(
        &mut self,
        path: &str,
        size: u64,
        archive: &mut Archive<'_>,
    ) -> Result<(), LayerProblem> {
        let limit = self.limits.kept_bytes;
        if self.nodes.kept_bytes().saturating_add(size) > limit {
            return Err(LayerProblem::TooManyKeptBytes { limit });
        }
        let blob = BlobId(self.next_blob);
        self.next_blob += 1;
        let failed = |source| {
            let path = excerpt(path, SHOWN_CHARACTERS);
            LayerProblem::Sink { path, source }
        };
        self.sink.begin(blob, size).map_err(failed)?;
        while let Some(piece) = archive.next_piece()? {
            self.sink.write(piece).map_err(failed)?;
        }
        self.sink.end().map_err(failed)?;
        self.nodes.insert(path, self.layers, Content::File { blob, size })
    }
}

fn link_target(path: &str, target: &[u8]) -> Result<String, LayerProblem> {
    let wrong = |reason| {
        let path = excerpt(path, SHOWN_CHARACTERS);
        LayerProblem::BadPath { path, reason }
    };
    if target.is_empty() || target.len() > MAX_PATH_BYTES || target.contains(&0) {
        return Err(wrong("is a link whose target is empty, too long or has a zero byte"));
    }
    match std::str::from_utf8(target) {
        Ok(target) => Ok(target.to_owned()),
        Err(_) => Err(wrong("is a link whose target is not UTF-8")),
    }
}
