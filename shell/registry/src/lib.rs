//! The registry API that catalogs are served with: server and client.
//!
//! What is served is decided in `wire/fbc`; this room carries it over the network and brings it back.
//! How a catalog is opened is not its business: whoever has one implements [`Content`].

mod address;
mod answer;
pub mod api;
mod content;
mod error;
pub mod limits;
mod server;
mod shelf;
mod socket;

pub use self::{
    address::{Address, AddressError},
    content::{Content, LeftOut},
    error::ServerError,
    server::{Listening, Server, Stopped},
};
