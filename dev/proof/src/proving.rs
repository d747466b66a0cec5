//! Running scenarios on a rig, one after the other.

use std::time::{Duration, Instant};

use operon_kube::{KubeCluster, Place};
use operon_rig::{BUSYBOX_IMAGE, Rig};
use operon_sim::{Scenario, SimStage, Stage, run_scenario};

use crate::{
    KubeStage, Probes, Remains, pods,
    stage::{REFUSED, unlimited},
    sweep::Sweep,
};

/// For how long nothing may be written after a scenario.
const REST: Duration = Duration::from_secs(1);

/// How long an API server may take to follow a policy.
const POLICY_PATIENCE: Duration = Duration::from_secs(30);

/// A rig that is ready for scenarios. It is made and used inside the rig's network.
#[derive(Debug)]
pub struct Proving {
    place: Place,
    janitor: KubeCluster,
    probes: Probes,
    sweep: Sweep,
}

/// What came of a scenario.
#[derive(Debug)]
pub struct Outcome {
    /// What was otherwise than it should be; nothing if all is well.
    pub faults: Vec<String>,
    /// How long the scenario took.
    pub took: Duration,
    /// How long it took to take away what it left.
    pub swept: Duration,
    /// How much the engine wrote.
    pub writes: u64,
}

impl Proving {
    /// Makes a rig ready: our CRDs, the namespace of catalogs, and pods that do what scenarios say.
    pub fn new(rig: &Rig) -> Result<Self, String> {
        let place = Place::Kubeconfig { file: Some(rig.kubeconfig()), context: None };
        let janitor =
            KubeCluster::connect(&place, unlimited("rig")).map_err(|error| error.to_string())?;
        let probes = Probes::listen().map_err(|error| error.to_string())?;
        let said = |error: operon_rig::RigError| error.to_string();
        rig.apply(&pods::manifests(probes.port())).map_err(said)?;
        rig.kubectl(&["label", "nodes", "--all", "--overwrite", "disk=ssd"]).map_err(said)?;
        let namespace = operon_object::Object::new("v1", "Namespace", "", "olm");
        for object in operon_api::crd_objects().iter().chain([&namespace]) {
            janitor.apply_as(object, "rig").map_err(|error| error.message)?;
        }
        rig.wait_for_definitions().map_err(said)?;
        wait_for_policy(rig)?;
        let sweep = Sweep::keeping(&janitor)?;
        Ok(Self { place, janitor, probes, sweep })
    }

    /// Runs a scenario, compares its end with that of the simulator, and takes away what it left.
    pub fn prove(&self, scenario: &Scenario) -> Outcome {
        let begun = Instant::now();
        let mut faults = Vec::new();
        let mut writes = 0;
        match KubeStage::new(&self.place, &self.probes) {
            Err(reason) => faults.push(reason),
            Ok(mut stage) => {
                if let Err(reason) = play(scenario, &mut stage, &mut faults) {
                    faults.push(reason);
                }
                writes = stage.writes();
            }
        }
        let took = begun.elapsed();
        let begun = Instant::now();
        if let Err(reason) = self.sweep.run(&self.janitor) {
            faults.push(reason);
        }
        Outcome { faults, took, swept: begun.elapsed(), writes }
    }
}

/// Waits until the API server has taken the policy for pods to heart.
fn wait_for_policy(rig: &Rig) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let image = rig
            .kubectl(&[
                "run",
                "pretended",
                "--image=example.com/pretended",
                "--dry-run=server",
                "--output=jsonpath={.spec.containers[0].image}",
            ])
            .map_err(|error| error.to_string())?;
        if image.trim() == BUSYBOX_IMAGE {
            return Ok(());
        }
        if begun.elapsed() > POLICY_PATIENCE {
            return Err(format!("pods still come with the image {image}"));
        }
    }
}

fn play(
    scenario: &Scenario,
    stage: &mut KubeStage,
    faults: &mut Vec<String>,
) -> Result<(), String> {
    let before = Remains::of(stage)?;
    run_scenario(scenario, stage).map_err(|failure| failure.to_string())?;
    let written = stage.rest(REST)?;
    faults.extend(written.iter().map(|deed| format!("was not at rest: {deed}")));
    // One that begins anew decides everything again; only what was refused it tries once more.
    stage.restart()?;
    let written = stage.rest_at_once(REST)?;
    if !written.iter().any(|deed| deed.contains(REFUSED)) {
        faults.extend(written.iter().map(|deed| format!("was done anew after a restart: {deed}")));
    }
    stage.settle()?;
    let remains = Remains::of(stage)?.without(&before);
    let mut simulated = SimStage::new();
    let empty = Remains::of(&mut simulated)?;
    run_scenario(scenario, &mut simulated).map_err(|failure| failure.to_string())?;
    let expected = Remains::of(&mut simulated)?.without(&empty);
    faults.extend(remains.differences(&expected));
    Ok(())
}
