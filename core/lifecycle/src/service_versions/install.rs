//! What an operator's Deployments, Services and webhooks become on the cluster.

use std::collections::BTreeSet;

use operon_install::{
    ServingCertificate, Strategy, WEBHOOK_NAME_LABEL, certificate_secret, certificate_secret_name,
    deployment_for, has_owner_labels, refers_to_owner, serves, service_host_names, service_name,
    serving_objects, webhook_configuration,
};
use operon_kinds::{ServiceVersion, names};
use operon_object::{Object, OwnerReference, Timestamp, Value, known};

use super::phases::of_same_package;
use crate::{
    Action, CertificateRequest, ReplacedCertificate, covers::covers, objects::component_labels,
    ownership::Claimant, plans::conversion_refusal, records, scene::Scene,
};

/// What has to be written for an operator.
#[derive(Debug)]
pub(super) enum Installation {
    /// It cannot be installed.
    Refused(String),
    /// Something has to be made first.
    Waiting(Vec<Action>),
    /// Everything can be written.
    Ready {
        /// What is written, in order.
        actions: Vec<Action>,
        /// When its certificates were made and when they are made anew.
        certificates: Option<(Value, Value)>,
    },
}

/// A certificate as it is on the cluster.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    /// The hash of the authority.
    pub(super) ca_hash: String,
    /// The authority in base64.
    pub(super) ca_bundle: String,
    /// When it is to be made anew.
    pub(super) rotate: Option<Timestamp>,
    made: Option<Timestamp>,
}

/// Works out what has to be written for an operator.
pub(super) fn plan(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Installation {
    let strategy = match Strategy::read(operator.object) {
        Ok(strategy) => strategy,
        Err(fault) => return Installation::Refused(fault.to_string()),
    };
    if let Some(refusal) = foreign_certificate(scene, operator, &strategy) {
        return Installation::Refused(refusal);
    }
    let requests = missing_certificates(scene, operator, &strategy);
    if !requests.is_empty() {
        return Installation::Waiting(requests);
    }
    match write(scene, operator, &strategy) {
        Ok(actions) => Installation::Ready {
            actions,
            certificates: certificate_times(scene, operator, &strategy),
        },
        Err(Obstacle::Refused(error)) => Installation::Refused(error),
        Err(Obstacle::LeftBehind) => Installation::Waiting(Vec::new()),
    }
}

/// Why something cannot be written.
enum Obstacle {
    /// It is not allowed.
    Refused(String),
    /// It belongs to an operator that is gone; the cluster's garbage collector will delete it.
    LeftBehind,
}

impl From<String> for Obstacle {
    fn from(error: String) -> Self {
        Self::Refused(error)
    }
}

/// Returns the Deployments that an operator should have.
pub(super) fn deployments(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    strategy: &Strategy,
) -> Result<Vec<Object>, String> {
    let config = config_of(scene, operator);
    let made = strategy.deployments.iter().map(|template| {
        let certificate = certificate(scene, operator, &template.name);
        let hash = certificate.as_ref().map(|certificate| certificate.ca_hash.as_str());
        deployment_for(operator.object, template, &config, hash).map_err(|fault| fault.to_string())
    });
    made.collect()
}

/// Returns the certificate of a Deployment that serves webhooks or APIs.
pub(super) fn certificate(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    deployment: &str,
) -> Option<Certificate> {
    if !serves(operator.object, deployment) {
        return None;
    }
    let name = certificate_secret_name(&service_name(deployment));
    let secret = scene.world.objects.get(&known::SECRET, scene.namespace, &name)?;
    let time = |name| secret.annotation(name).and_then(Timestamp::parse);
    Some(Certificate {
        ca_hash: secret.annotation(names::CA_HASH_ANNOTATION)?.to_owned(),
        ca_bundle: secret.at(&["data", "olmCAKey"]).as_text()?.to_owned(),
        rotate: time(names::ROTATE_ANNOTATION),
        made: secret.created(),
    })
}

fn config_of(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Value {
    // While a plan is under way the Subscription already names the operator as the current one.
    let mut owners = scene.subscriptions.iter();
    let owner = owners.find(|subscription| {
        subscription.installed_csv() == operator.name()
            || subscription.current_csv() == operator.name()
    });
    owner.map_or(Value::Null, |subscription| subscription.config().clone())
}

/// Says which Secret that a certificate would take the place of belongs to others.
fn foreign_certificate(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    strategy: &Strategy,
) -> Option<String> {
    let mut serving =
        strategy.deployments.iter().filter(|template| serves(operator.object, &template.name));
    serving.find_map(|template| {
        let name = certificate_secret_name(&service_name(&template.name));
        let live = scene.world.objects.get(&known::SECRET, scene.namespace, &name)?;
        Claimant::new(scene, operator.object).refusal(live)
    })
}

fn missing_certificates(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    strategy: &Strategy,
) -> Vec<Action> {
    let now = scene.world.now;
    let serving =
        strategy.deployments.iter().filter(|template| serves(operator.object, &template.name));
    serving
        .filter_map(|template| {
            let found = certificate(scene, operator, &template.name);
            let is_good = |found: &Certificate| found.rotate.is_none_or(|rotate| now < rotate);
            if found.as_ref().is_some_and(is_good) {
                return None;
            }
            let service = service_name(&template.name);
            Some(Action::Certify(CertificateRequest {
                operator: operator.object.clone(),
                deployment: template.name.clone(),
                hosts: service_host_names(&service, scene.namespace).to_vec(),
                replaces: found.map(|Certificate { ca_bundle, ca_hash, .. }| ReplacedCertificate {
                    ca_bundle,
                    ca_hash,
                }),
            }))
        })
        .collect()
}

/// Hands the certificate of a Deployment over to the operator that replaces its owner. It stays the
/// same, so that pods are not restarted for it, and is not deleted together with the previous version.
fn take_over_certificate(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    deployment: &str,
) -> Option<Action> {
    let name = certificate_secret_name(&service_name(deployment));
    let live = scene.world.objects.get(&known::SECRET, scene.namespace, &name)?;
    if refers_to_owner(live, operator.object) {
        return None;
    }
    let part = |name: &str| live.at(&["data", name]).str().to_owned();
    let certificate = ServingCertificate {
        certificate: part("tls.crt"),
        key: part("tls.key"),
        ca: part("olmCAKey"),
        ca_hash: live.annotation(names::CA_HASH_ANNOTATION)?.to_owned(),
    };
    let mut secret = certificate_secret(operator.object, deployment, &certificate);
    if let Some(rotate) = live.annotation(names::ROTATE_ANNOTATION) {
        secret.set_annotation(names::ROTATE_ANNOTATION, rotate);
    }
    Some(Action::Apply(secret))
}

fn certificate_times(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    strategy: &Strategy,
) -> Option<(Value, Value)> {
    let templates = strategy.deployments.iter();
    let found: Vec<Certificate> =
        templates.filter_map(|template| certificate(scene, operator, &template.name)).collect();
    let rotate = found.iter().filter_map(|certificate| certificate.rotate).min()?;
    let made = found.iter().filter_map(|certificate| certificate.made).max()?;
    Some((made.into(), rotate.into()))
}

fn write(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    strategy: &Strategy,
) -> Result<Vec<Action>, Obstacle> {
    let mut actions = Vec::new();
    let serving =
        strategy.deployments.iter().filter(|template| serves(operator.object, &template.name));
    let mut serving = serving.peekable();
    let planned = serving.peek().and_then(|_| records::planned_operator(scene, operator.name()));
    for template in serving {
        let objects = serving_objects(operator.object, template);
        actions.extend(take_over_certificate(scene, operator, &template.name));
        // Bindings to roles of the cluster follow from the plan, not from edits of the operator.
        let bindings = planned.as_ref().map(|planned| cluster_bindings(planned, &template.name));
        let all = [objects.service, objects.secret_role, objects.secret_role_binding]
            .into_iter()
            .chain(bindings.unwrap_or_default());
        for object in all {
            ensure(scene, operator, object, &mut actions)?;
        }
    }
    let deployments = deployments(scene, operator, strategy)?;
    let names: BTreeSet<String> =
        deployments.iter().map(|object| object.name().to_owned()).collect();
    for object in deployments {
        ensure(scene, operator, object, &mut actions)?;
    }
    write_webhooks(scene, operator, &mut actions)?;
    write_api_services(scene, operator, &mut actions)?;
    remove_stale(scene, operator, &names, &mut actions);
    Ok(actions)
}

/// Returns the bindings of a Deployment's account to roles of the cluster, as a plan has them.
fn cluster_bindings(planned: &Object, deployment: &str) -> Vec<Object> {
    let Ok(strategy) = Strategy::read(planned) else { return Vec::new() };
    let mut templates = strategy.deployments.iter();
    let template =
        templates.find(|template| template.name == deployment && serves(planned, deployment));
    let objects = template.map(|template| serving_objects(planned, template));
    objects.map_or_else(Vec::new, |objects| {
        objects.auth_delegator_binding.into_iter().chain(objects.auth_reader_binding).collect()
    })
}

/// Makes an object exist and belong to the same operator as its ClusterServiceVersion. The error says
/// whose object has its name.
fn ensure(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    mut object: Object,
    actions: &mut Vec<Action>,
) -> Result<(), Obstacle> {
    component_labels(operator.object).for_each(|label| object.set_label(label, ""));
    let live = scene.world.objects.find(&object.key());
    if live.is_some_and(|live| covers(live.value(), object.value())) {
        return Ok(());
    }
    let claimant = Claimant::new(scene, operator.object);
    if let Some(live) = live
        && let Some(refusal) = claimant.refusal(live)
    {
        return Err(match is_left_behind(scene, live) {
            true => Obstacle::LeftBehind,
            false => Obstacle::Refused(refusal),
        });
    }
    actions.push(Action::Apply(object));
    Ok(())
}

/// Returns `true` if an object belongs to operators of its namespace that are all gone or going.
fn is_left_behind(scene: &Scene<'_>, live: &Object) -> bool {
    let stays = |owner: &OwnerReference| {
        scene.operator(&owner.name).is_some_and(|operator| {
            operator.object.uid() == owner.uid && !operator.object.is_deleting()
        })
    };
    let kind = known::CLUSTER_SERVICE_VERSION;
    let mut owners = live.owners().peekable();
    live.namespace() == scene.namespace
        && owners.peek().is_some()
        && owners.all(|owner| owner.kind == kind.name() && !stays(&owner))
}

fn write_webhooks(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    actions: &mut Vec<Action>,
) -> Result<(), Obstacle> {
    let Some(group) = scene.group() else { return Ok(()) };
    for description in operator.webhooks() {
        let deployment = description.get("deploymentName").str();
        let Some(certificate) = certificate(scene, operator, deployment) else { continue };
        let made = webhook_configuration(
            operator.object,
            description,
            group.object,
            &scene.world.settings.protected_namespaces,
            &certificate.ca_bundle,
        )
        .map_err(|fault| fault.to_string())?;
        if let Some(object) = made {
            ensure(scene, operator, object, actions)?;
            continue;
        }
        let find =
            |name: &str| scene.world.objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", name);
        let converted = operon_install::converted_crds(
            operator.object,
            description,
            &certificate.ca_bundle,
            find,
        );
        let claimant = Claimant::new(scene, operator.object);
        for changed in converted.map_err(|fault| fault.to_string())? {
            let Some(live) = find(changed.name()) else { continue };
            if let Some(refusal) = conversion_refusal(scene, &claimant, live) {
                return Err(refusal.into());
            }
            if !covers(live.at(&["spec", "conversion"]), changed.at(&["spec", "conversion"])) {
                actions.push(Action::Update(changed));
            }
        }
    }
    Ok(())
}

fn write_api_services(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    actions: &mut Vec<Action>,
) -> Result<(), Obstacle> {
    let objects = scene.world.objects;
    let config = config_of(scene, operator);
    for description in operator.object.spec().at(&["apiservicedefinitions", "owned"]).elements() {
        let deployment = description.get("deploymentName").str();
        let Some(certificate) = certificate(scene, operator, deployment) else { continue };
        let name = operon_install::api_service_name(description);
        let live = objects.get(&known::API_SERVICE, "", &name);
        let object = operon_install::api_service(
            operator.object,
            description,
            &certificate.ca_bundle,
            config.get("annotations"),
            live,
            |namespace, name| of_same_package(scene, operator, namespace, name),
        );
        let mut object = object.map_err(|fault| fault.to_string())?;
        object.forget_server_metadata();
        object.value_mut().remove(&["status"]);
        component_labels(operator.object).for_each(|label| object.set_label(label, ""));
        // Whose it is was checked when it was computed.
        if !live.is_some_and(|live| covers(live.value(), object.value())) {
            actions.push(Action::Apply(object));
        }
    }
    Ok(())
}

/// Removes Deployments and webhooks that the operator made and no longer wants.
fn remove_stale(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    deployments: &BTreeSet<String>,
    actions: &mut Vec<Action>,
) {
    let objects = scene.world.objects;
    let is_stale = |object: &&Object| {
        refers_to_owner(object, operator.object)
            && has_owner_labels(object, operator.object)
            && !deployments.contains(object.name())
    };
    let stale = objects.within(&known::DEPLOYMENT, scene.namespace).filter(is_stale);
    let wanted: BTreeSet<&str> =
        operator.webhooks().iter().map(|webhook| webhook.get("generateName").str()).collect();
    let kinds = [known::VALIDATING_WEBHOOK_CONFIGURATION, known::MUTATING_WEBHOOK_CONFIGURATION];
    let webhooks = objects.owned_from(scene.namespace).filter(|object| {
        kinds.contains(&object.kind())
            && has_owner_labels(object, operator.object)
            && !wanted.contains(object.label(WEBHOOK_NAME_LABEL))
    });
    actions.extend(
        stale
            .chain(webhooks)
            .map(|object| Action::Delete { key: object.key(), uid: object.uid().to_owned() }),
    );
}
