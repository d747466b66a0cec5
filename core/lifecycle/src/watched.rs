//! Which objects decisions read.
//!
//! The driver watches what is named here. Custom resources are watched on request, when a decision
//! needs all of them to judge a change of their CRD.

use operon_object::{Kind, known};

/// The kinds of which decisions read every object.
pub const WATCHED_WHOLE: &[Kind] = &[
    known::SERVICE_ACCOUNT,
    known::ROLE,
    known::ROLE_BINDING,
    known::CLUSTER_ROLE,
    known::CLUSTER_ROLE_BINDING,
    known::CUSTOM_RESOURCE_DEFINITION,
    known::VALIDATING_WEBHOOK_CONFIGURATION,
    known::MUTATING_WEBHOOK_CONFIGURATION,
    known::API_SERVICE,
    known::PRIORITY_CLASS,
    known::CLUSTER_SERVICE_VERSION,
    known::INSTALL_PLAN,
    known::SUBSCRIPTION,
    known::CATALOG_SOURCE,
    known::OPERATOR_GROUP,
    known::OPERATOR_CONDITION,
    known::OLM_CONFIG,
    known::OPERATOR,
];

/// The kinds of which decisions read the objects that carry Operon's label. A cluster may hold many
/// others, and memory follows what is installed.
pub const WATCHED_BY_LABEL: &[Kind] = &[
    known::SECRET,
    known::CONFIG_MAP,
    known::SERVICE,
    known::DEPLOYMENT,
    known::NETWORK_POLICY,
    known::POD_DISRUPTION_BUDGET,
];

/// Returns `true` if an object of a kind that a decision does not see does not exist.
pub(crate) fn is_watched_whole(kind: &Kind) -> bool {
    WATCHED_WHOLE.contains(kind)
}
