//! The file that holds a cluster: every object, the revision, and what identities are made of.
//!
//! A commit is stored in one durable transaction or not at all. What a commit means is not known
//! here, and nothing is kept in memory: whoever writes also remembers.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use operon_apiserver::{Commit, Counters};
use operon_object::{Object, ObjectKey, Value, exact_json};
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use crate::{
    OpenError,
    disk::Room,
    opening::{Making, Opened, open},
};

/// The objects as JSON, by namespace, name, group and kind.
pub(crate) const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");

/// Everything else.
pub(crate) const FACTS: TableDefinition<'_, &str, u64> = TableDefinition::new("facts");

pub(crate) const FORMAT_FACT: &str = "format";
pub(crate) const IDENTITY_FACT: &str = "identity";
const REVISION_FACT: &str = "revision";
const UIDS_FACT: &str = "uids";
const NAMES_FACT: &str = "names";

/// A store, as long as it is open.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    room: Arc<Room>,
    /// What the store said of itself when it was opened first.
    identity: u64,
    /// Nothing after a failure, until the file is opened again.
    opened: Option<Opened>,
}

/// What a store says besides its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// Tells this store from every other one.
    pub(crate) identity: u64,
    pub(crate) revision: u64,
    pub(crate) counters: Counters,
}

/// Says why something was not stored.
#[derive(Debug)]
pub(crate) struct StoreError {
    pub(crate) text: String,
}

impl Store {
    /// Opens a file, or makes it.
    pub(crate) fn open(path: &Path, room: Arc<Room>) -> Result<(Self, Facts), OpenError> {
        let (opened, facts) = open(path, &room, Making::Allowed)?;
        let identity = facts.identity;
        Ok((Self { path: path.to_owned(), room, identity, opened: Some(opened) }, facts))
    }

    /// Tells whether the file must be opened again.
    pub(crate) fn is_closed(&self) -> bool {
        self.opened.is_none()
    }

    /// Opens the file again after a failure. It must still be the same store.
    pub(crate) fn reopen(&mut self) -> Result<Facts, OpenError> {
        self.opened = None;
        let (opened, facts) = open(&self.path, &self.room, Making::Forbidden)?;
        if facts.identity != self.identity {
            let source = io::Error::other("another store was put in its place");
            return Err(OpenError::Io { path: self.path.clone(), source });
        }
        self.opened = Some(opened);
        Ok(facts)
    }

    /// Reads every object.
    pub(crate) fn objects(&self) -> Result<Vec<Object>, OpenError> {
        let fail = |error| OpenError::from_database(&self.path, error);
        let entries = self.opened().and_then(|opened| read_objects(&opened.database));
        let read = |(key, bytes): (String, Vec<u8>)| {
            read_object(&key, &bytes).map_err(|detail| OpenError::CorruptObject {
                path: self.path.clone(),
                key,
                detail,
            })
        };
        entries.map_err(fail)?.into_iter().map(read).collect()
    }

    /// Stores a commit durably. After a failure the file is closed, and whether the commit is in it
    /// is seen when it is opened again.
    pub(crate) fn write(&mut self, commit: &Commit) -> Result<(), StoreError> {
        let written = self.opened().and_then(|opened| write_commit(&opened.database, commit));
        let Err(error) = written else { return Ok(()) };
        // After a failure the database wants to be opened again.
        self.opened = None;
        let error = OpenError::from_database(&self.path, error);
        Err(StoreError { text: error.to_string() })
    }

    fn opened(&self) -> Result<&Opened, redb::Error> {
        self.opened.as_ref().ok_or(redb::Error::DatabaseClosed)
    }
}

/// Returns what an object is stored under. Only the kind, which comes last, could have a slash.
fn key_text(key: &ObjectKey) -> String {
    let ObjectKey { kind, namespace, name } = key;
    format!("{namespace}/{name}/{}/{}", kind.group(), kind.name())
}

// ---- Reading ----

/// Reads what a store says besides its objects.
pub(crate) fn read_facts(database: &Database) -> Result<Facts, redb::Error> {
    let transaction = database.begin_read()?;
    let facts = transaction.open_table(FACTS)?;
    let fact = |name: &str| {
        Ok::<_, redb::Error>(facts.get(name)?.map(|fact| fact.value()).unwrap_or_default())
    };
    Ok(Facts {
        identity: fact(IDENTITY_FACT)?,
        revision: fact(REVISION_FACT)?,
        counters: Counters { uids: fact(UIDS_FACT)?, names: fact(NAMES_FACT)? },
    })
}

fn read_objects(database: &Database) -> Result<Vec<(String, Vec<u8>)>, redb::Error> {
    let transaction = database.begin_read()?;
    let objects = transaction.open_table(OBJECTS)?;
    let mut entries = Vec::new();
    for entry in objects.iter()? {
        let (key, bytes) = entry?;
        entries.push((key.value().to_owned(), bytes.value().to_vec()));
    }
    Ok(entries)
}

fn read_object(key: &str, bytes: &[u8]) -> Result<Object, String> {
    let value = Value::parse_json(bytes).map_err(|error| error.to_string())?;
    let object = Object::from_value(value).map_err(|error| error.to_string())?;
    let found = key_text(&object.key());
    if found != key {
        return Err(format!("it says to be `{found}`"));
    }
    Ok(object)
}

// ---- Writing ----

fn write_commit(database: &Database, commit: &Commit) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut objects = transaction.open_table(OBJECTS)?;
        for (key, object) in &commit.writes {
            let key = key_text(key);
            match object {
                Some(object) => {
                    let text = exact_json(object.value());
                    objects.insert(key.as_str(), text.as_bytes())?;
                }
                None => {
                    objects.remove(key.as_str())?;
                }
            }
        }
        let mut facts = transaction.open_table(FACTS)?;
        facts.insert(REVISION_FACT, commit.revision)?;
        facts.insert(UIDS_FACT, commit.counters.uids)?;
        facts.insert(NAMES_FACT, commit.counters.names)?;
    }
    Ok(transaction.commit()?)
}
