//! The engine on a real cluster: what scenarios say, with real controllers and real pods.
//!
//! [`Proving`] prepares a rig once; each scenario gets a [`KubeStage`] on it and is swept away
//! afterwards. The engine, the driver and the adapter are those that ship; only catalogs and the clock
//! are the scenario's. Nothing here decides what should come out: scenarios say that, and
//! [`Remains`] compares the end with that of the simulator.

mod api_metrics;
mod clock;
mod controller;
pub mod harbour;
mod installation;
mod left_out;
mod place;
mod pods;
mod probes;
mod proving;
mod remains;
pub mod shelf;
mod stage;
mod sweep;

pub use self::{
    clock::Clock,
    controller::{Controller, operon_program, static_program},
    installation::{ACCOUNT, Installation, PATIENCE, SYSTEM},
    left_out::LEFT_OUT,
    place::{Queue, rigs_for_proof, side_by_side},
    probes::Probes,
    proving::{Outcome, Proving},
    remains::Remains,
    stage::{KubeStage, QUIET, SETTLE_PATIENCE},
};
