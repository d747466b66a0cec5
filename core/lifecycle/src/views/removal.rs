//! What would go with an operator, and what would stay.
//!
//! An operator that others need is not taken away alone. What users made, and the CRDs that it lies in,
//! always stays.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use operon_install::{has_owner_labels, refers_to_owner};
use operon_kinds::{ServiceVersion, Subscription, names};
use operon_object::{Kind, Object, ObjectKey, known, sha256_hex};
use operon_resolve::Spent;

use crate::{
    Objects, World,
    dependencies::{Operator, OperatorSet, contains, limited_budget, running_operators},
};

/// How many digits of a hash name a removal, as for plans.
const NAME_DIGITS: usize = 10;

/// What would go, and what would stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Removal {
    /// Names it: the same removal has the same name, and another one another.
    pub name: String,
    /// The operators that go, in this order: who needs before who is needed.
    pub operators: Vec<RemovedOperator>,
    /// Operators that need one of them and were not to go: each with the sentence that says so.
    pub dependants: Vec<(ObjectKey, String)>,
    /// Why it is unknown whether some of the others need what goes, each in a sentence.
    pub unknown: Vec<String>,
    /// Operators that were installed only for one of them, and that nobody else needs.
    pub leftovers: Vec<String>,
    /// The CRDs that stay.
    pub definitions: Vec<KeptDefinition>,
}

/// An operator that goes.
#[derive(Debug, Clone, PartialEq)]
pub struct RemovedOperator {
    /// Its ClusterServiceVersion.
    pub key: ObjectKey,
    /// Its identity.
    pub uid: String,
    /// Its version.
    pub version: String,
    /// Its Subscriptions.
    pub subscriptions: Vec<(ObjectKey, String)>,
    /// What goes with it: how many of each kind.
    pub objects: BTreeMap<Kind, usize>,
}

/// A CRD that stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDefinition {
    /// Its name.
    pub name: String,
    /// The kind that it defines.
    pub kind: Kind,
}

/// Why nothing can be said about a removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovalError {
    /// There is no such operator.
    Unknown {
        /// What was asked for.
        name: String,
        /// The operators and Subscriptions that there are.
        known: Vec<String>,
    },
}

impl fmt::Display for RemovalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, .. } => {
                write!(formatter, "there is no operator, package or Subscription {name} here")
            }
        }
    }
}

impl std::error::Error for RemovalError {}

/// How far a removal goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Those who need the operator go too.
    pub with_dependants: bool,
    /// Those who are there only for what goes, go too.
    pub with_leftovers: bool,
}

/// Works out what would go with an operator of a namespace, named by its own name, its package or its
/// Subscription; with those who need it, if that is wanted.
pub fn removal(
    world: &World<'_>,
    namespace: &str,
    name: &str,
    with_dependants: bool,
) -> Result<Removal, RemovalError> {
    removal_within(world, namespace, name, Extent { with_dependants, with_leftovers: false })
}

/// Works out what [`removal`] does, as far as an extent says.
pub fn removal_within(
    world: &World<'_>,
    namespace: &str,
    name: &str,
    extent: Extent,
) -> Result<Removal, RemovalError> {
    let objects = world.objects;
    let all = running_operators(objects);
    let here = |operator: &&Operator<'_>| operator.namespace() == namespace;
    let is_meant = |operator: &&Operator<'_>| {
        operator.name() == name
            || operator.running.package() == Some(name)
            || subscriptions_of(objects, operator.service_version).any(|(key, _)| key.name == name)
    };
    let mut going: Vec<&Operator<'_>> = all.iter().filter(here).filter(is_meant).collect();
    if going.is_empty() {
        let known = all.iter().filter(here).map(|operator| operator.name().to_owned()).collect();
        return Err(RemovalError::Unknown { name: name.to_owned(), known });
    }
    let harm = loop {
        let harm = harm(world, &all, &going);
        let more: Vec<&Operator<'_>> =
            harm.dependants.iter().map(|(operator, _)| *operator).filter(here).collect();
        if !extent.with_dependants || more.is_empty() {
            break harm;
        }
        // Who needs goes before who is needed.
        going.splice(0..0, more);
    };
    let mut leftovers = leftovers(world, namespace, &all, &going);
    if extent.with_leftovers {
        // Nobody who stays needs them, so that nobody else is harmed.
        going.append(&mut leftovers);
    }
    let operators: Vec<RemovedOperator> =
        going.iter().map(|operator| removed(objects, operator.service_version)).collect();
    let dependants = harm.dependants.into_iter();
    Ok(Removal {
        name: removal_name(&operators),
        operators,
        dependants: dependants
            .map(|(operator, why)| (operator.service_version.object.key(), why))
            .collect(),
        unknown: harm.unknown,
        leftovers: leftovers.iter().map(|operator| operator.name().to_owned()).collect(),
        definitions: definitions(objects, &going),
    })
}

fn removal_name(operators: &[RemovedOperator]) -> String {
    let text: Vec<String> =
        operators.iter().map(|operator| format!("{} {}", operator.key, operator.uid)).collect();
    sha256_hex(text.join("\n"))[..NAME_DIGITS].to_owned()
}

/// What others would lack.
struct Harm<'d> {
    /// The operators that would lack something, each with the sentence that says so.
    dependants: Vec<(&'d Operator<'d>, String)>,
    /// Why it is unknown for some, each in a sentence.
    unknown: Vec<String>,
}

/// Finds the operators that would lack something: those with a requirement that is met now and would not
/// be any more.
fn harm<'d>(world: &World<'_>, all: &'d [Operator<'d>], going: &[&Operator<'_>]) -> Harm<'d> {
    let native = || world.settings.native_apis.iter().flatten().cloned();
    let staying: Vec<&Operator<'_>> =
        all.iter().filter(|operator| !contains(going, operator)).collect();
    let before = OperatorSet::new(all, native());
    let after = OperatorSet::new(staying.iter().copied(), native());
    let losses = before.losses(&after);
    let mut dependants: Vec<(&Operator<'_>, String)> = Vec::new();
    for (operator, requirement) in losses.lost {
        if dependants.iter().any(|(known, _)| contains(&[known], operator)) {
            continue;
        }
        let providers = before.providers(operator, requirement, &mut limited_budget());
        let providers = providers.ok().flatten().map(|found| found.operators).unwrap_or_default();
        let lost: Vec<&str> = providers
            .iter()
            .filter(|provider| contains(going, provider))
            .map(|provider| provider.name())
            .collect();
        let name = operator.name();
        dependants.push((operator, format!("{name} needs {} ({requirement})", lost.join(" and "))));
    }
    let unreadable = staying.iter().flat_map(|operator| operator.unreadable.iter().cloned());
    let undecided = losses
        .undecided
        .iter()
        .map(|operator| format!("what {} requires is too expensive to evaluate", operator.name()));
    Harm { unknown: unreadable.chain(undecided).collect(), dependants }
}

fn removed(objects: &Objects, operator: ServiceVersion<'_>) -> RemovedOperator {
    let namespace = operator.object.namespace();
    let kinds = [
        known::DEPLOYMENT,
        known::SERVICE_ACCOUNT,
        known::ROLE,
        known::ROLE_BINDING,
        known::SERVICE,
        known::CONFIG_MAP,
        known::SECRET,
        known::NETWORK_POLICY,
        known::POD_DISRUPTION_BUDGET,
        known::OPERATOR_CONDITION,
    ];
    let inside = kinds
        .iter()
        .flat_map(|kind| objects.within(kind, namespace))
        .filter(|object| refers_to_owner(object, operator.object));
    let outside = objects
        .owned_from(namespace)
        .filter(|object| object.kind() != known::CUSTOM_RESOURCE_DEFINITION)
        .filter(|object| has_owner_labels(object, operator.object));
    let mut counts = BTreeMap::new();
    for object in inside.chain(outside) {
        *counts.entry(object.kind()).or_insert(0) += 1;
    }
    RemovedOperator {
        key: operator.object.key(),
        uid: operator.object.uid().to_owned(),
        version: operator.version_text().to_owned(),
        subscriptions: subscriptions_of(objects, operator).collect(),
        objects: counts,
    }
}

fn subscriptions_of<'o>(
    objects: &'o Objects,
    operator: ServiceVersion<'o>,
) -> impl Iterator<Item = (ObjectKey, String)> + 'o {
    objects
        .within(&known::SUBSCRIPTION, operator.object.namespace())
        .map(Subscription::read)
        .filter(move |subscription| {
            [subscription.installed_csv(), subscription.current_csv()].contains(&operator.name())
        })
        .map(|subscription| (subscription.object.key(), subscription.object.uid().to_owned()))
}

/// Returns the operators that plans brought for those that go, or for one another, and that nobody who
/// stays needs; who needs comes before who is needed.
fn leftovers<'d>(
    world: &World<'_>,
    namespace: &str,
    all: &'d [Operator<'d>],
    going: &[&'d Operator<'d>],
) -> Vec<&'d Operator<'d>> {
    let was_generated = |operator: &Operator<'_>| {
        let subscriptions = world.objects.within(&known::SUBSCRIPTION, namespace);
        subscriptions.map(Subscription::read).any(|subscription| {
            subscription.installed_csv() == operator.name()
                && subscription.object.annotation(names::GENERATED_BY_ANNOTATION).is_some()
        })
    };
    let native = || world.settings.native_apis.iter().flatten().cloned();
    let staying: Vec<&Operator<'_>> =
        all.iter().filter(|operator| !contains(going, operator)).collect();
    // What meets the requirements of those that stay is asked of those that stay.
    let after = OperatorSet::new(staying.iter().copied(), native());
    let before = OperatorSet::new(all, native());
    let mut candidates: Vec<&Operator<'_>> = staying
        .iter()
        .copied()
        .filter(|operator| operator.namespace() == namespace && was_generated(operator))
        .collect();
    // Whoever is needed by one that stays, stays; and so do those that it needs.
    let mut open: Vec<&Operator<'_>> =
        staying.into_iter().filter(|operator| !contains(&candidates, operator)).collect();
    while let Some(operator) = open.pop() {
        // What may be needed is no leftover.
        let needed = needed_by(&after, operator).unwrap_or_else(|_| after.operators().to_vec());
        let (stays, rest) =
            candidates.into_iter().partition(|candidate| contains(&needed, candidate));
        candidates = rest;
        open.extend::<Vec<&Operator<'_>>>(stays);
    }
    // Of the rest those count that were needed by what goes, however indirectly.
    let mut found: Vec<&Operator<'_>> = Vec::new();
    let mut open: Vec<&Operator<'_>> = going.to_vec();
    while !open.is_empty() {
        let needed: Vec<&Operator<'_>> = open
            .iter()
            .filter_map(|operator| needed_by(&before, operator).ok())
            .flatten()
            .collect();
        open = candidates
            .iter()
            .copied()
            .filter(|candidate| contains(&needed, candidate) && !contains(&found, candidate))
            .collect();
        found.extend(&open);
    }
    found
}

/// Returns the operators that take part in meeting the requirements of another.
fn needed_by<'d>(
    set: &OperatorSet<'d>,
    operator: &Operator<'_>,
) -> Result<Vec<&'d Operator<'d>>, Spent> {
    let mut budget = limited_budget();
    let mut needed = Vec::new();
    for requirement in operator.running.requirements() {
        let providers = set.providers(operator, requirement, &mut budget)?;
        needed.extend(providers.into_iter().flat_map(|providers| providers.operators));
    }
    needed.retain(|provider| !contains(&[operator], provider));
    Ok(needed)
}

fn definitions(objects: &Objects, going: &[&Operator<'_>]) -> Vec<KeptDefinition> {
    let owned: BTreeSet<&str> = going
        .iter()
        .flat_map(|operator| operator.service_version.owned_crds())
        .map(|crd| crd.get("name").str())
        .collect();
    let live = owned
        .into_iter()
        .filter_map(|name| objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", name));
    live.map(|definition: &Object| KeptDefinition {
        name: definition.name().to_owned(),
        kind: Kind::new(
            definition.spec().get("group").str(),
            definition.spec().at(&["names", "kind"]).str(),
        ),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use operon_object::{Timestamp, Value, list, map};

    use super::*;
    use crate::{Failures, Settings};

    /// Makes an operator that provides a kind of its own name and needs those of others, with its
    /// Subscription; one whose name is in capitals was asked for by a person.
    fn add(objects: &mut Objects, name: &str, needs: &[&str]) {
        let describe = |name: &str| {
            map! {
                "name" => format!("{}s.example.com", name.to_lowercase()),
                "version" => "v1",
                "kind" => name.to_lowercase(),
            }
        };
        let version = "operators.coreos.com/v1alpha1";
        let mut operator = Object::new(version, "ClusterServiceVersion", "shop", name);
        operator.metadata_mut().insert("uid", name);
        let required = Value::list(needs.iter().map(|name| describe(name)));
        let crds = map! { "owned" => list![describe(name)], "required" => required };
        operator.set(&["spec"], map! { "customresourcedefinitions" => crds });
        objects.insert(operator);
        let mut subscription = Object::new(version, "Subscription", "shop", name);
        subscription.set(&["status"], map! { "installedCSV" => name });
        if name.to_lowercase() == name {
            subscription.set_annotation(names::GENERATED_BY_ANNOTATION, "install-1");
        }
        objects.insert(subscription);
    }

    #[test]
    fn what_came_along_goes_only_when_nobody_needs_it() {
        // Who is there and needs whom, who is removed, and who is left over.
        type Claim<'c> = (&'c [(&'c str, &'c [&'c str])], &'c str, &'c [&'c str]);
        let claims: &[Claim<'_>] = &[
            (&[("A", &["b"]), ("b", &[])], "A", &["b"]),
            (&[("A", &["b"]), ("b", &["c"]), ("c", &[])], "A", &["b", "c"]),
            (&[("A", &["b"]), ("b", &["c"]), ("c", &[]), ("D", &["c"])], "A", &["b"]),
            (&[("A", &["b"]), ("b", &["c"]), ("c", &["b"])], "A", &["b", "c"]),
            (&[("A", &["b"]), ("b", &["b"])], "A", &["b"]),
            (&[("A", &["B"]), ("B", &[])], "A", &[]),
            (&[("A", &[]), ("b", &[])], "A", &[]),
            (&[("A", &["b"]), ("b", &["c"]), ("c", &[]), ("D", &["b"])], "A", &[]),
        ];
        for (there, name, expected) in claims {
            let mut objects = Objects::default();
            there.iter().for_each(|(name, needs)| add(&mut objects, name, needs));
            let settings = Settings::default();
            let (catalogs, bundles, failures, seen) = <(_, _, Failures, _)>::default();
            let world = World {
                now: Timestamp::default(),
                objects: &objects,
                catalogs: &catalogs,
                bundles: &bundles,
                failures: &failures,
                seen: &seen,
                settings: &settings,
            };
            let alone = removal(&world, "shop", name, false).expect("it is there");
            assert_eq!(alone.leftovers, *expected, "{there:?} without {name}");
            assert_eq!(alone.operators.len(), 1, "{there:?} without {name}");
            let extent = Extent { with_dependants: false, with_leftovers: true };
            let all = removal_within(&world, "shop", name, extent).expect("it is there");
            let going: Vec<&str> =
                all.operators.iter().map(|operator| operator.key.name.as_str()).collect();
            assert_eq!(going, [&[*name], *expected].concat(), "{there:?} without {name}");
            assert!(all.leftovers.is_empty() && all.dependants.is_empty(), "{there:?}");
            assert_eq!(all.name == alone.name, expected.is_empty(), "{there:?}");
        }
    }
}
