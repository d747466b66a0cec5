//! Conversion webhooks: how a CRD is told to ask an operator for conversions.
//!
//! When to write it (the operator should answer already) is the caller's business.

use operon_object::{Object, Value, map};

use crate::{
    serving::DEFAULT_PORT,
    webhook::{WebhookFault, webhook_service},
};

/// Returns the CRDs of a conversion webhook with the conversion they must have.
///
/// `ca_bundle` is the CA certificate's PEM text in base64; `find_crd` finds an installed CRD by its
/// name. The whole `spec.conversion` is replaced. All CRDs are checked before any is changed.
pub fn converted_crds<'a>(
    csv: &Object,
    description: &Value,
    ca_bundle: &str,
    find_crd: impl Fn(&str) -> Option<&'a Object>,
) -> Result<Vec<Object>, WebhookFault> {
    if !supports_only_all_namespaces(csv) {
        return Err(WebhookFault::NotOnlyAllNamespaces);
    }
    let names = description.get("conversionCRDs");
    if names.elements().is_empty() {
        return Err(WebhookFault::NoConversionCrds);
    }
    names
        .iter_texts()
        .map(|name| converted_crd(csv, description, ca_bundle, name, &find_crd))
        .collect()
}

/// Returns a CRD without conversion, as it is left when its operator goes away.
pub fn unconverted_crd(crd: &Object) -> Object {
    let mut crd = crd.clone();
    crd.set(&["spec", "conversion"], map! { "strategy" => "None" });
    crd
}

/// Returns `true` if a CRD is converted through the Service of a conversion webhook.
pub fn is_converted_by(csv: &Object, description: &Value, crd: &Object) -> bool {
    let live = crd.at(&["spec", "conversion", "webhook", "clientConfig", "service"]);
    let service = webhook_service(csv, description);
    let has = |name: &str| live.get(name) == service.get(name);
    let port = live.get("port").as_integer().unwrap_or(DEFAULT_PORT);
    has("namespace") && has("name") && service.get("port").as_integer() == Some(port)
}

/// Upstream: a ClusterServiceVersion that lists no mode at all passes.
fn supports_only_all_namespaces(csv: &Object) -> bool {
    csv.at(&["spec", "installModes"]).elements().iter().all(|mode| {
        let is_supported = mode.get("supported").as_bool().unwrap_or(false);
        (mode.get("type").str() == "AllNamespaces") == is_supported
    })
}

fn converted_crd<'a>(
    csv: &Object,
    description: &Value,
    ca_bundle: &str,
    name: &str,
    find_crd: &impl Fn(&str) -> Option<&'a Object>,
) -> Result<Object, WebhookFault> {
    let crd = find_crd(name).ok_or_else(|| WebhookFault::CrdNotFound(name.to_owned()))?;
    let mut owned = csv.at(&["spec", "customresourcedefinitions", "owned"]).elements().iter();
    if !owned.any(|owned| owned.get("name").str() == name) {
        let csv = csv.name().to_owned();
        return Err(WebhookFault::CrdNotOwned { csv, crd: name.to_owned() });
    }
    if crd.at(&["spec", "preserveUnknownFields"]).as_bool() == Some(true) {
        return Err(WebhookFault::PreservesUnknownFields);
    }
    let mut service = webhook_service(csv, description);
    service.set(&["path"], description.get("webhookPath").as_text().unwrap_or("/"));
    let conversion = map! {
        "strategy" => "Webhook",
        "webhook" => map! {
            "clientConfig" => map! { "service" => service, "caBundle" => ca_bundle },
            "conversionReviewVersions" => description.get("admissionReviewVersions").clone(),
        },
    };
    let mut crd = crd.clone();
    crd.set(&["spec", "conversion"], conversion);
    Ok(crd)
}
