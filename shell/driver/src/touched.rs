//! Which namespaces have to be looked at again.
//!
//! Looking at too many costs time, at too few costs correctness: whatever could matter counts.

use std::collections::BTreeSet;

use operon_install::{COMPONENT_LABEL_PREFIX, MAX_NAME_LENGTH};
use operon_kinds::{ServiceVersion, names};
use operon_lifecycle::Objects;
use operon_object::{Object, Value, known};

/// What was touched since the last decision.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    everything: bool,
    namespaces: BTreeSet<String>,
    definitions: BTreeSet<String>,
}

impl Touched {
    pub(crate) fn touch_everything(&mut self) {
        self.everything = true;
    }

    pub(crate) fn touch_namespace(&mut self, name: &str) {
        self.namespaces.insert(name.to_owned());
    }

    /// Returns `true` if nothing was touched.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_others(|_| false)
    }

    /// Returns `true` if a namespace other than these was touched.
    pub(crate) fn has_others(&self, busy: impl Fn(&str) -> bool) -> bool {
        self.everything
            || !self.definitions.is_empty()
            || self.namespaces.iter().any(|namespace| !busy(namespace))
    }

    /// Notes that an object changed, from what was known of it.
    pub(crate) fn touch(&mut self, object: &Object, known: Option<&Object>) {
        let kind = object.kind();
        let namespace = object.namespace();
        if kind == known::CUSTOM_RESOURCE_DEFINITION {
            self.touch_definition(object, known);
            // An Operator object lists it among its components: whose it was or becomes matters.
            let nothing = Value::default();
            let new = object.metadata("labels");
            let old = known.map_or(&nothing, |known| known.metadata("labels"));
            for (label, _) in differences(old, new) {
                if let Some(component) = label.strip_prefix(COMPONENT_LABEL_PREFIX) {
                    self.touch_component(component);
                }
            }
        } else if kind == known::NAMESPACE {
            self.touch_namespace(object.name());
            // Its labels may be what a group selects by.
            let labels = known.map(|known| known.metadata("labels"));
            if labels.is_none_or(|labels| labels != object.metadata("labels")) {
                self.everything = true;
            }
        } else if kind == known::OPERATOR_GROUP {
            self.touch_namespace(namespace);
            self.touch_group(object, known);
        } else if kind == known::CATALOG_SOURCE {
            // Only its wishes matter to others: what its status says they know from the catalog.
            let is_same = known.is_some_and(|known| known.spec() == object.spec());
            self.touch_namespace(namespace);
            self.everything |= !is_same;
        } else if !namespace.is_empty() {
            self.touch_namespace(namespace);
        } else {
            for object in known.into_iter().chain([object]) {
                match object.label(names::OWNER_NAMESPACE_LABEL) {
                    "" => self.everything = true,
                    owner => self.touch_namespace(owner),
                }
            }
        }
    }

    /// What a CRD says matters to everybody who names it; who is noted beside it, only to those.
    fn touch_definition(&mut self, definition: &Object, known: Option<&Object>) {
        let is_same = known.is_some_and(|known| {
            known.spec() == definition.spec()
                && known.status() == definition.status()
                && known.is_deleting() == definition.is_deleting()
                && known.annotation(names::ADOPT_ANNOTATION)
                    == definition.annotation(names::ADOPT_ANNOTATION)
        });
        if !is_same {
            self.definitions.insert(definition.name().to_owned());
            return;
        }
        let old = known.map(|known| known.metadata("annotations").clone()).unwrap_or_default();
        for (_, note) in differences(&old, definition.metadata("annotations")) {
            if let Some((namespace, _)) = note.str().split_once('/') {
                self.touch_namespace(namespace);
            }
        }
    }

    /// Notes that a component of an operator `package.namespace` changed. A name that was cut does not
    /// tell the namespace.
    fn touch_component(&mut self, component: &str) {
        match component.rsplit_once('.') {
            Some((_, namespace)) if component.len() < MAX_NAME_LENGTH => {
                self.touch_namespace(namespace);
            }
            _ => self.everything = true,
        }
    }

    /// Takes the namespaces that have to be looked at, among them those that are gone and have left
    /// something behind.
    pub(crate) fn take(&mut self, objects: &Objects) -> BTreeSet<String> {
        let Self { everything, mut namespaces, definitions } = std::mem::take(self);
        if everything {
            let all = objects.all(&known::NAMESPACE).map(Object::name);
            namespaces.extend(all.chain(objects.left_namespaces()).map(str::to_owned));
            return namespaces;
        }
        if !definitions.is_empty() {
            let names = |object: &&Object| {
                let operator = ServiceVersion::read(object);
                let mut crds = operator.owned_crds().iter().chain(operator.required_crds());
                crds.any(|crd| definitions.contains(crd.get("name").str()))
            };
            let operators = objects.all(&known::CLUSTER_SERVICE_VERSION).filter(names);
            namespaces.extend(operators.map(|operator| operator.namespace().to_owned()));
            // A plan may wait for a definition before its operator is there.
            let plans = objects.all(&known::INSTALL_PLAN);
            let waiting = plans.filter(|plan| plan.status().get("phase").str() == "Installing");
            namespaces.extend(waiting.map(|plan| plan.namespace().to_owned()));
        }
        namespaces
    }

    /// What a group targets and provides matters to the groups that it meets.
    fn touch_group(&mut self, group: &Object, known: Option<&Object>) {
        let apis = |group: &Object| {
            group.annotation(names::PROVIDED_APIS_ANNOTATION).unwrap_or_default().to_owned()
        };
        let targets = |group: &Object| group.status().get("namespaces").clone();
        let lost = known.is_some_and(|known| {
            let now = apis(group);
            let listed: BTreeSet<&str> = now.split(',').collect();
            !apis(known).split(',').all(|api| listed.contains(api))
        });
        let moved = known.is_none_or(|known| targets(known) != targets(group));
        if moved {
            let old = known.map(targets).unwrap_or_default();
            let new = targets(group);
            for name in old.iter_texts().chain(new.iter_texts()).filter(|name| !name.is_empty()) {
                self.namespaces.insert(name.to_owned());
            }
        }
        self.everything |= lost || group.is_deleting();
    }
}

/// Returns the entries of two maps that the other does not have, or has otherwise. A CRD of a large
/// cluster has thousands of them, of which a write changes one.
fn differences<'v>(old: &'v Value, new: &'v Value) -> impl Iterator<Item = (&'v str, &'v Value)> {
    let gone = old.entries().filter(|(name, value)| new.get(name) != *value);
    gone.chain(new.entries().filter(|(name, value)| old.get(name) != *value))
}
