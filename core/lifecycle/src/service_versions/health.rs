//! Whether what an operator installed does its work.

use operon_install::{
    DEPLOYMENT_HASH_LABEL, DeploymentHealth, Strategy, WEBHOOK_HASH_LABEL, WEBHOOK_NAME_LABEL,
    deployment_health, has_owner_labels, webhook_hash,
};
use operon_kinds::{ServiceVersion, condition};
use operon_object::{ObjectKey, Timestamp, known};

use super::install;
use crate::scene::Scene;

/// How an operator's components are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Health {
    /// They do their work.
    Good,
    /// They are not ready yet, or not any more.
    Waiting(String),
    /// One of them is not there at all, and has to be installed again.
    Missing {
        /// Says which one.
        message: String,
        /// The Deployment.
        deployment: ObjectKey,
    },
    /// They were installed from something else, and have to be installed again.
    Outdated(String),
    /// They did not get ready in their time.
    Lost(String),
    /// What they should be cannot be worked out.
    Uncomputable,
}

/// Looks at an operator's Deployments, APIs and webhooks.
pub(super) fn of(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Health {
    let Ok(strategy) = Strategy::read(operator.object) else { return Health::Uncomputable };
    let lacks_certificate = strategy.deployments.iter().any(|template| {
        operon_install::serves(operator.object, &template.name)
            && install::certificate(scene, operator, &template.name).is_none()
    });
    if lacks_certificate {
        return Health::Uncomputable;
    }
    let Ok(wanted) = install::deployments(scene, operator, &strategy) else {
        return Health::Uncomputable;
    };
    let mut worst = Health::Good;
    for wanted in &wanted {
        let live = scene.world.objects.find(&wanted.key());
        let is_old = live.is_some_and(|live| {
            live.label(DEPLOYMENT_HASH_LABEL) != wanted.label(DEPLOYMENT_HASH_LABEL)
        });
        let found = match deployment_health(wanted, live, operator.object) {
            // How the Deployment before fared says nothing about this one.
            DeploymentHealth::DeadlineExceeded { .. } if is_old => {
                Health::Outdated(format!("installing: deployment {} is outdated", wanted.name()))
            }
            DeploymentHealth::Healthy => continue,
            lost @ DeploymentHealth::DeadlineExceeded { .. } => {
                return Health::Lost(format!("install failed: {}", lost.message()));
            }
            changed @ (DeploymentHealth::AnnotationsMissing { .. }
            | DeploymentHealth::Updated { .. }) => {
                Health::Outdated(format!("installing: {}", changed.message()))
            }
            missing @ DeploymentHealth::Missing { .. } => {
                let message = format!("installing: {}", missing.message());
                match live {
                    None => Health::Missing { message, deployment: wanted.key() },
                    // Somebody else has one of the same name.
                    Some(_) => Health::Waiting(message),
                }
            }
            waiting @ DeploymentHealth::Waiting { .. } => {
                Health::Waiting(format!("installing: {}", waiting.message()))
            }
        };
        if worst == Health::Good {
            worst = found;
        }
    }
    if worst != Health::Good {
        return worst;
    }
    if !api_services_answer(scene, operator) {
        return Health::Waiting("apiServices not installed".to_owned());
    }
    if !webhooks_are_there(scene, operator) {
        return Health::Waiting("webhooks not installed".to_owned());
    }
    Health::Good
}

/// Returns when the first certificate of an operator has to be made anew.
pub(super) fn next_rotation(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Option<Timestamp> {
    let deployments = operator.deployments().iter().map(|entry| entry.get("name").str());
    let certificates = deployments.filter_map(|name| install::certificate(scene, operator, name));
    certificates.filter_map(|found| found.rotate).min()
}

/// Tells whether a certificate of an operator has to be made anew.
pub(super) fn certificates_expire(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> bool {
    next_rotation(scene, operator).is_some_and(|rotate| rotate <= scene.world.now)
}

fn api_services_answer(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> bool {
    let owned = operator.object.spec().at(&["apiservicedefinitions", "owned"]).elements();
    owned.iter().all(|entry| {
        let name = operon_install::api_service_name(entry);
        let live = scene.world.objects.get(&known::API_SERVICE, "", &name);
        live.is_some_and(|live| condition(live.status(), "Available").get("status").str() == "True")
    })
}

fn webhooks_are_there(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> bool {
    operator.webhooks().iter().all(|description| {
        let kind = match description.get("type").str() {
            "ValidatingAdmissionWebhook" => known::VALIDATING_WEBHOOK_CONFIGURATION,
            "MutatingAdmissionWebhook" => known::MUTATING_WEBHOOK_CONFIGURATION,
            _ => return true,
        };
        let Ok(hash) = webhook_hash(description) else { return false };
        scene.world.objects.owned_from(scene.namespace).any(|live| {
            live.kind() == kind
                && has_owner_labels(live, operator.object)
                && live.label(WEBHOOK_NAME_LABEL) == description.get("generateName").str()
                && live.label(WEBHOOK_HASH_LABEL) == hash
        })
    })
}
