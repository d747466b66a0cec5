//! The embedded cluster from outside.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod contract;
mod crash;
mod damage;
mod definitions;
mod directory;
mod socket;
mod store;
mod support;
