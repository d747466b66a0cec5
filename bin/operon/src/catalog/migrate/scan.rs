//! The documents of a catalog file, by package, found without holding the file.
//!
//! What a document says is not read, only whose it is: a catalog is carried over whole, including
//! the documents that its index does not keep.

use std::{fs::File, io::Read, ops::Range, path::Path};

use anyhow::{Context, bail, ensure};
use operon_catalog::{FileId, Place};
use operon_document::{
    json::{Kind, MAX_DOCUMENT_BYTES, Node, Tape},
    stream::{self, Event, Format, StreamState},
};
use operon_fbc::MAX_FILE_BYTES;

/// How much of a file is read at once, if its documents allow.
const PIECE_BYTES: usize = 4 << 20;

/// A document of a catalog.
#[derive(Debug)]
pub(super) struct Found {
    /// The package it belongs to; empty if it belongs to none.
    pub(super) package: String,
    /// Whether it is a bundle.
    pub(super) is_bundle: bool,
    /// The whole document.
    pub(super) place: Place,
}

/// Finds the documents of a file; one that cannot be carried over is an error.
pub(super) fn scan(file: FileId, location: &Path) -> anyhow::Result<Vec<Found>> {
    let cannot_read = || format!("cannot read `{}`", location.display());
    let mut opened = File::open(location).with_context(cannot_read)?;
    let size = opened.metadata().with_context(cannot_read)?.len();
    ensure!(
        size <= MAX_FILE_BYTES,
        "`{}` has more than {MAX_FILE_BYTES} bytes",
        location.display()
    );
    let mut scan = Scan { file, offset: 0, state: None, tape: Tape::new(), found: Vec::new() };
    let mut text = Vec::new();
    let mut wanted = PIECE_BYTES;
    let mut lines = 1;
    loop {
        let missing = wanted.saturating_sub(text.len()) as u64;
        let read =
            opened.by_ref().take(missing).read_to_end(&mut text).with_context(cannot_read)?;
        let is_end = (read as u64) < missing;
        let boundary = scan.boundary(&text, is_end);
        if boundary == 0 && !is_end {
            wanted = text.len() * 2;
            continue;
        }
        if let Some(fault) = scan.piece(&text[..boundary]) {
            let line = lines + count_breaks(&text[..fault.place.start.min(boundary)]);
            bail!(
                "{}:{line}: {}\n\
                 hint: nothing was written; repair what `operon catalog validate` shows first",
                location.display(),
                fault.message
            );
        }
        lines += count_breaks(&text[..boundary]);
        text.drain(..boundary);
        wanted = PIECE_BYTES;
        if is_end {
            return Ok(scan.found);
        }
    }
}

/// How far a file has been scanned.
struct Scan {
    file: FileId,
    /// The place in the file where the next piece starts.
    offset: usize,
    /// Where the stream stands; the first piece decides it.
    state: Option<StreamState>,
    tape: Tape,
    found: Vec<Found>,
}

/// Why a document cannot be carried over.
struct Fault {
    place: Range<usize>,
    message: String,
}

impl Scan {
    /// Returns how many bytes hold whole documents; none if more must be read first.
    fn boundary(&mut self, text: &[u8], is_end: bool) -> usize {
        let state = self.state.get_or_insert_with(|| StreamState::guess(text));
        // A document beyond the limit is handed over as it is; its reader refuses it.
        if is_end || text.len() > MAX_DOCUMENT_BYTES {
            return text.len();
        }
        match state.format() {
            Format::Json => stream::last_json_boundary(text),
            Format::Yaml => stream::last_yaml_boundary(text),
        }
    }

    /// Finds the documents of a piece, and returns the first that is none.
    fn piece(&mut self, text: &[u8]) -> Option<Fault> {
        let Scan { file, offset, state, tape, found } = self;
        let state = state.get_or_insert_with(|| StreamState::guess(text));
        let mut fault = None;
        stream::read_piece(text, state, tape, &mut |event| match event {
            Event::Document(document) if document.root.is_null() => {}
            Event::Document(document) if document.root.kind() == Kind::Object => {
                let span = document.span();
                let place = Place::new(*file, *offset + span.start..*offset + span.end);
                found.push(describe(document.root, place));
            }
            Event::Document(document) => {
                let kind = document.root.kind().name();
                let message = format!("a catalog document must be an object, not this {kind}");
                fault.get_or_insert(Fault { place: document.span(), message });
            }
            Event::Broken(broken) => {
                let message = format!("this document cannot be read: {}", broken.message);
                fault.get_or_insert(Fault { place: broken.place, message });
            }
            Event::Ignored(_) => {}
        });
        *offset += text.len();
        fault
    }
}

/// Tells whose a document is, as the writer of catalogs does.
fn describe(root: Node<'_>, place: Place) -> Found {
    let text = |name| root.field(name).and_then(Node::as_str).unwrap_or_default();
    let schema = text("schema");
    let package = if schema == "olm.package" { text("name") } else { text("package") };
    Found { package: package.into_owned(), is_bundle: schema == "olm.bundle", place }
}

fn count_breaks(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use operon_catalog::FileId;

    use super::{PIECE_BYTES, scan};

    #[test]
    fn documents_are_found_again_across_pieces() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("catalog");
        let filler = "x".repeat(PIECE_BYTES / 3);
        for separator in ["\n", "\n---\n"] {
            let document = |number: usize| {
                format!("{{\"package\": \"p{number}\", \"schema\": \"s\", \"x\": \"{filler}\"}}")
            };
            let documents: Vec<String> = (0..9).map(document).collect();
            let text = documents.join(separator);
            fs::write(&path, &text).unwrap();
            let found = scan(FileId(7), &path).unwrap();
            let packages: Vec<&str> = found.iter().map(|found| found.package.as_str()).collect();
            assert_eq!(packages, ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"]);
            for (found, document) in found.iter().zip(&documents) {
                assert!(text[found.place.range()].contains(document.as_str()), "{:?}", found.place);
            }
            fs::write(&path, format!("{text}\n{separator}\n- list")).unwrap();
            assert!(scan(FileId(7), &path).is_err());
        }
    }

    #[test]
    fn the_line_of_a_fault_counts_from_the_beginning_of_the_file() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("catalog.yaml");
        let filler = format!("a: {}\n---\n", "x".repeat(PIECE_BYTES / 2));
        fs::write(&path, format!("{}- list\n", filler.repeat(5))).unwrap();
        let error = scan(FileId(0), &path).unwrap_err().to_string();
        let first = error.lines().next().unwrap().rsplit_once("catalog.yaml").unwrap().1;
        assert_eq!(first, ":11: a catalog document must be an object, not this array");
    }
}
