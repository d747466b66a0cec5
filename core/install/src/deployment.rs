//! The Deployments that a ClusterServiceVersion turns into.
//!
//! A Deployment carries the hash of its spec as a label: as long as the label is right, nobody looks
//! at the spec again. Making certificates is the caller's work; here they are only mounted.

use operon_object::{Object, Value, list, map};

use crate::{
    golang::{GoType, TypeFault, typed_json, typed_value},
    names::{certificate_secret_name, deep_hash, service_name},
    overrides::apply_config,
    ownership::{csv_reference, label_owner, mark_managed},
    pod::{each_container, merge_by, merge_environment, pod_spec},
    strategy::DeploymentTemplate,
};

/// The label with the hash of a Deployment's spec.
pub const DEPLOYMENT_HASH_LABEL: &str = "olm.deployment-spec-hash";

/// The annotation with the SHA-256 of a CA certificate, on its Secret and on the pods that use it.
pub const CA_HASH_ANNOTATION: &str = "olmcahash";

/// The variable by which an operator learns the name of its OperatorCondition.
pub const CONDITION_VARIABLE: &str = "OPERATOR_CONDITION_NAME";

/// Returns the complete Deployment for a template of a ClusterServiceVersion.
///
/// `config` is `spec.config` of the Subscription that installed the operator, or `null`. `ca_hash`
/// is given for a Deployment that [serves](crate::serves) webhooks or APIs: the SHA-256 of the CA
/// certificate's PEM text, in hexadecimal digits. The answer is the same for the same arguments, so
/// that its hash label tells whether an installed Deployment is up to date.
pub fn deployment_for(
    csv: &Object,
    template: &DeploymentTemplate,
    config: &Value,
    ca_hash: Option<&str>,
) -> Result<Object, TypeFault> {
    let name = template.name.as_str();
    let place = format!("spec.install.spec.deployments[{name}].spec");
    let mut spec = typed_value(GoType::DeploymentSpec, &template.spec)
        .map_err(|fault| fault.inside(&place))?;
    if let Some(ca_hash) = ca_hash {
        mount_certificate(&mut spec, name, ca_hash);
    }
    for (annotation, value) in csv.annotations() {
        spec.set(&["template", "metadata", "annotations", annotation], value);
    }
    let mut deployment = Object::new("apps/v1", "Deployment", csv.namespace(), name);
    for (label, value) in template.labels.entries() {
        deployment.set_label(label, value.str());
    }
    deployment.add_owner(&csv_reference(csv));
    label_owner(&mut deployment, csv);
    mark_managed(&mut deployment);

    apply_config(&mut deployment, &mut spec, config)?;
    let variable = list![map! { "name" => CONDITION_VARIABLE, "value" => csv.name() }];
    each_container(&mut spec, |container| merge_environment(container, &variable));
    // Rolling back is not supported, so one old ReplicaSet is enough.
    spec.set(&["revisionHistoryLimit"], 1_i64);

    deployment.set_label(DEPLOYMENT_HASH_LABEL, &deployment_spec_hash(&spec)?);
    deployment.set(&["spec"], typed_value(GoType::DeploymentSpec, &spec)?);
    Ok(deployment)
}

/// Returns the hash of a Deployment's spec.
pub fn deployment_spec_hash(spec: &Value) -> Result<String, TypeFault> {
    Ok(deep_hash(&typed_json(GoType::DeploymentSpec, spec)?))
}

/// Mounts the certificate of a Deployment's Service where API servers and where webhook servers look
/// for it, and restarts the pods when the CA changes.
fn mount_certificate(spec: &mut Value, deployment: &str, ca_hash: &str) {
    let secret = certificate_secret_name(&service_name(deployment));
    let pod = pod_spec(spec);
    if pod.get("serviceAccountName").is_empty() {
        pod.set(&["serviceAccountName"], "default");
    }
    let mounts = [
        (
            "apiservice-cert",
            "/apiserver.local.config/certificates",
            ["apiserver.crt", "apiserver.key"],
        ),
        ("webhook-cert", "/tmp/k8s-webhook-server/serving-certs", ["tls.crt", "tls.key"]),
    ];
    for (volume, path, [certificate, key]) in mounts {
        let source = map! {
            "name" => volume,
            "secret" => map! {
                "secretName" => secret.as_str(),
                "items" => list![
                    map! { "key" => "tls.crt", "path" => certificate },
                    map! { "key" => "tls.key", "path" => key },
                ],
            },
        };
        merge_by(pod_spec(spec), "volumes", "name", &list![source]);
        let mount = map! { "name" => volume, "mountPath" => path };
        each_container(spec, |container| mount_volume(container, &mount));
    }
    spec.set(&["template", "metadata", "annotations", CA_HASH_ANNOTATION], ca_hash);
}

/// Mounts a volume unless it is mounted; what is mounted at the same path makes room.
fn mount_volume(container: &mut Value, mount: &Value) {
    let mounts = container.place(&["volumeMounts"]).make_list();
    let is_in_the_way = |other: &&mut Value| {
        other.get("name") == mount.get("name") || other.get("mountPath") == mount.get("mountPath")
    };
    match mounts.iter_mut().find(is_in_the_way) {
        Some(same) if same.get("name") == mount.get("name") => {}
        Some(other) => *other = mount.clone(),
        None => mounts.push(mount.clone()),
    }
}
