//! The kinds of `operators.coreos.com` as the engine reads them.
//!
//! Each kind is a view of an object: nothing is copied, and a field that is missing or of another
//! shape reads as empty. Whether an object is well-formed its schema says; what follows from it is
//! decided by the rooms above.

mod apis;
mod catalog_source;
mod condition;
mod duration;
mod install_plan;
mod lower;
pub mod names;
mod operator_condition;
mod operator_group;
mod packed;
mod pin;
mod service_version;
mod subscription;

pub use self::{
    apis::{ApiDefinition, provided_apis, required_apis},
    catalog_source::{CatalogSource, SourceProblem},
    condition::{Condition, condition, remove_condition, set_condition},
    duration::parse_duration,
    install_plan::{InstallPlan, PlanPhase, Step, StepStatus},
    lower::{lower_service_version, lower_subscription},
    operator_condition::{OperatorCondition, Upgradeable},
    operator_group::{OperatorGroup, Targets, UpgradeStrategy},
    packed::{UNPACKED_BYTES_LIMIT, pack_manifest, unpack_manifest},
    pin::{Pin, PinError},
    service_version::{InstallMode, Phase, ServiceVersion},
    subscription::{Subscription, SubscriptionState},
};
