//! The embedded cluster: what Operon works on when there is no other one.
//!
//! A [`LocalCluster`] keeps every object in one file and does with them what an API server does;
//! what it has acknowledged is there again after a crash. Only one process can have the file open,
//! so it can [`serve`] a socket, through which others reach the same cluster as a [`RemoteCluster`].
//! [`connect_or_open`] gives whichever of the two there is. No rule of the domain is here.

mod access;
mod bootstrap;
mod call;
mod cluster;
mod covered;
mod disk;
mod file;
mod frame;
mod open_error;
mod opening;
mod options;
mod refusal;
mod remote;
mod serve;
mod socket;
mod state;
mod store;

pub use self::{
    access::{Access, LOCK_PATIENCE, SOCKET_FILE, STORE_FILE, connect_or_open},
    bootstrap::NAMESPACES,
    cluster::{APPLY_MANAGER, LocalCluster},
    covered::{changes_covered, list_covered},
    file::create_directory,
    frame::FRAME_BYTES_LIMIT,
    open_error::OpenError,
    opening::{COMPACT_ABOVE_BYTES, FORMAT},
    options::{Clock, Notify, Options, system_clock},
    refusal::refused,
    remote::{ANSWER_PATIENCE, ConnectError, RemoteCluster},
    serve::{FRAME_PATIENCE, IDLE_LIMIT, PEERS_LIMIT, Service, serve},
    socket::ServeError,
    state::{ADVANCE_STEPS_LIMIT, REQUEST_STEPS_LIMIT},
};
