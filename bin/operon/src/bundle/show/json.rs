//! A bundle for programs: everything the page shows, and what it cuts.

use operon_bundle::{
    Api, BundleSummary, DefinitionSummary, DeploymentSummary, MAX_COMPRESSED_BYTES, Right,
    RightScope, WebhookSummary,
};

use crate::output::Json;

/// Returns the bundle as a value.
pub(super) fn value(summary: &BundleSummary) -> Json {
    Json::Object(vec![
        ("name", Json::text(&summary.name)),
        ("displayName", Json::text(&summary.display_name)),
        ("package", Json::text(&summary.package)),
        ("version", Json::text(&summary.version)),
        ("release", optional(&summary.release)),
        ("channels", Json::texts(&summary.channels)),
        ("defaultChannel", optional(&summary.default_channel)),
        ("replaces", optional(&summary.replaces)),
        ("skipRange", optional(&summary.skip_range)),
        ("minKubeVersion", optional(&summary.min_kube_version)),
        ("installModes", Json::texts(&summary.install_modes)),
        (
            "size",
            Json::Object(vec![
                ("bytes", Json::number(summary.size.bytes)),
                ("gzipBytes", Json::number(summary.size.compressed)),
                ("limit", Json::number(MAX_COMPRESSED_BYTES)),
            ]),
        ),
        ("providedAPIs", Json::list(summary.provided_apis.iter().map(api))),
        ("requiredAPIs", Json::list(summary.required_apis.iter().map(api))),
        (
            "dependencies",
            Json::list(summary.dependencies.iter().map(|dependency| {
                Json::Object(vec![
                    ("type", Json::text(&dependency.property_type)),
                    ("value", Json::Raw(dependency.value.clone())),
                ])
            })),
        ),
        ("rights", Json::list(summary.rights.iter().map(right))),
        ("hasMoreRights", Json::Bool(summary.has_more_rights)),
        ("deployments", Json::list(summary.deployments.iter().map(deployment))),
        ("webhooks", Json::list(summary.webhooks.iter().map(webhook))),
        ("crds", Json::list(summary.definitions.iter().map(definition))),
        (
            "objects",
            Json::list(summary.objects.iter().map(|object| {
                Json::Object(vec![
                    ("apiVersion", Json::text(&object.api_version)),
                    ("kind", Json::text(&object.kind)),
                    ("name", Json::text(&object.name)),
                ])
            })),
        ),
        (
            "relatedImages",
            Json::list(summary.related_images.iter().map(|related| {
                Json::Object(vec![
                    ("name", Json::text(&related.name)),
                    ("image", Json::text(&related.image)),
                ])
            })),
        ),
    ])
}

fn optional(text: &str) -> Json {
    Json::optional(Some(text).filter(|text| !text.is_empty()))
}

fn api(api: &Api) -> Json {
    Json::Object(vec![
        ("group", Json::text(&api.group)),
        ("version", Json::text(&api.version)),
        ("kind", Json::text(&api.kind)),
    ])
}

fn right(right: &Right) -> Json {
    let scope = match right.scope {
        RightScope::Cluster => "cluster",
        RightScope::Namespaces => "namespaces",
    };
    Json::Object(vec![
        ("scope", Json::text(scope)),
        ("account", Json::text(&right.account)),
        ("group", Json::text(&right.group)),
        ("resource", Json::text(&right.resource)),
        ("names", Json::texts(&right.names)),
        ("verbs", Json::texts(&right.verbs)),
        ("danger", Json::optional(right.danger())),
    ])
}

fn deployment(deployment: &DeploymentSummary) -> Json {
    let containers = deployment.containers.iter().map(|container| {
        Json::Object(vec![
            ("name", Json::text(&container.name)),
            ("image", Json::text(&container.image)),
        ])
    });
    Json::Object(vec![
        ("name", Json::text(&deployment.name)),
        ("replicas", Json::number(deployment.replicas)),
        ("account", optional(&deployment.account)),
        ("containers", Json::list(containers)),
        ("reaches", Json::texts(deployment.reach.iter().copied())),
    ])
}

fn webhook(webhook: &WebhookSummary) -> Json {
    Json::Object(vec![
        ("name", Json::text(&webhook.name)),
        ("type", Json::text(&webhook.kind)),
        ("failurePolicy", optional(&webhook.failure_policy)),
        ("subjects", Json::texts(&webhook.subjects)),
    ])
}

fn definition(definition: &DefinitionSummary) -> Json {
    let versions = definition.versions.iter().map(|version| {
        Json::Object(vec![
            ("name", Json::text(&version.name)),
            ("served", Json::Bool(version.is_served)),
            ("stored", Json::Bool(version.is_stored)),
        ])
    });
    let scope = if definition.is_cluster_wide { "Cluster" } else { "Namespaced" };
    Json::Object(vec![
        ("name", Json::text(&definition.name)),
        ("scope", Json::text(scope)),
        ("versions", Json::list(versions)),
    ])
}
