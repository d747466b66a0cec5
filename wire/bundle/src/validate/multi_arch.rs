//! The validator `multiarch`: what a bundle promises to run on, compared with what its images are made for.
//!
//! What an image is made for is told by the caller; no registry is asked here.

mod placement;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use operon_document::json::Node;

use super::{
    OptionalValidator,
    case::{Case, Report, list},
};
use crate::{BundleRule, BundleSource, property::text};

/// What the labels that promise an architecture begin with.
const ARCHITECTURE_LABEL: &str = "operatorframework.io/arch.";
/// What the labels that promise a system begin with.
const SYSTEM_LABEL: &str = "operatorframework.io/os.";
/// The value with which such a label counts.
const SUPPORTED: &str = "supported";
/// The architecture of a bundle whose labels promise none.
const DEFAULT_ARCHITECTURE: &str = "amd64";
/// The system of a bundle whose labels promise none.
const DEFAULT_SYSTEM: &str = "linux";

/// What an image is made for, such as `linux/arm64`; variants of a processor make no difference to a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImagePlatform {
    /// The system, such as `linux`.
    pub os: String,
    /// The processor by the name that Go and Kubernetes use, such as `arm64`.
    pub architecture: String,
}

impl fmt::Display for ImagePlatform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.os, self.architecture)
    }
}

/// By image, as the bundle writes it: what it is made for, or why that is not known.
pub type ImagePlatforms = BTreeMap<String, Result<BTreeSet<ImagePlatform>, String>>;

/// Returns the images whose platforms the validator `multiarch` wants to know.
pub fn platform_images(source: &BundleSource) -> BTreeSet<&str> {
    let csv = &source.service_version;
    let related = csv.related_images.iter().map(|related| related.image.as_str());
    let all = related.chain(csv.operator_images.iter().map(String::as_str));
    all.filter(|image| !image.is_empty()).collect()
}

/// Validates what the bundle promises to run on.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    let Some(platforms) = &case.options.image_platforms else {
        report_left_out(report);
        return;
    };
    let promise = Promise::read(case, report);
    check_images(case, platforms, &promise, report);
    check_labels(case, platforms, &promise, report);
    for deployment in case.deployments() {
        placement::check(case, deployment, &promise, platforms, report);
    }
}

/// Says that the validator did not run.
fn report_left_out(report: &mut Report) {
    let message = format!(
        "the validator `{}` was left out: nobody looked at what the images are made for",
        OptionalValidator::MultiArch.name()
    );
    report
        .add_in_file(BundleRule::ValidatorLeftOut, "", 0..0, message)
        .help("compare the labels `operatorframework.io/arch.*` with `skopeo inspect --raw` of each image");
}

/// What the labels of a ClusterServiceVersion promise.
struct Promise {
    architectures: BTreeSet<String>,
    systems: BTreeSet<String>,
}

impl Promise {
    fn read(case: &Case<'_>, report: &mut Report) -> Self {
        let csv = &case.service_version;
        let mut promise = Self { architectures: BTreeSet::new(), systems: BTreeSet::new() };
        let labels = csv.at(&["metadata", "labels"]);
        for (key, value) in labels.into_iter().flat_map(Node::members) {
            let name = key.as_str().unwrap_or_default();
            let (promised, what) = match name.strip_prefix(ARCHITECTURE_LABEL) {
                Some(what) => (&mut promise.architectures, what),
                None => match name.strip_prefix(SYSTEM_LABEL) {
                    Some(what) => (&mut promise.systems, what),
                    None => continue,
                },
            };
            let written = text(Some(value));
            if written == SUPPORTED {
                promised.insert(what.to_owned());
                continue;
            }
            let message = format!("the label `{name}` says `{written}`, so it promises nothing");
            report
                .add(BundleRule::PlatformLabelIgnored, csv, value, message)
                .help(format!("write `{name}: {SUPPORTED}`, or take the label away"));
        }
        for (promised, default) in [
            (&mut promise.architectures, DEFAULT_ARCHITECTURE),
            (&mut promise.systems, DEFAULT_SYSTEM),
        ] {
            if promised.is_empty() {
                promised.insert(default.to_owned());
            }
        }
        promise
    }

    /// Returns every system on every architecture: the labels cannot say it finer.
    fn platforms(&self) -> impl Iterator<Item = ImagePlatform> {
        self.systems.iter().flat_map(|os| {
            let on = |architecture: &String| ImagePlatform {
                os: os.clone(),
                architecture: architecture.clone(),
            };
            self.architectures.iter().map(on)
        })
    }
}

/// Compares each image with the promise, where the bundle names it first.
fn check_images(
    case: &Case<'_>,
    platforms: &ImagePlatforms,
    promise: &Promise,
    report: &mut Report,
) {
    let csv = &case.service_version;
    let containers = case.deployments().flat_map(containers);
    let named = containers.chain(case.list(&["spec", "relatedImages"]));
    let mut seen = BTreeSet::new();
    for node in named.filter_map(|entry| entry.field("image")) {
        let image = text(Some(node));
        if image.is_empty() || !seen.insert(image.clone()) {
            continue;
        }
        let made_for = match platforms.get(&image) {
            Some(Ok(made_for)) => made_for,
            unknown => {
                let reason = match unknown {
                    Some(Err(reason)) => reason,
                    _ => "nobody looked at it",
                };
                let message =
                    format!("what the image `{image}` is made for is not known: {reason}");
                report.add(BundleRule::ImagePlatformsUnknown, csv, node, message);
                continue;
            }
        };
        let missing: Vec<ImagePlatform> =
            promise.platforms().filter(|platform| !made_for.contains(platform)).collect();
        if !missing.is_empty() {
            let message = format!(
                "the image `{image}` is not made for {}, which the bundle promises",
                listed(&missing)
            );
            report
                .add(BundleRule::ImagePlatformMissing, csv, node, message)
                .help(format!("it is made for {}", listed(made_for)));
        }
    }
}

/// Says what all images are made for and no label promises. One image that is not known could spoil it.
fn check_labels(
    case: &Case<'_>,
    platforms: &ImagePlatforms,
    promise: &Promise,
    report: &mut Report,
) {
    let images = platform_images(case.source);
    let known: Vec<&BTreeSet<ImagePlatform>> = images
        .iter()
        .filter_map(|image| platforms.get(*image).and_then(|known| known.as_ref().ok()))
        .collect();
    let Some((first, others)) = known.split_first().filter(|_| known.len() == images.len()) else {
        return;
    };
    let everywhere: Vec<&ImagePlatform> =
        first.iter().filter(|one| others.iter().all(|other| other.contains(one))).collect();
    let named = |part: fn(&ImagePlatform) -> &String| -> BTreeSet<&String> {
        everywhere.iter().map(|platform| part(platform)).collect()
    };
    let architectures = named(|platform| &platform.architecture);
    let systems = named(|platform| &platform.os);
    let label = |prefix: &str, name: &String| format!("{prefix}{name}: {SUPPORTED}");
    let missing: Vec<String> = architectures
        .into_iter()
        .filter(|name| !promise.architectures.contains(*name))
        .map(|name| label(ARCHITECTURE_LABEL, name))
        .chain(
            systems
                .into_iter()
                .filter(|name| !promise.systems.contains(*name))
                .map(|name| label(SYSTEM_LABEL, name)),
        )
        .collect();
    if !missing.is_empty() {
        let csv = &case.service_version;
        let message = format!(
            "all images are made for {}, but the labels do not promise all of it",
            listed(everywhere)
        );
        report
            .add(BundleRule::PlatformLabelMissing, csv, csv.key(&["metadata", "labels"]), message)
            .help(format!("add {}", quoted(&missing)));
    }
}

/// Returns the containers of a deployment, those that only start things included.
fn containers<'a>(deployment: Node<'a>) -> impl Iterator<Item = Node<'a>> {
    ["initContainers", "containers"]
        .into_iter()
        .flat_map(move |name| list(deployment, &["spec", "template", "spec", name]))
}

fn listed<'a>(platforms: impl IntoIterator<Item = &'a ImagePlatform>) -> String {
    quoted(&platforms.into_iter().map(ToString::to_string).collect::<Vec<_>>())
}

fn quoted(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    match texts.as_slice() {
        [] => "nothing".to_owned(),
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        texts => texts.join(", "),
    }
}
