//! The documentation of the language of scenarios.

use operon_sim::{SimStage, parse_scenario, run_scenario};

/// Runs the examples of `scenarios/README.md`, so that what it shows is what works.
#[test]
fn examples_of_the_readme_run() {
    let readme = include_str!("../../../scenarios/README.md");
    let examples: Vec<&str> = readme
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"))
        .map(|(example, _)| example)
        .collect();
    assert!(!examples.is_empty(), "the README has examples");
    for example in examples {
        let scenario = parse_scenario(example).expect("an example is a scenario");
        run_scenario(&scenario, &mut SimStage::new()).expect("an example runs");
    }
}
