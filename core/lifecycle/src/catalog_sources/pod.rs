//! A pod that serves a catalog to others, where somebody says how one should run.
//!
//! Operon itself reads the image, whether there is a pod or not; nothing waits for it. It serves exactly
//! the image that was read, so it changes when what was read does.

use std::sync::Arc;

use operon_install::refers_to_owner;
use operon_kinds::{CatalogSource, names};
use operon_object::{Kind, Object, Value, known, list, map};

use crate::{
    Action, CatalogState, Guard, Verdict, World, authority, covers::covers, ownership::Claimant,
    watched::is_watched_whole,
};

/// Upstream: the port at which a catalog is served.
pub(super) const SERVING_PORT: i64 = 50051;

/// The wishes of `spec.grpcPodConfig` that only a pod can fulfil. How its files are served and what it may
/// do says nothing about whether there should be one.
const WISHES_FOR_A_POD: [&str; 5] =
    ["nodeSelector", "tolerations", "affinity", "priorityClassName", "memoryTarget"];

/// Upstream: names the catalog on its pods, and on what belongs to them.
const CATALOG_LABEL: &str = "olm.catalogSource";

/// Upstream: the priority of the pod; it counts more than the spec's.
const PRIORITY_ANNOTATION: &str = "operatorframework.io/priorityclass";

/// Where a catalog image that only holds files finds the program that serves them.
const TOOLS: &str = "/operon-tools";

/// Upstream: the memory that a pod asks for where its CatalogSource does not say it.
const DEFAULT_MEMORY_REQUEST: &str = "50Mi";

/// The most memory of the container that serves a catalog. An author chooses what runs in it, and it must not take the
/// memory of a node. The largest catalog known needs less than half of it while a registry builds its cache.
const MEMORY_LIMIT: &str = "2Gi";
const MEMORY_LIMIT_BYTES: u64 = 2 << 30;

/// The most memory of the container that copies the program. What it writes counts until it is on the disk.
const COPYING_MEMORY_LIMIT: &str = "256Mi";

/// The size of the volume for the program: a release takes tens of megabytes, a build with debug information some
/// hundreds.
const TOOLS_SIZE_LIMIT: &str = "1Gi";

/// The size of the volume for temporary files: the snapshot of a catalog has less than a tenth of this.
const SCRATCH_SIZE_LIMIT: &str = "1Gi";

/// The kinds that a pod needs.
const KINDS: &[Kind] =
    &[known::SERVICE_ACCOUNT, known::SERVICE, known::NETWORK_POLICY, known::DEPLOYMENT];

/// Tells whether a CatalogSource asks for a pod.
pub(super) fn is_wanted(source: CatalogSource<'_>) -> bool {
    if source.source_type() != "grpc" || source.image().is_empty() {
        return false;
    }
    match source.object.annotation(names::CATALOG_POD_ANNOTATION) {
        Some(said) => said == "true",
        None => {
            let config = source.object.spec().get("grpcPodConfig");
            WISHES_FOR_A_POD.iter().any(|wish| !config.get(wish).is_empty())
        }
    }
}

/// Returns the address at which a pod serves a catalog.
pub(super) fn address(source: CatalogSource<'_>) -> String {
    format!("{}.{}.svc:{SERVING_PORT}", service_name(source), source.object.namespace())
}

/// Upstream: a Service has the name of its catalog, without dots.
pub(super) fn service_name(source: CatalogSource<'_>) -> String {
    source.object.name().replace('.', "-")
}

/// Names the account of a catalog's pod. Upstream takes the catalog's name, which may be that of another
/// account.
fn account_name(source: CatalogSource<'_>) -> String {
    format!("catalog-{}", source.object.name())
}

/// Makes the pod exist if it is wanted, and deletes it if it is not. Returns why it cannot exist.
pub(super) fn decide(
    world: &World<'_>,
    source: CatalogSource<'_>,
    state: Option<&CatalogState>,
    verdict: &mut Verdict,
) -> Option<String> {
    let work = source.object.key();
    let authority = authority::of_namespace(world, source.object.namespace());
    if !is_wanted(source) {
        let objects =
            KINDS.iter().flat_map(|kind| world.objects.within(kind, source.object.namespace()));
        for object in objects.filter(|object| is_of(object, source) && !object.is_deleting()) {
            let (key, uid) = (object.key(), object.uid().to_owned());
            verdict.act(&authority, &work, Action::Delete { key, uid });
        }
        return None;
    }
    // Which image it is becomes known when it was read.
    let image = state.map(|state| state.image.as_str()).filter(|image| !image.is_empty())?;
    let wanted = objects(world, source, image);
    let claimant = Arc::new(Claimant::of_catalog(source.object));
    let live = |object: &Object| world.objects.find(&object.key());
    // A pod must not run beside, or as, what belongs to others.
    let refused = wanted.iter().filter_map(live).find_map(|live| claimant.refusal(live));
    let failed = world.failures.of_work(&work).map(|(_, failure)| failure.error.message.clone());
    let reported = |reason: String| format!("no pod serves this catalog: {reason}");
    if let Some(refusal) = refused {
        return Some(reported(refusal));
    }
    if let Some(reason) = authority.unknown_reason() {
        return Some(reported(reason.to_owned()));
    }
    let failed = failed.last().map(reported);
    let unseen = wanted.iter().filter(|object| live(object).is_none());
    let guards: Vec<Guard> = unseen
        .map(Object::key)
        .filter(|key| !is_watched_whole(&key.kind))
        .map(|key| Guard::NotForeign(key, Arc::clone(&claimant)))
        .collect();
    for object in &wanted {
        if !live(object).is_some_and(|live| covers(live.value(), object.value())) {
            let action = Action::Apply(object.clone());
            verdict.act_guarded(&authority, &work, action, guards.clone());
        }
    }
    failed
}

fn is_of(object: &Object, source: CatalogSource<'_>) -> bool {
    object.label(CATALOG_LABEL) == source.object.name() && refers_to_owner(object, source.object)
}

fn objects(world: &World<'_>, source: CatalogSource<'_>, image: &str) -> [Object; 4] {
    let mut account = begin(source, "v1", "ServiceAccount", &account_name(source));
    account.set(&["automountServiceAccountToken"], false);
    let secrets = source.pull_secrets().map(|name| map! { "name" => name });
    account.set(&["imagePullSecrets"], Value::list(secrets));

    let mut service = begin(source, "v1", "Service", &service_name(source));
    let port = map! { "name" => "grpc", "port" => SERVING_PORT, "targetPort" => SERVING_PORT };
    service.set(&["spec"], map! { "ports" => list![port], "selector" => labels(source) });

    let name = format!("{}-grpc-server", source.object.name());
    let mut policy = begin(source, "networking.k8s.io/v1", "NetworkPolicy", &name);
    let ports = list![map! { "port" => SERVING_PORT, "protocol" => "TCP" }];
    let spec = map! {
        "podSelector" => map! { "matchLabels" => labels(source) },
        "policyTypes" => list!["Ingress", "Egress"],
        "ingress" => list![map! { "ports" => ports }],
    };
    policy.set(&["spec"], spec);

    let mut deployment = begin(source, "apps/v1", "Deployment", source.object.name());
    let template = map! {
        "metadata" => map! { "labels" => labels(source) },
        "spec" => pod(world, source, image),
    };
    let spec = map! {
        "replicas" => 1,
        "selector" => map! { "matchLabels" => labels(source) },
        "template" => template,
    };
    deployment.set(&["spec"], spec);
    [account, service, policy, deployment]
}

/// Begins an object that goes away with its CatalogSource.
fn begin(source: CatalogSource<'_>, api_version: &str, kind: &str, name: &str) -> Object {
    let mut object = Object::new(api_version, kind, source.object.namespace(), name);
    object.add_owner(&source.object.owner_reference());
    for (label, value) in labels(source).entries() {
        object.set_label(label, value.str());
    }
    object
}

fn labels(source: CatalogSource<'_>) -> Value {
    map! { CATALOG_LABEL => source.object.name(), names::MANAGED_LABEL => "true" }
}

fn pod(world: &World<'_>, source: CatalogSource<'_>, image: &str) -> Value {
    let config = source.object.spec().get("grpcPodConfig");
    let is_restricted = is_restricted(world, source);
    let mut container = container(source, image);
    let mut pod = map! {
        "serviceAccountName" => account_name(source),
        // Serving a catalog needs nothing of the API server.
        "automountServiceAccountToken" => false,
        "nodeSelector" => map! { "kubernetes.io/os" => "linux" },
    };
    for wish in ["nodeSelector", "tolerations", "affinity", "priorityClassName"] {
        if !config.get(wish).is_empty() {
            pod.set(&[wish], config.get(wish).clone());
        }
    }
    if let Some(priority) = source.object.annotation(PRIORITY_ANNOTATION) {
        pod.set(&["priorityClassName"], priority);
    }
    let own_image = world.settings.own_image.as_str();
    let content = config.get("extractContent");
    if !content.is_empty() && !own_image.is_empty() {
        serve_files(&mut pod, &mut container, content, own_image, is_restricted);
    }
    if is_restricted {
        pod.set(
            &["securityContext"],
            map! { "seccompProfile" => map! { "type" => "RuntimeDefault" } },
        );
        container.set(&["securityContext"], narrow());
    }
    pod.set(&["containers"], list![container]);
    pod
}

/// Upstream: what is said, else what the namespace enforces.
fn is_restricted(world: &World<'_>, source: CatalogSource<'_>) -> bool {
    match source.object.spec().at(&["grpcPodConfig", "securityContextConfig"]).str() {
        "" => {
            let namespace = world.objects.get(&known::NAMESPACE, "", source.object.namespace());
            namespace.is_some_and(|namespace| {
                namespace.label("pod-security.kubernetes.io/enforce") == "restricted"
            })
        }
        said => said == "restricted",
    }
}

fn narrow() -> Value {
    map! {
        "allowPrivilegeEscalation" => false,
        "runAsNonRoot" => true,
        "runAsUser" => 1001,
        "capabilities" => map! { "drop" => list!["ALL"] },
    }
}

fn container(source: CatalogSource<'_>, image: &str) -> Value {
    let memory = source.object.spec().at(&["grpcPodConfig", "memoryTarget"]);
    let memory =
        if memory.is_empty() { Value::from(DEFAULT_MEMORY_REQUEST) } else { memory.clone() };
    let probe = map! { "port" => SERVING_PORT };
    map! {
        "name" => "registry-server",
        "image" => image,
        "ports" => list![map! {
            "name" => "grpc", "containerPort" => SERVING_PORT, "protocol" => "TCP",
        }],
        "startupProbe" => map! {
            "grpc" => probe.clone(), "periodSeconds" => 2, "failureThreshold" => 75,
        },
        "readinessProbe" => map! { "grpc" => probe.clone(), "timeoutSeconds" => 5 },
        "livenessProbe" => map! { "grpc" => probe, "timeoutSeconds" => 5 },
        "resources" => map! {
            "limits" => map! { "memory" => memory_limit(&memory) },
            "requests" => map! { "cpu" => "10m", "memory" => memory },
        },
        "terminationMessagePolicy" => "FallbackToLogsOnError",
    }
}

/// Returns the memory limit of a container: [`MEMORY_LIMIT`], or the request if that is not known to be smaller. A
/// limit below the request would be refused.
fn memory_limit(request: &Value) -> Value {
    let is_smaller = quantity(request).is_some_and(|bytes| bytes <= MEMORY_LIMIT_BYTES);
    if is_smaller { Value::from(MEMORY_LIMIT) } else { request.clone() }
}

/// Returns the bytes of a plain quantity such as `50Mi`; `None` for one in another form.
fn quantity(value: &Value) -> Option<u64> {
    const UNITS: [(&str, u64); 7] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("", 1),
    ];
    let text = match value.as_integer() {
        Some(number) => number.to_string(),
        None => value.str().to_owned(),
    };
    let (number, unit) =
        UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    number.parse::<u64>().ok()?.checked_mul(*unit)
}

/// Lets an image that only holds files be served by a program that is brought along.
fn serve_files(
    pod: &mut Value,
    container: &mut Value,
    content: &Value,
    own_image: &str,
    is_restricted: bool,
) {
    let mount = |name: &str, path: &str| map! { "name" => name, "mountPath" => path };
    let mut bring = map! {
        "name" => "extract-utilities",
        "image" => own_image,
        "args" => list!["copy-self", TOOLS],
        "resources" => map! { "limits" => map! { "memory" => COPYING_MEMORY_LIMIT } },
        "volumeMounts" => list![mount("tools", TOOLS)],
    };
    if is_restricted {
        bring.set(&["securityContext"], narrow());
    }
    pod.set(&["initContainers"], list![bring]);
    let volume = |name: &str, size: &str| map! { "name" => name, "emptyDir" => map! { "sizeLimit" => size } };
    pod.set(
        &["volumes"],
        list![volume("tools", TOOLS_SIZE_LIMIT), volume("scratch", SCRATCH_SIZE_LIMIT)],
    );
    container.set(&["command"], list![format!("{TOOLS}/operon")]);
    let directory = content.get("catalogDir").clone();
    container.set(&["args"], list!["serve", directory, "--cache-dir", "/tmp/cache"]);
    container.set(&["volumeMounts"], list![mount("tools", TOOLS), mount("scratch", "/tmp")]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container_of(memory_target: Value) -> Value {
        let mut object = Object::new("operators.coreos.com/v1alpha1", "CatalogSource", "a", "b");
        object.set(&["spec", "grpcPodConfig", "memoryTarget"], memory_target);
        container(CatalogSource::read(&object), "image")
    }

    #[test]
    fn containers_have_memory_limits_above_their_requests() {
        let claims = [
            (Value::from("30Mi"), "2Gi"),
            (Value::from("2Gi"), "2Gi"),
            (Value::from(52_428_800), "2Gi"),
            (Value::from("2048M"), "2Gi"),
            (Value::from("2049Mi"), "2049Mi"),
            (Value::from("3e9"), "3e9"),
            (Value::from("1.5Gi"), "1.5Gi"),
        ];
        for (target, expected) in claims {
            let resources = container_of(target.clone()).get("resources").clone();
            assert_eq!(resources.at(&["limits", "memory"]).str(), expected, "{target}");
            assert_eq!(*resources.at(&["requests", "memory"]), target);
        }
    }

    #[test]
    fn extracted_catalogs_have_limited_volumes_and_memory() {
        let mut container = container_of(Value::Null);
        assert_eq!(container.at(&["resources", "limits", "memory"]).str(), MEMORY_LIMIT);
        let mut pod = map! {};
        let content = map! { "catalogDir" => "/configs" };
        serve_files(&mut pod, &mut container, &content, "operon", false);
        let volumes: Vec<&str> = pod
            .get("volumes")
            .elements()
            .iter()
            .map(|volume| volume.at(&["emptyDir", "sizeLimit"]).str())
            .collect();
        assert_eq!(volumes, [TOOLS_SIZE_LIMIT, SCRATCH_SIZE_LIMIT]);
        let copying = &pod.get("initContainers").elements()[0];
        assert_eq!(copying.at(&["resources", "limits", "memory"]).str(), COPYING_MEMORY_LIMIT);
    }
}
