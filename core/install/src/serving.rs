//! What stands in front of a Deployment that serves webhooks or APIs: a Service, and the right to read
//! its certificate.
//!
//! Certificates are made elsewhere; here are only the objects that carry them.

use operon_object::{Object, Value, list, map};

use crate::{
    deployment::CA_HASH_ANNOTATION,
    names::{
        auth_delegator_binding_name, auth_reader_binding_name, certificate_secret_name,
        service_name,
    },
    ownership::{csv_reference, label_owner, mark_managed},
    rbac::{RBAC_VERSION, account_subjects, role_ref},
    strategy::DeploymentTemplate,
};

/// Upstream: the port of a webhook or an API that names none.
pub(crate) const DEFAULT_PORT: i64 = 443;

/// The objects in front of a Deployment that serves.
#[derive(Debug, Clone, PartialEq)]
pub struct ServingObjects {
    /// The Service.
    pub service: Object,
    /// The Role to read the certificate's Secret.
    pub secret_role: Object,
    /// The RoleBinding that gives it to the Deployment's account.
    pub secret_role_binding: Object,
    /// The ClusterRoleBinding to `system:auth-delegator`, for a Deployment that serves an API.
    pub auth_delegator_binding: Option<Object>,
    /// The RoleBinding to `extension-apiserver-authentication-reader` in `kube-system`, for a
    /// Deployment that serves an API.
    pub auth_reader_binding: Option<Object>,
}

/// A serving certificate, each part in base64 as a Secret holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingCertificate {
    /// The certificate's PEM text.
    pub certificate: String,
    /// The PEM text of its key.
    pub key: String,
    /// The PEM texts of the CAs that are trusted: its own, and after a rotation the one before.
    pub ca: String,
    /// What pods are told of the CA: the SHA-256 of the PEM text of the first one, in hexadecimal digits.
    /// It stays the same when a certificate is rotated, so that they are not restarted.
    pub ca_hash: String,
}

/// Tells whether a Deployment serves webhooks or owned APIs of its ClusterServiceVersion, so that it
/// needs a certificate.
pub fn serves(csv: &Object, deployment: &str) -> bool {
    served_by(csv, deployment).next().is_some()
}

/// Returns the objects in front of a Deployment that serves.
///
/// The rights of an API server are given only to one: upstream gives them to every operator with a
/// webhook. What lies outside the namespace carries the owner's labels, so that it goes away with the
/// operator; upstream forgets them in `kube-system`.
pub fn serving_objects(csv: &Object, template: &DeploymentTemplate) -> ServingObjects {
    let service = service_name(&template.name);
    let account = match template.spec.at(&["template", "spec", "serviceAccountName"]).str() {
        "" => "default",
        account => account,
    };
    let subjects = account_subjects(csv.namespace(), account);
    let secret = certificate_secret_name(&service);
    let is_api_server = owned_apis(csv).any(|api| serves_for(api, &template.name));
    ServingObjects {
        service: service_object(csv, template),
        secret_role: secret_role(csv, &secret),
        secret_role_binding: secret_role_binding(csv, &secret, &subjects),
        auth_delegator_binding: is_api_server.then(|| {
            let name = auth_delegator_binding_name(&service);
            let mut binding = Object::new(RBAC_VERSION, "ClusterRoleBinding", "", &name);
            bind(&mut binding, role_ref("ClusterRole", "system:auth-delegator"), &subjects);
            label_owner(&mut binding, csv);
            binding
        }),
        auth_reader_binding: is_api_server.then(|| {
            let name = auth_reader_binding_name(&service);
            let mut binding = Object::new(RBAC_VERSION, "RoleBinding", "kube-system", &name);
            let role = role_ref("Role", "extension-apiserver-authentication-reader");
            bind(&mut binding, role, &subjects);
            label_owner(&mut binding, csv);
            binding
        }),
    }
}

/// Returns the Secret with the certificate of a Deployment's Service.
pub fn certificate_secret(
    csv: &Object,
    deployment: &str,
    certificate: &ServingCertificate,
) -> Object {
    let name = certificate_secret_name(&service_name(deployment));
    let mut secret = owned(csv, "v1", "Secret", &name);
    secret.set_annotation(CA_HASH_ANNOTATION, &certificate.ca_hash);
    secret.set(&["type"], "kubernetes.io/tls");
    let data = map! {
        "tls.crt" => certificate.certificate.as_str(),
        "tls.key" => certificate.key.as_str(),
        "olmCAKey" => certificate.ca.as_str(),
    };
    secret.set(&["data"], data);
    secret
}

/// Returns the APIs that a ClusterServiceVersion serves itself.
pub(crate) fn owned_apis(csv: &Object) -> impl Iterator<Item = &Value> {
    csv.at(&["spec", "apiservicedefinitions", "owned"]).elements().iter()
}

/// Returns the webhooks of a ClusterServiceVersion.
pub(crate) fn webhooks(csv: &Object) -> impl Iterator<Item = &Value> {
    csv.at(&["spec", "webhookdefinitions"]).elements().iter()
}

/// Returns the port at which a webhook or an API is reached.
pub(crate) fn served_port(description: &Value) -> i64 {
    match description.get("containerPort").as_integer() {
        Some(port) if port > 0 => port,
        _ => DEFAULT_PORT,
    }
}

fn served_by<'a>(csv: &'a Object, deployment: &'a str) -> impl Iterator<Item = &'a Value> {
    let descriptions = owned_apis(csv).chain(webhooks(csv));
    descriptions.filter(move |description| serves_for(description, deployment))
}

fn serves_for(description: &Value, deployment: &str) -> bool {
    description.get("deploymentName").str() == deployment
}

fn service_object(csv: &Object, template: &DeploymentTemplate) -> Object {
    let mut service = owned(csv, "v1", "Service", &service_name(&template.name));
    let mut ports: Vec<Value> = Vec::new();
    for description in served_by(csv, &template.name) {
        let port = service_port(description);
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    let selector = template.spec.at(&["selector", "matchLabels"]).clone();
    service.set(&["spec"], map! { "ports" => ports, "selector" => selector });
    service
}

/// Upstream: the target is the port itself unless a webhook names another; APIs cannot name one.
fn service_port(description: &Value) -> Value {
    let port = served_port(description);
    let target = match description.get("targetPort") {
        Value::Null => Value::from(port),
        target => target.clone(),
    };
    map! { "name" => port.to_string(), "port" => port, "targetPort" => target }
}

fn secret_role(csv: &Object, secret: &str) -> Object {
    let mut role = owned(csv, RBAC_VERSION, "Role", secret);
    let rule = map! {
        "verbs" => list!["get"],
        "apiGroups" => list![""],
        "resources" => list!["secrets"],
        "resourceNames" => list![secret],
    };
    role.set(&["rules"], list![rule]);
    role
}

fn secret_role_binding(csv: &Object, secret: &str, subjects: &Value) -> Object {
    let mut binding = owned(csv, RBAC_VERSION, "RoleBinding", secret);
    bind(&mut binding, role_ref("Role", secret), subjects);
    binding
}

fn bind(binding: &mut Object, role: Value, subjects: &Value) {
    mark_managed(binding);
    binding.set(&["roleRef"], role);
    binding.set(&["subjects"], subjects.clone());
}

/// Begins an object in the namespace of its owner.
fn owned(csv: &Object, api_version: &str, kind: &str, name: &str) -> Object {
    let mut object = Object::new(api_version, kind, csv.namespace(), name);
    object.add_owner(&csv_reference(csv));
    mark_managed(&mut object);
    object
}
