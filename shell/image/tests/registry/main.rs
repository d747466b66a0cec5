//! Images from real registries, and from servers that do not behave.
//!
//! The registry is Debian's `docker-registry`, the images are made by `umoci` and `skopeo`. Where one of them
//! is not installed, the tests that need it say so and pass.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

mod child;
mod fairness;
mod faults;
mod identity;
mod injector;
mod network;
mod pulling;
mod pushing;
mod signing;
mod support;
mod trust;
