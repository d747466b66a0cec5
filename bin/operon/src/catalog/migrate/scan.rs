//! The documents of a catalog file, by package, found without holding the file.
//!
//! What a document says is not read, only whose it is: a catalog is carried over whole, including
//! the documents that its index does not keep.

use std::{fs::File, ops::Range, path::Path};

use anyhow::{Context, bail, ensure};
use operon_catalog::{FileId, Place};
use operon_document::{
    json::{Kind, Node, Tape},
    stream::{self, Event, StreamState},
};
use operon_fbc::MAX_FILE_BYTES;
use operon_image::{Piece, Pieces};

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
    let mut found = Vec::new();
    let mut lines = 1;
    let mut pieces = Pieces::new(&mut opened);
    while let Some(piece) = pieces.next(&mut |_| {}).with_context(cannot_read)? {
        if let Some(fault) = scan_piece(file, &piece, &mut found) {
            let line = lines + count_breaks(&piece.text[..fault.place.start.min(piece.text.len())]);
            bail!(
                "{}:{line}: {}\n\
                 hint: nothing was written; repair what `operon catalog validate` shows first",
                location.display(),
                fault.message
            );
        }
        lines += count_breaks(&piece.text);
    }
    Ok(found)
}

/// Why a document cannot be carried over.
struct Fault {
    place: Range<usize>,
    message: String,
}

/// Finds the documents of a piece, and returns the first that is none.
fn scan_piece(file: FileId, piece: &Piece, found: &mut Vec<Found>) -> Option<Fault> {
    let mut state = piece.state.unwrap_or_else(|| StreamState::guess(&piece.text));
    let mut fault = None;
    stream::read_piece(&piece.text, &mut state, &mut Tape::new(), &mut |event| match event {
        Event::Document(document) if document.root.is_null() => {}
        Event::Document(document) if document.root.kind() == Kind::Object => {
            let span = document.span();
            let place = Place::new(file, piece.offset + span.start..piece.offset + span.end);
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
    fault
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

    use operon_image::PIECE_BYTES;

    use super::scan;

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
