//! The validator of the bundle as a whole, which always runs: CRDs against the ClusterServiceVersion,
//! accounts, size, release and related images.
//!
//! That an owned CRD is among the manifests is checked by reading, because rendering needs it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use flate2::{Compression, write::GzEncoder};
use operon_document::json::Node;
use operon_version::Version;

use super::{
    case::{Case, Exhibit, Report, at},
    definition, reference,
};
use crate::{BundleRule, property::text, render::package_value};

/// The most bytes the manifests may have when compressed. OLM unpacks a bundle into one ConfigMap,
/// and etcd takes no larger object.
pub const MAX_COMPRESSED_BYTES: usize = 1 << 20;

/// From this part of the limit on, in percent, a warning is due.
const NEARLY_FULL_PERCENT: usize = 85;

/// Validates what the files of the bundle say together.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    check_definitions(case, report);
    check_accounts(case, report);
    check_size(case, report);
    check_release(case, report);
    check_related_images(case, report);
}

/// A version of a CRD among the manifests.
struct Defined<'a> {
    exhibit: &'a Exhibit<'a>,
    node: Node<'a>,
}

fn check_definitions(case: &Case<'_>, report: &mut Report) {
    let mut defined: BTreeMap<(String, String, String), Defined<'_>> = BTreeMap::new();
    for exhibit in case.exhibits.iter().filter(|exhibit| definition::is_definition(exhibit)) {
        for (version, node) in versions(exhibit) {
            let (group, kind) = (
                text(exhibit.at(&["spec", "group"])),
                text(exhibit.at(&["spec", "names", "kind"])),
            );
            if let Some(earlier) = defined.get(&(group.clone(), kind.clone(), version.clone())) {
                let message = format!(
                    "`{kind}` of `{group}/{version}` is defined already, in `{}`",
                    earlier.exhibit.manifest.file
                );
                report.add(BundleRule::DefinitionRepeated, exhibit, node, message);
            } else {
                defined.insert((group, kind, version), Defined { exhibit, node });
            }
        }
    }
    // Upstream: of a CRD that is owned in one version, the other versions need not be.
    let owned: BTreeSet<(String, String)> = case
        .source
        .service_version
        .owned_definitions
        .iter()
        .filter_map(|key| {
            let group = key.name.split_once('.').map_or(key.name.as_str(), |(_, group)| group);
            let api = (group.to_owned(), key.kind.clone(), key.version.clone());
            defined.contains_key(&api).then_some((api.0, api.1))
        })
        .collect();
    for ((group, kind, version), Defined { exhibit, node }) in &defined {
        if !owned.contains(&(group.clone(), kind.clone())) {
            let message = format!(
                "the bundle defines `{kind}` of `{group}/{version}`, but the CSV does not own it"
            );
            report
                .add(BundleRule::DefinitionNotOwned, exhibit, *node, message)
                .help("add it to `spec.customresourcedefinitions.owned` of the CSV, or take the CRD out of the bundle");
        }
    }
}

/// Returns the names of the versions of a CRD, with their places.
fn versions<'a>(exhibit: &Exhibit<'a>) -> Vec<(String, Node<'a>)> {
    let list = exhibit.at(&["spec", "versions"]);
    let mut versions: Vec<(String, Node<'a>)> = list
        .into_iter()
        .flat_map(Node::elements)
        .map(|version| (text(version.field("name")), version.field("name").unwrap_or(version)))
        .collect();
    if versions.is_empty() && definition::is_beta(exhibit) {
        let single = exhibit.at(&["spec", "version"]);
        versions.push((text(single), single.unwrap_or(exhibit.root)));
    }
    versions
}

/// Upstream: OLM makes the accounts of deployments itself; one of the bundle would be overwritten.
fn check_accounts(case: &Case<'_>, report: &mut Report) {
    let path = ["spec", "template", "spec", "serviceAccountName"];
    let taken: BTreeSet<String> =
        case.deployments().map(|deployment| text(at(deployment, &path))).collect();
    for exhibit in &case.exhibits {
        let manifest = exhibit.manifest;
        if (manifest.api_version.as_str(), manifest.kind.as_str()) != ("v1", "ServiceAccount")
            || !taken.contains(&manifest.name)
        {
            continue;
        }
        let message = format!(
            "the ServiceAccount `{}` is the one of a deployment of the CSV, which OLM makes itself",
            manifest.name
        );
        let node = exhibit.at(&["metadata", "name"]).unwrap_or(exhibit.root);
        report
            .add(BundleRule::ServiceAccountTaken, exhibit, node, message)
            .help("take the manifest out of the bundle, or name the account differently");
    }
}

fn check_size(case: &Case<'_>, report: &mut Report) {
    let (bytes, compressed) = measure(case.files);
    let shown = format!("{compressed} bytes when compressed ({bytes} uncompressed)");
    if compressed > MAX_COMPRESSED_BYTES {
        let message =
            format!("the manifests have {shown}; the limit is {MAX_COMPRESSED_BYTES} bytes");
        report
            .add_in_file(BundleRule::TooLarge, "", 0..0, message)
            .help("shorten the descriptions in CRDs, which are most of a large bundle");
    } else if compressed > MAX_COMPRESSED_BYTES / 100 * NEARLY_FULL_PERCENT {
        let message = format!(
            "the manifests have {shown}, close to the limit of {MAX_COMPRESSED_BYTES} bytes"
        );
        report.add_in_file(BundleRule::NearlyTooLarge, "", 0..0, message);
    }
}

/// Returns the bytes of all manifests, as they are and compressed with gzip.
pub(crate) fn measure(files: &[crate::BundleFile]) -> (usize, usize) {
    let is_manifest = |file: &&crate::BundleFile| {
        file.path.strip_prefix("./").unwrap_or(&file.path).starts_with("manifests/")
    };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut bytes = 0;
    for file in files.iter().filter(is_manifest) {
        bytes += file.content.len();
        encoder.write_all(&file.content).expect("bug: writing into memory does not fail");
    }
    let compressed = encoder.finish().expect("bug: writing into memory does not fail");
    (bytes, compressed.len())
}

/// Upstream: a bundle with a release is named `<package>-v<version>-<release>`.
fn check_release(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let service_version = &case.source.service_version;
    let package = package_value(case.source);
    let release = csv.at(&["spec", "release"]);
    let Some(release) = release.filter(|_| !service_version.release.is_empty()) else { return };
    let expected =
        format!("{}-v{}-{}", package.package_name, package.version, service_version.release);
    if service_version.name != expected {
        let node = csv.at(&["metadata", "name"]).unwrap_or(csv.root);
        let message = format!(
            "a bundle with a release must be named `{expected}`, not `{}`",
            service_version.name
        );
        report.add(BundleRule::NameWithoutRelease, csv, node, message);
    }
    let has_build =
        Version::parse(&package.version).is_ok_and(|version| !version.build().is_empty());
    if has_build {
        let message =
            format!("the version `{}` has build metadata beside the release", package.version);
        report
            .add(BundleRule::ReleaseAmbiguous, csv, release, message)
            .help("leave the part behind `+` out of the version");
    }
    if !service_version.substitutes_for.is_empty() {
        let message = "the annotation `olm.substitutesFor` cannot stand beside a release";
        report.add(BundleRule::ReleaseAmbiguous, csv, release, message);
    }
}

fn check_related_images(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    for entry in case.list(&["spec", "relatedImages"]) {
        let image = text(entry.field("image"));
        if image.is_empty() {
            let message = "a related image has no `image`";
            let finding = report.add(BundleRule::RelatedImageInvalid, csv, entry, message);
            if entry.field("value").is_some() {
                finding.help("the field is called `image`, not `value`");
            }
        } else if let Err(reason) = reference::check(&image) {
            let message =
                format!("the related image `{image}` is not an image reference: {reason}");
            let node = entry.field("image").unwrap_or(entry);
            report.add(BundleRule::RelatedImageInvalid, csv, node, message);
        }
    }
}
