//! Opening the file of a store: creating it, checking it, making it smaller.
//!
//! Whatever is found, nothing is deleted: a file that is not understood is left alone. A store is
//! created under another name and moved into place, so a crash never leaves half a store.

use std::{
    collections::hash_map::RandomState,
    ffi::OsString,
    fs::{self, File, TryLockError},
    hash::{BuildHasher as _, Hasher as _},
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use redb::{Builder, Database, ReadableDatabase as _, TableHandle as _};

use crate::{
    OpenError,
    disk::{Disk, Gate, Room},
    file::{open_or_create, open_regular},
    store::{FACTS, FORMAT_FACT, Facts, IDENTITY_FACT, OBJECTS, read_facts},
};

/// The newest format of the file that is known here.
pub const FORMAT: u64 = 1;

/// A file larger than this is made smaller when it is opened and more than half of it is free.
/// Below it there is nothing to gain: an empty file has a megabyte.
pub const COMPACT_ABOVE_BYTES: u64 = 8 * 1024 * 1024;

/// How much of the file the database keeps in memory. The objects are kept elsewhere, so this is
/// only for the pages that each transaction writes anew.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// A file larger than this is not searched for something else than zeros: the database refuses it
/// soon enough.
const ZEROS_BYTES_LIMIT: u64 = 4 * 1024 * 1024;

/// What the database writes first into a new file, and the mark that it writes last.
const HEADER_BYTES: u64 = 4096;
const MARK_BYTES: u64 = 9;

/// What is added to the name of a store that is being created.
const UNFINISHED_SUFFIX: &str = ".new";

/// How often opening starts over because another process created or moved the file in between.
const CREATION_ATTEMPTS: usize = 16;

/// The database of a store.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) database: Database,
    gate: Arc<Gate>,
}

/// Closes the file as a crash would; see [`Gate`]. An empty transaction goes first: should a page of
/// the last one be damaged later, the one before says the same.
impl Drop for Opened {
    fn drop(&mut self) {
        if let Ok(transaction) = self.database.begin_write() {
            let _ = transaction.commit();
        }
        self.gate.shut();
    }
}

/// Whether a missing file is created.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Making {
    Allowed,
    Forbidden,
}

/// Opens the file of a store.
pub(crate) fn open(
    path: &Path,
    room: &Arc<Room>,
    making: Making,
) -> Result<(Opened, Facts), OpenError> {
    let (mut opened, facts) = open_as_it_is(path, room, making)?;
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() > COMPACT_ABOVE_BYTES)
        && compact(path, &mut opened.database).is_err()
    {
        // It works as well without, but after a failure the database wants to be opened again.
        drop(opened);
        return open_as_it_is(path, room, Making::Forbidden);
    }
    Ok((opened, facts))
}

fn open_as_it_is(
    path: &Path,
    room: &Arc<Room>,
    making: Making,
) -> Result<(Opened, Facts), OpenError> {
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    if !directory.is_dir() {
        return Err(OpenError::NoDirectory { directory: directory.to_owned() });
    }
    for _ in 0..CREATION_ATTEMPTS {
        if let Some(file) = open_regular(path)? {
            return open_existing(path, file, room);
        }
        if making == Making::Forbidden {
            return Err(OpenError::from_io(path, io::Error::from(io::ErrorKind::NotFound)));
        }
        if let Some(created) = create(path, directory, room)? {
            return Ok(created);
        }
    }
    Err(OpenError::Locked { path: path.to_owned() })
}

fn open_existing(
    path: &Path,
    mut file: File,
    room: &Arc<Room>,
) -> Result<(Opened, Facts), OpenError> {
    lock(path, &file)?;
    if is_blank(&mut file).map_err(|error| OpenError::from_io(path, error))? {
        return Err(OpenError::Blank { path: path.to_owned() });
    }
    let fail = |error| OpenError::from_database(path, error);
    let gate = Arc::new(Gate::default());
    let database = open_database(file, &gate, room).map_err(fail)?;
    check_format(path, &database)?;
    // From here on it is ours, and closed as ours.
    let opened = Opened { database, gate };
    let facts = read_facts(&opened.database).map_err(fail)?;
    Ok((opened, facts))
}

/// Creates a store under another name, and moves it into place when it is complete. Returns nothing
/// if another process was faster, or if a crash left something that was deleted.
///
/// Only the process that has locked the unfinished file, and still finds it under its name, moves it.
/// So of several processes one creates the store, and none replaces the store of another.
fn create(
    path: &Path,
    directory: &Path,
    room: &Arc<Room>,
) -> Result<Option<(Opened, Facts)>, OpenError> {
    let unfinished = unfinished_path(path);
    let file = open_or_create(&unfinished)?;
    lock(path, &file)?;
    let fail = |error| OpenError::from_io(&unfinished, error);
    let metadata = file.metadata().map_err(fail)?;
    let is_ours =
        |found: fs::Metadata| (found.dev(), found.ino()) == (metadata.dev(), metadata.ino());
    if fs::symlink_metadata(path).is_ok() || !fs::symlink_metadata(&unfinished).is_ok_and(is_ours) {
        return Ok(None);
    }
    if metadata.len() > 0 {
        // A crash interrupted the creation of a store: nothing was ever acknowledged.
        fs::remove_file(&unfinished).map_err(fail)?;
        return Ok(None);
    }
    let created = fill(path, file, room).and_then(|created| {
        fs::rename(&unfinished, path).map_err(|error| OpenError::from_io(path, error))?;
        Ok(created)
    });
    match created {
        Ok(created) => {
            if let Ok(directory) = File::open(directory) {
                // Without this a new file could be missing after a loss of power. Some file systems
                // do not support it, and need it not.
                let _ = directory.sync_all();
            }
            Ok(Some(created))
        }
        Err(error) => {
            let _ = fs::remove_file(&unfinished);
            Err(error)
        }
    }
}

/// Makes an empty file a store without objects.
fn fill(path: &Path, file: File, room: &Arc<Room>) -> Result<(Opened, Facts), OpenError> {
    let fail = |error| OpenError::from_database(path, error);
    let gate = Arc::new(Gate::default());
    let database = open_database(file, &gate, room).map_err(fail)?;
    let opened = Opened { database, gate };
    begin(&opened.database).map_err(fail)?;
    let facts = read_facts(&opened.database).map_err(fail)?;
    Ok((opened, facts))
}

/// Returns the name of a store that is being created.
fn unfinished_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(UNFINISHED_SUFFIX);
    path.with_file_name(name)
}

fn lock(path: &Path, file: &File) -> Result<(), OpenError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => Err(OpenError::from_io(path, error)),
    }
}

/// Returns `true` if a file has nothing in it: the database would take it for a new one. Such a file
/// lacks the mark that the database writes last, and its pages hold zeros.
fn is_blank(file: &mut File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    if length > ZEROS_BYTES_LIMIT {
        return Ok(false);
    }
    let mut mark = Vec::new();
    file.by_ref().take(MARK_BYTES).read_to_end(&mut mark)?;
    if mark.iter().any(|byte| *byte != 0) {
        return Ok(false);
    }
    let mut pages = Vec::new();
    file.seek(SeekFrom::Start(HEADER_BYTES))?;
    file.take(ZEROS_BYTES_LIMIT).read_to_end(&mut pages)?;
    Ok(pages.iter().all(|byte| *byte == 0))
}

fn open_database(file: File, gate: &Arc<Gate>, room: &Arc<Room>) -> Result<Database, redb::Error> {
    let disk = Disk::new(file, Arc::clone(gate), Arc::clone(room))?;
    // A transaction that a crash interrupted is taken back here; nobody was told that it was done.
    Ok(Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(disk)?)
}

/// Refuses a database that is not ours or too new.
fn check_format(path: &Path, database: &Database) -> Result<(), OpenError> {
    let found = read_format(database).map_err(|error| OpenError::from_database(path, error))?;
    match found {
        Some(found) if found > FORMAT => {
            Err(OpenError::NewerFormat { path: path.to_owned(), found, known: FORMAT })
        }
        Some(_) => Ok(()),
        None => Err(OpenError::NotAStore { path: path.to_owned() }),
    }
}

/// Reads the format; nothing if the database is not ours.
fn read_format(database: &Database) -> Result<Option<u64>, redb::Error> {
    let transaction = database.begin_read()?;
    if !transaction.list_tables()?.any(|table| table.name() == FACTS.name()) {
        return Ok(None);
    }
    let facts = transaction.open_table(FACTS)?;
    let format = facts.get(FORMAT_FACT)?.map(|format| format.value());
    Ok(format.filter(|format| *format > 0))
}

fn begin(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        transaction.open_table(OBJECTS)?;
        let mut facts = transaction.open_table(FACTS)?;
        facts.insert(FORMAT_FACT, FORMAT)?;
        // Any number does that others do not choose as well.
        facts.insert(IDENTITY_FACT, RandomState::new().build_hasher().finish())?;
    }
    Ok(transaction.commit()?)
}

fn compact(path: &Path, database: &mut Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    let statistics = transaction.stats()?;
    transaction.abort()?;
    let page_bytes = u64::try_from(statistics.page_size()).unwrap_or(u64::MAX);
    let used = statistics.allocated_pages().saturating_mul(page_bytes);
    if used < fs::metadata(path)?.len() / 2 {
        database.compact()?;
    }
    Ok(())
}
