//! The entries of a tar archive, one after the other.
//!
//! Extensions are joined with the entry they describe. The reader is ours because it must not take
//! more memory than we allow, whatever an archive says about itself.

use super::{
    LayerProblem, MAX_EXTENSION_BYTES,
    extension::Extension,
    header::{BLOCK_BYTES, EntryKind, Header},
    stream::Stream,
};

/// How much content is passed on at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// What an entry of an archive is, for those who unpack it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Sparse,
    HardLink,
    SymbolicLink,
    Directory,
    /// A device or a pipe, which only takes the place of what was there.
    Device,
    /// Nothing that is unpacked.
    Ignored,
}

/// An entry of an archive. Its content follows.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) name: Vec<u8>,
    pub(super) link: Vec<u8>,
    pub(super) size: u64,
}

/// Walks through an archive.
pub(super) struct Archive<'r> {
    stream: Stream<'r>,
    /// How many bytes of the entry's content were not read yet.
    content: u64,
    /// How many bytes then fill its last block.
    padding: u64,
    /// Whether the block of zeros that ends an archive was read.
    is_ended: bool,
    buffer: Vec<u8>,
}

impl<'r> Archive<'r> {
    pub(super) fn new(stream: Stream<'r>) -> Self {
        Self { stream, content: 0, padding: 0, is_ended: false, buffer: vec![0; BUFFER_BYTES] }
    }

    /// Returns how many bytes of the archive were read.
    pub(super) fn offset(&self) -> u64 {
        self.stream.offset()
    }

    /// Returns `true` if the archive ended with its block of zeros. One that ends without may have
    /// been cut off between two entries.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Goes to the next entry, passing over what is left of this one; nothing at the end.
    pub(super) fn next_entry(&mut self) -> Result<Option<Entry>, LayerProblem> {
        let mut extension = Extension::default();
        let (mut long_name, mut long_link) = (None, None);
        loop {
            self.pass_over()?;
            let Some(header) = self.next_header()? else {
                return Ok(None);
            };
            match header.kind {
                EntryKind::Extension => {
                    let records = self.description(header.size)?;
                    extension.read(&records)?;
                }
                EntryKind::LongName => long_name = Some(self.long_text(header.size)?),
                EntryKind::LongLink => long_link = Some(self.long_text(header.size)?),
                kind => {
                    let name = extension.name.take().or(long_name).unwrap_or(header.name);
                    let link = extension.link.take().or(long_link).unwrap_or(header.link);
                    let size = extension.size.unwrap_or(header.size);
                    if header.is_continued {
                        self.pass_over_sparse_header()?;
                    }
                    let kind = unpacked_kind(kind, extension.is_sparse);
                    // Links and directories have no content, whatever their size says.
                    let has_content = matches!(kind, Kind::File | Kind::Sparse)
                        || matches!(header.kind, EntryKind::Other);
                    self.expect_content(if has_content { size } else { 0 });
                    return Ok(Some(Entry { kind, name, link, size: self.content }));
                }
            }
        }
    }

    /// Returns the next piece of the entry's content; nothing behind its end.
    pub(super) fn next_piece(&mut self) -> Result<Option<&[u8]>, LayerProblem> {
        if self.content == 0 {
            return Ok(None);
        }
        let length = usize::try_from(self.content).unwrap_or(usize::MAX).min(BUFFER_BYTES);
        let read = self.stream.read(&mut self.buffer[..length])?;
        if read == 0 {
            return Err(LayerProblem::Truncated);
        }
        self.content -= read as u64;
        Ok(Some(&self.buffer[..read]))
    }

    /// Reads the rest of the stream, so that its own checks are made. Zero bytes fill up the archive.
    pub(super) fn finish(&mut self) -> Result<(), LayerProblem> {
        loop {
            let length = self.stream.read(&mut self.buffer)?;
            if length == 0 {
                return self.stream.verify();
            }
            if self.buffer[..length].iter().any(|byte| *byte != 0) {
                return Err(LayerProblem::TrailingData);
            }
        }
    }

    fn expect_content(&mut self, size: u64) {
        const BLOCK: u64 = BLOCK_BYTES as u64;
        self.content = size;
        self.padding = (BLOCK - size % BLOCK) % BLOCK;
    }

    fn pass_over(&mut self) -> Result<(), LayerProblem> {
        while self.next_piece()?.is_some() {}
        // Some writers, `umoci insert` among them, end the archive behind the last byte of the last file
        // and leave out what would fill its block; everybody reads that.
        let padding = usize::try_from(std::mem::take(&mut self.padding)).unwrap_or(BLOCK_BYTES);
        self.stream.fill(&mut [0; BLOCK_BYTES][..padding.min(BLOCK_BYTES)])?;
        Ok(())
    }

    /// Returns the next header; nothing at a zero block, or where the archive ends without one.
    fn next_header(&mut self) -> Result<Option<Header>, LayerProblem> {
        let mut block = [0; BLOCK_BYTES];
        match self.stream.fill(&mut block)? {
            0 => Ok(None),
            BLOCK_BYTES if block.iter().all(|byte| *byte == 0) => {
                self.is_ended = true;
                Ok(None)
            }
            BLOCK_BYTES => Header::parse(&block).map(Some),
            _ => Err(LayerProblem::Truncated),
        }
    }

    fn description(&mut self, size: u64) -> Result<Vec<u8>, LayerProblem> {
        if size > MAX_EXTENSION_BYTES {
            return Err(LayerProblem::ExtensionTooLarge { bytes: size });
        }
        self.expect_content(size);
        let mut description = Vec::new();
        while let Some(piece) = self.next_piece()? {
            description.extend_from_slice(piece);
        }
        Ok(description)
    }

    fn long_text(&mut self, size: u64) -> Result<Vec<u8>, LayerProblem> {
        let mut text = self.description(size)?;
        if let Some(end) = text.iter().position(|byte| *byte == 0) {
            text.truncate(end);
        }
        Ok(text)
    }

    fn pass_over_sparse_header(&mut self) -> Result<(), LayerProblem> {
        let mut block = [0; BLOCK_BYTES];
        loop {
            if self.stream.fill(&mut block)? < BLOCK_BYTES {
                return Err(LayerProblem::Truncated);
            }
            if block[504] == 0 {
                return Ok(());
            }
        }
    }
}

fn unpacked_kind(kind: EntryKind, is_sparse: bool) -> Kind {
    match kind {
        EntryKind::File if is_sparse => Kind::Sparse,
        EntryKind::File => Kind::File,
        EntryKind::Sparse => Kind::Sparse,
        EntryKind::HardLink => Kind::HardLink,
        EntryKind::SymbolicLink => Kind::SymbolicLink,
        EntryKind::Directory => Kind::Directory,
        EntryKind::Device => Kind::Device,
        EntryKind::Other | EntryKind::Extension | EntryKind::LongName | EntryKind::LongLink => {
            Kind::Ignored
        }
    }
}
