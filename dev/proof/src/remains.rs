//! What a scenario ends with, in a form that is the same on every stage.
//!
//! Times, identities and versions of objects differ from run to run and are left out; so is what only a
//! real cluster has, such as accounts that it makes by itself.

use std::collections::BTreeMap;

use operon_object::{Kind, Object, Value, known};
use operon_sim::Stage;

/// The kinds that are compared.
const COMPARED: &[Kind] = &[
    known::SERVICE_ACCOUNT,
    known::SECRET,
    known::CONFIG_MAP,
    known::SERVICE,
    known::DEPLOYMENT,
    known::CONTROLLER_REVISION,
    known::ROLE,
    known::ROLE_BINDING,
    known::CLUSTER_ROLE,
    known::CLUSTER_ROLE_BINDING,
    known::CUSTOM_RESOURCE_DEFINITION,
    known::VALIDATING_WEBHOOK_CONFIGURATION,
    known::PRIORITY_CLASS,
    known::POD_DISRUPTION_BUDGET,
    known::CLUSTER_SERVICE_VERSION,
    known::INSTALL_PLAN,
    known::SUBSCRIPTION,
    known::CATALOG_SOURCE,
    known::OPERATOR_GROUP,
    known::OPERATOR_CONDITION,
    known::OPERATOR,
];

/// The objects at the end of a scenario, each with what is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remains {
    objects: BTreeMap<String, String>,
}

impl Remains {
    /// Looks at a stage.
    pub fn of(stage: &mut impl Stage) -> Result<Self, String> {
        let mut objects = BTreeMap::new();
        for kind in COMPARED {
            for object in stage.list(kind)? {
                let mut name = object.key().to_string();
                if *kind == known::CONTROLLER_REVISION {
                    // The end of its name is made of identities.
                    name.truncate(name.rfind('-').unwrap_or(name.len()));
                }
                if *kind == known::INSTALL_PLAN {
                    // Its name counts the plans that were made before it: a real cluster may show one
                    // of two Subscriptions first.
                    let operators = object.at(&["spec", "clusterServiceVersionNames"]);
                    name = format!("InstallPlan {} {operators}", object.namespace());
                }
                objects.insert(name, summary(&object));
            }
        }
        Ok(Self { objects })
    }

    /// Leaves out what was there before.
    pub fn without(mut self, before: &Self) -> Self {
        self.objects.retain(|key, _| !before.objects.contains_key(key));
        let by_the_cluster = |key: &str| {
            key.ends_with("/default") && key.starts_with("ServiceAccount")
                || key.ends_with("kube-root-ca.crt")
        };
        self.objects.retain(|key, _| !by_the_cluster(key));
        self
    }

    /// Says what is otherwise in the given ones, the expected ones.
    pub fn differences(&self, expected: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (key, wanted) in &expected.objects {
            match self.objects.get(key) {
                None => found.push(format!("{key} is missing")),
                Some(said) if said != wanted => {
                    found.push(format!("{key} is `{said}` instead of `{wanted}`"));
                }
                Some(_) => {}
            }
        }
        let extra = self.objects.keys().filter(|key| !expected.objects.contains_key(*key));
        found.extend(extra.map(|key| format!("{key} should not be there")));
        found
    }
}

fn summary(object: &Object) -> String {
    let status = object.status();
    let words = |names: &[&str]| {
        let words = names.iter().map(|name| status.get(name).str());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    match object.kind() {
        kind if kind == known::CLUSTER_SERVICE_VERSION => words(&["phase", "reason", "message"]),
        kind if kind == known::INSTALL_PLAN => words(&["phase", "message"]),
        kind if kind == known::SUBSCRIPTION => {
            let conditions = status.get("conditions").elements().iter();
            let mut conditions: Vec<String> = conditions
                .map(|condition| {
                    let [name, value, reason] =
                        ["type", "status", "reason"].map(|name| condition.get(name).str());
                    format!(" {name}={value}/{reason}")
                })
                .collect();
            // They stand in the order in which they came up.
            conditions.sort();
            format!("{}{}", words(&["state", "installedCSV", "currentCSV"]), conditions.concat())
        }
        kind if kind == known::OPERATOR_GROUP => status.get("namespaces").to_string(),
        kind if [known::ROLE, known::CLUSTER_ROLE].contains(&kind) => {
            // A cluster writes no rules as `null`.
            Value::list(object.at(&["rules"]).elements().iter().cloned()).to_string()
        }
        _ => String::new(),
    }
}
