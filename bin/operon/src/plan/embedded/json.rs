//! What would happen in a directory, for programs; the names of members are part of the contract.

use operon_lifecycle::views::{NewRight, PreviewPlan};

use super::{NamespaceOutlook, Outlook, text::summary};
use crate::{
    output::Json,
    plan::{
        json::{addition, kept},
        view::{Change, Row},
    },
};

/// Returns what would happen.
pub(super) fn outlook(outlook: &Outlook) -> Json {
    Json::Object(vec![
        ("namespaces", Json::list(outlook.namespaces.iter().map(namespace))),
        ("problems", Json::texts(&outlook.problems)),
    ])
}

fn namespace(namespace: &NamespaceOutlook) -> Json {
    let NamespaceOutlook { name, catalogs, preview, view, .. } = namespace;
    let catalogs = catalogs.iter().map(|(name, state)| {
        Json::Object(vec![
            ("namespace", Json::text(&name.namespace)),
            ("name", Json::text(&name.name)),
            ("available", Json::Bool(state.is_ok())),
            ("digest", Json::optional(state.as_ref().ok())),
            ("reason", Json::optional(state.as_ref().err())),
        ])
    });
    let is_kept = |row: &&Row| row.change == Change::Keep;
    let kept = view.rows.iter().filter(is_kept).map(kept);
    let summary = Json::Object(vec![
        ("install", Json::number(view.count(Change::Install))),
        ("upgrade", Json::number(view.count(Change::Upgrade))),
        ("keep", Json::number(view.count(Change::Keep))),
        ("waiting", Json::number(view.waiting())),
        ("held", Json::number(preview.held.len())),
        ("failed", Json::number(preview.failed.len())),
        ("text", Json::text(summary(namespace))),
    ]);
    Json::Object(vec![
        ("namespace", Json::text(name)),
        ("catalogs", Json::list(catalogs)),
        ("plans", Json::list(preview.plans.iter().map(|one| plan(namespace, one)))),
        ("kept", Json::list(kept)),
        ("held", told(&preview.held)),
        ("failed", told(&preview.failed)),
        ("busy", Json::texts(&preview.busy)),
        ("summary", summary),
    ])
}

fn plan(namespace: &NamespaceOutlook, plan: &PreviewPlan) -> Json {
    let is_part = |row: &&Row| {
        row.change != Change::Keep
            && plan.operators.iter().any(|operator| operator.addition.name == row.name)
    };
    let objects = plan.objects.iter().map(|key| {
        Json::Object(vec![
            ("kind", Json::text(key.kind.to_string())),
            ("namespace", Json::text(&key.namespace)),
            ("name", Json::text(&key.name)),
        ])
    });
    Json::Object(vec![
        ("name", Json::text(&plan.name)),
        ("exists", Json::Bool(plan.exists)),
        ("waitsForApproval", Json::Bool(namespace.waiting.contains(&plan.name))),
        ("manual", Json::texts(&plan.manual)),
        ("additions", Json::list(namespace.view.rows.iter().filter(is_part).map(addition))),
        ("objects", Json::list(objects)),
        ("rights", Json::list(plan.rights.iter().map(right))),
    ])
}

fn right(right: &NewRight) -> Json {
    Json::Object(vec![
        ("operator", Json::text(&right.operator)),
        ("clusterWide", Json::Bool(right.is_cluster_wide)),
        ("rules", Json::number(right.rules)),
        ("notable", Json::texts(&right.notable)),
    ])
}

fn told(told: &[(String, String, String)]) -> Json {
    Json::list(told.iter().map(|(name, reason, message)| {
        Json::Object(vec![
            ("subscription", Json::text(name)),
            ("reason", Json::text(reason)),
            ("message", Json::text(message)),
        ])
    }))
}
