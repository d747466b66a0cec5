//! `k8s.io/api/rbac/v1` and `k8s.io/api/admissionregistration/v1`, v0.36: rules.
//!
//! Whole roles and bindings are never hashed, only their parts.

use super::table::go_structs;

go_structs! {
    POLICY_RULE {
        verbs = [string], apiGroups: [string], resources: [string], resourceNames: [string],
        nonResourceURLs: [string],
    }
    ROLE_REF { apiGroup = string, kind = string, name = string }
    SUBJECT { kind = string, apiGroup: string, name = string, namespace: string }
    RULE_WITH_OPERATIONS {
        operations: [string], apiGroups: [string], apiVersions: [string], resources: [string],
        scope: *string,
    }
}
