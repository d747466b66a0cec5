//! What a ClusterServiceVersion turns into: accounts, roles, Deployments, Services, webhooks, their
//! names and hashes; and what accounts may do.
//!
//! Everything here is a function from objects to objects. Which of them are on the cluster, and when
//! they are written, is decided by the rooms above; certificates are made elsewhere.

mod api_service;
mod authorize;
mod bundle_kind;
mod conversion;
mod copies;
mod deployment;
mod golang;
mod group_roles;
mod health;
mod lift;
mod names;
mod overrides;
mod ownership;
mod pod;
mod policy_rule;
mod rbac;
mod reserved;
mod serving;
mod strategy;
mod webhook;

pub use self::{
    api_service::{NotAdoptable, api_service, api_service_name, is_api_service_adoptable},
    authorize::{Action, Authorizer, MAX_RULE_STEPS, user_name},
    bundle_kind::{
        BUNDLE_SECRET_KIND, Existing, Ownership, StepHandling, step_handling, step_kind,
    },
    conversion::{converted_crds, is_converted_by, unconverted_crd},
    copies::{CopyHashes, copy_hashes},
    deployment::{
        CA_HASH_ANNOTATION, CONDITION_VARIABLE, DEPLOYMENT_HASH_LABEL, deployment_for,
        deployment_spec_hash,
    },
    golang::{GoType, MAX_QUANTITY_DIGITS, TypeFault, canonical_quantity, typed_json, typed_value},
    group_roles::{ProvidedApiFault, operator_group_roles, provided_api_roles, provided_apis},
    health::{DeploymentHealth, deployment_health},
    lift::{cluster_lift, namespace_lift},
    names::{
        AGGREGATION_LABEL_PREFIX, COMPONENT_LABEL_PREFIX, MAX_NAME_LENGTH, MAX_OBJECT_NAME_LENGTH,
        aggregation_label, api_hash, api_text, auth_delegator_binding_name,
        auth_reader_binding_name, bundle_object_name, can_be_labelled, certificate_secret_name,
        component_label, deep_hash, dependency_subscription_name, generate_name,
        installed_alongside_key, operator_group_role_name, parse_provided_apis,
        properties_annotation, provided_apis_text, service_host_names, service_name,
        target_namespaces_text,
    },
    ownership::{
        COPIED_FROM_LABEL, MANAGED_LABEL, OWNER_KIND_LABEL, OWNER_LABEL, OWNER_NAMESPACE_LABEL,
        has_owner_labels, label_owner, label_owner_key, owner_labels, refers_to_owner,
    },
    policy_rule::{PolicyRule, RuleFault, RuleScope, rule_text},
    rbac::{AccountRbac, PERMISSIONS_HASH_LABEL, binding_hash, rbac_for, rules_hash},
    reserved::{converts, has_reserved_name, is_reserved_group},
    serving::{ServingCertificate, ServingObjects, certificate_secret, serves, serving_objects},
    strategy::{DeploymentTemplate, Permission, Strategy, StrategyFault},
    webhook::{
        GROUP_LABEL_PREFIX, WEBHOOK_HASH_LABEL, WEBHOOK_NAME_LABEL, WebhookFault, WebhookType,
        check_webhooks, group_namespace_selector, only_group, webhook_configuration, webhook_hash,
    },
};
