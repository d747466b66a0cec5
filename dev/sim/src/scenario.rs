//! Scenarios: what the product does, as data.
//!
//! A scenario says which catalogs there are, what people do, and what can be seen then. It does not say
//! where it runs: every place that can do what a [`Stage`] does can run it.
//!
//! ```yaml
//! about: An operator moves one version at a time.
//! catalogs:
//!   olm/demo:
//!     etcd:
//!       provides: [EtcdCluster.v1.etcd.example.com]
//!       channels: { stable: [0.9.0, 0.9.2 replaces 0.9.0] }
//! script:
//! - group: shop
//! - subscribe: shop etcd/stable from olm/demo
//! - settle
//! - expect: { csv shop/etcd.v0.9.2: Succeeded }
//! ```

mod catalog;
mod expect;
mod parse;
mod run;

use std::time::Duration;

use operon_object::{Object, ObjectKey, Value};
use operon_resolve::SourceName;

use crate::Publication;

pub use self::{
    expect::Expectation,
    parse::{ScenarioError, parse_scenario},
    run::{Failure, run_scenario},
};

/// A scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it shows, for people.
    pub about: String,
    /// What is there in the beginning, and what happens.
    pub steps: Vec<Step>,
}

/// One thing that happens, or is expected.
#[derive(Debug, Clone)]
pub enum Step {
    /// Somebody publishes a catalog.
    Publish(SourceName, Publication),
    /// A catalog cannot be read from now on, for a reason; or can again, with none.
    Hinder(SourceName, String),
    /// The contents of a bundle cannot be had from now on, for a reason; or can again, with none.
    HinderBundle(SourceName, String, String),
    /// Somebody applies an object.
    Apply(Object),
    /// Somebody changes an object: a merge patch of everything or of the status.
    Patch {
        /// The object.
        key: ObjectKey,
        /// The patch.
        patch: Value,
        /// Whether it is about the status.
        is_status: bool,
    },
    /// Somebody deletes an object.
    Delete(ObjectKey),
    /// Somebody approves, or refuses, every plan of a namespace that waits for it.
    Answer {
        /// The namespace.
        namespace: String,
        /// Whether the answer is yes.
        is_yes: bool,
    },
    /// Somebody takes an operator away, with those who need it.
    Uninstall {
        /// The namespace.
        namespace: String,
        /// The operator, its package or its Subscription.
        name: String,
    },
    /// Somebody goes back to the operator before, or to an earlier one.
    RollBack {
        /// The namespace.
        namespace: String,
        /// The operator, its package or its Subscription.
        name: String,
        /// The version.
        to: Option<String>,
    },
    /// Everything that can happen without time passing happens.
    Settle,
    /// Time passes, and everything that can happen then happens.
    Wait(Duration),
    /// The controller is killed and started again.
    Restart,
    /// This can be seen now.
    Expect(Expectation),
    /// An operator went through these phases, in this order, since the scenario began.
    Saw {
        /// The operator.
        key: ObjectKey,
        /// The phases, each with or without its reason behind a `/`. `never Pending` means that the
        /// phase did not follow the ones before it.
        phases: Vec<String>,
    },
}

/// Where a scenario runs.
pub trait Stage {
    /// Publishes a catalog under the name of a CatalogSource.
    fn publish(&mut self, name: &SourceName, publication: &Publication) -> Result<(), String>;
    /// Makes a catalog unreadable, or readable again.
    fn hinder(&mut self, name: &SourceName, reason: &str) -> Result<(), String>;
    /// Makes the contents of a bundle unavailable, or available again.
    fn hinder_bundle(
        &mut self,
        catalog: &SourceName,
        bundle: &str,
        reason: &str,
    ) -> Result<(), String>;
    /// Applies an object as a person does.
    fn apply(&mut self, object: &Object) -> Result<(), String>;
    /// Changes an object by a merge patch.
    fn patch(&mut self, key: &ObjectKey, patch: &Value, is_status: bool) -> Result<(), String>;
    /// Deletes an object.
    fn delete(&mut self, key: &ObjectKey) -> Result<(), String>;
    /// Takes an operator away, with those who need it.
    fn uninstall(&mut self, namespace: &str, name: &str) -> Result<(), String>;
    /// Goes back to the operator before.
    fn roll_back(&mut self, namespace: &str, name: &str, to: Option<&str>) -> Result<(), String>;
    /// Lets everything happen that can happen without time passing.
    fn settle(&mut self) -> Result<(), String>;
    /// Lets time pass.
    fn wait(&mut self, duration: Duration) -> Result<(), String>;
    /// Kills the controller and starts it again.
    fn restart(&mut self) -> Result<(), String>;
    /// Returns all objects of a kind.
    fn list(&mut self, kind: &operon_object::Kind) -> Result<Vec<Object>, String>;
    /// Returns the phases that an operator was seen in, each with its reason behind a `/`.
    fn phases(&mut self, key: &ObjectKey) -> Vec<String>;
    /// Returns how long what is expected may take to be seen: not at all, unless others than the stage
    /// itself have a hand in it.
    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}
