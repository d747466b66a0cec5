//! A ClusterServiceVersion: its phase, what it requires, and its Deployments.

use operon_apiserver::workload_report;
use operon_kinds::{ServiceVersion, names};
use operon_object::{Object, Timestamp, Value, known};

use super::{find, page::Page};
use crate::cluster::Reached;

/// Describes an operator.
pub(super) fn describe(
    cluster: &Reached,
    object: &Object,
    now: Timestamp,
    page: &mut Page,
) -> anyhow::Result<()> {
    let operator = ServiceVersion::read(object);
    page.line("Called", operator.display_name());
    page.line("Version", operator.version_text());
    page.line("Replaces", operator.replaces());
    page.line(
        "Looks after",
        object.annotation(names::TARGET_NAMESPACES_ANNOTATION).unwrap_or_default(),
    );
    page.line("Phase", operator.phase().text());
    page.line("Reason", operator.reason());
    page.line("Message", operator.message());
    let requirements: Vec<Vec<String>> =
        object.status().get("requirementStatus").elements().iter().map(requirement).collect();
    page.table("Requirements", &["STATUS", "KIND", "NAME", "MESSAGE"], &requirements);
    let mut deployments = Vec::new();
    for deployment in operator.deployments() {
        let name = deployment.get("name").str();
        let found = find(cluster, &known::DEPLOYMENT, object.namespace(), name)?;
        deployments.push(deployment_row(name, found.as_ref(), now));
    }
    page.table("Deployments", &["NAME", "READY", "RESTARTS", "MESSAGE"], &deployments);
    Ok(())
}

fn requirement(entry: &Value) -> Vec<String> {
    ["status", "kind", "name", "message"].map(|name| entry.get(name).str().to_owned()).to_vec()
}

fn deployment_row(name: &str, found: Option<&Object>, now: Timestamp) -> Vec<String> {
    let Some(found) = found else {
        return [name, "–", "–", "it is not there"].map(str::to_owned).to_vec();
    };
    let number = |value: &Value| value.as_integer().unwrap_or(0);
    let ready = number(found.status().get("readyReplicas"));
    let wanted = found.spec().get("replicas").as_integer().unwrap_or(1);
    let report = workload_report(found, now);
    let restarts = report.as_ref().map_or(0, |report| report.restarts);
    let message = report.map(|report| report.message).unwrap_or_default();
    vec![name.to_owned(), format!("{ready}/{wanted}"), restarts.to_string(), message]
}
