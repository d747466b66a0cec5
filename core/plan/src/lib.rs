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
    draft::{Draft, PlannedOperator, content_of, draft, draft_operators, object_of},
    fault::PlanFault,
    lift::{lift_plan, lift_status, plan_name},
    steps::{PlannedStep, subscription_object},
};
