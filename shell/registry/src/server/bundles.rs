//! The stream of all bundles: one message at a time, made when the reader has room for it.
//!
//! A bundle whose manifests lie in an image needs no document; the others are read one by one.
//! Nothing is made ahead, so a slow reader costs the buffers of its connection and no more.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio_stream::Stream;
use tonic::Status;

use super::state::{State, lean_bundle};
use crate::{api, shelf::Shelf};

type Reading = Pin<Box<dyn Future<Output = Result<api::Bundle, Status>> + Send>>;

/// The answer of `ListBundles`.
pub(crate) struct BundleStream {
    state: Arc<State>,
    shelf: Arc<Shelf>,
    position: usize,
    reading: Option<Reading>,
    is_over: bool,
}

impl BundleStream {
    pub(crate) fn new(state: Arc<State>, shelf: Arc<Shelf>) -> Self {
        Self { state, shelf, position: 0, reading: None, is_over: false }
    }

    /// Takes the next entry: answers with it, or begins to read it.
    fn advance(&mut self) -> Option<Result<api::Bundle, Status>> {
        let entry = self.shelf.listed(self.position)?;
        self.position += 1;
        if entry.bundle().is_none_or(|bundle| bundle.image().is_some()) {
            return Some(lean_bundle(entry));
        }
        let (state, shelf, id) = (Arc::clone(&self.state), Arc::clone(&self.shelf), entry.id());
        self.reading = Some(Box::pin(async move { state.whole_bundle(shelf, id).await }));
        None
    }
}

impl Stream for BundleStream {
    type Item = Result<api::Bundle, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = match self.reading.is_some() {
            true => None,
            false => self.advance(),
        };
        let next = match (next, &mut self.reading) {
            (Some(bundle), _) => Some(bundle),
            (None, Some(reading)) => {
                let bundle = ready!(reading.as_mut().poll(context));
                self.reading = None;
                Some(bundle)
            }
            (None, None) => None,
        };
        // A list with a gap would be taken for the whole catalog, so an error ends it.
        self.is_over = !matches!(next, Some(Ok(_)));
        Poll::Ready(next)
    }
}
