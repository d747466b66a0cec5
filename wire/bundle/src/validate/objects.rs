//! The validator `bundle-objects`: budgets, priority classes and roles that harm a cluster.

use operon_document::json::{Kind, Node};

use super::{
    case::{Case, Exhibit, Report, list},
    policy::names_any,
};
use crate::{BundleRule, property::text};

/// The SecurityContextConstraints that every OpenShift cluster has.
const DEFAULT_CONSTRAINTS: [&str; 8] = [
    "anyuid",
    "hostaccess",
    "hostmount-anyuid",
    "hostnetwork",
    "node-exporter",
    "nonroot",
    "privileged",
    "restricted",
];

/// Validates the objects that are neither the ClusterServiceVersion nor CRDs.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    for exhibit in &case.exhibits {
        match exhibit.manifest.kind.as_str() {
            "PodDisruptionBudget" => check_budget(exhibit, report),
            "PriorityClass" => check_priority_class(exhibit, report),
            "Role" | "ClusterRole" => check_role(exhibit, report),
            _ => {}
        }
    }
}

fn check_budget(exhibit: &Exhibit<'_>, report: &mut Report) {
    if let Some(node) = exhibit.at(&["spec", "maxUnavailable"]).filter(|node| !node.is_null()) {
        // Upstream: of a text only the number beside it is looked at, which is 0, so that every
        // percentage is refused.
        let is_refused = node.kind() != Kind::Number || node.raw() == b"0";
        if is_refused {
            let written = String::from_utf8_lossy(node.raw()).into_owned();
            let message = if node.kind() == Kind::String && text(Some(node)) != "0%" {
                format!("`spec.maxUnavailable` is {written}; upstream refuses percentages here")
            } else {
                format!("`spec.maxUnavailable` is {written}, so no node can be drained")
            };
            report
                .add(BundleRule::DisruptionBudgetBlocks, exhibit, node, message)
                .help("give a number of pods that is not 0");
        }
    }
    if let Some(node) = exhibit.at(&["spec", "minAvailable"])
        && text(Some(node)) == "100%"
    {
        let message = "`spec.minAvailable` is `100%`, so no node can be drained";
        report.add(BundleRule::DisruptionBudgetBlocks, exhibit, node, message);
    }
}

fn check_priority_class(exhibit: &Exhibit<'_>, report: &mut Report) {
    if let Some(node) = exhibit.at(&["globalDefault"])
        && node.as_bool() == Some(true)
    {
        let message = "`globalDefault` would give this priority to every pod of the cluster";
        report.add(BundleRule::PriorityClassGlobal, exhibit, node, message);
    }
}

fn check_role(exhibit: &Exhibit<'_>, report: &mut Report) {
    for rule in list(exhibit.root, &["rules"]) {
        if allows(rule, "policy", "poddisruptionbudgets", &["*", "create", "update", "patch"]) {
            let message = "the role may create or change PodDisruptionBudgets, which can keep nodes from being drained";
            report.add(BundleRule::RoleEditsBudgets, exhibit, rule, message);
        }
        let resource = "securitycontextconstraints";
        if allows(rule, "security.openshift.io", resource, &["*", "delete", "update", "patch"])
            && names_any(rule, "resourceNames", &DEFAULT_CONSTRAINTS)
        {
            let message = "the role may change default SecurityContextConstraints, on which other workloads rely";
            report.add(BundleRule::RoleEditsConstraints, exhibit, rule, message);
        }
    }
}

fn allows(rule: Node<'_>, group: &str, resource: &str, verbs: &[&str]) -> bool {
    names_any(rule, "apiGroups", &[group])
        && names_any(rule, "resources", &[resource])
        && names_any(rule, "verbs", verbs)
}
