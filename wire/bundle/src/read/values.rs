//! Values of a ClusterServiceVersion that are read later: by a catalog, a cluster or a resolver.
//!
//! They do not stop rendering here, nor upstream.

use operon_document::json::Node;
use operon_version::{Release, Version, VersionRange};

use super::Page;
use crate::{BundleRule, finding::Findings};

/// Checks the version, the release and the skip range.
pub(super) fn check(
    page: &Page<'_>,
    spec: Node<'_>,
    annotations: Option<Node<'_>>,
    findings: &mut Findings,
) {
    check_version(page, spec, findings);
    if let Some(node) = spec.get("release")
        && let Some(release) = node.as_str()
        && let Err(error) = Release::parse(&release)
    {
        let message = format!("the release `{release}` cannot be read: {error}");
        page.find(findings, BundleRule::ReleaseInvalid, node, message);
    }
    if let Some(node) = annotations.and_then(|annotations| annotations.get("olm.skipRange"))
        && let Some(range) = node.as_str()
        && !range.is_empty()
        && let Err(error) = VersionRange::parse(&range)
    {
        let message = format!("the skipRange `{range}` cannot be read: {error}");
        page.find(findings, BundleRule::SkipRangeInvalid, node, message);
    }
}

fn check_version(page: &Page<'_>, spec: Node<'_>, findings: &mut Findings) {
    let Some(node) = spec.get("version").filter(|node| !node.is_null()) else {
        let message = "the ClusterServiceVersion has no `spec.version`, which catalogs demand";
        findings.add(BundleRule::VersionInvalid, &page.file.path, page.document.span(), message);
        return;
    };
    let Some(version) = node.as_str() else { return };
    if let Err(error) = Version::parse(&version) {
        let message = format!("the version `{version}` is refused by catalogs: {error}");
        let finding = page.find(findings, BundleRule::VersionInvalid, node, message);
        if let Ok(tolerant) = Version::parse_tolerant(&version) {
            finding.help(format!("write `{tolerant}`"));
        }
    }
}
