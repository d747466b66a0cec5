//! Finding the object that a person names, and changing it.
//!
//! Nothing here guesses: a near name is only suggested, never taken.

use std::collections::BTreeSet;

use anyhow::{anyhow, bail};
use clap::Args;
use operon_catalog::nearest;
use operon_driver::{Cluster, ClusterError, Interest};
use operon_kinds::Subscription;
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, known};

use crate::output::clean;

/// How often a change is tried again when somebody else changed the object meanwhile. The engine
/// writes an object a few times in a row at most.
const MAX_ATTEMPTS: usize = 10;

/// How many names a hint lists.
const MAX_HINTED_NAMES: usize = 8;

/// The namespace that a command is about.
#[derive(Debug, Args)]
pub(crate) struct NamespaceArguments {
    /// Only what lies in this namespace [default: all namespaces]
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
}

impl NamespaceArguments {
    /// Tells whether an object is meant.
    pub(crate) fn takes(&self, object: &Object) -> bool {
        self.namespace.as_ref().is_none_or(|namespace| namespace == object.namespace())
    }

    /// Says which objects of a kind are meant. Nobody needs rights for more.
    pub(crate) fn interest(&self, kind: Kind) -> Interest {
        match &self.namespace {
            Some(namespace) => Interest::within(kind, namespace),
            None => Interest::all(kind),
        }
    }
}

/// What a person calls an object.
type Choice<'c> = &'c dyn Fn(&Object) -> Vec<String>;

/// Returns an object as `Subscription harbour/beacon`.
pub(crate) fn long_name(object: &Object) -> String {
    object.key().to_string()
}

/// Returns an object as `subscription.operators.coreos.com/beacon`.
pub(crate) fn short_name(object: &Object) -> String {
    format!("{}/{}", object.kind().to_string().to_lowercase(), object.name())
}

/// Finds the one object of a kind that a name stands for.
pub(crate) fn find_one(
    cluster: &impl Cluster,
    kind: &Kind,
    name: &str,
    namespace: &NamespaceArguments,
    names_of: Choice<'_>,
) -> anyhow::Result<Object> {
    let all = cluster.list(&[namespace.interest(kind.clone())].into())?.objects;
    let mut found: Vec<&Object> = all.iter().filter(|object| object.name() == name).collect();
    if found.is_empty() {
        found = all.iter().filter(|object| names_of(object).iter().any(|n| n == name)).collect();
    }
    match found[..] {
        [object] => Ok(object.clone()),
        [] => Err(no_such(kind, name, &all, names_of)),
        [first, ..] => {
            let places: Vec<String> =
                found.iter().map(|object| format!("`{}`", long_name(object))).collect();
            let namespaces: BTreeSet<&str> =
                found.iter().map(|object| object.namespace()).collect();
            let hint = if namespaces.len() == found.len() {
                format!("choose one with -n, such as -n {}", first.namespace())
            } else {
                "name it in full".to_owned()
            };
            bail!("`{name}` may be {}\nhint: {}", clean(&places.join(" or ")), clean(&hint))
        }
    }
}

/// Finds the Subscription of an operator: by its own name, its package, or the operator's name.
pub(crate) fn find_operator(
    cluster: &impl Cluster,
    name: &str,
    namespace: &NamespaceArguments,
) -> anyhow::Result<Object> {
    find_one(cluster, &known::SUBSCRIPTION, name, namespace, &|object| {
        let subscription = Subscription::read(object);
        let names =
            [subscription.package(), subscription.installed_csv(), subscription.current_csv()];
        names.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect()
    })
}

/// Changes an object, again if somebody else did meanwhile; tells whether anything changed.
pub(crate) fn update(
    cluster: &impl Cluster,
    object: Object,
    change: impl Fn(&mut Object),
) -> anyhow::Result<bool> {
    let mut object = object;
    for _ in 0..MAX_ATTEMPTS {
        let mut changed = object.clone();
        change(&mut changed);
        if changed == object {
            return Ok(false);
        }
        match cluster.update(&changed) {
            Ok(_) => return Ok(true),
            Err(ClusterError { kind: ErrorKind::Conflict, .. }) => {
                object = cluster
                    .get(&object.key())?
                    .ok_or_else(|| anyhow!("{} is gone", long_name(&object)))?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    bail!("{} is being changed all the time; try again", long_name(&object))
}

fn no_such(kind: &Kind, name: &str, all: &[Object], names_of: Choice<'_>) -> anyhow::Error {
    let mut names: BTreeSet<String> = all.iter().map(|object| object.name().to_owned()).collect();
    names.extend(all.iter().flat_map(names_of));
    let hint = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if all.is_empty() => format!("there is no {} at all", kind.name()),
        None => {
            let own: Vec<String> = all
                .iter()
                .take(MAX_HINTED_NAMES)
                .map(|object| format!("`{}`", object.name()))
                .collect();
            let more = match all.len().saturating_sub(own.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("there is {}{more}", own.join(", "))
        }
    };
    anyhow!("there is no {} `{name}`\nhint: {}", kind.name(), clean(&hint))
}
