//! The server as its wrappers see it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod apply;
mod controllers;
mod custom;
mod deployments;
mod properties;
mod requests;
mod support;
