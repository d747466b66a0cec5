//! A client of a registry for code that waits: one connection, all calls, clear errors.
//!
//! The connection is made when it is needed and made again when it was lost. Answers are the
//! messages of the API; putting them together to a catalog is done by [`Client::fetch_catalog`].

mod calls;
mod line;
mod options;
mod proxy;
mod stream;
mod witness;

use std::{sync::Arc, time::Duration};

use tokio::runtime::{Builder, Runtime};
use tonic::Status;

use self::line::Line;
pub use self::{
    calls::Health,
    line::{FIRST_BACKOFF, MAX_BACKOFF},
    options::{CATALOG_DEADLINE, ClientOptions, MAX_FETCHED_BUNDLES, MAX_FETCHED_BYTES},
    proxy::{MAX_PROXY_ANSWER_BYTES, ProxySettings},
    stream::Stream,
    witness::ConnectionState,
};
use crate::{Address, ClientError};

/// How often a call is made when its connection is lost: calls only read, so the second is harmless.
const CALL_ATTEMPTS: usize = 2;

/// A client of one registry. It may be shared between threads; it must not be used from inside an
/// asynchronous runtime.
#[derive(Debug)]
pub struct Client {
    line: Arc<Line>,
    runtime: Option<Runtime>,
}

impl Client {
    /// Makes a client that connects with its first call.
    pub fn new(address: &Address, options: ClientOptions) -> Result<Self, ClientError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("registry-client")
            .enable_all()
            .build()
            .map_err(|error| ClientError::Threads {
                address: address.to_string(),
                reason: error.to_string(),
            })?;
        let line = Arc::new(Line::new(address.clone(), options));
        Ok(Self { line, runtime: Some(runtime) })
    }

    /// Makes a client and connects it.
    pub fn connect(address: &Address, options: ClientOptions) -> Result<Self, ClientError> {
        let client = Self::new(address, options)?;
        client.make_ready()?;
        Ok(client)
    }

    /// Connects if there is no connection.
    pub fn make_ready(&self) -> Result<(), ClientError> {
        self.runtime().block_on(self.line.channel()).map(|_| ())
    }

    /// Returns the address of the registry.
    pub fn address(&self) -> &Address {
        &self.line.address
    }

    /// Returns the state of the connection.
    pub fn state(&self) -> ConnectionState {
        self.line.state()
    }

    /// Waits until the state of the connection differs from `known`, and returns it; returns `known`
    /// if that takes longer than `limit`.
    pub fn wait_for_state_other_than(
        &self,
        known: ConnectionState,
        limit: Duration,
    ) -> ConnectionState {
        let mut sights = self.line.sight.subscribe();
        let changed = async {
            let seen = sights.wait_for(|sight| sight.state != known).await;
            seen.map_or(known, |sight| sight.state)
        };
        let changed = async { tokio::time::timeout(limit, changed).await.unwrap_or(known) };
        self.runtime().block_on(changed)
    }

    /// Ends the connection for good; calls fail from now on.
    pub fn shut_down(&self) {
        self.line.shut_down();
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("bug: the runtime is taken by dropping only")
    }

    pub(crate) fn options(&self) -> &ClientOptions {
        &self.line.options
    }

    /// Says what an error of the API means, with the address.
    fn refusal(&self, call: &'static str, status: &Status) -> ClientError {
        let address = self.line.address.to_string();
        let message = status.message().to_owned();
        match status.code() {
            tonic::Code::OutOfRange if message.contains("decoded message length") => {
                let limit = format!("{} bytes in one message", self.options().max_message_bytes);
                ClientError::TooMuch { address, limit }
            }
            code => ClientError::Refused { address, call, code: format!("{code:?}"), message },
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.line.shut_down();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
