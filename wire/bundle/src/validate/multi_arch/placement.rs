//! On which nodes the pods of a deployment may run, as far as systems and architectures decide it.
//!
//! Other labels of nodes are passed over: which of them a cluster has is not known.

use std::collections::BTreeSet;

use operon_document::json::Node;

use super::{
    Case, DEFAULT_SYSTEM, ImagePlatform, ImagePlatforms, Promise, Report, containers, listed,
};
use crate::{
    BundleRule,
    property::text,
    validate::case::{at, list},
};

/// The labels by which nodes tell their architecture; the second is the older name.
const ARCHITECTURE_KEYS: [&str; 2] = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];
/// The labels by which nodes tell their system.
const SYSTEM_KEYS: [&str; 2] = ["kubernetes.io/os", "beta.kubernetes.io/os"];
/// Where a pod says which nodes it must have.
const REQUIRED_NODES: [&str; 4] = [
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
];

/// What a deployment says about the nodes of its pods.
pub(super) struct Placement<'a> {
    selector: Option<Node<'a>>,
    terms: Vec<Node<'a>>,
}

/// Compares the nodes of a deployment with the promise and with its images.
pub(super) fn check(
    case: &Case<'_>,
    deployment: Node<'_>,
    promise: &Promise,
    platforms: &ImagePlatforms,
    report: &mut Report,
) {
    let csv = &case.service_version;
    let name = text(deployment.field("name"));
    let place = deployment.field("name").unwrap_or(deployment);
    let Some(pod) = at(deployment, &["spec", "template", "spec"]) else { return };
    let placement = Placement::read(pod);
    let kept_off: Vec<ImagePlatform> =
        promise.platforms().filter(|platform| !placement.admits(platform)).collect();
    if !kept_off.is_empty() {
        let message = format!(
            "the deployment `{name}` keeps its pods off {}, which the bundle promises",
            listed(&kept_off)
        );
        report.add(BundleRule::PlacementExcludes, csv, place, message);
    }
    let images: Vec<(String, &BTreeSet<ImagePlatform>)> = containers(deployment)
        .map(|container| text(container.field("image")))
        .filter_map(|image| {
            let made_for = platforms.get(&image)?.as_ref().ok()?;
            Some((image, made_for))
        })
        .collect();
    // What is promised was compared with every image already.
    let promised: BTreeSet<ImagePlatform> = promise.platforms().collect();
    for platform in placement.named_platforms().iter().filter(|one| !promised.contains(one)) {
        let unfit = images.iter().find(|(_, made_for)| !made_for.contains(platform));
        if let Some((image, made_for)) = unfit.filter(|_| placement.admits(platform)) {
            let message = format!(
                "the deployment `{name}` lets its pods run on `{platform}`, for which its image `{image}` is not made"
            );
            report
                .add(BundleRule::PlacementAdmits, csv, place, message)
                .help(format!("it is made for {}", listed(*made_for)));
        }
    }
    if !placement.names_architectures() && !images.is_empty() {
        let message =
            format!("the deployment `{name}` does not say on which architectures its pods run");
        report.add(BundleRule::PlacementUnsaid, csv, place, message).help(
            "where nodes differ, a node affinity to `kubernetes.io/arch` keeps pods off nodes that cannot run them",
        );
    }
}

impl<'a> Placement<'a> {
    fn read(pod: Node<'a>) -> Self {
        Self { selector: pod.field("nodeSelector"), terms: list(pod, &REQUIRED_NODES).collect() }
    }

    /// Tells whether pods may run on a platform: as the selector says, and as one of the terms says.
    fn admits(&self, platform: &ImagePlatform) -> bool {
        let selected = self.selector.into_iter().flat_map(Node::members).all(|(key, value)| {
            let label = node_label(&key.as_str().unwrap_or_default(), platform);
            label.is_none_or(|label| text(Some(value)) == label)
        });
        let admits_term =
            |term: &Node<'_>| list(*term, &["matchExpressions"]).all(|one| holds(one, platform));
        selected && (self.terms.is_empty() || self.terms.iter().any(admits_term))
    }

    fn expressions(&self) -> impl Iterator<Item = Node<'a>> {
        self.terms.iter().flat_map(|term| list(*term, &["matchExpressions"]))
    }

    fn names_architectures(&self) -> bool {
        let selected = self.selector.into_iter().flat_map(Node::members);
        let selected = selected.map(|(key, _)| key.as_str().unwrap_or_default().into_owned());
        let mut keys = selected.chain(self.expressions().map(|one| text(one.field("key"))));
        keys.any(|key| ARCHITECTURE_KEYS.contains(&key.as_str()))
    }

    /// Returns the platforms that are named as wanted.
    fn named_platforms(&self) -> Vec<ImagePlatform> {
        let architectures = self.named(&ARCHITECTURE_KEYS);
        let mut systems = self.named(&SYSTEM_KEYS);
        if systems.is_empty() {
            systems.insert(DEFAULT_SYSTEM.to_owned());
        }
        let on = |os: &String| {
            let with = |architecture: &String| ImagePlatform {
                os: os.clone(),
                architecture: architecture.clone(),
            };
            architectures.iter().map(with).collect::<Vec<_>>()
        };
        systems.iter().flat_map(on).collect()
    }

    fn named(&self, keys: &[&str]) -> BTreeSet<String> {
        let selected = self.selector.into_iter().flat_map(Node::members);
        let selected = selected
            .filter(|(key, _)| keys.contains(&&*key.as_str().unwrap_or_default()))
            .map(|(_, value)| text(Some(value)));
        let expressions = self.expressions().filter(|one| {
            keys.contains(&text(one.field("key")).as_str()) && text(one.field("operator")) == "In"
        });
        selected
            .chain(
                expressions.flat_map(|one| list(one, &["values"])).map(|value| text(Some(value))),
            )
            .collect()
    }
}

/// Tells whether an expression holds on nodes of a platform; those about other labels may.
fn holds(expression: Node<'_>, platform: &ImagePlatform) -> bool {
    let Some(label) = node_label(&text(expression.field("key")), platform) else { return true };
    let is_named = list(expression, &["values"]).any(|value| text(Some(value)) == label);
    match text(expression.field("operator")).as_str() {
        "In" => is_named,
        "NotIn" => !is_named,
        "DoesNotExist" => false,
        _ => true,
    }
}

/// Returns what nodes of a platform have as a label, if it tells their platform.
fn node_label<'p>(key: &str, platform: &'p ImagePlatform) -> Option<&'p str> {
    if ARCHITECTURE_KEYS.contains(&key) {
        return Some(&platform.architecture);
    }
    SYSTEM_KEYS.contains(&key).then_some(platform.os.as_str())
}
