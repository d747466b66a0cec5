//! The validator of the ClusterServiceVersion, which always runs.
//!
//! Its examples are looked at next door.

use operon_document::json::Node;
use operon_version::Version;

use super::{
    case::{Case, Report, at},
    examples, names,
};
use crate::{BundleRule, property::text};

/// The annotations whose keys are compared without regard to case by people, but not by OLM.
const CASE_SENSITIVE: [&str; 5] = [
    "olm.operatorGroup",
    "olm.operatorNamespace",
    "olm.targetNamespaces",
    "olm.providedAPIs",
    "olm.skipRange",
];

/// The install mode of operators with conversion webhooks.
const ALL_NAMESPACES: &str = "AllNamespaces";

/// Validates the ClusterServiceVersion.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    check_identity(case, report);
    check_required_fields(case, report);
    check_install_modes(case, report);
    check_min_kube_version(case, report);
    check_annotations(case, report);
    examples::check(case, report);
}

fn check_identity(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    for path in [["metadata", "name"], ["spec", "replaces"]] {
        let Some(node) = csv.at(&path) else { continue };
        let name = text(Some(node));
        // An operator that replaces nothing may say so.
        if name.is_empty() && path[1] == "replaces" {
            continue;
        }
        if let Err(reason) = names::subdomain(&name).and_then(|()| names::label_value(&name)) {
            let message = format!("the name `{name}` {reason}");
            report.add(BundleRule::ServiceVersionNameInvalid, csv, node, message);
        }
    }
    if text(csv.root.get("apiVersion")).is_empty() {
        let message = "the ClusterServiceVersion has no `apiVersion`";
        report
            .add(BundleRule::ApiVersionMissing, csv, csv.root, message)
            .help("write `apiVersion: operators.coreos.com/v1alpha1`");
    }
}

/// Upstream: the fields that its Go types do not mark as optional, looked at down to the first list.
fn check_required_fields(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let mut missing = |path: &[&str]| {
        let message = format!("the ClusterServiceVersion has no `{}`", path.join("."));
        report.add(BundleRule::RequiredFieldMissing, csv, csv.key(path), message);
    };
    if text(csv.at(&["spec", "displayName"])).is_empty() {
        missing(&["spec", "displayName"]);
    }
    let strategy = text(csv.at(&["spec", "install", "strategy"]));
    let details = csv.at(&["spec", "install", "spec"]);
    let has = |name: &str| {
        let list = details.and_then(|details| details.field(name));
        list.is_some_and(|list| !list.is_null())
    };
    let has_details = ["deployments", "permissions", "clusterPermissions"].into_iter().any(has);
    if strategy.is_empty() && !has_details {
        return missing(&["spec", "install"]);
    }
    if strategy.is_empty() {
        missing(&["spec", "install", "strategy"]);
    }
    if has_details && !has("deployments") {
        missing(&["spec", "install", "spec", "deployments"]);
    }
}

fn check_install_modes(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let modes: Vec<(Node<'_>, String, bool)> = case
        .list(&["spec", "installModes"])
        .map(|mode| {
            let is_supported = mode.field("supported").and_then(Node::as_bool) == Some(true);
            (mode, text(mode.field("type")), is_supported)
        })
        .collect();
    let whole = csv.key(&["spec", "installModes"]);
    if modes.is_empty() {
        let message = "the ClusterServiceVersion has no `spec.installModes`";
        report
            .add(BundleRule::InstallModesMissing, csv, whole, message)
            .help("say of each of OwnNamespace, SingleNamespace, MultiNamespace and AllNamespaces whether it is supported");
        return;
    }
    if !modes.iter().any(|(_, _, is_supported)| *is_supported) {
        let message = "no install mode is supported, so the operator can be installed nowhere";
        report.add(BundleRule::InstallModesUnsupported, csv, whole, message);
    }
    // Upstream means to refuse this, but its check never finds anything.
    for (index, (mode, name, _)) in modes.iter().enumerate() {
        if modes[..index].iter().any(|(_, earlier, _)| earlier == name) {
            let message = format!("the install mode `{name}` is named twice; the last one counts");
            report.add(BundleRule::InstallModeRepeated, csv, *mode, message);
        }
    }
    let is_everywhere_only =
        modes.iter().all(|(_, name, is_supported)| (name == ALL_NAMESPACES) == *is_supported);
    for webhook in case.list(&["spec", "webhookdefinitions"]) {
        let converted = webhook.field("conversionCRDs");
        if let Some(converted) = converted.filter(|list| list.elements().next().is_some())
            && !is_everywhere_only
        {
            let message = "an operator that converts CRDs must support the install mode AllNamespaces and no other";
            report.add(BundleRule::ConversionInstallModes, csv, converted, message).help(
                "a CRD belongs to the whole cluster, so only one operator can convert its objects",
            );
        }
    }
}

fn check_min_kube_version(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let node = csv.at(&["spec", "minKubeVersion"]);
    let written = text(node);
    let Some(node) = node.filter(|_| !written.trim().is_empty()) else {
        let message = "the ClusterServiceVersion has no `spec.minKubeVersion`, so it may be installed on any Kubernetes";
        report.add(BundleRule::MinKubeVersionMissing, csv, csv.key(&["spec"]), message);
        return;
    };
    if let Err(error) = Version::parse(&written) {
        let message = format!("the minKubeVersion `{written}` cannot be read: {error}");
        let finding = report.add(BundleRule::MinKubeVersionInvalid, csv, node, message);
        if let Ok(tolerant) = Version::parse_tolerant(&written) {
            finding.help(format!("write `{tolerant}`"));
        }
    }
}

fn check_annotations(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let annotations = at(csv.root, &["metadata", "annotations"]);
    for (key, _) in annotations.into_iter().flat_map(Node::members) {
        let name = key.as_str().unwrap_or_default();
        let meant = CASE_SENSITIVE.iter().find(|known| known.eq_ignore_ascii_case(&name));
        if let Some(meant) = meant.filter(|meant| **meant != name) {
            let message = format!("the annotation `{name}` must be written `{meant}`");
            report.add(BundleRule::AnnotationCase, csv, key, message);
        }
        if name == "olm.properties" {
            let message = "the annotation `olm.properties` states properties of the bundle";
            report
                .add(BundleRule::PropertiesAnnotation, csv, key, message)
                .help("state them in `metadata/properties.yaml`");
        }
    }
}
