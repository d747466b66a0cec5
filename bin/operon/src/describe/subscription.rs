//! A Subscription: what it asks for, what it has, and what is done for it.

use operon_kinds::{InstallPlan, ServiceVersion, Subscription, names};
use operon_object::{Object, known};

use super::{find, page::Page};
use crate::cluster::Reached;

/// Describes a Subscription.
pub(super) fn describe(cluster: &Reached, object: &Object, page: &mut Page) -> anyhow::Result<()> {
    let subscription = Subscription::read(object);
    let namespace = object.namespace();
    page.line("Package", subscription.package());
    page.line("Channel", subscription.channel());
    let source = subscription.source().map(|source| source.to_string()).unwrap_or_default();
    page.line("Catalog", &source);
    page.line("Approval", if subscription.is_manual() { "Manual" } else { "Automatic" });
    page.line("Starts with", subscription.starting_csv());
    page.line("Made by", object.annotation(names::GENERATED_BY_ANNOTATION).unwrap_or_default());
    page.line("Pinned to", object.annotation(names::PIN_ANNOTATION).unwrap_or_default());
    page.line("Paused", if subscription.is_paused() { "yes" } else { "" });
    let fail_forward = match subscription.fail_forward() {
        Some(true) => "allowed for this Subscription",
        Some(false) => "forbidden for this Subscription",
        None => "",
    };
    page.line("Fail-forward", fail_forward);
    page.line("State", subscription.state().text());
    let (installed, current) = (subscription.installed_csv(), subscription.current_csv());
    page.line("Installed", &operator_text(cluster, namespace, installed)?);
    if current != installed {
        page.line("Becomes", &operator_text(cluster, namespace, current)?);
    }
    if let Some(plan) = find(cluster, &known::INSTALL_PLAN, namespace, subscription.plan())? {
        let plan = InstallPlan::read(&plan);
        let because = plan.object.annotation(names::BECAUSE_ANNOTATION).unwrap_or_default();
        page.line("Plan", &format!("{} ({})", plan.name(), plan.phase().text()));
        page.line("Because", because);
    }
    Ok(())
}

fn operator_text(cluster: &Reached, namespace: &str, name: &str) -> anyhow::Result<String> {
    if name.is_empty() {
        return Ok(String::new());
    }
    Ok(match find(cluster, &known::CLUSTER_SERVICE_VERSION, namespace, name)? {
        None => format!("{name} (not there)"),
        Some(operator) => {
            let operator = ServiceVersion::read(&operator);
            format!("{name} ({}: {})", operator.phase().text(), operator.message())
        }
    })
}
