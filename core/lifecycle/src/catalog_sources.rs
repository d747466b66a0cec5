//! CatalogSources: what is said about where bundles come from.

mod pod;

use operon_kinds::{CatalogSource, parse_duration};
use operon_object::{Object, Value, known, map};

use crate::{Event, Timing, Verdict, World};

/// Upstream: how often a newer image is looked for when nobody can read how often it should be.
const DEFAULT_POLL_INTERVAL: &str = "15m0s";

/// The reason of a CatalogSource whose pod would take what belongs to others.
const POD_REFUSED: &str = "CatalogPodRefused";

/// Writes the status of every CatalogSource of a namespace.
pub(crate) fn decide(world: &World<'_>, namespace: &str, verdict: &mut Verdict) {
    for object in world.objects.within(&known::CATALOG_SOURCE, namespace) {
        if !object.is_deleting() {
            let source = CatalogSource::read(object);
            let state = world.catalogs.get(&source.source_name());
            // The status goes first: a pod that is refused would keep its own reason from being reported.
            let mut pod = Verdict::default();
            let refusal = pod::decide(world, source, state, &mut pod);
            let mut status = status(world, source);
            if let Some(refusal) = &refusal
                && status.get("reason").is_null()
            {
                status.set(&["reason"], POD_REFUSED);
                status.set(&["message"], refusal.as_str());
            }
            if verdict.write_status(object, status)
                && let Some(refusal) = refusal
            {
                let event = Event::about(object, true, POD_REFUSED, &refusal);
                verdict.emit(&object.key(), event, Timing::InOrder);
            }
            verdict.append(pod);
        }
    }
}

/// Tells whether a catalog can be read: Subscriptions call that healthy.
pub(crate) fn is_healthy(world: &World<'_>, source: CatalogSource<'_>) -> bool {
    let state = world.catalogs.get(&source.source_name());
    source.problem().is_none() && state.is_some_and(|state| state.problem.is_empty())
}

fn status(world: &World<'_>, source: CatalogSource<'_>) -> Value {
    let mut status = source.object.status().clone();
    for name in ["message", "reason"] {
        status.remove(&[name]);
    }
    if let Some(problem) = source.problem() {
        status = map! { "reason" => "SpecInvalidError", "message" => problem.to_string() };
        return status;
    }
    if let Some(Err(error)) = source.poll_interval().map(parse_duration) {
        status.set(&["reason"], "InvalidIntervalError");
        status.set(
            &["message"],
            format!(
                "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of \
                 {DEFAULT_POLL_INTERVAL} instead. Error: {error}"
            ),
        );
    }
    if let Some(name) = source.reads_config_map() {
        let Some(found) = world.objects.get(&known::CONFIG_MAP, source.object.namespace(), name)
        else {
            status.set(&["reason"], "ConfigMapError");
            status.set(
                &["message"],
                format!("failed to get catalog config map {name}: configmap \"{name}\" not found"),
            );
            return status;
        };
        note_config_map(world, found, &mut status);
    }
    let Some(state) = world.catalogs.get(&source.source_name()) else {
        return without_empty(status);
    };
    if let Some(polled) = state.polled {
        status.set(&["latestImageRegistryPoll"], polled);
    }
    let observed = match (&state.catalog, state.problem.as_str()) {
        (_, problem) if !problem.is_empty() => "TRANSIENT_FAILURE",
        (Some(_), _) => "READY",
        (None, _) => "CONNECTING",
    };
    if !state.problem.is_empty() {
        status.set(&["reason"], "RegistryServerError");
        status.set(&["message"], message(&state.problem, state.catalog.is_some()));
    }
    let is_served = pod::is_wanted(source);
    let address = if is_served { pod::address(source) } else { state.address.clone() };
    let old = status.get("connectionState");
    let is_same =
        old.get("lastObservedState").str() == observed && old.get("address").str() == address;
    let connected = if is_same { old.get("lastConnect").clone() } else { Value::from(world.now) };
    let connection = map! {
        "address" => address,
        "lastObservedState" => observed,
        "lastConnect" => connected,
    };
    status.set(&["connectionState"], connection);
    note_service(world, source, is_served, &mut status);
    status
}

/// Says where others are served, if anywhere.
fn note_service(world: &World<'_>, source: CatalogSource<'_>, is_served: bool, status: &mut Value) {
    let old = status.get("registryService");
    let made = match old.get("createdAt") {
        Value::Null => Value::from(world.now),
        made => made.clone(),
    };
    let mut service = map! { "protocol" => "grpc", "createdAt" => made };
    if is_served {
        service.set(&["serviceName"], pod::service_name(source));
        service.set(&["serviceNamespace"], source.object.namespace());
        service.set(&["port"], pod::SERVING_PORT.to_string());
    }
    status.set(&["registryService"], service);
}

/// Says which ConfigMap, and which state of it, the catalog is read from.
fn note_config_map(world: &World<'_>, found: &Object, status: &mut Value) {
    let old = status.get("configMapReference");
    let is_same = old.get("uid").str() == found.uid()
        && old.get("resourceVersion").str() == found.resource_version();
    if is_same {
        return;
    }
    let reference = map! {
        "name" => found.name(),
        "namespace" => found.namespace(),
        "uid" => found.uid(),
        "resourceVersion" => found.resource_version(),
        "lastUpdateTime" => world.now,
    };
    status.set(&["configMapReference"], reference);
}

/// When the content was read is each process's own knowledge, so it is not said here: two of them would
/// contradict each other for ever.
fn message(problem: &str, has_content: bool) -> String {
    if has_content {
        return format!("{problem}; what was read before is used");
    }
    problem.to_owned()
}

fn without_empty(status: Value) -> Value {
    if status.is_empty() { Value::Null } else { status }
}
