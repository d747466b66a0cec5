//! The engine leaves alone what is nobody's business but its owner's.

use std::collections::BTreeMap;

use operon_kinds::names;
use operon_lifecycle::WATCHED_WHOLE;
use operon_object::{
    Object, ObjectKey, Timestamp,
    known::{self, OPERATORS_GROUP},
};

use super::{EXCUSED, Sight, package_of};
use crate::Author;

#[derive(Debug, Default)]
pub(super) struct Strangers {
    /// What people made for themselves, and when.
    possessions: BTreeMap<ObjectKey, Timestamp>,
}

impl Strangers {
    pub(super) fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        if !is_watched(sight.key) {
            return Ok(());
        }
        match sight.author {
            Author::Person if sight.before.is_none() && !sight.after.is_some_and(is_forged) => {
                self.possessions.insert(sight.key.clone(), sight.time);
            }
            Author::Person | Author::Cluster => {}
            Author::Engine if known::known_kind(&sight.key.kind).is_none() => {
                return Err(format!("the engine wrote {}, which no bundle brings", sight.key));
            }
            Author::Engine => self.look_at_write(sight)?,
        }
        if sight.after.is_none() {
            self.possessions.remove(sight.key);
        }
        Ok(())
    }

    fn look_at_write(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let Some(made) = self.possessions.get(sight.key) else { return Ok(()) };
        // What is not watched is requested before it is written; a watch may be behind.
        let is_excused =
            WATCHED_WHOLE.contains(&sight.key.kind) && sight.time.since(*made) < EXCUSED;
        let is_handed_over = sight.before.is_some_and(|before| {
            let package = before.annotation(names::ADOPT_ANNOTATION);
            package.is_some() && package == sight.after.and_then(owning_package).as_deref()
        });
        if !is_excused && !is_handed_over {
            return Err(format!("the engine wrote {}, which a person made", sight.key));
        }
        self.possessions.remove(sight.key);
        Ok(())
    }
}

/// Returns `true` for objects that bundles bring, and for objects of kinds that bundles define.
fn is_watched(key: &ObjectKey) -> bool {
    let others = [known::NAMESPACE, known::EVENT, known::CUSTOM_RESOURCE_DEFINITION];
    key.kind.group() != OPERATORS_GROUP && !others.contains(&key.kind)
}

/// Returns `true` if an object says that it belongs to an operator.
fn is_forged(object: &Object) -> bool {
    !object.label(names::OWNER_LABEL).is_empty()
}

/// Returns the package of the operator that an object belongs to.
fn owning_package(object: &Object) -> Option<String> {
    let kind = known::CLUSTER_SERVICE_VERSION;
    let mut owners = object.owners().filter(|owner| owner.kind == kind.name());
    let owner = owners.next().map(|owner| owner.name);
    let labelled = object.label(names::OWNER_LABEL).to_owned();
    let owner = owner.or((!labelled.is_empty()).then_some(labelled))?;
    Some(package_of(&owner).to_owned())
}
