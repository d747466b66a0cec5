//! Every scenario comes out on a real cluster as it says, and as in the simulator.
//!
//! `OPERON_SCENARIO=<name>` runs one. `OPERON_PROOF_RIG=<name>` uses a rig that runs already, such as
//! `cargo xtask rig up --name <name>` brings up; it is left running.

use std::{env, fs, path::Path, time::Instant};

use operon_proof::{LEFT_OUT, Proving, Queue, rigs_for_proof, side_by_side};
use operon_rig::Rig;
use operon_sim::{Scenario, parse_scenario};

/// How many clusters the scenarios are shared out to. Scenarios meet in namespaces and kinds of the same
/// names, so one cluster has one at a time; most of the time it waits for pods and collectors.
const RIGS: usize = 3;

#[test]
fn every_scenario_comes_out_the_same_on_a_real_cluster() {
    let rigs = rigs_for_proof("proof", RIGS);
    if rigs.is_empty() {
        return;
    }
    let scenarios = scenarios();
    let begun = Instant::now();
    let failures = side_by_side(&rigs, &scenarios, prove_some);
    let (all, failed) = (scenarios.len(), failures.len());
    println!("{} of {all} scenarios came out in {:.0?}", all - failed, begun.elapsed());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Runs on one cluster what is still waiting, one scenario after the other.
fn prove_some(rig: &Rig, queue: &Queue<'_, (String, Scenario)>) {
    let proving = Proving::new(rig).expect("a rig that can be made ready");
    while let Some((name, scenario)) = queue.next() {
        let outcome = proving.prove(scenario);
        let verdict = if outcome.faults.is_empty() { "ok" } else { "FAILED" };
        println!(
            "{verdict:6} {name:40} {:5.1} s, swept in {:4.1} s, {} writes",
            outcome.took.as_secs_f64(),
            outcome.swept.as_secs_f64(),
            outcome.writes
        );
        if !outcome.faults.is_empty() {
            queue.fail(format!("{name}:\n  {}", outcome.faults.join("\n  ")));
        }
    }
}

/// Reads the scenarios that can run on a cluster.
fn scenarios() -> Vec<(String, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lifecycle");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("there are scenarios")
        .map(|entry| entry.expect("a readable folder").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for (name, reason) in LEFT_OUT {
        assert!(names.iter().any(|known| known == name), "there is no scenario {name}");
        println!("left out: {name}: {reason}");
    }
    let wanted = env::var("OPERON_SCENARIO").unwrap_or_default();
    let is_wanted = |name: &&String| match wanted.as_str() {
        "" => !LEFT_OUT.iter().any(|(left_out, _)| left_out == name),
        wanted => wanted.split(',').any(|wanted| wanted == *name),
    };
    let read = |name: &String| {
        let text = fs::read_to_string(folder.join(name).join("scenario.yaml"));
        let text = text.expect("a scenario is a folder with `scenario.yaml`");
        (name.clone(), parse_scenario(&text).expect(name))
    };
    names.iter().filter(is_wanted).map(read).collect()
}
