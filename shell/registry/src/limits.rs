//! The limits of both ends of the API, each with its reason.
//!
//! Time limits that a caller may choose are options of the client and the server instead.

use std::time::Duration;

/// The largest message with a bundle: all manifests of a bundle may be inlined in one message, for
/// which the usual limit of 4 MiB is too tight; sixteen times that is still held easily.
pub const MAX_BUNDLE_MESSAGE_BYTES: usize = 64 << 20;

/// The largest request: all of them are a few names.
pub const MAX_REQUEST_BYTES: usize = 64 << 10;

/// How many connections a server keeps: each costs a file descriptor and some buffers. Further ones
/// wait to be accepted.
pub const MAX_CONNECTIONS: usize = 512;

/// How many calls one connection may have under way.
pub const MAX_CALLS_PER_CONNECTION: u32 = 1024;

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
