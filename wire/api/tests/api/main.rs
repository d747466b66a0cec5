//! Manifests as people and clusters write them, and as nobody should.

mod cluster;
mod crds;
mod hostile;
mod lowering;
mod objects;
mod reading;
mod real;
mod real_objects;
mod support;
mod tables;
mod writing;
