//! The validator `alpha-deprecated-apis`: APIs that newer Kubernetes versions do not serve.
//!
//! It is an error if the bundle is meant for such a version, by `k8s-version` or by its own
//! `minKubeVersion`, and a warning otherwise. Upstream's list ends with 1.26, and so does this one.

use std::collections::BTreeSet;

use operon_document::json::Node;
use operon_version::Version;

use super::{
    case::{Case, Exhibit, Report, list},
    definition, policy,
};
use crate::{BundleRule, property::text};

/// A kind that is no longer served from a minor version of Kubernetes 1 on.
struct Removed {
    minor: u64,
    api_version: &'static str,
    kinds: &'static [&'static str],
}

const fn removed(minor: u64, api_version: &'static str, kinds: &'static [&'static str]) -> Removed {
    Removed { minor, api_version, kinds }
}

/// The first version that serves the new form of CRDs only.
const DEFINITIONS_REMOVED: u64 = 22;

const REMOVED: [Removed; 18] = [
    removed(22, "scheduling.k8s.io/v1beta1", &["PriorityClass"]),
    removed(
        22,
        "rbac.authorization.k8s.io/v1beta1",
        &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
    ),
    removed(22, "apiregistration.k8s.io/v1beta1", &["APIService"]),
    removed(22, "authentication.k8s.io/v1beta1", &["TokenReview"]),
    removed(
        22,
        "authorization.k8s.io/v1beta1",
        &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"],
    ),
    removed(
        22,
        "admissionregistration.k8s.io/v1beta1",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    removed(22, "coordination.k8s.io/v1beta1", &["Lease"]),
    removed(22, "extensions/v1beta1", &["Ingress"]),
    removed(22, "networking.k8s.io/v1beta1", &["Ingress", "IngressClass"]),
    removed(
        22,
        "storage.k8s.io/v1beta1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
    ),
    removed(22, "certificates.k8s.io/v1beta1", &["CertificateSigningRequest"]),
    removed(25, "batch/v1beta1", &["CronJob"]),
    removed(25, "discovery.k8s.io/v1beta1", &["EndpointSlice"]),
    removed(25, "events.k8s.io/v1beta1", &["Event"]),
    removed(25, "autoscaling/v2beta1", &["HorizontalPodAutoscaler"]),
    removed(25, "policy/v1beta1", &["PodDisruptionBudget", "PodSecurityPolicy"]),
    removed(25, "node.k8s.io/v1beta1", &["RuntimeClass"]),
    removed(26, "autoscaling/v2beta2", &["HorizontalPodAutoscaler"]),
];

/// Resources of which a version was removed in 1.25; a rule does not say which version it is for.
const SUSPECT_RESOURCES: [(&str, &str); 7] = [
    ("batch", "cronjobs"),
    ("discovery.k8s.io", "endpointslices"),
    ("events.k8s.io", "events"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("policy", "poddisruptionbudgets"),
    ("policy", "podsecuritypolicies"),
    ("node.k8s.io", "runtimeclasses"),
];

/// Validates which APIs the bundle uses.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    for exhibit in &case.exhibits {
        if let Some(minor) = removed_in(exhibit) {
            let node = exhibit.at(&["apiVersion"]).unwrap_or(exhibit.root);
            let manifest = exhibit.manifest;
            let what = format!("the {} `{}`", manifest.kind, manifest.name);
            report_api(case, exhibit, node, (&manifest.api_version, minor, &what), report);
        }
    }
    let described = check_described_resources(case, report);
    check_rules(case, &described, report);
}

/// Returns the minor version of Kubernetes that does not serve the API of an object any more.
pub(super) fn removed_in(exhibit: &Exhibit<'_>) -> Option<u64> {
    if definition::is_definition(exhibit) {
        return definition::is_beta(exhibit).then_some(DEFINITIONS_REMOVED);
    }
    lookup(&exhibit.manifest.api_version, &exhibit.manifest.kind)
}

fn lookup(api_version: &str, kind: &str) -> Option<u64> {
    REMOVED
        .iter()
        .find(|removed| removed.api_version == api_version && removed.kinds.contains(&kind))
        .map(|removed| removed.minor)
}

/// Tells of an API, as an error if the bundle is meant for a version without it.
fn report_api(
    case: &Case<'_>,
    exhibit: &Exhibit<'_>,
    node: Node<'_>,
    (api_version, minor, what): (&str, u64, &str),
    report: &mut Report,
) {
    let without = Version::parse(&format!("1.{minor}.0")).expect("bug: this is a version");
    let own = text(case.service_version.at(&["spec", "minKubeVersion"]));
    let own = Version::parse_tolerant(&own).ok();
    let is_meant =
        own.iter().chain(&case.options.kubernetes_version).any(|version| *version >= without);
    let rule = if is_meant { BundleRule::RemovedApi } else { BundleRule::ApiRemovedLater };
    let message = format!("{what} uses `{api_version}`, which Kubernetes 1.{minor} does not serve");
    report.add(rule, exhibit, node, message).help(format!(
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-{minor} says what replaces it"
    ));
}

/// Checks the resources that the owned and required CRDs are said to be made of, and returns their
/// plural names.
fn check_described_resources(case: &Case<'_>, report: &mut Report) -> BTreeSet<String> {
    let csv = &case.service_version;
    let mut described = BTreeSet::new();
    for relation in ["owned", "required"] {
        for definition in case.list(&["spec", "customresourcedefinitions", relation]) {
            for resource in list(definition, &["resources"]) {
                let (kind, version) =
                    (text(resource.field("kind")), text(resource.field("version")));
                described.insert(format!("{}s", kind.to_lowercase()));
                // Upstream looks here at what was removed in 1.25 only.
                if let Some(minor @ 25) = lookup(&version, &kind) {
                    let what =
                        format!("`{}`, as the CSV describes it,", text(definition.field("name")));
                    report_api(case, csv, resource, (&version, minor, &what), report);
                }
            }
        }
    }
    described
}

/// Upstream: a right on a resource of which a version was removed may be a right on that version.
fn check_rules(case: &Case<'_>, described: &BTreeSet<String>, report: &mut Report) {
    for permissions in ["clusterPermissions", "permissions"] {
        for permission in case.list(&["spec", "install", "spec", permissions]) {
            for rule in list(permission, &["rules"]) {
                let groups = policy::texts(rule, "apiGroups");
                let resources = policy::texts(rule, "resources");
                for (group, resource) in SUSPECT_RESOURCES {
                    if described.contains(resource)
                        || !groups.iter().any(|one| one == group)
                        || !resources.iter().any(|one| one == resource)
                    {
                        continue;
                    }
                    let message = format!(
                        "the operator may use `{resource}` of `{group}`, of which Kubernetes 1.25 does not serve every version"
                    );
                    let csv = &case.service_version;
                    report.add(BundleRule::ApiRemovedLater, csv, rule, message).help(
                        "make sure that the operator asks for a version that is still served",
                    );
                }
            }
        }
    }
}
