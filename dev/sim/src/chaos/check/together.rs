//! The operators of a namespace work together.
//!
//! What every operator that runs requires is there; no package runs twice; no two operators own the same
//! CRD, unless one takes the other's place.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, Timestamp, known};

use super::{EXCUSED, Objects, Sight, all, package_of, phase, within};
use crate::Author;

/// An API: the name of its CRD, and the version.
type ApiName = (String, String);

#[derive(Debug, Default)]
pub(super) struct Together {
    /// When an API was last served that is not served any more.
    lost: BTreeMap<ApiName, Timestamp>,
}

impl Together {
    pub(super) fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        if sight.key.kind == known::CUSTOM_RESOURCE_DEFINITION {
            return self.look_at_definition(sight);
        }
        if sight.key.kind != known::CLUSTER_SERVICE_VERSION || sight.author != Author::Engine {
            return Ok(());
        }
        let Some(operator) = sight.after.filter(|after| phase(after) == "Succeeded") else {
            return Ok(());
        };
        if sight.before.is_some_and(|before| phase(before) == "Succeeded") {
            return Ok(());
        }
        if let Some(other) = rival(sight.objects, operator) {
            return Err(format!("{} runs beside {other}", sight.key));
        }
        for api in required(operator) {
            let is_old_news =
                self.lost.get(&api).is_none_or(|lost| sight.time.since(*lost) > EXCUSED);
            if is_old_news && !is_there(sight.objects, operator, &api) {
                return Err(format!("{} runs without {} {}", sight.key, api.1, api.0));
            }
        }
        Ok(())
    }

    fn look_at_definition(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let now = sight.after.map(served).unwrap_or_default();
        let before = sight.before.map(served).unwrap_or_default();
        for api in &now {
            self.lost.remove(api);
        }
        for api in before.difference(&now) {
            self.lost.insert(api.clone(), sight.time);
            if sight.author != Author::Engine {
                continue;
            }
            let harmed = all(sight.objects, &known::CLUSTER_SERVICE_VERSION).find(|operator| {
                let since = operator.status().get("lastTransitionTime").str();
                let is_new =
                    Timestamp::parse(since).is_none_or(|since| sight.time.since(since) < EXCUSED);
                phase(operator) == "Succeeded"
                    && !is_new
                    && !operator.is_deleting()
                    && required(operator).contains(api)
                    && !is_there(sight.objects, operator, api)
            });
            if let Some(harmed) = harmed {
                let (name, version) = api;
                return Err(format!("{version} of {name} is taken away from {}", harmed.key()));
            }
        }
        Ok(())
    }
}

/// Looks at a cluster in which nothing is left to do.
pub(super) fn at_rest(objects: &Objects) -> Result<(), String> {
    for operator in all(objects, &known::CLUSTER_SERVICE_VERSION) {
        if phase(operator) != "Succeeded" {
            continue;
        }
        if let Some(other) = rival(objects, operator) {
            return Err(format!("{} rests beside {other}", operator.key()));
        }
        if let Some((name, version)) =
            required(operator).into_iter().find(|api| !is_there(objects, operator, api))
        {
            return Err(format!("{} rests without {version} of {name}", operator.key()));
        }
    }
    Ok(())
}

/// Returns another operator that runs in the same namespace and must not.
fn rival(objects: &Objects, operator: &Object) -> Option<String> {
    let others = within(objects, &known::CLUSTER_SERVICE_VERSION, operator.namespace());
    let mut rivals = others.filter(|other| {
        other.name() != operator.name()
            && phase(other) == "Succeeded"
            && (package_of(other.name()) == package_of(operator.name())
                || owned(other).intersection(&owned(operator)).next().is_some())
    });
    rivals.next().map(|other| other.key().to_string())
}

fn owned(operator: &Object) -> BTreeSet<&str> {
    let owned = operator.at(&["spec", "customresourcedefinitions", "owned"]).elements();
    owned.iter().map(|entry| entry.get("name").str()).collect()
}

fn listed(operator: &Object, list: &str) -> BTreeSet<ApiName> {
    let entries = operator.at(&["spec", "customresourcedefinitions", list]).elements();
    let text = |entry: &operon_object::Value, name: &str| entry.get(name).str().to_owned();
    entries.iter().map(|entry| (text(entry, "name"), text(entry, "version"))).collect()
}

fn required(operator: &Object) -> BTreeSet<ApiName> {
    listed(operator, "required")
}

fn served(definition: &Object) -> BTreeSet<ApiName> {
    let versions = definition.spec().get("versions").elements();
    let served = versions.iter().filter(|version| version.get("served").as_bool() == Some(true));
    served
        .map(|version| (definition.name().to_owned(), version.get("name").str().to_owned()))
        .collect()
}

fn is_there(objects: &Objects, operator: &Object, api: &ApiName) -> bool {
    let definition = objects.get(&known::CUSTOM_RESOURCE_DEFINITION.key("", &api.0));
    let is_served = definition.is_some_and(|definition| served(definition).contains(api));
    let mut beside = within(objects, &known::CLUSTER_SERVICE_VERSION, operator.namespace());
    is_served || beside.any(|other| listed(other, "owned").contains(api))
}
