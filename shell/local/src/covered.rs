//! What a server has, and what happened on it, as far as somebody is interested.
//!
//! Kinds are named without their versions; nothing is written here.

use std::collections::{BTreeMap, BTreeSet};

use operon_apiserver::{ApiError, ChangeFilter, ChangeKind, ListFilter, Server, Versions};
use operon_driver::{Change, Interest, Part};
use operon_object::{Kind, Object, ObjectKey, Selector};

/// Returns the objects of a server that are of interest, each once.
pub fn list_covered(
    server: &Server,
    versions: &Versions,
    interests: &BTreeSet<Interest>,
) -> Result<Vec<Object>, ApiError> {
    let mut found: BTreeMap<ObjectKey, Object> = BTreeMap::new();
    for Interest { kind, part, .. } in interests {
        if let Some(kind) = versions.find(kind) {
            let objects = server.list(kind, &filter(part))?;
            found.extend(objects.into_iter().map(|object| (object.key(), object)));
        }
    }
    Ok(found.into_values().collect())
}

/// Returns what happened after a revision to objects that are of interest, oldest first. The error is
/// that the revision is too old.
pub fn changes_covered(
    server: &Server,
    versions: &Versions,
    interests: &BTreeSet<Interest>,
    revision: u64,
) -> Result<Vec<Change>, ApiError> {
    let mut parts: BTreeMap<&Part, BTreeSet<&Kind>> = BTreeMap::new();
    for Interest { kind, part, .. } in interests {
        parts.entry(part).or_default().insert(kind);
    }
    // Whoever is interested in nothing asks whether the revision is known.
    parts.entry(&Part::All).or_default();
    let mut told: BTreeMap<(u64, ObjectKey), Change> = BTreeMap::new();
    for (part, kinds) in parts {
        // Kinds that the server no longer has are asked for too, so all changes are looked at.
        let filter = ChangeFilter { objects: filter(part), ..ChangeFilter::default() };
        for change in server.changes_since(revision, &filter)? {
            let mut object = change.object;
            let kind = object.kind();
            if !kinds.contains(&kind) {
                continue;
            }
            if let Some(version) = versions.find(&kind) {
                object.set(&["apiVersion"], version.api_version());
            }
            let place = (change.revision, object.key());
            match change.kind {
                ChangeKind::Added | ChangeKind::Modified => {
                    told.insert(place, Change::Is(object));
                }
                // It may be of interest still, for another reason.
                ChangeKind::Deleted => {
                    told.entry(place).or_insert(Change::Gone(object));
                }
            }
        }
    }
    Ok(told.into_values().collect())
}

fn filter(part: &Part) -> ListFilter {
    match part {
        Part::All => ListFilter::default(),
        Part::Labelled { namespace, label, value } => {
            let selector = Selector::labels([(label.as_str(), value.as_str())]);
            ListFilter { namespace: namespace.clone(), selector, ..ListFilter::default() }
        }
        Part::Within { namespace } => {
            ListFilter { namespace: namespace.clone(), ..ListFilter::default() }
        }
        Part::Named { namespace, name } => ListFilter {
            namespace: namespace.clone(),
            name: Some(name.clone()),
            ..ListFilter::default()
        },
    }
}
