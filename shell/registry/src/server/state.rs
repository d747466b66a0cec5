//! What all calls of a server share: the content of the moment, and whether it is stopping.

use std::sync::Arc;

use operon_catalog::{Entry, EntryId};
use operon_fbc::{serve_bundle, serve_without_bodies};
use tokio::{
    sync::{Semaphore, watch},
    time::timeout,
};
use tonic::Status;

use super::connections::Connections;
use crate::{
    answer::{NotFound, message},
    api,
    limits::{FIRST_CATALOG_PATIENCE, MAX_DOCUMENTS_AT_ONCE, ServerLimits},
    shelf::Shelf,
};

/// What a server is doing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phase {
    /// What is served; none before the catalog was read.
    pub(crate) shelf: Option<Arc<Shelf>>,
    /// Whether the server finishes what is under way and takes nothing new.
    pub(crate) is_stopping: bool,
}

impl Phase {
    pub(crate) fn is_serving(&self) -> bool {
        self.shelf.is_some() && !self.is_stopping
    }
}

/// What all calls of a server share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) phase: watch::Sender<Phase>,
    pub(crate) connections: Arc<Connections>,
    documents: Semaphore,
}

impl State {
    pub(crate) fn new(limits: ServerLimits) -> Self {
        let (phase, _) = watch::channel(Phase::default());
        let connections = Arc::new(Connections::new(limits));
        Self { phase, connections, documents: Semaphore::new(MAX_DOCUMENTS_AT_ONCE) }
    }

    /// Returns what is served now, and waits a little while the first catalog is being read: whoever is told to
    /// come again comes later than that. A call that began keeps what it began with.
    pub(crate) async fn shelf(&self) -> Result<Arc<Shelf>, Status> {
        let mut phase = self.phase.subscribe();
        let news = phase.wait_for(|phase| phase.shelf.is_some() || phase.is_stopping);
        let shelf = match timeout(FIRST_CATALOG_PATIENCE, news).await {
            Ok(Ok(phase)) => phase.shelf.clone(),
            Ok(Err(_)) | Err(_) => None,
        };
        shelf.ok_or_else(|| Status::unavailable("the catalog is being read"))
    }

    /// Makes the whole message of a bundle; its documents are read on a thread that may block.
    pub(crate) async fn whole_bundle(
        &self,
        shelf: Arc<Shelf>,
        entry: EntryId,
    ) -> Result<api::Bundle, Status> {
        self.read(move || read_bundle(&shelf, shelf.catalog().entry_by_id(entry))).await
    }

    /// Reads documents on a thread that may block; over all calls, only a few at once.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, Status> {
        let stopping = || Status::unavailable("the server is stopping");
        let _permit = self.documents.acquire().await.map_err(|_| stopping())?;
        let result = tokio::task::spawn_blocking(read).await.map_err(|_| stopping())?;
        result.map_err(Status::unknown)
    }
}

/// Makes the message of a bundle without anything that stands in its document only.
pub(crate) fn lean_bundle(entry: Entry<'_>) -> Result<api::Bundle, Status> {
    serve_without_bodies(entry).map(message).map_err(|error| Status::unknown(error.to_string()))
}

fn read_bundle(shelf: &Shelf, entry: Entry<'_>) -> Result<api::Bundle, String> {
    let Some(bundle) = entry.bundle() else {
        return lean_bundle(entry).map_err(|status| status.message().to_owned());
    };
    let about = |error: String| format!("bundle {:?}: {error}", bundle.name());
    let has_bodies = bundle.object_count() > 0 || bundle.metadata_count() > 0;
    let document = match has_bodies {
        true => shelf.document(bundle.place()).map_err(about)?,
        false => "{}".to_owned(),
    };
    // The package lends an icon and a description to bundles that have metadata only.
    let package_document = match bundle.metadata_count() {
        1 => shelf.document(bundle.package().place()).map_err(about)?,
        _ => "{}".to_owned(),
    };
    serve_bundle(entry, document.as_bytes(), package_document.as_bytes())
        .map(message)
        .map_err(|error| about(error.to_string()))
}

impl From<NotFound> for Status {
    /// Upstream: whatever is not found is a plain error, so its code is `Unknown`.
    fn from(NotFound(text): NotFound) -> Self {
        Status::unknown(text)
    }
}
