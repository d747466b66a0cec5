//! How a CRD says that its objects are converted.

use operon_document::json::Node;

use super::Check;
use crate::property::text;

/// The versions of conversion reviews that API servers speak.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Checks `spec.conversion`.
pub(super) fn check(check: &mut Check<'_, '_>) {
    let Some(conversion) = check.at(&["spec", "conversion"]).filter(|node| !node.is_null()) else {
        return;
    };
    let strategy = text(conversion.field("strategy"));
    let node = conversion.field("strategy").unwrap_or(conversion);
    // The old form has the fields of `webhook` directly below `conversion`.
    let webhook = if check.is_beta { Some(conversion) } else { conversion.field("webhook") };
    let client = webhook.and_then(|webhook| {
        webhook.field(if check.is_beta { "webhookClientConfig" } else { "clientConfig" })
    });
    let client = client.filter(|client| !client.is_null());
    match strategy.as_str() {
        "Webhook" => check_webhook(check, conversion, webhook, client),
        "None" => {
            if let Some(client) = client {
                let reason = "must not say how to reach a webhook when the strategy is `None`";
                check.wrong(client, "spec.conversion", reason);
            }
        }
        "" if check.is_beta => {}
        "" => check.missing(&["spec", "conversion", "strategy"]),
        other => {
            let reason = format!("must be `None` or `Webhook`, not `{other}`");
            check.wrong(node, "spec.conversion.strategy", reason);
        }
    }
}

fn check_webhook<'a>(
    check: &mut Check<'a, '_>,
    conversion: Node<'a>,
    webhook: Option<Node<'a>>,
    client: Option<Node<'a>>,
) {
    let Some(client) = client else {
        let reason = "must say in `webhook.clientConfig` how to reach the webhook";
        check.wrong(conversion, "spec.conversion", reason);
        return;
    };
    let is_given = |name: &str| client.field(name).is_some_and(|node| !node.is_null());
    if is_given("url") == is_given("service") {
        let reason = "must have either `url` or `service`";
        check.wrong(client, "spec.conversion.webhook.clientConfig", reason);
    }
    if let Some(service) = client.field("service").filter(|node| !node.is_null()) {
        for name in ["name", "namespace"] {
            if text(service.field(name)).is_empty() {
                let path = format!("spec.conversion.webhook.clientConfig.service.{name}");
                check.wrong(service, &path, "is missing");
            }
        }
    }
    let reviews = webhook.and_then(|webhook| webhook.field("conversionReviewVersions"));
    let named: Vec<String> =
        reviews.into_iter().flat_map(Node::elements).map(|node| text(Some(node))).collect();
    // In the old form the versions are filled in.
    let is_absent = named.is_empty() && check.is_beta;
    if !is_absent && !named.iter().any(|name| REVIEW_VERSIONS.contains(&name.as_str())) {
        let reason = "must include `v1` or `v1beta1`";
        let node = reviews.unwrap_or(conversion);
        check.wrong(node, "spec.conversion.webhook.conversionReviewVersions", reason);
    }
}
