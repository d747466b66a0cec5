//! `k8s.io/apimachinery/pkg/apis/meta/v1`, v0.36: selectors and metadata.
//!
//! Only types that the other tables name are here.

use super::table::go_structs;

go_structs! {
    LABEL_SELECTOR_REQUIREMENT { key = string, operator = string, values: [string] }
    LABEL_SELECTOR { matchLabels: {string}, matchExpressions: [LABEL_SELECTOR_REQUIREMENT] }
    OWNER_REFERENCE {
        apiVersion = string, kind = string, name = string, uid = string, controller: *bool,
        blockOwnerDeletion: *bool,
    }
    MANAGED_FIELDS_ENTRY {
        manager: string, operation: string, apiVersion: string, time: *time, fieldsType: string,
        fieldsV1: *raw, subresource: string,
    }
    OBJECT_META {
        name: string, generateName: string, namespace: string, selfLink: string, uid: string,
        resourceVersion: string, generation: int64, creationTimestamp ~ time,
        deletionTimestamp: *time, deletionGracePeriodSeconds: *int64, labels: {string},
        annotations: {string}, ownerReferences: [OWNER_REFERENCE], finalizers: [string],
        managedFields: [MANAGED_FIELDS_ENTRY],
    }
    GROUP_VERSION_KIND { group = string, version = string, kind = string }
}
