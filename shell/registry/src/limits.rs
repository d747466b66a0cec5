//! The limits of both ends of the API, each with its reason.
//!
//! Time limits that a caller may choose are options of the client and the server instead.

use std::time::Duration;

/// The largest message with a bundle: all manifests of a bundle may be inlined in one message, for
/// which the usual limit of 4 MiB is too tight; sixteen times that is still held easily.
pub const MAX_BUNDLE_MESSAGE_BYTES: usize = 64 << 20;

/// The largest request: all of them are a few names.
pub const MAX_REQUEST_BYTES: usize = 64 << 10;

/// How many connections a server keeps: each costs a file descriptor and some buffers. For a further
/// one another has to go, or it is refused: a client that waits to be accepted learns nothing.
pub const MAX_CONNECTIONS: usize = 512;

/// How many connections one address may have: clients need one each, and one address must not take
/// the place of all others, the prober of the kubelet among them.
pub const MAX_CONNECTIONS_PER_PEER: usize = 64;

/// How many calls one connection may have at once: as many as clients of HTTP/2 assume. More wait
/// at the client.
pub const MAX_CALLS_PER_CONNECTION: u32 = 100;

/// How many calls there may be at once, over all connections: each holds some four kilobytes, so
/// calls that stall hold 40 MB at most. Further ones are refused; health checks are not.
pub const MAX_CALLS: usize = 10_000;

/// How long a new connection may take until it has spoken HTTP/2: a round trip, with packets lost.
pub const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// How long a connection may be without a call: longer than the pause between two polls of a client,
/// and reconnecting costs a round trip.
pub const IDLE_LIMIT: Duration = Duration::from_mins(5);

/// How long a call may wait for its peer, to send its request or to take the next part of the answer.
/// The largest message takes less at 2 Mbit/s.
pub const STALLED_CALL_LIMIT: Duration = Duration::from_mins(5);

/// How long connections without calls may take to end by themselves when the server stops. Those that have
/// not spoken HTTP/2 are closed at once.
pub const STOP_GRACE: Duration = Duration::from_secs(1);

/// How many documents are read at once, over all calls: each may be megabytes, and twice that as JSON.
pub const MAX_DOCUMENTS_AT_ONCE: usize = 4;

/// How long a call waits for the first catalog before it is told to come again: one that was read before is
/// open within milliseconds.
pub const FIRST_CATALOG_PATIENCE: Duration = Duration::from_secs(1);

/// How many threads serve: answering is copying, so more would only cost memory.
pub const MAX_SERVING_THREADS: usize = 4;

/// How deep a document of another schema may be nested: readers of protobuf stop at a hundred
/// levels, and a level of JSON takes three.
pub const MAX_STRUCT_DEPTH: usize = 32;

/// How often a connection without traffic is asked whether its other end is still there.
pub const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);

/// How long the other end may take to say that it is there.
pub const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// How long the server waits before it accepts again after accepting failed, for example because no
/// file descriptor was free.
pub const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The limits of a server, which tests make small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// See [`MAX_CONNECTIONS`].
    pub connections: usize,
    /// See [`MAX_CONNECTIONS_PER_PEER`].
    pub connections_per_peer: usize,
    /// See [`MAX_CALLS_PER_CONNECTION`].
    pub calls_per_connection: u32,
    /// See [`MAX_CALLS`].
    pub calls: usize,
    /// See [`HANDSHAKE_LIMIT`].
    pub handshake: Duration,
    /// See [`IDLE_LIMIT`].
    pub idle: Duration,
    /// See [`STALLED_CALL_LIMIT`].
    pub stalled_call: Duration,
    /// See [`STOP_GRACE`].
    pub stop_grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: MAX_CONNECTIONS,
            connections_per_peer: MAX_CONNECTIONS_PER_PEER,
            calls_per_connection: MAX_CALLS_PER_CONNECTION,
            calls: MAX_CALLS,
            handshake: HANDSHAKE_LIMIT,
            idle: IDLE_LIMIT,
            stalled_call: STALLED_CALL_LIMIT,
            stop_grace: STOP_GRACE,
        }
    }
}
