//! Files: each is a stream of documents; a catalog is all of them together.

use std::sync::Arc;

use operon_catalog::{Catalog, Declarations, Diagnostic, FileId, Place, Rule, SourceFile, build};
use operon_document::{
    json::Tape,
    stream::{self, Event, Format, StreamState},
};

use crate::{
    ReadBudget,
    document::DocumentReader,
    ignore::{IGNORE_FILE_NAME, IgnoreRules},
};

/// The largest file that is read: places in a file are 32 bits wide.
pub const MAX_FILE_BYTES: u64 = u32::MAX as u64;

/// Reads the documents of one file, whole or in pieces.
#[derive(Debug)]
pub struct FileReader {
    file: FileId,
    state: Option<StreamState>,
    tape: Tape,
    declarations: Declarations,
    budget: Arc<ReadBudget>,
}

impl FileReader {
    /// Starts reading a file.
    pub fn new(file: FileId) -> Self {
        Self {
            file,
            state: None,
            tape: Tape::new(),
            declarations: Declarations::default(),
            budget: Arc::default(),
        }
    }

    /// Starts reading a file somewhere behind its beginning.
    pub fn resume(file: FileId, state: StreamState) -> Self {
        Self { state: Some(state), ..Self::new(file) }
    }

    /// Counts what is declared. Once the budget is exceeded, documents are passed over, so what was declared is
    /// not the whole catalog.
    #[must_use]
    pub fn within(self, budget: Arc<ReadBudget>) -> Self {
        Self { budget, ..self }
    }

    /// Reads a piece that holds whole documents and starts at `offset` in the file.
    pub fn read_piece(&mut self, text: &[u8], offset: usize) {
        let mut state = self.state.unwrap_or_else(|| StreamState::guess(text));
        let (file, declarations, budget) = (self.file, &mut self.declarations, &*self.budget);
        let place = |range: std::ops::Range<usize>| {
            Place::new(file, offset + range.start..offset + range.end)
        };
        stream::read_piece(text, &mut state, &mut self.tape, &mut |event| match event {
            _ if budget.excess().is_some() => {}
            Event::Document(document) => {
                let findings = declarations.diagnostics.text_bytes();
                DocumentReader { document, file, base: offset, declarations, budget }.read();
                budget.charge_bytes(declarations.diagnostics.text_bytes() - findings);
            }
            Event::Broken(broken) => {
                let format = match broken.format {
                    Format::Json => "JSON",
                    Format::Yaml => "YAML",
                };
                let message = format!("this is not {format}: {}", broken.message);
                declarations.diagnostics.push(
                    Diagnostic::new(Rule::Syntax, message)
                        .at(place(broken.place))
                        .why("the document is left out; upstream's tools refuse the whole catalog"),
                );
            }
            Event::Ignored(range) => declarations.diagnostics.push(
                Diagnostic::new(
                    Rule::IgnoredText,
                    "this text is not read: it stands behind the end of a document",
                )
                .at(place(range))
                .help("separate documents with a line `---`"),
            ),
        });
        self.state = Some(state);
    }

    /// Returns what the file declares.
    pub fn finish(self) -> Declarations {
        self.declarations
    }
}

/// A file of a catalog that is held in memory.
#[derive(Debug, Clone)]
pub struct MemoryFile {
    /// The path below the catalog's root, with `/` between its parts.
    pub path: String,
    /// The content.
    pub content: Vec<u8>,
}

/// Reads a catalog whose files are held in memory, passing over what `.indexignore` files hide.
pub fn read_catalog(files: &[MemoryFile]) -> Catalog {
    let rules = IgnoreRules::new(
        files
            .iter()
            .filter(|file| file.path.rsplit('/').next() == Some(IGNORE_FILE_NAME))
            .map(|file| (file.path.as_str(), file.content.as_slice())),
    );
    let mut visible: Vec<&MemoryFile> =
        files.iter().filter(|file| !rules.hides(&file.path)).collect();
    visible.sort_by(|left, right| left.path.cmp(&right.path));
    let mut sources = Vec::new();
    let mut declarations = Declarations::default();
    for (number, file) in visible.into_iter().enumerate() {
        sources.push(SourceFile { path: file.path.clone(), size: file.content.len() as u64 });
        let mut reader = FileReader::new(FileId(number as u32));
        reader.read_piece(&file.content, 0);
        declarations.append(reader.finish());
    }
    build(&sources, declarations)
}
