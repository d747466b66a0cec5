//! A smaller catalog cut out of a catalog: what to keep, so that the rest is still valid and usable.
//!
//! Every kept channel has one head and one chain, every kept version reaches that head, and what the
//! kept bundles require is kept too. Only the decision is made here; documents are not touched.

mod close;
mod decide;
mod depend;
mod draft;
mod report;
mod rule;

pub use self::{
    report::{
        Cause, ChannelPlan, EntryPlan, LeftOut, LeftOutReason, PackagePlan, Provision, Repair,
        SliceError, SlicePlan, UnmetRequirement,
    },
    rule::{KeepRule, KeepRuleError, KeptVersions},
};

use self::{
    decide::{Round, decide},
    draft::Draft,
};
use crate::Catalog;

/// How often a decision is made again on its own result before it is accepted as it is. One round
/// follows from another only where a default channel had to be replaced, and each one only removes.
pub const MAX_ROUNDS: usize = 16;

/// How many tests of a constraint against a bundle, and of an edge against an entry, a decision may
/// make; the largest real catalog needs a few thousand.
pub const MAX_SLICE_STEPS: usize = 50_000_000;

/// What to keep.
#[derive(Debug, Clone)]
pub struct SliceOptions {
    /// What is asked for.
    pub rules: Vec<KeepRule>,
    /// Whether what kept bundles require is kept too.
    pub with_dependencies: bool,
}

/// Decides what to keep of a catalog.
///
/// Guarantees: of a valid catalog the slice is valid; slicing the slice by the same rules changes
/// nothing; the answer does not depend on the order of rules, files or documents.
pub fn slice<'a>(
    catalog: &'a Catalog,
    options: &SliceOptions,
) -> Result<SlicePlan<'a>, SliceError> {
    if options.rules.is_empty() {
        return Err(SliceError::NoRules);
    }
    let mut round = decide(catalog, &Draft::of(catalog), options)?;
    for _ in 1..MAX_ROUNDS {
        let next = decide(catalog, &round.draft, options)?;
        let is_stable = next.changes_nothing_of(&round.draft);
        round = follow(round, next);
        if is_stable {
            break;
        }
    }
    Ok(round.into_plan(catalog))
}

/// Puts the reports of a round and the round after it together.
fn follow<'a>(first: Round<'a>, mut second: Round<'a>) -> Round<'a> {
    let is_kept = |package: &str| second.draft.packages.contains_key(package);
    let repairs = first.repairs.into_iter().filter(|repair| is_kept(repair.package()));
    second.repairs = repairs.chain(second.repairs).collect();
    let left_out = first.left_out.into_iter().filter(|left_out| is_kept(&left_out.package));
    second.left_out = left_out.chain(second.left_out).collect();
    second
}
