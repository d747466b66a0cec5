//! The registry API that catalogs are served with: server and client.
//!
//! What is served is decided in `wire/fbc`; this room carries it over the network and brings it back.
//! How a catalog is opened is not its business: whoever has one implements [`Content`].

mod address;
mod answer;
pub mod api;
mod client;
mod content;
mod error;
mod fetch;
pub mod limits;
mod server;
mod servers;
mod shelf;
mod socket;

pub use self::{
    address::{Address, AddressError},
    client::{
        CATALOG_DEADLINE, Client, ClientOptions, ConnectionState, FIRST_BACKOFF, Health,
        MAX_BACKOFF, MAX_FETCHED_BUNDLES, MAX_FETCHED_BYTES, MAX_PROXY_ANSWER_BYTES, ProxySettings,
        Stream,
    },
    content::{Content, LeftOut},
    error::{ClientError, ServerError},
    fetch::{Answers, Fetched},
    server::{Listening, Server, Stopped},
    servers::Servers,
};
