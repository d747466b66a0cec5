//! The adapter on a real API server: the contract of the port, and everything that can happen to a
//! connection. Where no cluster can run, the tests say so and pass.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod contract;
mod follower;
mod following;
mod leading;
mod support;
mod writing;
