//! Scenarios and simulated clusters.
//!
//! The engine and the driver are the real ones; the cluster, the catalogs and the clock are simulated,
//! so that hours pass in milliseconds and every run of a seed is the same.

mod bundle;
mod catalogs;
pub mod chaos;
mod cluster;
mod scenario;
mod stage;

pub use self::{
    bundle::{Api, Bundle},
    catalogs::{Channel, Publication, SimCatalogs},
    cluster::{Author, SimCluster, Written},
    scenario::{
        Expectation, Failure, Scenario, ScenarioError, Stage, Step, parse_scenario, run_scenario,
    },
    stage::{BEGINNING, SimStage},
};
