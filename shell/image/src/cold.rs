//! Opening cold: every file is read, checked and hashed, on all cores, in bounded memory.
//!
//! Small files are read whole by whichever reader is free. Large ones are cut into pieces by one
//! reader and read by all. The order in which readers finish never reaches the result.

use std::{
    collections::VecDeque,
    fs::File,
    io::Read,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use operon_catalog::{Catalog, Declarations, Diagnostic, FileId, Rule, SourceFile, build};
use operon_fbc::{FileReader, MAX_FILE_BYTES, ReadBudget};

use crate::{
    OpenError,
    directory::CatalogFile,
    limits::CatalogLimits,
    pieces::{Piece, Pieces, WHOLE_FILE_BYTES},
    slots::Slots,
};

/// The most threads that read: beyond this, memory bandwidth is the limit.
pub const MAX_READERS: usize = 16;

/// How many pieces may wait for a reader, per reader; more are read by the one who cut them.
const WAITING_PIECES_PER_READER: usize = 1;

/// Limits the pieces of tenants' catalogs that are read at the same time, whatever they belong to: a hostile document
/// takes thirty times its size or more while it is read; two of 4 MB took 228 MB.
static LIMITED_PIECES: Slots = Slots::new(2);

/// How far reading has come, in bytes; shared with whoever draws a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    /// The bytes there are.
    pub total: AtomicU64,
    /// The bytes that were read.
    pub done: AtomicU64,
}

/// A catalog read from its files, and the hash of their content.
pub(crate) struct ColdCatalog {
    pub(crate) catalog: Catalog,
    pub(crate) digest: blake3::Hash,
}

/// Reads all files of a catalog, unless it exceeds the limits.
pub(crate) fn read(
    files: &[CatalogFile],
    progress: &Progress,
    limits: &CatalogLimits,
) -> Result<ColdCatalog, OpenError> {
    let total: u64 = files.iter().map(CatalogFile::size).sum();
    if total > limits.bytes {
        let excess = format!("more than {} bytes of documents", limits.bytes);
        return Err(OpenError::TooLarge { excess });
    }
    progress.total.store(total, Ordering::Relaxed);
    let readers = thread::available_parallelism().map_or(1, usize::from);
    let readers = readers.min(limits.readers).clamp(1, MAX_READERS);
    let shared = Shared {
        files,
        progress,
        limits,
        budget: Arc::new(limits.declarations.map_or_else(ReadBudget::unlimited, ReadBudget::new)),
        large_document: OnceLock::new(),
        queue: Mutex::new(Queue { tasks: largest_first(files), cutting: 0 }),
        wake: Condvar::new(),
        waiting_limit: readers * WAITING_PIECES_PER_READER,
        results: Mutex::new(Results::default()),
    };
    thread::scope(|scope| {
        for _ in 1..readers {
            scope.spawn(|| shared.work());
        }
        shared.work();
    });
    if let Some(excess) = shared.excess() {
        return Err(OpenError::TooLarge { excess });
    }
    let Results { mut parts, mut digests } =
        shared.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_by_key(|part| (part.file, part.offset));
    digests.sort_by_key(|(file, _)| *file);

    let mut declarations = Declarations::default();
    for part in parts {
        declarations.append(part.declarations);
    }
    let sources: Vec<SourceFile> = files
        .iter()
        .map(|file| SourceFile { path: file.path.clone(), size: file.size() })
        .collect();
    let digest = content_digest(files, digests.iter().map(|(_, digest)| *digest));
    Ok(ColdCatalog { catalog: build(&sources, declarations), digest })
}

/// Hashes all files of a catalog without reading their documents.
pub(crate) fn hash(files: &[CatalogFile]) -> blake3::Hash {
    let digests = files.iter().map(|file| {
        let mut hasher = blake3::Hasher::new();
        let opened = File::open(&file.location);
        match opened.and_then(|opened| hasher.update_reader(opened).map(|hasher| hasher.finalize()))
        {
            Ok(digest) => digest,
            Err(_) => unreadable_digest(),
        }
    });
    content_digest(files, digests)
}

/// The hash of a catalog: of the paths and contents of its files.
fn content_digest(
    files: &[CatalogFile],
    digests: impl Iterator<Item = blake3::Hash>,
) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (file, digest) in files.iter().zip(digests) {
        hasher.update(&(file.path.len() as u64).to_le_bytes());
        hasher.update(file.path.as_bytes());
        hasher.update(digest.as_bytes());
    }
    hasher.finalize()
}

/// Stands for the content of a file that cannot be read.
fn unreadable_digest() -> blake3::Hash {
    blake3::hash(b"unreadable")
}

enum Task {
    File(usize),
    Piece(usize, Piece),
}

/// Large files go first, so that no reader is left alone with one at the end.
fn largest_first(files: &[CatalogFile]) -> VecDeque<Task> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&file| (std::cmp::Reverse(files[file].size()), file));
    order.into_iter().map(Task::File).collect()
}

struct Queue {
    tasks: VecDeque<Task>,
    /// How many readers are cutting a file and may still add pieces.
    cutting: usize,
}

#[derive(Default)]
struct Results {
    parts: Vec<Part>,
    digests: Vec<(usize, blake3::Hash)>,
}

struct Part {
    file: usize,
    offset: usize,
    declarations: Declarations,
}

struct Shared<'s> {
    files: &'s [CatalogFile],
    progress: &'s Progress,
    limits: &'s CatalogLimits,
    /// What the documents declare together.
    budget: Arc<ReadBudget>,
    /// The file with a document that is too large.
    large_document: OnceLock<usize>,
    queue: Mutex<Queue>,
    wake: Condvar,
    waiting_limit: usize,
    results: Mutex<Results>,
}

impl Shared<'_> {
    fn work(&self) {
        while let Some(task) = self.next_task() {
            match task {
                Task::Piece(file, piece) => self.read_piece(file, &piece),
                Task::File(file) if self.files[file].size() > WHOLE_FILE_BYTES => {
                    self.cut_file(file);
                }
                Task::File(file) => self.read_whole_file(file),
            }
        }
    }

    fn lock<'l, T>(&self, mutex: &'l Mutex<T>) -> MutexGuard<'l, T> {
        // A reader that panicked has a bug of its own; what the others found is still sound.
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what exceeds the limits, and which one.
    fn excess(&self) -> Option<String> {
        let large_document = self.large_document.get().map(|&file| {
            let limit = self.limits.document_bytes;
            format!("a document of more than {limit} bytes in `{}`", self.files[file].path)
        });
        large_document.or_else(|| self.budget.excess().map(|excess| excess.to_string()))
    }

    fn is_exceeded(&self) -> bool {
        self.large_document.get().is_some() || self.budget.excess().is_some()
    }

    /// Takes the next task; `None` when there is nothing left that could bring one, or when a limit is exceeded.
    fn next_task(&self) -> Option<Task> {
        let mut queue = self.lock(&self.queue);
        loop {
            if self.is_exceeded() {
                queue.tasks.clear();
            }
            if let Some(task) = queue.tasks.pop_front() {
                if let Task::File(file) = task
                    && self.files[file].size() > WHOLE_FILE_BYTES
                {
                    queue.cutting += 1;
                }
                return Some(task);
            }
            if queue.cutting == 0 {
                return None;
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn read_whole_file(&self, file: usize) {
        let mut text = Vec::with_capacity(self.files[file].size() as usize);
        let opened = File::open(&self.files[file].location);
        if let Err(error) = opened.and_then(|mut opened| opened.read_to_end(&mut text)) {
            return self.report_unreadable(file, &error);
        }
        self.note_digest(file, blake3::hash(&text));
        self.note_progress(text.len());
        self.read_piece(file, &Piece { offset: 0, text, state: None });
    }

    fn read_piece(&self, file: usize, piece: &Piece) {
        let number = FileId(file as u32);
        let mut reader = match piece.state {
            Some(state) => FileReader::resume(number, state),
            None => FileReader::new(number),
        };
        reader = reader.within(Arc::clone(&self.budget));
        let is_limited = self.limits.declarations.is_some();
        let slot = is_limited.then(|| LIMITED_PIECES.take());
        reader.read_piece(&piece.text, piece.offset);
        drop(slot);
        let declarations = reader.finish();
        self.lock(&self.results).parts.push(Part { file, offset: piece.offset, declarations });
    }

    fn cut_file(&self, file: usize) {
        if let Err(error) = self.try_cut_file(file) {
            self.report_unreadable(file, &error);
        }
        self.lock(&self.queue).cutting -= 1;
        self.wake.notify_all();
    }

    fn try_cut_file(&self, file: usize) -> std::io::Result<()> {
        if self.files[file].size() > MAX_FILE_BYTES {
            self.report(
                file,
                Rule::FileTooLarge,
                &format!("it is larger than {MAX_FILE_BYTES} bytes"),
            );
            return Ok(());
        }
        let mut opened = File::open(&self.files[file].location)?;
        let mut hasher = blake3::Hasher::new();
        let mut pieces = Pieces::new(&mut opened).with_documents_up_to(self.limits.document_bytes);
        while let Some(piece) = pieces.next(&mut |bytes| {
            hasher.update(bytes);
            self.note_progress(bytes.len());
        })? {
            // A piece that is larger holds one document: its end was not found before.
            if self.limits.declarations.is_some() && piece.text.len() > self.limits.document_bytes {
                let _ = self.large_document.set(file);
            }
            if self.is_exceeded() {
                return Ok(());
            }
            self.offer(file, piece);
        }
        self.note_digest(file, hasher.finalize());
        Ok(())
    }

    /// Leaves a piece to another reader, or reads it here when enough are waiting.
    fn offer(&self, file: usize, piece: Piece) {
        let mut queue = self.lock(&self.queue);
        let waiting = queue.tasks.iter().take_while(|task| matches!(task, Task::Piece(..))).count();
        if waiting < self.waiting_limit {
            queue.tasks.push_front(Task::Piece(file, piece));
            drop(queue);
            self.wake.notify_one();
        } else {
            drop(queue);
            self.read_piece(file, &piece);
        }
    }

    fn note_digest(&self, file: usize, digest: blake3::Hash) {
        self.lock(&self.results).digests.push((file, digest));
    }

    fn note_progress(&self, bytes: usize) {
        self.progress.done.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn report_unreadable(&self, file: usize, error: &std::io::Error) {
        self.report(file, Rule::UnreadableFile, &format!("it cannot be read: {error}"));
    }

    fn report(&self, file: usize, rule: Rule, defect: &str) {
        let finding = Diagnostic::new(rule, format!("{}: {defect}", self.files[file].path))
            .why("every file below the catalog's root is read; upstream's tools refuse the whole catalog")
            .help("make it readable, or list it in `.indexignore`");
        let mut declarations = Declarations::default();
        declarations.diagnostics.push(finding);
        let mut results = self.lock(&self.results);
        results.parts.push(Part { file, offset: 0, declarations });
        results.digests.push((file, unreadable_digest()));
    }
}
