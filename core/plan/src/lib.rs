//! From a resolution and the contents of bundles to an InstallPlan.
//!
//! A [`Draft`] says everything that will be written, in order, before anything is; its content hash
//! names the plan, and approving the plan approves that content. Whether and when a plan is carried
//! out is decided in the lifecycle room.

mod contents;
mod draft;
mod fault;
mod lift;
mod steps;

pub use self::{
    contents::{BundleContents, ContentsError},
    draft::{Draft, PlannedOperator, draft, draft_operators},
    fault::PlanFault,
    lift::{lift_plan, lift_status, plan_name},
    steps::PlannedStep,
};
