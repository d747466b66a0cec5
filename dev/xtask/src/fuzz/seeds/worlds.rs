//! Seeds for `generations`: the objects of every lifecycle scenario, each time that it settles.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context;
use operon_object::{Object, known};
use operon_sim::{Scenario, SimStage, Step, parse_scenario, run_scenario};

/// The largest input that is kept: mutation of larger ones finds little.
const MAX_BYTES: usize = 32 * 1024;

/// Runs the scenarios below `root` on simulated clusters, and returns the distinct states as manifests.
pub(super) fn inputs(root: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut inputs = BTreeSet::new();
    for folder in fs::read_dir(root.join("scenarios/lifecycle"))? {
        let path = folder?.path().join("scenario.yaml");
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let scenario = parse_scenario(&text).map_err(|error| anyhow::anyhow!("{error}"))?;
        for (index, step) in scenario.steps.iter().enumerate() {
            if !matches!(step, Step::Settle) {
                continue;
            }
            let steps = scenario.steps[..=index].to_vec();
            let begun = Scenario { about: String::new(), steps };
            let mut stage = SimStage::new();
            if run_scenario(&begun, &mut stage).is_ok() {
                inputs.insert(manifests(stage.cluster().objects()));
            }
        }
    }
    inputs.retain(|input| input.len() <= MAX_BYTES);
    Ok(inputs.into_iter().collect())
}

/// Writes objects as JSON lines, without CRDs and without the record of who wrote which field.
fn manifests(objects: Vec<Object>) -> Vec<u8> {
    let mut lines = Vec::new();
    for mut object in objects {
        if object.kind() == known::CUSTOM_RESOURCE_DEFINITION {
            continue;
        }
        object.metadata_mut().remove("managedFields");
        lines.extend(format!("{}\n", object.value()).into_bytes());
    }
    lines
}
