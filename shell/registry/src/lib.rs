//! The registry API that catalogs are served with: server and client.
//!
//! What is served is decided in `wire/fbc`; this room carries it over the network and brings it back.
