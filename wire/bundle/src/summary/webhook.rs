//! The webhooks of an operator, as far as people ask about them.

use operon_object::Value;

/// A webhook that an operator installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSummary {
    /// Its name.
    pub name: String,
    /// What it does: `ValidatingAdmissionWebhook`, `MutatingAdmissionWebhook`, `ConversionWebhook`.
    pub kind: String,
    /// What happens when it cannot be reached: `Fail` or `Ignore`; empty for a conversion.
    pub failure_policy: String,
    /// What it is asked about: resources with their groups, or the CRDs it converts; sorted.
    pub subjects: Vec<String>,
    /// Everything it says, as compact JSON, to tell whether anything changed.
    pub json: String,
}

/// Reads the webhooks from the spec of a ClusterServiceVersion.
pub(super) fn read(spec: &Value) -> Vec<WebhookSummary> {
    spec.get("webhookdefinitions").elements().iter().map(read_one).collect()
}

fn read_one(webhook: &Value) -> WebhookSummary {
    let texts = |value: &Value| -> Vec<String> { value.iter_texts().map(str::to_owned).collect() };
    let mut subjects = texts(webhook.get("conversionCRDs"));
    for rule in webhook.get("rules").elements() {
        let groups = texts(rule.get("apiGroups"));
        for resource in rule.get("resources").iter_texts() {
            subjects.extend(groups.iter().map(|group| match group.as_str() {
                "" => resource.to_owned(),
                group => format!("{resource}.{group}"),
            }));
        }
    }
    subjects.sort();
    subjects.dedup();
    let kind = webhook.get("type").str().to_owned();
    let failure_policy = match webhook.get("failurePolicy").str() {
        "" if kind != "ConversionWebhook" => "Fail",
        written => written,
    };
    WebhookSummary {
        name: webhook.get("generateName").str().to_owned(),
        failure_policy: failure_policy.to_owned(),
        kind,
        subjects,
        json: operon_object::go_json(webhook),
    }
}
