//! The name of a plan: a short hash of what it does, so that a person can approve exactly that.
//!
//! Two plans that do the same have the same name, wherever their catalogs were read from.

use super::{
    situation::Question,
    view::{Change, Row},
};

/// How many digits people compare; the plans of one namespace are few.
const DIGITS: usize = 6;

/// Returns the name of a plan.
pub(super) fn plan_id(question: &Question<'_>, rows: &[Row]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    add(&question.universe.namespace);
    for row in rows {
        add(match row.change {
            Change::Install => "install",
            Change::Upgrade => "upgrade",
            Change::Keep => "keep",
        });
        add(&row.name);
        let Some(addition) = &row.addition else { continue };
        let source = &addition.source;
        let told = [&addition.package, &addition.channel, &source.namespace, &source.name];
        told.into_iter().for_each(|text| add(text));
        add(&addition.image);
        add(&addition.updates);
    }
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}
