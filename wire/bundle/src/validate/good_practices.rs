//! The validator `good-practices`: requests, descriptions, channel names, rights, the bundle's name.

use std::collections::BTreeSet;

use operon_version::Version;

use super::{
    case::{Case, Report, at, list},
    policy::names_any,
};
use crate::{BundleRule, property::text};

/// What the names of channels begin with by convention.
const CHANNEL_PREFIXES: [&str; 3] = ["candidate", "fast", "stable"];

/// Validates what experience recommends.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    check_requests(case, report);
    check_descriptions(case, report);
    check_channels(case, report);
    check_rights(case, report);
    check_name(case, report);
}

fn check_requests(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let path = ["spec", "install", "spec", "deployments"];
    if csv.at(&path).is_none_or(|deployments| deployments.is_null()) {
        let message = "the ClusterServiceVersion installs no deployment";
        report.add(BundleRule::NoDeployment, csv, csv.key(&path), message);
    }
    for deployment in case.deployments() {
        for container in list(deployment, &["spec", "template", "spec", "containers"]) {
            let requests = at(container, &["resources", "requests"]);
            if requests.is_none_or(|requests| requests.is_null()) {
                let name = text(container.field("name"));
                let message = format!("the container `{name}` requests neither CPU nor memory");
                let node = container.field("name").unwrap_or(container);
                report
                    .add(BundleRule::RequestsMissing, csv, node, message)
                    .help("some clusters refuse pods without `resources.requests`");
            }
        }
    }
}

fn check_descriptions(case: &Case<'_>, report: &mut Report) {
    for relation in ["owned", "required"] {
        for definition in case.list(&["spec", "customresourcedefinitions", relation]) {
            if text(definition.field("description")).is_empty() {
                let name = text(definition.field("name"));
                let message = format!("the {relation} CRD `{name}` has no description");
                let node = definition.field("name").unwrap_or(definition);
                let csv = &case.service_version;
                report.add(BundleRule::DescriptionMissing, csv, node, message);
            }
        }
    }
}

fn check_channels(case: &Case<'_>, report: &mut Report) {
    let annotations = &case.source.annotations;
    let channels: BTreeSet<&str> = annotations
        .channels
        .iter()
        .chain([&annotations.default_channel])
        .map(|channel| channel.trim())
        .filter(|channel| !channel.is_empty())
        .collect();
    for channel in channels {
        if CHANNEL_PREFIXES.iter().any(|prefix| channel.starts_with(prefix)) {
            continue;
        }
        let message = format!("the channel `{channel}` does not follow the naming convention");
        let range = annotations.range.clone();
        report
            .add_in_file(BundleRule::ChannelName, &annotations.file, range, message)
            .help("begin it with `candidate`, `fast` or `stable`");
    }
}

/// Upstream: one warning is enough, so only the first such rule is shown.
fn check_rights(case: &Case<'_>, report: &mut Report) {
    let permissions = ["permissions", "clusterPermissions"]
        .into_iter()
        .flat_map(|name| case.list(&["spec", "install", "spec", name]));
    let found = permissions.flat_map(|permission| list(permission, &["rules"])).find(|rule| {
        names_any(*rule, "apiGroups", &["apiextensions.k8s.io"])
            && names_any(*rule, "resources", &["customresourcedefinitions", "*", "[*]"])
            && names_any(*rule, "verbs", &["create", "patch", "*", "[*]"])
    });
    if let Some(rule) = found {
        let message = "the operator may create CRDs itself, beside those of its bundle";
        report
            .add(BundleRule::RoleCreatesDefinitions, &case.service_version, rule, message)
            .help("put the CRDs into the bundle, or depend on the operator that brings them");
    }
}

fn check_name(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let name = &case.source.service_version.name;
    let parts: Vec<&str> = name.split(".v").collect();
    let is_right = match parts.as_slice() {
        [_, _] => version_at_end(name).is_some(),
        _ => false,
    };
    if !is_right {
        let node = csv.at(&["metadata", "name"]).unwrap_or(csv.root);
        let message = format!("the name `{name}` does not follow the naming convention");
        report
            .add(BundleRule::BundleName, csv, node, message)
            .help("name the bundle `<operator>.v<major>.<minor>.<patch>`");
    }
}

/// Returns the semantic version that a name ends with: the longest end that is one.
fn version_at_end(name: &str) -> Option<Version> {
    let starts = name.char_indices().filter(|(_, character)| character.is_ascii_digit());
    starts.map(|(start, _)| Version::parse(&name[start..])).find_map(Result::ok)
}
