//! Streams: several documents in one file, JSON and YAML, even mixed.
//!
//! Upstream: whether a stream is JSON is guessed from its first character; a stream that started
//! as JSON may turn into YAML after at most one JSON document, never back. Unlike upstream, a broken
//! document does not end the reading: the next one that can be found is tried.

use std::ops::Range;

use crate::{
    json::{JsonError, Node, Tape, skip_string},
    yaml::{self, SourceMap, YamlOptions},
};

/// How many bytes from the start decide whether a stream is JSON, as upstream peeks.
const GUESS_BYTES: usize = 4096;

/// After this many JSON documents a stream can no longer turn into YAML, as upstream decides.
const JSON_DOCUMENTS_TO_BE_SURE: usize = 2;

/// The notation of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON values one after another, with or without white space between them.
    Json,
    /// YAML documents separated by lines that start with `---`.
    Yaml,
}

/// What reading a stream comes upon, in the order of the text.
#[derive(Debug)]
pub enum Event<'a> {
    /// A document that could be read.
    Document(Document<'a>),
    /// A stretch of text that could not; reading went on after it.
    Broken(Broken),
    /// Text that upstream passes over without a word, because it follows the end of a document.
    Ignored(Range<usize>),
}

/// A document that could be read.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Its value.
    pub root: Node<'a>,
    /// The notation it was written in.
    pub format: Format,
    start: usize,
    end: usize,
    places: Option<&'a SourceMap>,
}

/// A document that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Where reading failed, as a range of the stream.
    pub place: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// The notation it was read as.
    pub format: Format,
}

impl Document<'_> {
    /// Returns the range of the stream that holds the document.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Maps a byte range of the document's JSON text to the range of the stream it came from.
    pub fn place(&self, span: Range<usize>) -> Range<usize> {
        let inner = match self.places {
            Some(places) => places.place(span.start),
            None => span,
        };
        self.start + inner.start..self.start + inner.end
    }
}

/// Where a stream stands, so that a long one can be read piece by piece.
#[derive(Debug, Clone, Copy)]
pub struct StreamState {
    format: Format,
    documents: usize,
}

impl StreamState {
    /// Guesses the notation of a stream from its first bytes.
    pub fn guess(beginning: &[u8]) -> Self {
        let head = &beginning[..beginning.len().min(GUESS_BYTES)];
        let text = String::from_utf8_lossy(head);
        let is_json = text.trim_start().starts_with('{');
        Self { format: if is_json { Format::Json } else { Format::Yaml }, documents: 0 }
    }

    /// Returns the state behind the first piece of a long stream: two JSON documents in a row settle
    /// that it is JSON, as they do for a reader of the whole.
    #[must_use]
    pub fn behind(self, first_piece: &[u8]) -> Self {
        let end = json_boundaries(first_piece).next().unwrap_or(0);
        let next = first_piece[end..].iter().find(|byte| !byte.is_ascii_whitespace());
        let is_sure = end > 0 && next == Some(&b'{');
        let documents = if is_sure { JSON_DOCUMENTS_TO_BE_SURE } else { self.documents };
        Self { documents, ..self }
    }

    /// Returns the notation the stream is being read in.
    pub fn format(&self) -> Format {
        self.format
    }
}

/// Reads a whole stream.
pub fn read(text: &[u8], tape: &mut Tape, handle: &mut dyn FnMut(Event<'_>)) {
    let mut state = StreamState::guess(text);
    read_piece(text, &mut state, tape, handle);
}

/// Reads a piece of a stream that holds whole documents, going on from `state`.
pub fn read_piece(
    text: &[u8],
    state: &mut StreamState,
    tape: &mut Tape,
    handle: &mut dyn FnMut(Event<'_>),
) {
    let mut position = 0;
    while state.format == Format::Json {
        position = skip_json_whitespace(text, position);
        if position == text.len() {
            return;
        }
        match tape.read_first(&text[position..]) {
            Ok((root, length)) => {
                state.documents += 1;
                let (start, end) = (position, position + length);
                handle(Event::Document(Document {
                    root,
                    format: Format::Json,
                    start,
                    end,
                    places: None,
                }));
                position = end;
            }
            Err(error) => {
                if state.documents < JSON_DOCUMENTS_TO_BE_SURE
                    && let Some(yaml_start) = turns_into_yaml(text, position)
                {
                    state.format = Format::Yaml;
                    position = yaml_start;
                } else {
                    position = report_broken_json(text, position, &error, handle);
                }
            }
        }
    }
    read_yaml(text, position, tape, handle);
}

fn skip_json_whitespace(text: &[u8], position: usize) -> usize {
    let rest = &text[position..];
    position + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// Returns where YAML starts when the text from `position` on can be read as YAML instead.
fn turns_into_yaml(text: &[u8], position: usize) -> Option<usize> {
    let rest = &text[position..];
    let line_break = rest.iter().position(|&byte| byte == b'\n');
    let start = match line_break {
        Some(offset) if rest[..offset].iter().all(u8::is_ascii_whitespace) => position + offset + 1,
        _ => position,
    };
    let first = YamlDocuments { text, position: start }.next()?.ok()?;
    yaml::to_json(&text[first], &YamlOptions::default()).is_ok().then_some(start)
}

/// Reports a broken document and returns where the next one may start.
fn report_broken_json(
    text: &[u8],
    position: usize,
    error: &JsonError,
    handle: &mut dyn FnMut(Event<'_>),
) -> usize {
    let at = (position + error.offset()).min(text.len());
    handle(Event::Broken(Broken {
        place: at..(at + 1).min(text.len()),
        message: error.message().to_owned(),
        format: Format::Json,
    }));
    // The next document is looked for at an opening brace in the first column, which pretty-printed
    // and line-by-line streams both have.
    let from = (position + 1).max(at.saturating_sub(1));
    text[from.min(text.len())..]
        .windows(2)
        .position(|pair| pair == b"\n{")
        .map_or(text.len(), |offset| from + offset + 1)
}

fn read_yaml(text: &[u8], position: usize, tape: &mut Tape, handle: &mut dyn FnMut(Event<'_>)) {
    for document in (YamlDocuments { text, position }) {
        match document {
            Ok(span) => read_yaml_document(text, span, tape, handle),
            Err(place) => handle(Event::Broken(Broken {
                message: "a line that starts with `---` separates documents; only a comment may follow on it".to_owned(),
                place,
                format: Format::Yaml,
            })),
        }
    }
}

fn read_yaml_document(
    text: &[u8],
    span: Range<usize>,
    tape: &mut Tape,
    handle: &mut dyn FnMut(Event<'_>),
) {
    let (start, end) = (span.start, span.end);
    let broken = |offset: usize, message: String| {
        let at = (start + offset).min(end);
        Event::Broken(Broken { place: at..(at + 1).min(end), message, format: Format::Yaml })
    };
    let converted = match yaml::to_json(&text[span], &YamlOptions::default()) {
        Ok(converted) => converted,
        Err(error) => {
            return handle(broken(error.offset().unwrap_or(0), error.message().to_owned()));
        }
    };
    let ignored = ignored_text(&text[start..end], converted.places.place(0).end);
    match tape.read(&converted.json) {
        Ok(root) => {
            let places = Some(&converted.places);
            handle(Event::Document(Document { root, format: Format::Yaml, start, end, places }));
        }
        Err(error) => {
            let offset = converted.places.place(error.offset()).start;
            handle(broken(offset, error.message().to_owned()));
        }
    }
    if let Some(ignored) = ignored {
        handle(Event::Ignored(start + ignored.start..start + ignored.end));
    }
}

/// Finds text behind the end of a document's value, which is never read.
fn ignored_text(document: &[u8], value_end: usize) -> Option<Range<usize>> {
    let mut offset = value_end.min(document.len());
    for line in document[offset..].split_inclusive(|&byte| byte == b'\n') {
        let content = line.trim_ascii();
        let says_something = !content.is_empty() && !content.starts_with(b"#") && content != b"...";
        if says_something {
            let start = offset + line.len() - line.trim_ascii_start().len();
            return Some(start..document.trim_ascii_end().len().max(start));
        }
        offset += line.len();
    }
    None
}

/// The YAML documents of a text: ranges between lines that start with `---`.
///
/// Upstream: a separator before the first line of a document belongs to that document, so two
/// separators in a row make a document that is empty.
struct YamlDocuments<'a> {
    text: &'a [u8],
    position: usize,
}

impl Iterator for YamlDocuments<'_> {
    /// The range of a document, or of a separator line with something behind it.
    type Item = Result<Range<usize>, Range<usize>>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.position;
        while self.position < self.text.len() {
            let line_start = self.position;
            let rest = &self.text[line_start..];
            let length =
                rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1);
            self.position += length;
            let Some(after) = rest[..length].strip_prefix(b"---") else {
                continue;
            };
            let after = after.trim_ascii();
            if !after.is_empty() && after[0] != b'#' {
                let line = &rest[..length];
                return Some(Err(line_start..line_start + line.trim_ascii_end().len()));
            }
            if line_start > start {
                return Some(Ok(start..line_start));
            }
        }
        (start < self.position).then_some(Ok(start..self.position))
    }
}

/// Finds where a long JSON stream may be cut: after the last document that ends within `text`.
///
/// Returns 0 when no document ends there. `text` must start at the beginning of a document.
pub fn last_json_boundary(text: &[u8]) -> usize {
    json_boundaries(text).last().unwrap_or(0)
}

/// Returns the ends of the JSON documents of a text, without looking into them.
fn json_boundaries(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut depth = 0usize;
    let mut position = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = text.get(position) {
            match byte {
                b'"' => {
                    position = skip_string(text, position)?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            position += 1;
            if depth == 0 && matches!(byte, b'}' | b']') {
                return Some(position);
            }
        }
        None
    })
}

/// Finds where a long YAML stream may be cut: before the last separator line within `text`.
///
/// Returns 0 when there is none after the first line.
pub fn last_yaml_boundary(text: &[u8]) -> usize {
    text.windows(4).rposition(|window| window == b"\n---").map_or(0, |offset| offset + 1)
}
