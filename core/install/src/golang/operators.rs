//! `github.com/operator-framework/api/pkg/operators/v1alpha1`, v0.45.
//!
//! Only ClusterServiceVersions and the configuration in Subscriptions are hashed or normalised.

use super::{
    apps::DEPLOYMENT_SPEC,
    core_pods::{
        AFFINITY, ENV_FROM_SOURCE, ENV_VAR, RESOURCE_REQUIREMENTS, TOLERATION, VOLUME_MOUNT,
    },
    core_volumes::VOLUME,
    meta::{GROUP_VERSION_KIND, LABEL_SELECTOR},
    rbac::{POLICY_RULE, RULE_WITH_OPERATIONS},
    table::go_structs,
};

go_structs! {
    WEBHOOK_DESCRIPTION {
        generateName = string, type = string, deploymentName: string, containerPort: int32,
        targetPort: *port, rules: [RULE_WITH_OPERATIONS], failurePolicy: *string,
        matchPolicy: *string, objectSelector: *LABEL_SELECTOR, sideEffects = *string,
        timeoutSeconds: *int32, admissionReviewVersions = [string], reinvocationPolicy: *string,
        webhookPath: *string, conversionCRDs: [string],
    }
    STRATEGY_DEPLOYMENT_SPEC { name = string, spec = DEPLOYMENT_SPEC, label: {string} }
    STRATEGY_DEPLOYMENT_PERMISSIONS { serviceAccountName = string, rules = [POLICY_RULE] }
    STRATEGY_DETAILS_DEPLOYMENT {
        deployments = [STRATEGY_DEPLOYMENT_SPEC], permissions: [STRATEGY_DEPLOYMENT_PERMISSIONS],
        clusterPermissions: [STRATEGY_DEPLOYMENT_PERMISSIONS],
    }
    NAMED_INSTALL_STRATEGY { strategy = string, spec: STRATEGY_DETAILS_DEPLOYMENT }
    API_RESOURCE_REFERENCE { name = string, kind = string, version = string }
    STATUS_DESCRIPTOR {
        path = string, displayName: string, description: string, "x-descriptors": [string],
        value: raw,
    }
    SPEC_DESCRIPTOR {
        path = string, displayName: string, description: string, "x-descriptors": [string],
        value: raw,
    }
    ACTION_DESCRIPTOR {
        path = string, displayName: string, description: string, "x-descriptors": [string],
        value: raw,
    }
    CRD_DESCRIPTION {
        name = string, version = string, kind = string, displayName: string, description: string,
        resources: [API_RESOURCE_REFERENCE], statusDescriptors: [STATUS_DESCRIPTOR],
        specDescriptors: [SPEC_DESCRIPTOR], actionDescriptors: [ACTION_DESCRIPTOR],
    }
    CUSTOM_RESOURCE_DEFINITIONS { owned: [CRD_DESCRIPTION], required: [CRD_DESCRIPTION] }
    API_SERVICE_DESCRIPTION {
        name = string, group = string, version = string, kind = string, deploymentName: string,
        containerPort: int32, displayName: string, description: string,
        resources: [API_RESOURCE_REFERENCE], statusDescriptors: [STATUS_DESCRIPTOR],
        specDescriptors: [SPEC_DESCRIPTOR], actionDescriptors: [ACTION_DESCRIPTOR],
    }
    API_SERVICE_DEFINITIONS {
        owned: [API_SERVICE_DESCRIPTION], required: [API_SERVICE_DESCRIPTION],
    }
    MAINTAINER { name: string, email: string }
    APP_LINK { name: string, url: string }
    ICON { base64data = string, mediatype = string }
    INSTALL_MODE { type = string, supported = bool }
    CLEANUP_SPEC { enabled = bool }
    RELATED_IMAGE { name = string, image = string }
    CLUSTER_SERVICE_VERSION_SPEC {
        install = NAMED_INSTALL_STRATEGY, version: version, release ~ release, maturity: string,
        customresourcedefinitions: CUSTOM_RESOURCE_DEFINITIONS,
        apiservicedefinitions: API_SERVICE_DEFINITIONS, webhookdefinitions: [WEBHOOK_DESCRIPTION],
        nativeAPIs: [GROUP_VERSION_KIND], minKubeVersion: string, displayName = string,
        description: string, keywords: [string], maintainers: [MAINTAINER], provider: APP_LINK,
        links: [APP_LINK], icon: [ICON], installModes: [INSTALL_MODE], replaces: string,
        labels: {string}, annotations: {string}, selector: *LABEL_SELECTOR, cleanup: CLEANUP_SPEC,
        skips: [string], relatedImages: [RELATED_IMAGE],
    }
    CLUSTER_SERVICE_VERSION_CONDITION {
        phase: string, message: string, reason: string, lastUpdateTime: *time,
        lastTransitionTime: *time,
    }
    DEPENDENT_STATUS {
        group = string, version = string, kind = string, status = string, uuid: string,
        message: string,
    }
    REQUIREMENT_STATUS {
        group = string, version = string, kind = string, name = string, status = string,
        message = string, uuid: string, dependents: [DEPENDENT_STATUS],
    }
    RESOURCE_INSTANCE { name = string, namespace: string }
    RESOURCE_LIST { group = string, kind = string, instances = [RESOURCE_INSTANCE] }
    CLEANUP_STATUS { pendingDeletion: [RESOURCE_LIST] }
    CLUSTER_SERVICE_VERSION_STATUS {
        phase: string, message: string, reason: string, lastUpdateTime: *time,
        lastTransitionTime: *time, conditions: [CLUSTER_SERVICE_VERSION_CONDITION],
        requirementStatus: [REQUIREMENT_STATUS], certsLastUpdated: *time, certsRotateAt: *time,
        cleanup: CLEANUP_STATUS,
    }
    SUBSCRIPTION_CONFIG {
        selector: *LABEL_SELECTOR, nodeSelector: {string}, tolerations: [TOLERATION],
        resources: *RESOURCE_REQUIREMENTS, envFrom: [ENV_FROM_SOURCE], env: [ENV_VAR],
        volumes: [VOLUME], volumeMounts: [VOLUME_MOUNT], affinity: *AFFINITY, annotations: {string},
    }
}
