//! The admission webhooks that a ClusterServiceVersion turns into, and which ones are refused.
//!
//! Conversion webhooks change a CRD instead; see `conversion`.

use std::{collections::BTreeSet, fmt};

use operon_object::{Object, Value, fnv64_hex, known::OPERATORS_GROUP, list, map};

use crate::{
    golang::{GoType, TypeFault, typed_json, typed_value},
    names::{deep_hash, service_name},
    ownership::{label_owner, mark_managed},
    serving::{served_port, webhooks},
};

/// The label with the `generateName` of the definition a webhook configuration comes from.
pub const WEBHOOK_NAME_LABEL: &str = "olm.webhook-description-generate-name";
/// The label with the hash of the definition a webhook configuration comes from.
pub const WEBHOOK_HASH_LABEL: &str = "olm.webhook-description-hash";
/// The beginning of the label on the namespaces that an OperatorGroup lists; its UID follows.
pub const GROUP_LABEL_PREFIX: &str = "olm.operatorgroup.uid/";

/// Upstream: as many letters as a cluster adds to a generated name.
const SUFFIX_LENGTH: usize = 5;

/// Reasons why a webhook cannot be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookFault {
    /// Two definitions have the same `generateName`.
    RepeatedName,
    /// A rule asks for the groups `*`.
    AllGroups,
    /// A rule asks for `operators.coreos.com`, so that it could block its own repair.
    OperatorsGroup,
    /// A rule asks for webhook configurations.
    WebhookConfigurations,
    /// There is no OperatorGroup in the namespace, or more than one.
    NoSingleGroup,
    /// The OperatorGroup lists namespaces but has no UID yet.
    GroupWithoutUid,
    /// A rule asks for cluster-scoped kinds, and the OperatorGroup does not target all namespaces.
    ClusterScope,
    /// The type is none of the three known ones.
    UnknownType(String),
    /// A conversion webhook belongs to an operator that may be installed more than once.
    NotOnlyAllNamespaces,
    /// A conversion webhook names no CRD.
    NoConversionCrds,
    /// A CRD of a conversion webhook is not there.
    CrdNotFound(String),
    /// A CRD of a conversion webhook is not owned by the ClusterServiceVersion.
    CrdNotOwned {
        /// The ClusterServiceVersion.
        csv: String,
        /// The CRD.
        crd: String,
    },
    /// A CRD of a conversion webhook keeps unknown fields.
    PreservesUnknownFields,
    /// The definition does not fit its type.
    Type(TypeFault),
}

impl fmt::Display for WebhookFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::RepeatedName => "CSV contains repeated WebhookDescription name",
            Self::AllGroups => "webhook rules cannot include all groups",
            Self::OperatorsGroup => "webhook rules cannot include the OLM group",
            Self::WebhookConfigurations => {
                "webhook rules cannot include MutatingWebhookConfiguration or \
                 ValidatingWebhookConfiguration resources"
            }
            Self::ClusterScope => {
                "webhook rules cannot include cluster-scoped resources unless the OperatorGroup targets \
                 all namespaces"
            }
            Self::NoSingleGroup => "error retrieving OperatorGroup info",
            Self::GroupWithoutUid => "Missing UID",
            Self::UnknownType(kind) => return write!(formatter, "unknown webhook type {kind}"),
            Self::NotOnlyAllNamespaces => {
                "unable to manage conversion webhook: CSVs with conversion webhooks must support \
                 only AllNamespaces"
            }
            Self::NoConversionCrds => {
                "unable to manager conversion webhook: conversion webhook must have at least one \
                 CRD specified"
            }
            Self::CrdNotFound(crd) => {
                return write!(
                    formatter,
                    "unable to get CRD {crd} specified in Conversion Webhook: \
                     customresourcedefinitions.apiextensions.k8s.io \"{crd}\" not found"
                );
            }
            Self::CrdNotOwned { csv, crd } => {
                return write!(formatter, "csv {csv} does not own CRD {crd}");
            }
            Self::PreservesUnknownFields => {
                "crd.Spec.PreserveUnknownFields must be false to let API Server call webhook to do \
                 the conversion"
            }
            Self::Type(fault) => return fault.fmt(formatter),
        };
        formatter.write_str(text)
    }
}

impl std::error::Error for WebhookFault {}

impl From<TypeFault> for WebhookFault {
    fn from(fault: TypeFault) -> Self {
        Self::Type(fault)
    }
}

/// What a definition asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookType {
    /// May refuse objects.
    Validating,
    /// May change objects.
    Mutating,
    /// Converts objects between versions of a CRD.
    Conversion,
}

impl WebhookType {
    /// Reads the type of a definition.
    pub fn of(description: &Value) -> Result<Self, WebhookFault> {
        match description.get("type").str() {
            "ValidatingAdmissionWebhook" => Ok(Self::Validating),
            "MutatingAdmissionWebhook" => Ok(Self::Mutating),
            "ConversionWebhook" => Ok(Self::Conversion),
            other => Err(WebhookFault::UnknownType(other.to_owned())),
        }
    }
}

/// Checks the webhooks of a ClusterServiceVersion before anything is installed.
pub fn check_webhooks(csv: &Object) -> Result<(), WebhookFault> {
    let mut names = BTreeSet::new();
    if !webhooks(csv).all(|description| names.insert(description.get("generateName").str())) {
        return Err(WebhookFault::RepeatedName);
    }
    webhooks(csv)
        .flat_map(|description| description.get("rules").elements())
        .try_for_each(check_rule)
}

/// Returns the value of [`WEBHOOK_HASH_LABEL`] for a definition.
pub fn webhook_hash(description: &Value) -> Result<String, TypeFault> {
    Ok(deep_hash(&typed_json(GoType::WebhookDescription, description)?))
}

/// Returns the only OperatorGroup among those of a namespace.
pub fn only_group<'a>(
    groups: impl IntoIterator<Item = &'a Object>,
) -> Result<&'a Object, WebhookFault> {
    let mut groups = groups.into_iter();
    match (groups.next(), groups.next()) {
        (Some(group), None) => Ok(group),
        _ => Err(WebhookFault::NoSingleGroup),
    }
}

/// Returns the selector of the namespaces of an OperatorGroup; none selects every namespace.
pub fn group_namespace_selector(group: &Object) -> Result<Option<Value>, WebhookFault> {
    if group.at(&["spec", "targetNamespaces"]).elements().is_empty() {
        let selector = group.at(&["spec", "selector"]);
        return Ok((!selector.is_null()).then(|| selector.clone()));
    }
    if group.uid().is_empty() {
        return Err(WebhookFault::GroupWithoutUid);
    }
    let label = format!("{GROUP_LABEL_PREFIX}{}", group.uid());
    Ok(Some(map! { "matchLabels" => map! { label.as_str() => "" } }))
}

/// Returns the ValidatingWebhookConfiguration or MutatingWebhookConfiguration of a definition; none
/// for a conversion webhook.
///
/// `protected` names the namespaces whose objects no webhook may intercept: a webhook that fails could
/// otherwise stop the cluster, or its own repair. Unless the group targets all namespaces, the rules
/// are narrowed to namespaced kinds, for which the namespace selector holds.
///
/// `ca_bundle` is the CA certificate's PEM text in base64. Upstream lets the cluster make a name from
/// `generateName`; the suffix here is a hash of where the definition comes from, so that making it
/// twice makes one object.
pub fn webhook_configuration(
    csv: &Object,
    description: &Value,
    group: &Object,
    protected: &[String],
    ca_bundle: &str,
) -> Result<Option<Object>, WebhookFault> {
    let kind = match WebhookType::of(description)? {
        WebhookType::Validating => "ValidatingWebhookConfiguration",
        WebhookType::Mutating => "MutatingWebhookConfiguration",
        WebhookType::Conversion => return Ok(None),
    };
    let description = typed_value(GoType::WebhookDescription, description)?;
    let generate_name = description.get("generateName").str();
    let origin = format!("{}/{}/{generate_name}", csv.namespace(), csv.name());
    let suffix: String = fnv64_hex(&origin).chars().take(SUFFIX_LENGTH).collect();
    let name = format!("{generate_name}-{suffix}");
    let mut object = Object::new("admissionregistration.k8s.io/v1", kind, "", &name);
    object.metadata_mut().insert("generateName", format!("{generate_name}-"));
    label_owner(&mut object, csv);
    mark_managed(&mut object);
    object.set_label(WEBHOOK_NAME_LABEL, generate_name);
    object.set_label(WEBHOOK_HASH_LABEL, &webhook_hash(&description)?);
    let selector = excluding(group_namespace_selector(group)?, protected);
    let mut webhook = webhook(csv, &description, selector, ca_bundle);
    if !targets_all_namespaces(group) {
        narrow_to_namespaces(&mut webhook)?;
    }
    object.set(&["webhooks"], list![webhook]);
    Ok(Some(object))
}

fn targets_all_namespaces(group: &Object) -> bool {
    let selector = group.at(&["spec", "selector"]);
    group.at(&["spec", "targetNamespaces"]).elements().is_empty()
        && ["matchLabels", "matchExpressions"].iter().all(|name| selector.get(name).is_empty())
}

fn narrow_to_namespaces(webhook: &mut Value) -> Result<(), WebhookFault> {
    if webhook.get("rules").is_null() {
        return Ok(());
    }
    for rule in webhook.place(&["rules"]).make_list() {
        if rule.get("scope").str() == "Cluster" {
            return Err(WebhookFault::ClusterScope);
        }
        rule.set(&["scope"], "Namespaced");
    }
    Ok(())
}

/// Adds to a selector that it does not select namespaces by name.
fn excluding(selector: Option<Value>, namespaces: &[String]) -> Option<Value> {
    if namespaces.is_empty() {
        return selector;
    }
    let mut selector = selector.unwrap_or_else(|| Value::map::<&str>([]));
    selector.place(&["matchExpressions"]).make_list().push(map! {
        "key" => "kubernetes.io/metadata.name",
        "operator" => "NotIn",
        "values" => Value::texts(namespaces),
    });
    Some(selector)
}

/// Returns the Service that a webhook is reached through.
///
/// Upstream: dots of the Deployment's name become dashes here, though not in the Service's own name.
pub(crate) fn webhook_service(csv: &Object, description: &Value) -> Value {
    let deployment = description.get("deploymentName").str().replace('.', "-");
    map! {
        "name" => service_name(&deployment),
        "namespace" => csv.namespace(),
        "port" => served_port(description),
    }
}

fn check_rule(rule: &Value) -> Result<(), WebhookFault> {
    let has = |list: &str, wanted: &str| rule.get(list).iter_texts().any(|text| text == wanted);
    if has("apiGroups", "*") {
        return Err(WebhookFault::AllGroups);
    }
    if has("apiGroups", OPERATORS_GROUP) {
        return Err(WebhookFault::OperatorsGroup);
    }
    let protected = ["*", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
    let is_protected = protected.iter().any(|resource| has("resources", resource));
    if has("apiGroups", "admissionregistration.k8s.io") && is_protected {
        return Err(WebhookFault::WebhookConfigurations);
    }
    Ok(())
}

fn webhook(csv: &Object, description: &Value, selector: Option<Value>, ca_bundle: &str) -> Value {
    let mut service = webhook_service(csv, description);
    if let Some(path) = description.get("webhookPath").as_text() {
        service.set(&["path"], path);
    }
    let mut webhook = map! {
        "name" => description.get("generateName").clone(),
        "clientConfig" => map! { "service" => service, "caBundle" => ca_bundle },
    };
    if let Some(selector) = selector {
        webhook.set(&["namespaceSelector"], selector);
    }
    let mut copied = vec![
        "rules",
        "failurePolicy",
        "matchPolicy",
        "objectSelector",
        "sideEffects",
        "timeoutSeconds",
        "admissionReviewVersions",
    ];
    if description.get("type").str() == "MutatingAdmissionWebhook" {
        copied.push("reinvocationPolicy");
    }
    for field in copied {
        let value = description.get(field);
        if !value.is_null() {
            webhook.set(&[field], value.clone());
        }
    }
    webhook
}
