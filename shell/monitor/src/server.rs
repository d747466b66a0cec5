//! The server behind which a board hangs.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use tokio::{net::TcpListener, runtime::Runtime};

use crate::{Board, Readiness};

/// The media type of Prometheus' text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How long readers under way may take when the server ends.
const DRAIN: Duration = Duration::from_millis(500);

/// A server that answers `/healthz`, `/readyz` and `/metrics`; it ends when it is dropped.
#[derive(Debug)]
pub struct Monitor {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

/// Says why nobody can ask.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen at `{address}` for health and metrics: {source}")]
pub struct ListenError {
    address: SocketAddr,
    source: io::Error,
}

impl Monitor {
    /// Begins to answer at an address what is on the board.
    pub fn listen(address: SocketAddr, board: Arc<Board>) -> Result<Self, ListenError> {
        let failed = |source| ListenError { address, source };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("operon-monitor")
            .enable_all()
            .build()
            .map_err(failed)?;
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let routes = Router::new()
            .route("/healthz", get(health))
            .route("/readyz", get(readiness))
            .route("/metrics", get(metrics))
            .with_state(board);
        runtime.spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, runtime: Some(runtime) })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(DRAIN);
        }
    }
}

async fn health(State(board): State<Arc<Board>>) -> (StatusCode, String) {
    match board.stuck() {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

async fn readiness(State(board): State<Arc<Board>>) -> (StatusCode, String) {
    match board.readiness() {
        Readiness::Ready(how) => (StatusCode::OK, format!("{how}\n")),
        Readiness::NotReady(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

async fn metrics(State(board): State<Arc<Board>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, METRICS_TYPE)], board.metrics())
}
