//! ClusterRoles whose rules are those of other ClusterRoles.
//!
//! Both sides are indexed by labels, because a cluster with many operator groups has tens of
//! thousands of them. What rules allow is not looked at.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, Selector, Value, known};

use super::Next;
use crate::{Part, draft::Draft, write::put_as_controller};

const MANAGER: &str = "clusterrole-aggregation-controller";

/// Which roles have which labels, and which roles ask for them.
#[derive(Debug, Default)]
pub(super) struct RoleIndex {
    /// The roles with a label.
    labelled: BTreeMap<(String, String), BTreeSet<String>>,
    /// The aggregating roles that ask for a label.
    asking: BTreeMap<(String, String), BTreeSet<String>>,
    /// The aggregating roles with a selector that names no label exactly.
    asking_for_any: BTreeSet<String>,
}

impl RoleIndex {
    /// Follows a change of a role, and returns the aggregating roles that it concerns.
    pub(super) fn follow(
        &mut self,
        before: Option<&Object>,
        after: Option<&Object>,
    ) -> BTreeSet<String> {
        let mut concerned = BTreeSet::new();
        for role in [before, after].into_iter().flatten() {
            for label in pairs(role) {
                concerned.extend(self.asking.get(&label).into_iter().flatten().cloned());
            }
        }
        concerned.extend(self.asking_for_any.iter().cloned());
        if let Some(before) = before {
            self.forget(before);
        }
        if let Some(after) = after {
            self.remember(after);
            if !after.value().get("aggregationRule").is_null() {
                concerned.insert(after.name().to_owned());
            }
        }
        concerned
    }

    fn forget(&mut self, role: &Object) {
        let forget = |index: &mut BTreeMap<(String, String), BTreeSet<String>>, label| {
            if let Some(names) = index.get_mut(&label) {
                names.remove(role.name());
                if names.is_empty() {
                    index.remove(&label);
                }
            }
        };
        pairs(role).for_each(|label| forget(&mut self.labelled, label));
        for selector in selectors(role) {
            selector.exact_labels().into_iter().for_each(|label| forget(&mut self.asking, label));
        }
        self.asking_for_any.remove(role.name());
    }

    fn remember(&mut self, role: &Object) {
        for label in pairs(role) {
            self.labelled.entry(label).or_default().insert(role.name().to_owned());
        }
        for selector in selectors(role) {
            match selector.exact_labels().pop_first() {
                Some(label) => {
                    self.asking.entry(label).or_default().insert(role.name().to_owned());
                }
                None => {
                    self.asking_for_any.insert(role.name().to_owned());
                }
            }
        }
    }

    /// Returns the roles that may match a selector, sorted by name; nothing if all may.
    fn candidates(&self, selector: &Selector) -> Option<BTreeSet<String>> {
        let label = selector.exact_labels().pop_first()?;
        Some(self.labelled.get(&label).cloned().unwrap_or_default())
    }
}

/// Gives a role the rules of those it selects.
pub(super) fn reconcile(draft: &mut Draft<'_>, index: &RoleIndex, name: &str) -> Next {
    let key = known::CLUSTER_ROLE.key("", name);
    let Some(role) = draft.object(&key).cloned() else { return Next::Done };
    if role.value().get("aggregationRule").is_null() || role.is_deleting() {
        return Next::Done;
    }
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors(&role) {
        for other in matching(draft, index, &selector) {
            if other == name {
                continue;
            }
            let other = draft.object(&known::CLUSTER_ROLE.key("", &other));
            let found = other.map(|other| other.value().get("rules").elements());
            for rule in found.unwrap_or_default() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    if role.value().get("rules").elements() != rules {
        let mut after = role.clone();
        after.set(&["rules"], rules);
        put_as_controller(draft, &role, after, MANAGER, Part::Whole);
    }
    Next::Done
}

fn matching(draft: &Draft<'_>, index: &RoleIndex, selector: &Selector) -> Vec<String> {
    let names: Vec<String> = match index.candidates(selector) {
        Some(names) => names.into_iter().collect(),
        None => {
            let roles = draft.store().of_kind(&known::CLUSTER_ROLE);
            roles.map(|role| role.name().to_owned()).collect()
        }
    };
    let is_matching = |name: &String| {
        let role = draft.object(&known::CLUSTER_ROLE.key("", name));
        role.is_some_and(|role| selector.matches(role))
    };
    names.into_iter().filter(is_matching).collect()
}

fn pairs(role: &Object) -> impl Iterator<Item = (String, String)> {
    role.labels().map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// Returns the selectors of a role; one that cannot be read selects nothing.
fn selectors(role: &Object) -> Vec<Selector> {
    let selectors = role.at(&["aggregationRule", "clusterRoleSelectors"]).elements();
    selectors.iter().filter_map(|selector| Selector::read(selector).ok()).collect()
}
