//! Manifests as people and clusters write them, and as nobody should.

mod cluster;
mod hostile;
mod lowering;
mod reading;
mod real;
mod support;
