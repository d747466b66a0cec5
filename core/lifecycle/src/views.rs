//! Questions about a world that change nothing: who needs whom, what went before, what would go with an
//! operator, what going back would mean, and what can be counted.

mod forecast;
mod history;
mod metrics;
mod preview;
pub(crate) mod problems;
mod removal;
mod rollback;
mod tree;

pub use self::{
    forecast::{Forecast, carried_out, forecast, visible_catalogs},
    history::{Generation, GenerationChange, history},
    metrics::{Sample, Series, metrics},
    preview::{NewRight, Preview, PreviewPlan},
    problems::{StatusProblem, needs_action, problems},
    removal::{
        Extent, KeptDefinition, Removal, RemovalError, RemovedOperator, removal, removal_within,
    },
    rollback::{Rollback, RollbackError, rollback},
    tree::{NeedState, OperatorNeed, OperatorNode, Provider, tree},
};
