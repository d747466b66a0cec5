//! The kinds that Operon reads or writes, and what a cluster calls them.
//!
//! Kinds that users define are not here: a cluster tells them through its CRDs.

use crate::Kind;

/// A kind with the names a cluster uses for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKind {
    /// The kind.
    pub kind: Kind,
    /// The version Operon writes.
    pub version: &'static str,
    /// The name in URLs and role rules, such as `deployments`.
    pub plural: &'static str,
    /// The names people type, such as `deploy`.
    pub short_names: &'static [&'static str],
    /// Says whether its objects lie in namespaces.
    pub is_namespaced: bool,
    /// Says whether a CustomResourceDefinition brings it to a cluster.
    pub is_custom: bool,
}

/// `operators.coreos.com`, the group of the kinds that users of Operon write.
pub const OPERATORS_GROUP: &str = "operators.coreos.com";

macro_rules! known_kinds {
    ($($constant:ident = $group:literal $version:literal $kind:literal $plural:literal
        [$($short:literal)*] $scope:ident $origin:ident;)*) => {
        $(
            #[doc = concat!("`", $kind, "` of `", $group, "/", $version, "`")]
            pub const $constant: Kind = Kind::known($group, $kind);
        )*

        /// Every kind that Operon reads or writes.
        pub const KNOWN_KINDS: &[KnownKind] = &[$(KnownKind {
            kind: $constant,
            version: $version,
            plural: $plural,
            short_names: &[$($short),*],
            is_namespaced: known_kinds!(@scope $scope),
            is_custom: known_kinds!(@origin $origin),
        }),*];
    };
    (@scope namespaced) => { true };
    (@scope cluster) => { false };
    (@origin built_in) => { false };
    (@origin custom) => { true };
}

known_kinds! {
    NAMESPACE = "" "v1" "Namespace" "namespaces" ["ns"] cluster built_in;
    SERVICE_ACCOUNT = "" "v1" "ServiceAccount" "serviceaccounts" ["sa"] namespaced built_in;
    SECRET = "" "v1" "Secret" "secrets" [] namespaced built_in;
    CONFIG_MAP = "" "v1" "ConfigMap" "configmaps" ["cm"] namespaced built_in;
    SERVICE = "" "v1" "Service" "services" ["svc"] namespaced built_in;
    POD = "" "v1" "Pod" "pods" ["po"] namespaced built_in;
    EVENT = "" "v1" "Event" "events" ["ev"] namespaced built_in;
    DEPLOYMENT = "apps" "v1" "Deployment" "deployments" ["deploy"] namespaced built_in;
    CONTROLLER_REVISION = "apps" "v1" "ControllerRevision" "controllerrevisions" [] namespaced built_in;
    JOB = "batch" "v1" "Job" "jobs" [] namespaced built_in;
    ROLE = "rbac.authorization.k8s.io" "v1" "Role" "roles" [] namespaced built_in;
    ROLE_BINDING = "rbac.authorization.k8s.io" "v1" "RoleBinding" "rolebindings" [] namespaced built_in;
    CLUSTER_ROLE = "rbac.authorization.k8s.io" "v1" "ClusterRole" "clusterroles" [] cluster built_in;
    CLUSTER_ROLE_BINDING = "rbac.authorization.k8s.io" "v1" "ClusterRoleBinding" "clusterrolebindings" [] cluster built_in;
    CUSTOM_RESOURCE_DEFINITION = "apiextensions.k8s.io" "v1" "CustomResourceDefinition" "customresourcedefinitions" ["crd" "crds"] cluster built_in;
    VALIDATING_WEBHOOK_CONFIGURATION = "admissionregistration.k8s.io" "v1" "ValidatingWebhookConfiguration" "validatingwebhookconfigurations" [] cluster built_in;
    MUTATING_WEBHOOK_CONFIGURATION = "admissionregistration.k8s.io" "v1" "MutatingWebhookConfiguration" "mutatingwebhookconfigurations" [] cluster built_in;
    API_SERVICE = "apiregistration.k8s.io" "v1" "APIService" "apiservices" [] cluster built_in;
    NETWORK_POLICY = "networking.k8s.io" "v1" "NetworkPolicy" "networkpolicies" ["netpol"] namespaced built_in;
    POD_DISRUPTION_BUDGET = "policy" "v1" "PodDisruptionBudget" "poddisruptionbudgets" ["pdb"] namespaced built_in;
    PRIORITY_CLASS = "scheduling.k8s.io" "v1" "PriorityClass" "priorityclasses" ["pc"] cluster built_in;
    LEASE = "coordination.k8s.io" "v1" "Lease" "leases" [] namespaced built_in;
    CLUSTER_SERVICE_VERSION = "operators.coreos.com" "v1alpha1" "ClusterServiceVersion" "clusterserviceversions" ["csv" "csvs"] namespaced custom;
    INSTALL_PLAN = "operators.coreos.com" "v1alpha1" "InstallPlan" "installplans" ["ip"] namespaced custom;
    SUBSCRIPTION = "operators.coreos.com" "v1alpha1" "Subscription" "subscriptions" ["sub" "subs"] namespaced custom;
    CATALOG_SOURCE = "operators.coreos.com" "v1alpha1" "CatalogSource" "catalogsources" ["catsrc"] namespaced custom;
    OPERATOR_GROUP = "operators.coreos.com" "v1" "OperatorGroup" "operatorgroups" ["og"] namespaced custom;
    OPERATOR_CONDITION = "operators.coreos.com" "v2" "OperatorCondition" "operatorconditions" ["condition"] namespaced custom;
    OLM_CONFIG = "operators.coreos.com" "v1" "OLMConfig" "olmconfigs" [] cluster custom;
    OPERATOR = "operators.coreos.com" "v1" "Operator" "operators" [] cluster custom;
}

const fn other(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short_names: &'static [&'static str],
    is_namespaced: bool,
) -> KnownKind {
    let kind = Kind::known(group, kind);
    KnownKind { kind, version, plural, short_names, is_namespaced, is_custom: false }
}

/// The other kinds that every cluster serves by itself: objects of users, which Operon neither reads nor
/// writes, and which operators may require. A kind of several versions is listed in the stored one first.
pub const OTHER_KINDS: &[KnownKind] = &[
    other("", "v1", "Endpoints", "endpoints", &["ep"], true),
    other("", "v1", "LimitRange", "limitranges", &["limits"], true),
    other("", "v1", "Node", "nodes", &["no"], false),
    other("", "v1", "PersistentVolume", "persistentvolumes", &["pv"], false),
    other("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", &["pvc"], true),
    other("", "v1", "PodTemplate", "podtemplates", &[], true),
    other("", "v1", "ReplicationController", "replicationcontrollers", &["rc"], true),
    other("", "v1", "ResourceQuota", "resourcequotas", &["quota"], true),
    other("apps", "v1", "DaemonSet", "daemonsets", &["ds"], true),
    other("apps", "v1", "ReplicaSet", "replicasets", &["rs"], true),
    other("apps", "v1", "StatefulSet", "statefulsets", &["sts"], true),
    other(
        "autoscaling",
        "v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        &["hpa"],
        true,
    ),
    other(
        "autoscaling",
        "v1",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        &["hpa"],
        true,
    ),
    other("batch", "v1", "CronJob", "cronjobs", &["cj"], true),
    other(
        "certificates.k8s.io",
        "v1",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        &["csr"],
        false,
    ),
    other("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", &[], true),
    other("events.k8s.io", "v1", "Event", "events", &[], true),
    other("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", &[], false),
    other(
        "flowcontrol.apiserver.k8s.io",
        "v1",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        &[],
        false,
    ),
    other("networking.k8s.io", "v1", "Ingress", "ingresses", &["ing"], true),
    other("networking.k8s.io", "v1", "IngressClass", "ingressclasses", &[], false),
    other("networking.k8s.io", "v1", "IPAddress", "ipaddresses", &[], false),
    other("networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", &[], false),
    other("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", &[], false),
    other("storage.k8s.io", "v1", "CSIDriver", "csidrivers", &[], false),
    other("storage.k8s.io", "v1", "CSINode", "csinodes", &[], false),
    other("storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", &[], true),
    other("storage.k8s.io", "v1", "StorageClass", "storageclasses", &["sc"], false),
    other("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", &[], false),
    other(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        &[],
        false,
    ),
    other(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        &[],
        false,
    ),
];

/// The APIs that every cluster answers and stores nothing of: group, version and kind. Operators may require
/// them as native APIs.
pub const VIRTUAL_APIS: &[(&str, &str, &str)] = &[
    ("", "v1", "Binding"),
    ("", "v1", "ComponentStatus"),
    ("authentication.k8s.io", "v1", "SelfSubjectReview"),
    ("authentication.k8s.io", "v1", "TokenRequest"),
    ("authentication.k8s.io", "v1", "TokenReview"),
    ("authorization.k8s.io", "v1", "LocalSubjectAccessReview"),
    ("authorization.k8s.io", "v1", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "v1", "SelfSubjectRulesReview"),
    ("authorization.k8s.io", "v1", "SubjectAccessReview"),
    ("autoscaling", "v1", "Scale"),
    ("policy", "v1", "Eviction"),
];

/// Returns every kind that a cluster serves by itself, in every version.
pub fn built_in_kinds() -> impl Iterator<Item = &'static KnownKind> {
    KNOWN_KINDS.iter().filter(|known| !known.is_custom).chain(OTHER_KINDS)
}

/// Returns a kind that Operon knows.
pub fn known_kind(kind: &Kind) -> Option<&'static KnownKind> {
    KNOWN_KINDS.iter().find(|known| known.kind == *kind)
}
