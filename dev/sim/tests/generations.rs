//! Records of generations where more of them are needed than are kept.

use operon_lifecycle::{GENERATION_LABEL, Settings};
use operon_object::{Object, known};
use operon_sim::{SimStage, Stage as _, parse_scenario, run_scenario};

/// Fewer than the Subscriptions of the story.
const KEPT: usize = 1;

const STORY: &str = "about: more Subscriptions than generations that are kept
catalogs:
  olm/demo:
    a: { channels: { stable: [1.0.0] } }
    b: { channels: { stable: [1.0.0] } }
    c: { channels: { stable: [1.0.0] } }
script:
- group: shop
- subscribe: shop a/stable from olm/demo
- settle
- subscribe: shop b/stable from olm/demo
- settle
- subscribe: shop c/stable from olm/demo
- settle
- delete: sa shop/a-operator
- settle
- expect:
    sa shop/a-operator: present
    csv shop/a.v1.0.0: Succeeded
";

const UPDATES: &str = "about: three updates of one operator
catalogs:
  olm/demo:
    a: { channels: { stable: [1.0.0, 2.0.0 replaces 1.0.0, 3.0.0 replaces 2.0.0, 4.0.0 replaces 3.0.0] } }
script:
- group: shop
- subscribe: shop a/stable from olm/demo starting 1.0.0
- settle
- expect:
    csv shop/a.v4.0.0: Succeeded
";

/// Plays a story to its end and returns the generations that are left.
fn play(story: &str, settings: Settings) -> Vec<Object> {
    let mut stage = SimStage::with_settings(settings);
    let scenario = parse_scenario(story).expect("a scenario");
    run_scenario(&scenario, &mut stage).expect("it comes out as it says");
    let revisions = stage.list(&known::CONTROLLER_REVISION).expect("a list");
    revisions.into_iter().filter(|object| !object.label(GENERATION_LABEL).is_empty()).collect()
}

#[test]
fn generations_outlive_the_limit_while_plans_exist() {
    let settings = Settings { kept_generations: KEPT, ..Settings::default() };
    assert_eq!(play(STORY, settings).len(), 3, "one for each plan");
}

#[test]
fn generations_without_plans_are_limited() {
    let settings = Settings { kept_generations: KEPT, kept_plans: 1, ..Settings::default() };
    let revisions: Vec<i64> = play(UPDATES, settings)
        .iter()
        .filter_map(|object| object.at(&["revision"]).as_integer())
        .collect();
    assert_eq!(revisions.len(), 1 + KEPT, "that of the plan, and {KEPT} more: {revisions:?}");
    assert!(revisions.contains(&4) && revisions.contains(&3), "the newest: {revisions:?}");
}
