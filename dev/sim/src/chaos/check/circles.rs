//! No two operators of a namespace replace each other: neither could ever be replaced.
//!
//! An upgrade after a rollback may make such a circle for a moment; it must not last.

use std::collections::BTreeSet;

use operon_object::known;

use super::{Objects, all};

/// Looks at a cluster in which nothing is left to do.
pub(super) fn at_rest(objects: &Objects) -> Result<(), String> {
    for operator in all(objects, &known::CLUSTER_SERVICE_VERSION) {
        let mut seen = BTreeSet::from([operator.name()]);
        let mut next = Some(operator);
        while let Some(current) = next {
            let replaced = current.spec().get("replaces").str();
            if replaced == operator.name() {
                let chain: Vec<&str> = seen.into_iter().collect();
                return Err(format!(
                    "{} replaces itself through {}",
                    operator.key(),
                    chain.join(", ")
                ));
            }
            next = objects
                .get(&known::CLUSTER_SERVICE_VERSION.key(operator.namespace(), replaced))
                .filter(|replaced| seen.insert(replaced.name()));
        }
    }
    Ok(())
}
