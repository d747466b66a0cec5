//! The parts of two summaries that are compared name by name.

use std::collections::{BTreeMap, BTreeSet};

use operon_version::Version;

use super::{Change, ChangeKind, Topic};
use crate::{Api, BundleSource, BundleSummary, DeploymentSummary, Manifest, WebhookSummary};

/// What a webhook with the failure policy `Fail` means for others.
const REFUSES: &str = "requests are refused while the webhook cannot be reached";

/// Compares everything but objects, CRDs and rights.
pub(super) fn compare(before: &BundleSummary, after: &BundleSummary) -> Vec<Change> {
    let mut changes = identity(before, after);
    let sets: [(Topic, Vec<String>, Vec<String>); 6] = [
        (Topic::ProvidedApi, apis(&before.provided_apis), apis(&after.provided_apis)),
        (Topic::RequiredApi, apis(&before.required_apis), apis(&after.required_apis)),
        (Topic::InstallMode, before.install_modes.clone(), after.install_modes.clone()),
        (Topic::Dependency, dependencies(before), dependencies(after)),
        (Topic::Image, texts(before.images()), texts(after.images())),
        (Topic::RelatedImage, related(before), related(after)),
    ];
    for (topic, before, after) in sets {
        let named = |texts: Vec<String>| texts.into_iter().map(|text| (text, ())).collect();
        changes.extend(by_name(topic, &named(before), &named(after), |_, _, _| None));
    }
    changes.extend(by_name(Topic::Webhook, &webhooks(before), &webhooks(after), webhook));
    let strict = webhooks(after).into_iter().filter(|(_, one)| one.failure_policy == "Fail");
    let strict: BTreeSet<String> = strict.map(|(name, _)| name).collect();
    for change in changes.iter_mut().filter(|change| change.kind == ChangeKind::Added) {
        if change.topic == Topic::Webhook && strict.contains(&change.subject) {
            change.attention.push(REFUSES.to_owned());
        }
    }
    changes.extend(by_name(
        Topic::Deployment,
        &deployments(before),
        &deployments(after),
        deployment,
    ));
    for change in &mut changes {
        attend(change);
    }
    changes
}

fn identity(before: &BundleSummary, after: &BundleSummary) -> Vec<Change> {
    let channels = |summary: &BundleSummary| summary.channels.join(", ");
    let fields = [
        ("name", before.name.clone(), after.name.clone()),
        ("package", before.package.clone(), after.package.clone()),
        ("version", before.version.clone(), after.version.clone()),
        ("release", before.release.clone(), after.release.clone()),
        ("channels", channels(before), channels(after)),
        ("default channel", before.default_channel.clone(), after.default_channel.clone()),
        ("minKubeVersion", before.min_kube_version.clone(), after.min_kube_version.clone()),
        ("skipRange", before.skip_range.clone(), after.skip_range.clone()),
    ];
    let mut changes: Vec<Change> = fields
        .into_iter()
        .filter(|(_, before, after)| before != after)
        .map(|(name, before, after)| Change::changed(Topic::Bundle, name, &before, &after))
        .collect();
    for change in &mut changes {
        let versions =
            [&change.before, &change.after].map(|text| Version::parse_tolerant(text).ok());
        match (change.subject.as_str(), versions) {
            ("package", _) => change.attention.push("this is another package".to_owned()),
            ("version", [Some(before), Some(after)]) if after < before => {
                change.attention.push("this goes back to an older version".to_owned());
            }
            ("version", [Some(before), Some(after)]) if after.major() > before.major() => {
                change.attention.push("this is a new major version".to_owned());
            }
            ("minKubeVersion", [before, Some(after)])
                if before.as_ref().is_none_or(|before| *before < after) =>
            {
                change.attention.push("the cluster may be too old for it".to_owned());
            }
            _ => {}
        }
    }
    changes
}

/// Says of what is taken away why that matters.
fn attend(change: &mut Change) {
    let reason = match (change.topic, change.kind) {
        (Topic::ProvidedApi, ChangeKind::Removed) => "who uses this API loses it",
        (Topic::RequiredApi | Topic::Dependency, ChangeKind::Added) => {
            "something else must be installed for it"
        }
        (Topic::InstallMode, ChangeKind::Removed) => {
            "an operator group that needs this mode stops the operator"
        }
        _ => return,
    };
    change.attention.push(reason.to_owned());
}

/// Compares two lists by name; `differ` says how two of the same name differ.
fn by_name<Item>(
    topic: Topic,
    before: &BTreeMap<String, Item>,
    after: &BTreeMap<String, Item>,
    differ: impl Fn(&str, &Item, &Item) -> Option<Change>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, old) in before {
        match after.get(name) {
            None => changes.push(Change::new(topic, ChangeKind::Removed, name.as_str())),
            Some(new) => changes.extend(differ(name, old, new)),
        }
    }
    let added = after.keys().filter(|name| !before.contains_key(*name));
    changes.extend(added.map(|name| Change::new(topic, ChangeKind::Added, name.as_str())));
    changes
}

/// Compares the objects that are neither the ClusterServiceVersion nor CRDs, by their content.
pub(super) fn compare_objects(before: &BundleSource, after: &BundleSource) -> Vec<Change> {
    let objects = |source: &BundleSource| -> BTreeMap<String, String> {
        let is_other =
            |kind: &str| !matches!(kind, "ClusterServiceVersion" | "CustomResourceDefinition");
        let others = source.manifests.iter().filter(|manifest| is_other(&manifest.kind));
        let name = |manifest: &Manifest| format!("{} {}", manifest.kind, manifest.name);
        others.map(|manifest| (name(manifest), manifest.json.clone())).collect()
    };
    by_name(Topic::Object, &objects(before), &objects(after), |name, before, after| {
        (before != after).then(|| Change::new(Topic::Object, ChangeKind::Changed, name))
    })
}

fn apis(apis: &[Api]) -> Vec<String> {
    apis.iter().map(|api| format!("{} {}/{}", api.kind, api.group, api.version)).collect()
}

fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

fn related(summary: &BundleSummary) -> Vec<String> {
    summary.related_images.iter().map(|related| related.image.clone()).collect()
}

fn dependencies(summary: &BundleSummary) -> Vec<String> {
    let one = |property: &crate::Property| format!("{} {}", property.property_type, property.value);
    summary.dependencies.iter().map(one).collect()
}

fn webhooks(summary: &BundleSummary) -> BTreeMap<String, &WebhookSummary> {
    let name = |webhook: &WebhookSummary| format!("{} ({})", webhook.name, webhook.kind);
    summary.webhooks.iter().map(|webhook| (name(webhook), webhook)).collect()
}

fn webhook(name: &str, before: &&WebhookSummary, after: &&WebhookSummary) -> Option<Change> {
    if before.json == after.json {
        return None;
    }
    let shown = |webhook: &WebhookSummary| match webhook.failure_policy.as_str() {
        "" => webhook.subjects.join(", "),
        policy => format!("{policy}, {}", webhook.subjects.join(", ")),
    };
    let (old, new) = (shown(before), shown(after));
    if old == new {
        return Some(Change::changed(Topic::Webhook, name, "", "other settings"));
    }
    let change = Change::changed(Topic::Webhook, name, &old, &new);
    Some(match (before.failure_policy.as_str(), after.failure_policy.as_str()) {
        ("Ignore", "Fail") => change.attend(REFUSES),
        _ => change,
    })
}

fn deployments(summary: &BundleSummary) -> BTreeMap<String, &DeploymentSummary> {
    summary.deployments.iter().map(|one| (one.name.clone(), one)).collect()
}

fn deployment(
    name: &str,
    before: &&DeploymentSummary,
    after: &&DeploymentSummary,
) -> Option<Change> {
    if before.json == after.json {
        return None;
    }
    let shown = |deployment: &DeploymentSummary| {
        let containers: Vec<&str> =
            deployment.containers.iter().map(|container| container.name.as_str()).collect();
        let account = match deployment.account.as_str() {
            "" => "default",
            account => account,
        };
        format!(
            "replicas {}, account {account}, containers {}",
            deployment.replicas,
            containers.join(" ")
        )
    };
    let (old, new) = (shown(before), shown(after));
    let mut change = if old == new {
        let images = |deployment: &DeploymentSummary| {
            let images = deployment.containers.iter().map(|container| container.image.clone());
            images.collect::<Vec<_>>()
        };
        let what = if images(before) == images(after) { "other settings" } else { "other images" };
        Change::changed(Topic::Deployment, name, "", what)
    } else {
        Change::changed(Topic::Deployment, name, &old, &new)
    };
    for reach in after.reach.iter().filter(|reach| !before.reach.contains(reach)) {
        change.attention.push(format!("its pods now have: {reach}"));
    }
    Some(change)
}
