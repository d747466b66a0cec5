//! Every scenario comes out as it says, on a simulated cluster.

use std::{collections::BTreeSet, fs, path::Path};

use operon_sim::{Author, SimStage, Stage, parse_scenario, run_scenario};

#[test]
fn every_scenario_comes_out_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lifecycle");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("there are scenarios")
        .map(|entry| entry.expect("a readable folder").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let wanted = std::env::var("OPERON_SCENARIO").ok();
    let mut failures = Vec::new();
    if let Some(wanted) = wanted {
        let wanted: BTreeSet<&str> = wanted.split(',').collect();
        names.retain(|name| wanted.contains(name.as_str()));
        assert_eq!(names.len(), wanted.len(), "OPERON_SCENARIO names only scenarios that exist");
    }
    for name in &names {
        let text = fs::read_to_string(folder.join(name).join("scenario.yaml"))
            .expect("a scenario is a folder with `scenario.yaml`");
        let outcome =
            parse_scenario(&text).map_err(|error| error.to_string()).and_then(|scenario| {
                let mut stage = SimStage::new();
                run_scenario(&scenario, &mut stage).map_err(|failure| failure.to_string())?;
                begins_anew(&mut stage)
            });
        if let Err(reason) = outcome {
            failures.push(format!("{name}: {reason}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A controller that begins anew decides everything again, and finds that it is done; only what was refused
/// it tries once more, because how often something failed is forgotten.
fn begins_anew(stage: &mut SimStage) -> Result<(), String> {
    stage.settle()?;
    let cluster = stage.cluster().clone();
    cluster.forget_refusal();
    cluster.record();
    stage.restart()?;
    stage.settle()?;
    if !cluster.last_refusal().is_empty() {
        return Ok(());
    }
    let journal = cluster.take_journal();
    let written = journal.iter().filter(|written| written.author == Author::Engine);
    let keys: Vec<String> = written
        .flat_map(|written| written.changes.iter().map(|(key, _, _)| key.to_string()))
        .collect();
    if keys.is_empty() {
        return Ok(());
    }
    Err(format!("after a restart this was written: {}", keys.join(", ")))
}
