//! The JSON that Go's typed structs encode to, driven by tables of the types.
//!
//! Hashes on clusters cover this text, so each byte matters: the order of struct fields, what is left
//! out when empty, canonical quantities, unknown fields dropped. The tables state the types of one
//! Kubernetes release; a field that is newer than them is dropped, as the reference would.

mod apps;
mod core_pods;
mod core_volumes;
mod encode;
mod meta;
mod operators;
mod quantity;
mod rbac;
mod table;

use operon_object::Value;

pub use self::{
    encode::TypeFault,
    quantity::{MAX_QUANTITY_DIGITS, canonical_quantity},
};
use self::{encode::write_form, table::GoForm};

/// A Go type whose JSON is hashed or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoType {
    /// `apps/v1` `DeploymentSpec`.
    DeploymentSpec,
    /// `core/v1` `PodSpec`.
    PodSpec,
    /// `core/v1` `ServiceSpec`.
    ServiceSpec,
    /// `core/v1` `Affinity`.
    Affinity,
    /// `meta/v1` `ObjectMeta`.
    ObjectMeta,
    /// `meta/v1` `LabelSelector`.
    LabelSelector,
    /// `rbac/v1` `PolicyRule`.
    PolicyRule,
    /// A slice of `rbac/v1` `PolicyRule`.
    PolicyRules,
    /// `rbac/v1` `RoleRef`.
    RoleRef,
    /// A slice of `rbac/v1` `Subject`.
    Subjects,
    /// `operators/v1alpha1` `StrategyDeploymentPermissions`: an account and its rules.
    Permission,
    /// `operators/v1alpha1` `StrategyDetailsDeployment`: all that a CSV installs.
    StrategyDetails,
    /// `operators/v1alpha1` `WebhookDescription`.
    WebhookDescription,
    /// `operators/v1alpha1` `ClusterServiceVersionSpec`.
    CsvSpec,
    /// `operators/v1alpha1` `ClusterServiceVersionStatus`.
    CsvStatus,
    /// `operators/v1alpha1` `SubscriptionConfig`.
    SubscriptionConfig,
}

/// Writes a value as Go writes it after reading it into a type.
pub fn typed_json(go_type: GoType, value: &Value) -> Result<String, TypeFault> {
    let mut text = String::new();
    write_form(&mut text, &form_of(go_type), value)?;
    Ok(text)
}

/// Returns a value as Go holds it after reading it into a type: without unknown fields, with zeros
/// where the type has no absence, with canonical quantities.
pub fn typed_value(go_type: GoType, value: &Value) -> Result<Value, TypeFault> {
    let text = typed_json(go_type, value)?;
    Ok(Value::parse_json(text).expect("bug: the writer produces JSON no deeper than its input"))
}

fn form_of(go_type: GoType) -> GoForm {
    static POLICY_RULE: GoForm = GoForm::Struct(&rbac::POLICY_RULE);
    static SUBJECT: GoForm = GoForm::Struct(&rbac::SUBJECT);
    match go_type {
        GoType::DeploymentSpec => GoForm::Struct(&apps::DEPLOYMENT_SPEC),
        GoType::PodSpec => GoForm::Struct(&core_pods::POD_SPEC),
        GoType::ServiceSpec => GoForm::Struct(&core_pods::SERVICE_SPEC),
        GoType::Affinity => GoForm::Struct(&core_pods::AFFINITY),
        GoType::ObjectMeta => GoForm::Struct(&meta::OBJECT_META),
        GoType::LabelSelector => GoForm::Struct(&meta::LABEL_SELECTOR),
        GoType::PolicyRule => GoForm::Struct(&rbac::POLICY_RULE),
        GoType::PolicyRules => GoForm::List(&POLICY_RULE),
        GoType::RoleRef => GoForm::Struct(&rbac::ROLE_REF),
        GoType::Subjects => GoForm::List(&SUBJECT),
        GoType::Permission => GoForm::Struct(&operators::STRATEGY_DEPLOYMENT_PERMISSIONS),
        GoType::StrategyDetails => GoForm::Struct(&operators::STRATEGY_DETAILS_DEPLOYMENT),
        GoType::WebhookDescription => GoForm::Struct(&operators::WEBHOOK_DESCRIPTION),
        GoType::CsvSpec => GoForm::Struct(&operators::CLUSTER_SERVICE_VERSION_SPEC),
        GoType::CsvStatus => GoForm::Struct(&operators::CLUSTER_SERVICE_VERSION_STATUS),
        GoType::SubscriptionConfig => GoForm::Struct(&operators::SUBSCRIPTION_CONFIG),
    }
}
