//! How a cluster is spoken to.

use std::time::Duration;

use operon_kinds::names::FIELD_MANAGER;

use crate::{
    flow::{PARALLEL_REQUESTS, REQUESTS_BURST, REQUESTS_PER_SECOND},
    follow::{WATCH_SILENCE, WATCH_TIMEOUT},
    lease::LeaseOptions,
    request::REQUEST_TIMEOUT,
};

/// How a cluster is spoken to.
#[derive(Debug, Clone)]
pub struct Options {
    /// The name that fields are recorded under that are written otherwise than by applying.
    pub manager: String,
    /// How many requests leave in a second when the burst is over.
    pub requests_per_second: u32,
    /// How many requests may leave at once after a time of rest.
    pub requests_burst: u32,
    /// How many requests are under way at a time.
    pub parallel_requests: usize,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// How long the server is asked to keep a watch open.
    pub watch_timeout: Duration,
    /// How long a watch may be silent before it is taken for dead.
    pub watch_silence: Duration,
    /// The lease without which nothing is written; nothing where only one process writes.
    pub lease: Option<LeaseOptions>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            manager: FIELD_MANAGER.to_owned(),
            requests_per_second: REQUESTS_PER_SECOND,
            requests_burst: REQUESTS_BURST,
            parallel_requests: PARALLEL_REQUESTS,
            request_timeout: REQUEST_TIMEOUT,
            watch_timeout: WATCH_TIMEOUT,
            watch_silence: WATCH_SILENCE,
            lease: None,
        }
    }
}
