//! A cluster in a directory that goes away with it, and a clock that tests turn.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use operon_apiserver::Settings;
use operon_local::{LocalCluster, Options, STORE_FILE};
use operon_object::{Object, Timestamp};
use tempfile::TempDir;

/// A clock that stands still until it is turned.
#[derive(Clone, Default)]
pub(crate) struct Hands(Arc<AtomicI64>);

impl Hands {
    pub(crate) fn now(&self) -> Timestamp {
        let start = Timestamp::parse("2026-11-16T06:00:00Z").unwrap();
        start.after(Duration::from_millis(self.0.load(Ordering::SeqCst).unsigned_abs()))
    }

    pub(crate) fn turn(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

pub(crate) struct Home {
    pub(crate) directory: TempDir,
    pub(crate) hands: Hands,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), hands: Hands::default() }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join(STORE_FILE)
    }

    pub(crate) fn options(&self) -> Options {
        let hands = self.hands.clone();
        Options {
            definitions: Vec::new(),
            manager: "tester".to_owned(),
            clock: Arc::new(move || hands.now()),
            settings: Settings::default(),
            notify: Arc::new(|_| {}),
        }
    }

    pub(crate) fn open(&self) -> LocalCluster {
        LocalCluster::open(&self.file(), self.options()).unwrap()
    }
}

pub(crate) fn config_map(name: &str, entry: &str) -> Object {
    let mut object = Object::new("v1", "ConfigMap", "default", name);
    object.set(&["data", "entry"], entry);
    object
}
