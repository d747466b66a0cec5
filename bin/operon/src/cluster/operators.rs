//! Finding the operator that a person names, and what comes with operators in words.
//!
//! Nothing here guesses: a near name is only suggested, never taken.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{anyhow, bail};
use operon_catalog::nearest;
use operon_kinds::Subscription;
use operon_lifecycle::{Objects, views::tree};
use operon_object::{Kind, known};

use super::NamespaceArguments;

/// Finds the namespace of the operator that a person names by its name, package or Subscription.
pub(crate) fn namespace_of_operator(
    objects: &Objects,
    name: &str,
    namespace: &NamespaceArguments,
) -> anyhow::Result<String> {
    let nodes = tree(objects, namespace.namespace.as_deref());
    let is_meant = |names: [&str; 3]| names.contains(&name);
    let found: BTreeSet<&str> = nodes
        .iter()
        .filter(|node| {
            !name.is_empty() && is_meant([&node.name, &node.package, &node.subscription])
        })
        .map(|node| node.namespace.as_str())
        .collect();
    let found: Vec<&str> = found.into_iter().collect();
    match found.as_slice() {
        [only] => return Ok((*only).to_owned()),
        [] => {}
        [first, ..] => bail!(
            "`{name}` is in the namespaces `{}`\nhint: choose one with -n, such as -n {first}",
            found.join("`, `")
        ),
    }
    let subscriptions = objects.all(&known::SUBSCRIPTION).filter(|object| namespace.takes(object));
    let mut bare = subscriptions.map(Subscription::read).filter(|subscription| {
        [subscription.name(), subscription.package(), subscription.current_csv()].contains(&name)
    });
    if let Some(subscription) = bare.next().filter(|_| !name.is_empty()) {
        let (place, own) = (subscription.object.namespace(), subscription.name());
        bail!(
            "Subscription {place}/{own} has no operator yet\nhint: operon delete subscription {own} -n {place} takes it away"
        );
    }
    let names = nodes.iter().flat_map(|node| [&node.name, &node.package, &node.subscription]);
    let hint = match nearest(name, names.map(String::as_str).filter(|name| !name.is_empty())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "operon tree shows what is here".to_owned(),
    };
    Err(anyhow!("there is no operator, package or Subscription `{name}` here\nhint: {hint}"))
}

/// Says how many objects there are of each kind, as `Deployment, 3 Roles`; what runs comes first.
pub(crate) fn kind_words(counts: &BTreeMap<Kind, usize>) -> String {
    let mut sorted: Vec<(&Kind, usize)> =
        counts.iter().map(|(kind, count)| (kind, *count)).collect();
    sorted.sort_by_key(|(kind, _)| (**kind != known::DEPLOYMENT, kind.name()));
    let words = sorted.into_iter().map(|(kind, count)| match count {
        1 => kind.name().to_owned(),
        _ => format!("{count} {}", plural(kind.name())),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn plural(name: &str) -> String {
    match name.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if name.ends_with('s') => format!("{name}es"),
        None => format!("{name}s"),
    }
}
