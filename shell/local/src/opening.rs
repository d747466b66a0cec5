//! Opening the file of a store: making it, checking it, making it smaller.
//!
//! Whatever is found, nothing is deleted: a file that is not understood is left alone.

use std::{
    collections::hash_map::RandomState,
    fs::{self, File, OpenOptions, TryLockError},
    hash::{BuildHasher as _, Hasher as _},
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::Arc,
};

use redb::{Builder, Database, ReadableDatabase as _, TableHandle as _};

use crate::{
    OpenError,
    disk::{Disk, Gate, Room},
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

/// A file whose making was interrupted is no larger than this.
const UNMADE_BYTES: u64 = 4 * 1024 * 1024;

/// What the database writes first into a new file, and the mark that it writes last.
const HEADER_BYTES: u64 = 4096;
const MARK_BYTES: u64 = 9;

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

/// Says whether a file that is missing is made.
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
    let mut how = OpenOptions::new();
    // Secrets are in it.
    how.read(true).write(true).create(making == Making::Allowed).truncate(false).mode(0o600);
    let mut file = how.open(path).map_err(|error| OpenError::from_io(path, error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => return Err(OpenError::from_io(path, error)),
    }
    let is_new = empty_if_unmade(&mut file).map_err(|error| OpenError::from_io(path, error))?;
    let fail = |error| OpenError::from_database(path, error);
    let gate = Arc::new(Gate::default());
    let database = open_database(file, &gate, room).map_err(fail)?;
    check_format(path, &database)?;
    // From here on it is ours, and closed as ours.
    let opened = Opened { database, gate };
    let facts = read_facts(&opened.database).map_err(fail)?;
    if is_new && let Ok(directory) = File::open(directory) {
        // Without this a new file could be gone after a loss of power. Some file systems know no
        // such thing, and need none.
        let _ = directory.sync_all();
    }
    Ok((opened, facts))
}

/// Empties a file whose making was interrupted, and tells whether the file is empty. Such a file
/// lacks the mark that the database writes last, and has nothing in its pages.
fn empty_if_unmade(file: &mut File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    if length > UNMADE_BYTES {
        return Ok(false);
    }
    let mut mark = Vec::new();
    file.by_ref().take(MARK_BYTES).read_to_end(&mut mark)?;
    if mark.iter().any(|byte| *byte != 0) {
        return Ok(false);
    }
    let mut pages = Vec::new();
    file.seek(SeekFrom::Start(HEADER_BYTES))?;
    file.read_to_end(&mut pages)?;
    let is_unmade = pages.iter().all(|byte| *byte == 0);
    if is_unmade {
        file.set_len(0)?;
    }
    Ok(is_unmade)
}

fn open_database(file: File, gate: &Arc<Gate>, room: &Arc<Room>) -> Result<Database, redb::Error> {
    let disk = Disk::new(file, Arc::clone(gate), Arc::clone(room))?;
    // A transaction that a crash interrupted is taken back here; nobody was told that it was done.
    Ok(Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(disk)?)
}

/// Refuses a database that is not ours or too new; a new one is made ours.
fn check_format(path: &Path, database: &Database) -> Result<(), OpenError> {
    let found = read_format(database).map_err(|error| OpenError::from_database(path, error))?;
    match found {
        Some(found) if found > FORMAT => {
            Err(OpenError::NewerFormat { path: path.to_owned(), found, known: FORMAT })
        }
        Some(0) => Err(OpenError::NotAStore { path: path.to_owned() }),
        Some(_) => Ok(()),
        None => begin(database).map_err(|error| OpenError::from_database(path, error)),
    }
}

/// Reads the format; nothing in a database without tables, 0 in one of somebody else.
fn read_format(database: &Database) -> Result<Option<u64>, redb::Error> {
    let transaction = database.begin_read()?;
    let tables: Vec<String> =
        transaction.list_tables()?.map(|table| table.name().to_owned()).collect();
    if tables.is_empty() {
        return Ok(None);
    }
    if !tables.iter().any(|table| table == FACTS.name()) {
        return Ok(Some(0));
    }
    let facts = transaction.open_table(FACTS)?;
    Ok(Some(facts.get(FORMAT_FACT)?.map_or(0, |format| format.value())))
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
