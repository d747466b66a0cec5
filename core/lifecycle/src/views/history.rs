//! What went before.

use operon_object::{Object, known};

use crate::{FAILED_LATER_ANNOTATION, GENERATION_LABEL, Objects};

/// One generation of a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// The namespace.
    pub namespace: String,
    /// Its number.
    pub number: i64,
    /// When it came to an end, as it is written.
    pub when: String,
    /// What changed.
    pub changes: Vec<GenerationChange>,
    /// The operators that went for good: name and version.
    pub removed: Vec<(String, String)>,
    /// Why.
    pub because: String,
    /// Whether a person approved it.
    pub was_approved: bool,
    /// Why it failed; empty if it did not.
    pub failure: String,
    /// When and why an operator that it brought failed later; empty if none did.
    pub failed_later: String,
}

/// One operator that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerationChange {
    /// The operator that came.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The operator that it took the place of; empty for none.
    pub replaces: String,
    /// The catalog that it came from.
    pub catalog: String,
}

/// Returns the generations of a namespace, the newest first.
pub fn history(objects: &Objects, namespace: &str) -> Vec<Generation> {
    let revisions = objects.within(&known::CONTROLLER_REVISION, namespace);
    let mut generations: Vec<Generation> =
        revisions.filter(|object| !object.label(GENERATION_LABEL).is_empty()).map(read).collect();
    // The list was sorted by name; those of one number stay so.
    generations.sort_by_key(|generation| std::cmp::Reverse(generation.number));
    generations
}

fn read(object: &Object) -> Generation {
    let data = object.at(&["data"]);
    let text = |name: &str| data.get(name).str().to_owned();
    let failure =
        if data.get("outcome").str() == "failed" { text("message") } else { String::new() };
    let changes = data.get("changes").elements().iter().map(|change| {
        let text = |name: &str| change.get(name).str().to_owned();
        GenerationChange {
            name: text("name"),
            version: text("version"),
            replaces: text("replaces"),
            catalog: text("catalog"),
        }
    });
    let removed = data.get("removed").elements().iter();
    let removed = removed
        .map(|gone| (gone.get("name").str().to_owned(), gone.get("version").str().to_owned()));
    Generation {
        namespace: object.namespace().to_owned(),
        number: object.at(&["revision"]).as_integer().unwrap_or(0),
        when: text("when"),
        changes: changes.collect(),
        removed: removed.collect(),
        because: text("because"),
        was_approved: data.get("approval").str() == "Manual",
        failure,
        failed_later: object.annotation(FAILED_LATER_ANNOTATION).unwrap_or_default().to_owned(),
    }
}
