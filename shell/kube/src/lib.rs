//! The Cluster port on a real API server.
//!
//! [`KubeCluster`] lists, watches, reads and writes objects as they are: trees, whose every field is
//! kept. Watches go on through everything that happens to connections and servers; writes are never
//! repeated blindly, and with a lease only the leader makes them. Which objects there should be is not
//! decided here.

mod about;
mod answer;
mod backoff;
mod behalf;
mod board;
mod cluster;
mod connect;
mod counters;
mod discovery;
mod fence;
mod flow;
mod follow;
mod identity;
mod lease;
mod options;
mod request;
mod resource;
mod shared;
mod write;

pub use self::{
    backoff::{FIRST_RECONNECT, FIRST_REPEAT, LONGEST_ABSENCE, LONGEST_RECONNECT, LONGEST_REPEAT},
    board::{QUEUE_BYTES_LIMIT, QUEUE_LIMIT},
    cluster::{FAREWELL_PATIENCE, KubeCluster},
    connect::{CONNECT_TIMEOUT, ConnectError, KEEP_ALIVE, Place, UNACKNOWLEDGED_LIMIT},
    counters::{Answered, Counters, Verb},
    discovery::REFRESH_PAUSE,
    fence::{LEAST_PART_LEFT, WRITE_MARGIN_PART},
    flow::{PARALLEL_REQUESTS, REQUESTS_BURST, REQUESTS_PER_SECOND},
    follow::{EVENT_BYTES_LIMIT, LISTING_TRIES, PAGE_LIMIT, WATCH_SILENCE, WATCH_TIMEOUT},
    identity::process_identity,
    lease::{
        LEASE_DURATION, LEASE_NAME, LEASE_REQUEST_TIMEOUT, LEASE_RETRY, Leadership, LeaseOptions,
    },
    options::Options,
    request::{ANSWER_BYTES_LIMIT, LONGEST_RETRY_AFTER, REQUEST_TIMEOUT, REQUEST_TRIES},
};
