//! The validator `community`: bundles with APIs removed in Kubernetes 1.22 keep off OpenShift 4.9.
//!
//! It has nothing to say about a bundle without such APIs.

use operon_version::Version;

use super::{
    case::{Case, Report},
    removed_apis,
};
use crate::BundleRule;

/// The minor version of Kubernetes that OpenShift 4.9 is made of.
const KUBERNETES_MINOR: u64 = 22;

/// The label of a bundle's image that says for which OpenShift versions it is.
const LABEL: &str = "com.redhat.openshift.versions";

/// The property that keeps a cluster from being updated too far.
const PROPERTY: &str = "olm.maxOpenShiftVersion";

/// Validates that a bundle with removed APIs is kept off versions that do not serve them.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    let has_removed = case
        .exhibits
        .iter()
        .any(|exhibit| removed_apis::removed_in(exhibit) == Some(KUBERNETES_MINOR));
    if has_removed {
        check_property(case, report);
        check_label(case, report);
    }
}

fn check_property(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let properties = &case.source.service_version.properties;
    let property = properties.iter().find(|property| property.property_type == PROPERTY);
    let reason = match property {
        None => "is missing".to_owned(),
        Some(property) => {
            let written = property.value.trim_matches('"');
            match Version::parse_tolerant(written) {
                Ok(version) if is_too_new(&version) => format!("is `{written}`"),
                Ok(_) => return,
                Err(_) => format!("is `{written}`, which is not a version"),
            }
        }
    };
    let message = format!(
        "the bundle uses APIs that OpenShift 4.9 does not serve, and `{PROPERTY}` in the annotation `olm.properties` {reason}"
    );
    let node = case.annotation("olm.properties").unwrap_or(csv.key(&["metadata", "annotations"]));
    report
        .add(BundleRule::OpenShiftLimitMissing, csv, node, message)
        .help("use the APIs that replace them, or set the property to `4.8`");
}

fn is_too_new(version: &Version) -> bool {
    (version.major(), version.minor()) >= (4, 9)
}

/// Upstream: `=v4.8` is one version, `4.6-4.8` a range, and anything else has no upper end.
fn check_label(case: &Case<'_>, report: &mut Report) {
    let Some(file) = &case.options.image_file else {
        let message =
            format!("whether the label `{LABEL}` keeps the bundle off OpenShift 4.9 is unknown");
        report.add_in_file(BundleRule::OpenShiftLabelUnchecked, "", 0..0, message).help(
            "give the file with the labels: `--optional-values index-path=bundle.Dockerfile`",
        );
        return;
    };
    let content = String::from_utf8_lossy(&file.content);
    let line = content.lines().find(|line| line.contains(LABEL)).unwrap_or_default();
    let (_, behind) = line.split_once(LABEL).unwrap_or_default();
    let range = behind.trim_start().strip_prefix('=').unwrap_or_default();
    let range = range.trim().trim_matches(['"', '\'']);
    let last = range.strip_prefix('=').or_else(|| range.split_once('-').map(|(_, last)| last));
    let version = last.and_then(|last| Version::parse_tolerant(last).ok());
    if version.is_some_and(|version| !is_too_new(&version)) {
        return;
    }
    let message = format!(
        "the bundle uses APIs that OpenShift 4.9 does not serve, and the label `{LABEL}` in `{}` does not end before it: `{range}`",
        file.path
    );
    report
        .add_in_file(BundleRule::OpenShiftLimitMissing, "", 0..0, message)
        .help("use the APIs that replace them, or give a range such as `v4.6-v4.8`");
}
