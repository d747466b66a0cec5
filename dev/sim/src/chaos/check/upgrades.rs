//! Operators move along published edges, and back only by a plan that rolls them back.

use std::collections::BTreeSet;

use operon_kinds::names;
use operon_object::{Object, ObjectKey, known};

use super::{Sight, package_of, phase, within};
use crate::{Author, Publication};

#[derive(Debug, Default)]
pub(super) struct Upgrades {
    /// Published edges: from, to.
    edges: BTreeSet<(String, String)>,
    /// Published ranges: the operator that skips, and the minor version that it skips everything below.
    ranges: BTreeSet<(String, u32)>,
    /// Operators that people deleted: whoever is deleted may begin anew.
    deleted: BTreeSet<ObjectKey>,
}

impl Upgrades {
    /// Learns the edges that a catalog publishes.
    pub(super) fn learn(&mut self, publication: &Publication) {
        for entry in publication.channels.iter().flat_map(|channel| &channel.entries) {
            let to = entry.get("name").str().to_owned();
            let skipped = entry.get("skips").iter_texts();
            for from in skipped.chain(entry.get("replaces").as_text()) {
                self.edges.insert((from.to_owned(), to.clone()));
            }
            let below = entry.get("skipRange").str().split('<').nth(1).and_then(minor);
            self.ranges.extend(below.map(|below| (to.clone(), below)));
        }
    }

    pub(super) fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        if sight.key.kind == known::CLUSTER_SERVICE_VERSION {
            if sight.author == Author::Person && sight.after.is_none_or(Object::is_deleting) {
                self.deleted.insert(sight.key.clone());
            }
            return self.look_at_operator(sight);
        }
        if sight.key.kind == known::SUBSCRIPTION {
            return self.look_at_subscription(sight);
        }
        Ok(())
    }

    fn look_at_operator(&self, sight: &Sight<'_>) -> Result<(), String> {
        if sight.author != Author::Engine {
            return Ok(());
        }
        let Some(operator) = sight.after.filter(|_| sight.before.is_none()) else {
            return look_at_replaced(sight);
        };
        let replaced = operator.spec().get("replaces").str();
        if package_of(replaced) == package_of(operator.name()) {
            let namespace = operator.namespace();
            let is_rollback = is_rolled_back(sight, namespace, replaced, operator.name());
            return match is_rollback || self.leads(replaced, operator.name()) {
                true => Ok(()),
                false => Err(format!("no edge leads from {replaced} to {}", sight.key)),
            };
        }
        let mut others =
            within(sight.objects, &known::CLUSTER_SERVICE_VERSION, operator.namespace());
        let other = others.find(|other| {
            other.name() != operator.name()
                && package_of(other.name()) == package_of(operator.name())
                && !other.is_deleting()
        });
        match other {
            Some(other) => Err(format!("{} replaces nothing, beside {}", sight.key, other.key())),
            None => Ok(()),
        }
    }

    fn look_at_subscription(&self, sight: &Sight<'_>) -> Result<(), String> {
        let installed = |object: Option<&Object>| {
            object.map_or(String::new(), |object| {
                object.status().get("installedCSV").str().to_owned()
            })
        };
        let (before, after) = (installed(sight.before), installed(sight.after));
        if before.is_empty() || after.is_empty() || before == after {
            return Ok(());
        }
        let key = known::CLUSTER_SERVICE_VERSION.key(&sight.key.namespace, &before);
        let is_back = minor_of(&before) >= minor_of(&after);
        let is_rollback = is_rolled_back(sight, &key.namespace, &before, &after);
        if is_back && !is_rollback && !self.deleted.contains(&key) {
            return Err(format!("{} goes back from {before} to {after}", sight.key));
        }
        Ok(())
    }

    fn leads(&self, from: &str, to: &str) -> bool {
        let is_edge = self.edges.contains(&(from.to_owned(), to.to_owned()));
        let is_skipped = self
            .ranges
            .iter()
            .any(|(skipping, below)| skipping == to && minor_of(from) < Some(*below));
        package_of(from) == package_of(to) && (is_edge || is_skipped)
    }
}

/// Returns `true` if a plan of the namespace rolls the operator `from` back to `to`.
fn is_rolled_back(sight: &Sight<'_>, namespace: &str, from: &str, to: &str) -> bool {
    within(sight.objects, &known::INSTALL_PLAN, namespace).any(|plan| {
        plan.annotation(names::ROLLBACK_ANNOTATION) == Some(from)
            && plan.spec().get("clusterServiceVersionNames").iter_texts().any(|name| name == to)
    })
}

/// Looks at an operator that was told to make room: only another version of its package may replace it.
fn look_at_replaced(sight: &Sight<'_>) -> Result<(), String> {
    let (Some(before), Some(after)) = (sight.before, sight.after) else { return Ok(()) };
    if phase(before) == phase(after) || phase(after) != "Replacing" {
        return Ok(());
    }
    let message = after.status().get("message").str();
    let next = message.rsplit(' ').next().unwrap_or_default();
    if package_of(next) == package_of(after.name()) {
        return Ok(());
    }
    Err(format!("{} makes room for {next} of another package", sight.key))
}

/// Returns the minor version of a simulated operator, which is called `package.v1.minor.0`.
fn minor_of(operator: &str) -> Option<u32> {
    operator.split_once(".v").and_then(|(_, version)| minor(version))
}

fn minor(version: &str) -> Option<u32> {
    version.split('.').nth(1)?.parse().ok()
}
