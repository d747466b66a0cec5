//! A server that listens at once, serves a catalog as soon as it has one, and stops gently.
//!
//! The catalog can be exchanged while calls are under way; each call keeps the one it began with.
//! There is no encryption and no login, as in every registry; whoever can connect can read.

mod bundles;
mod calls;
mod connections;
mod experimental;
mod health;
mod incoming;
mod registry;
mod state;

use std::{
    num::NonZero,
    sync::Arc,
    thread::{self, available_parallelism},
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tonic::{
    codec::CompressionEncoding::Gzip,
    service::Routes,
    transport::{self, Server as Transport},
};
use tonic_health::pb::health_server::HealthServer;

pub(crate) use self::experimental::ACKNOWLEDGE;
use self::{
    calls::Counted,
    experimental::ExperimentalService,
    health::HealthService,
    incoming::{Incoming, Listener},
    registry::RegistryService,
    state::State,
};
use crate::{
    Address, Content, LeftOut, ServerError,
    api::{
        DESCRIPTORS, experimental_registry_server::ExperimentalRegistryServer,
        registry_server::RegistryServer,
    },
    limits::{
        KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIMEOUT, MAX_BUNDLE_MESSAGE_BYTES, MAX_REQUEST_BYTES,
        MAX_SERVING_THREADS, ServerLimits,
    },
    shelf::Shelf,
};

/// How often a server checks whether it is asked to stop: often enough that draining decides how long that
/// takes.
const STOP_POLL: Duration = Duration::from_millis(50);

/// What is served; cheap to clone, and shared by all clones.
#[derive(Debug, Clone)]
pub struct Server {
    state: Arc<State>,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// Creates a server without a catalog: health is `NOT_SERVING`, and calls wait for one or are
    /// refused as unavailable.
    pub fn new() -> Self {
        Self::with_limits(ServerLimits::default())
    }

    /// Creates a server without a catalog that has other limits than usual.
    pub fn with_limits(limits: ServerLimits) -> Self {
        Self { state: Arc::new(State::new(limits)) }
    }

    /// Serves a catalog from now on, in place of the one before. Returns what is left out of it.
    pub fn set_content(&self, content: Arc<dyn Content>) -> Vec<LeftOut> {
        let shelf = Arc::new(Shelf::new(content));
        let left_out = shelf.left_out();
        self.state.phase.send_modify(|phase| phase.shelf = Some(shelf));
        left_out
    }

    /// Listens at an address and answers from threads of its own until it is stopped.
    ///
    /// Port 0 takes any free port; [`Listening::address`] tells which. A socket that a server left
    /// behind is replaced; one that a server answers on is not. A server may listen at several
    /// addresses; stopping at one of them stops it at all of them, and it may listen again after that.
    pub fn listen(&self, address: &Address) -> Result<Listening, ServerError> {
        let threads = available_parallelism().map_or(1, NonZero::get).min(MAX_SERVING_THREADS);
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("registry")
            .enable_all()
            .build()
            .map_err(|source| ServerError::Threads { source })?;
        let listener = runtime.block_on(Listener::bind(address))?;
        let address = listener.address().clone();
        let socket = listener.socket();
        self.state.phase.send_modify(|phase| phase.is_stopping = false);
        let served = serve(Arc::clone(&self.state), listener);
        let serving = runtime.spawn(served);
        runtime.spawn(sweep(Arc::clone(&self.state)));
        Ok(Listening { state: Arc::clone(&self.state), address, socket, runtime, serving })
    }
}

async fn serve(state: Arc<State>, listener: Listener) -> Result<(), transport::Error> {
    let mut phases = state.phase.subscribe();
    let routes = routes(&state);
    let stopped = async move {
        let _ = phases.wait_for(|phase| phase.is_stopping).await;
    };
    let connections = Arc::clone(&state.connections);
    let counted = Counted { routes: routes.prepare(), connections: Arc::clone(&connections) };
    Transport::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEP_ALIVE_TIMEOUT))
        .max_concurrent_streams(connections.limits().calls_per_connection)
        .serve_with_incoming_shutdown(counted, Incoming::start(listener, connections), stopped)
        .await
}

/// Closes connections whose time is over, for as long as the runtime lives.
async fn sweep(state: Arc<State>) {
    let mut stopping = None;
    loop {
        sleep(state.connections.sweep_pause()).await;
        let now = Instant::now();
        stopping = state.phase.borrow().is_stopping.then(|| stopping.unwrap_or(now));
        state.connections.sweep(now, stopping);
    }
}

fn routes(state: &Arc<State>) -> Routes {
    let registry = RegistryServer::new(RegistryService { state: Arc::clone(state) })
        .accept_compressed(Gzip)
        .max_decoding_message_size(MAX_REQUEST_BYTES)
        .max_encoding_message_size(MAX_BUNDLE_MESSAGE_BYTES);
    let experimental =
        ExperimentalRegistryServer::new(ExperimentalService { state: Arc::clone(state) })
            .accept_compressed(Gzip)
            .max_decoding_message_size(MAX_REQUEST_BYTES)
            .max_encoding_message_size(MAX_BUNDLE_MESSAGE_BYTES);
    let health = HealthServer::new(HealthService { state: Arc::clone(state) })
        .accept_compressed(Gzip)
        .max_decoding_message_size(MAX_REQUEST_BYTES);
    let describe = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let readable = "bug: the descriptions that were compiled in can be read";
    Routes::new(registry)
        .add_service(experimental)
        .add_service(health)
        .add_service(describe().build_v1().expect(readable))
        // Older clients, grpcurl among them, ask in the older version of reflection.
        .add_service(describe().build_v1alpha().expect(readable))
}

/// A server that listens.
#[derive(Debug)]
pub struct Listening {
    state: Arc<State>,
    address: Address,
    socket: Option<incoming::SocketFile>,
    runtime: Runtime,
    serving: JoinHandle<Result<(), transport::Error>>,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Every call that was under way got its whole answer.
    Drained,
    /// Some calls took longer than they were given and were cut off.
    CutOff,
}

impl Listening {
    /// Returns the address it listens at, with the port it really has.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Serves until the process is asked to end by SIGTERM or SIGINT, then stops.
    pub fn serve_until_signal(mut self, drain: Duration) -> Result<Stopped, ServerError> {
        let asked = self.runtime.block_on(async {
            let watch = |kind| signal(kind).map_err(|source| ServerError::Threads { source });
            let (mut terminate, mut interrupt) =
                (watch(SignalKind::terminate())?, watch(SignalKind::interrupt())?);
            tokio::select! {
                _ = terminate.recv() => Ok(None),
                _ = interrupt.recv() => Ok(None),
                ended = &mut self.serving => Ok(Some(ended)),
            }
        })?;
        match asked {
            None => self.stop(drain),
            // The loop of the server ends only when it is told to, or when it is broken.
            Some(_) => Err(ServerError::Ended { address: self.address.to_string() }),
        }
    }

    /// Serves until the caller is asked to stop, then stops.
    pub fn serve_until(
        self,
        is_stopping: impl Fn() -> bool,
        drain: Duration,
    ) -> Result<Stopped, ServerError> {
        while !is_stopping() {
            // The loop of the server ends only when it is told to, or when it is broken.
            if self.serving.is_finished() {
                return Err(ServerError::Ended { address: self.address.to_string() });
            }
            thread::sleep(STOP_POLL);
        }
        self.stop(drain)
    }

    /// Takes no new connection, lets calls under way finish for as long as `drain`, and ends.
    pub fn stop(mut self, drain: Duration) -> Result<Stopped, ServerError> {
        self.state.phase.send_modify(|phase| phase.is_stopping = true);
        let ended = self.runtime.block_on(async { timeout(drain, &mut self.serving).await });
        // Reading a document may block; nobody waits for its answer any more.
        self.runtime.shutdown_background();
        drop(self.socket);
        match ended {
            Ok(Ok(Ok(()))) => Ok(Stopped::Drained),
            Ok(_) => Err(ServerError::Ended { address: self.address.to_string() }),
            Err(_) => Ok(Stopped::CutOff),
        }
    }
}
