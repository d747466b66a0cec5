//! What a running controller tells about itself: health, readiness and metrics, over HTTP.
//!
//! What there is to tell is put on a [`Board`] by whoever runs; nothing is worked out here.

mod board;
mod exposition;
mod server;

pub use self::{
    board::{Board, Readiness},
    exposition::exposition,
    server::{ListenError, Monitor},
};
