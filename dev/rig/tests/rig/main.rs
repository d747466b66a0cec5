//! Rigs as tests use them: real, disturbed at will, and gone afterwards without a trace.
//!
//! Where no rig can run, or its programs are not built, the tests say so and pass.

mod control_plane;
mod node;
mod traces;
