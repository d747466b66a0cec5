//! The registry from outside: real sockets, a client in another language, and servers that lie.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod addresses;
mod answers;
mod content;
mod endurance;
mod fetching;
mod hostile;
mod limits;
mod other_language;
mod phases;
mod proxies;
mod vectors;
