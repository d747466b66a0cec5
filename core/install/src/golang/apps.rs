//! `k8s.io/api/apps/v1`, v0.36: what a Deployment asks for.
//!
//! The status of a Deployment is never hashed, so it has no table.

use super::{core_pods::POD_TEMPLATE_SPEC, meta::LABEL_SELECTOR, table::go_structs};

go_structs! {
    ROLLING_UPDATE_DEPLOYMENT { maxUnavailable: *port, maxSurge: *port }
    DEPLOYMENT_STRATEGY { type: string, rollingUpdate: *ROLLING_UPDATE_DEPLOYMENT }
    DEPLOYMENT_SPEC {
        replicas: *int32, selector = *LABEL_SELECTOR, template = POD_TEMPLATE_SPEC,
        strategy: DEPLOYMENT_STRATEGY, minReadySeconds: int32, revisionHistoryLimit: *int32,
        paused: bool, progressDeadlineSeconds: *int32,
    }
}
