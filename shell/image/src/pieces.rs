//! Cutting a large file into pieces that hold whole documents, without holding the file.

use std::{
    fs::File,
    io::{self, Read},
    mem,
};

use operon_document::{
    json::MAX_DOCUMENT_BYTES,
    stream::{Format, StreamState, last_json_boundary, last_yaml_boundary},
};

/// Files up to this size are read in one go.
pub(crate) const WHOLE_FILE_BYTES: u64 = 4 << 20;

/// The size a piece is cut at, if its documents allow.
pub const PIECE_BYTES: usize = 4 << 20;

/// A stretch of a file that holds whole documents.
#[derive(Debug)]
pub struct Piece {
    /// Where it starts in the file.
    pub offset: usize,
    /// Its bytes.
    pub text: Vec<u8>,
    /// Where the stream stands; `None` for the first piece, which decides it.
    pub state: Option<StreamState>,
}

/// Reads a file from front to back, piece by piece.
#[derive(Debug)]
pub struct Pieces<'f> {
    file: &'f mut File,
    /// Bytes that were read but belong to the next piece.
    rest: Vec<u8>,
    offset: usize,
    state: Option<StreamState>,
    at_end: bool,
    /// How much is held at most to find the end of a document.
    max_document: usize,
}

impl<'f> Pieces<'f> {
    /// Starts at the beginning of a file.
    pub fn new(file: &'f mut File) -> Self {
        Self {
            file,
            rest: Vec::new(),
            offset: 0,
            state: None,
            at_end: false,
            max_document: MAX_DOCUMENT_BYTES,
        }
    }

    /// Holds no more than so many bytes to find the end of a document, or twice as many while it reads.
    #[must_use]
    pub fn with_documents_up_to(self, max_document: usize) -> Self {
        Self { max_document: max_document.min(MAX_DOCUMENT_BYTES), ..self }
    }

    /// Returns the next piece, and calls `seen` with every byte that is read.
    pub fn next(&mut self, seen: &mut dyn FnMut(&[u8])) -> io::Result<Option<Piece>> {
        let mut text = mem::take(&mut self.rest);
        let mut wanted = PIECE_BYTES;
        loop {
            self.fill(&mut text, wanted, seen)?;
            if text.is_empty() {
                return Ok(None);
            }
            let state = *self.state.get_or_insert_with(|| StreamState::guess(&text));
            let boundary = if self.at_end { text.len() } else { boundary(state.format(), &text) };
            // A document beyond the limit is handed over as it is; its reader refuses it.
            let boundary = if text.len() > self.max_document { text.len() } else { boundary };
            if boundary > 0 {
                self.rest = text.split_off(boundary);
                let offset = self.offset;
                self.offset += boundary;
                if offset == 0 {
                    self.state = Some(state.behind(&text));
                    return Ok(Some(Piece { offset, text, state: None }));
                }
                return Ok(Some(Piece { offset, text, state: self.state }));
            }
            wanted = text.len() * 2;
        }
    }

    fn fill(
        &mut self,
        text: &mut Vec<u8>,
        wanted: usize,
        seen: &mut dyn FnMut(&[u8]),
    ) -> io::Result<()> {
        if self.at_end || text.len() >= wanted {
            return Ok(());
        }
        let before = text.len();
        let missing = (wanted - before) as u64;
        text.reserve_exact(wanted - before);
        let read = self.file.by_ref().take(missing).read_to_end(text)?;
        seen(&text[before..]);
        self.at_end = (read as u64) < missing;
        Ok(())
    }
}

fn boundary(format: Format, text: &[u8]) -> usize {
    match format {
        Format::Json => last_json_boundary(text),
        Format::Yaml => last_yaml_boundary(text),
    }
}
