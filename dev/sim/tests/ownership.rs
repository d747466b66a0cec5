//! Objects that more than one owner wants to have.

use std::time::Duration;

use operon_object::{Object, known};
use operon_sim::{SimStage, Stage as _, parse_scenario, run_scenario};

/// One package brings a kind that the engine watches, one a kind that it reads before it writes, one both.
const STORY: &str = "about: three Subscriptions at once
catalogs:
  olm/demo:
    one:
      channels: { stable: [1.0.0] }
      objects:
      - { apiVersion: v1, kind: ConfigMap, metadata: { name: shared }, data: { of: one.v1.0.0 } }
      - { apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: { name: shared }, rules: [{ apiGroups: [one], resources: [pods], verbs: [get] }] }
    two:
      channels: { stable: [1.0.0] }
      objects:
      - { apiVersion: v1, kind: ConfigMap, metadata: { name: shared }, data: { of: two.v1.0.0 } }
    three:
      channels: { stable: [1.0.0] }
      objects:
      - { apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: { name: shared }, rules: [{ apiGroups: [three], resources: [pods], verbs: [get] }] }
script:
- group: shop
- subscribe: shop one/stable from olm/demo
- subscribe: shop two/stable from olm/demo
- subscribe: shop three/stable from olm/demo
- wait: 5m
";

/// A person has a Deployment of an operator's name, and deletes it later.
const TAKEN: &str = "about: a name that is taken
catalogs:
  olm/demo:
    one: { channels: { stable: [1.0.0] } }
script:
- group: shop
- apply: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: { name: one-operator, namespace: shop }
    spec:
      selector: { matchLabels: { app: theirs } }
      template:
        metadata: { labels: { app: theirs } }
        spec: { containers: [{ name: theirs, image: example.com/theirs }] }
- subscribe: shop one/stable from olm/demo
- wait: 10m
- expect:
    csv shop/one.v1.0.0: { status.phase: Failed, status.message: ~shop/one-operator already exists }
";

const FREED: &str = "about: the name is free again
script:
- delete: deploy shop/one-operator
- wait: 2m
- expect:
    csv shop/one.v1.0.0: Succeeded
";

fn play(story: &str, stage: &mut SimStage) {
    let scenario = parse_scenario(story).expect("a scenario");
    run_scenario(&scenario, stage).expect("it comes out as it says");
}

#[test]
fn taken_names_are_retried_without_writes() {
    let mut stage = SimStage::new();
    play(TAKEN, &mut stage);
    let before = stage.cluster().writes();
    stage.wait(Duration::from_secs(3600)).expect("an hour passes");
    assert_eq!(stage.cluster().writes(), before, "nothing new is reported");
    play(FREED, &mut stage);
}

fn list(stage: &mut SimStage, kind: &operon_object::Kind) -> Vec<Object> {
    let found = stage.list(kind).expect("a list");
    found.into_iter().filter(|object| object.namespace() == "shop").collect()
}

#[test]
fn plans_at_once_do_not_share_objects() {
    let mut stage = SimStage::new();
    play(STORY, &mut stage);
    let maps = list(&mut stage, &known::CONFIG_MAP);
    let map = maps.iter().find(|object| object.name() == "shared").expect("a ConfigMap");
    let roles = list(&mut stage, &known::ROLE);
    let role = roles.iter().find(|object| object.name() == "shared").expect("a Role");
    let owner = |object: &Object| {
        let owners: Vec<String> = object.owners().map(|owner| owner.name).collect();
        assert_eq!(owners.len(), 1, "{} has one owner: {owners:?}", object.key());
        owners[0].clone()
    };
    assert_eq!(map.at(&["data", "of"]).str(), owner(map), "it holds what its owner brought");
    let group = role.at(&["rules"]).elements()[0].get("apiGroups").iter_texts().next();
    assert_eq!(group.map(|group| format!("{group}.v1.0.0")), Some(owner(role)));
    for plan in list(&mut stage, &known::INSTALL_PLAN) {
        let operators = plan.at(&["spec", "clusterServiceVersionNames"]);
        let operator = operators.iter_texts().next().expect("an operator").to_owned();
        let is_owner = |object| owner(object) == operator;
        let wants_map = operator != "three.v1.0.0";
        let wants_role = operator != "two.v1.0.0";
        let has_all = (!wants_map || is_owner(map)) && (!wants_role || is_owner(role));
        let status = plan.status();
        let (phase, message) = (status.get("phase").str(), status.get("message").str());
        assert_eq!(phase, if has_all { "Complete" } else { "Failed" }, "{operator}: {message}");
        if !has_all {
            let taken = "already exists and belongs to ClusterServiceVersion shop/";
            assert!(message.contains(taken), "{operator}: {message}");
        }
    }
}
