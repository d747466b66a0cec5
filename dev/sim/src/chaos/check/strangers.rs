//! The engine leaves alone what is nobody's business but its owner's.

use std::collections::BTreeSet;

use operon_object::{ObjectKey, known};

use super::Sight;
use crate::Author;

#[derive(Debug, Default)]
pub(super) struct Strangers {
    /// What people made for themselves.
    possessions: BTreeSet<ObjectKey>,
}

impl Strangers {
    pub(super) fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let kind = &sight.key.kind;
        let is_private = *kind == known::CONFIG_MAP
            || *kind == known::SECRET
            || known::known_kind(kind).is_none();
        if !is_private {
            return Ok(());
        }
        match sight.author {
            Author::Person if sight.before.is_none() => {
                self.possessions.insert(sight.key.clone());
            }
            Author::Person | Author::Cluster => {}
            Author::Engine if self.possessions.contains(sight.key) => {
                return Err(format!("the engine wrote {}, which a person made", sight.key));
            }
            Author::Engine if known::known_kind(kind).is_none() => {
                return Err(format!("the engine wrote {}, which no bundle brings", sight.key));
            }
            Author::Engine => {}
        }
        if sight.after.is_none() {
            self.possessions.remove(sight.key);
        }
        Ok(())
    }
}
