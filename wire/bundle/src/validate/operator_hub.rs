//! The validator `operatorhub/v2`: what OperatorHub.io asks of the texts of a ClusterServiceVersion.
//!
//! Capabilities and categories have validators of their own.

use operon_document::json::{Kind, Node};
use operon_version::Version;

use super::{
    address,
    case::{Case, Report},
    removed_apis,
};
use crate::{BundleRule, property::text};

/// The media types of icons.
const MEDIA_TYPES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/svg+xml"];

/// Validates the texts of the ClusterServiceVersion; `minKubeVersion` is always validated.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    check_provider(case, report);
    check_maintainers(case, report);
    check_links(case, report);
    check_version(case, report);
    check_icon(case, report);
    removed_apis::validate(case, report);
}

/// Says that `operatorhub` is replaced by others.
pub(super) fn report_deprecated(report: &mut Report) {
    let message = "the validator `operatorhub` is deprecated";
    report
        .add_in_file(BundleRule::ValidatorDeprecated, "", 0..0, message)
        .help("ask for `operatorhub/v2`, `standardcapabilities` and `standardcategories`");
}

fn check_provider(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    if text(csv.at(&["spec", "provider", "name"])).trim().is_empty() {
        let key = csv.key(&["spec", "provider"]);
        let message = "the ClusterServiceVersion has no `spec.provider.name`";
        report.add(BundleRule::HubProviderMissing, csv, key, message);
    }
}

fn check_maintainers(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    for maintainer in case.list(&["spec", "maintainers"]) {
        let email = text(maintainer.field("email"));
        if text(maintainer.field("name")).is_empty() || email.is_empty() {
            let message = "a maintainer must have a `name` and an `email`";
            report.add(BundleRule::HubMaintainerInvalid, csv, maintainer, message);
        }
        if let Err(reason) = address::email(&email)
            && !email.is_empty()
        {
            let message = format!("the email `{email}` of a maintainer cannot be read: {reason}");
            let node = maintainer.field("email").unwrap_or(maintainer);
            report.add(BundleRule::HubMaintainerInvalid, csv, node, message);
        }
    }
}

fn check_links(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    for link in case.list(&["spec", "links"]) {
        let url = text(link.field("url"));
        if text(link.field("name")).is_empty() || url.is_empty() {
            let message = "a link must have a `name` and a `url`";
            report.add(BundleRule::HubLinkInvalid, csv, link, message);
        }
        if let Err(reason) = address::url(&url)
            && !url.is_empty()
        {
            let message = format!("the url `{url}` of a link cannot be read: {reason}");
            let node = link.field("url").unwrap_or(link);
            report.add(BundleRule::HubLinkInvalid, csv, node, message);
        }
    }
}

/// Upstream: a version that is all zero cannot be told from none.
fn check_version(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let written = &case.source.service_version.version;
    let is_zero = Version::parse(written).is_ok_and(|version| {
        (version.major(), version.minor(), version.patch()) == (0, 0, 0)
            && !version.has_prerelease()
    });
    if written.is_empty() || is_zero {
        let message = "the ClusterServiceVersion has no `spec.version` above `0.0.0`";
        let key = csv.key(&["spec", "version"]);
        report.add(BundleRule::HubVersionMissing, csv, key, message);
    }
}

fn check_icon(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let list = csv.at(&["spec", "icon"]).filter(|list| list.kind() == Kind::Array);
    let Some(list) = list else {
        let message = "the ClusterServiceVersion has no `spec.icon`";
        report.add(BundleRule::HubIconMissing, csv, csv.key(&["spec"]), message);
        return;
    };
    let icons: Vec<Node<'_>> = list.elements().collect();
    if icons.len() != 1 {
        let message = format!("`spec.icon` must hold one icon, not {}", icons.len());
        report.add(BundleRule::HubIconInvalid, csv, csv.key(&["spec", "icon"]), message);
    }
    let Some(icon) = icons.first() else { return };
    let media_type = text(icon.field("mediatype"));
    let key = csv.key(&["spec", "icon"]);
    if media_type.is_empty() || text(icon.field("base64data")).is_empty() {
        let message = "the icon must have `base64data` and a `mediatype`";
        report.add(BundleRule::HubIconInvalid, csv, key, message);
    }
    if !media_type.is_empty() && !MEDIA_TYPES.contains(&media_type.as_str()) {
        let node = icon.field("mediatype").unwrap_or(key);
        let message = format!("the media type `{media_type}` is not one of icons");
        report
            .add(BundleRule::HubIconInvalid, csv, node, message)
            .help(format!("there are: {}", MEDIA_TYPES.join(", ")));
    }
}
