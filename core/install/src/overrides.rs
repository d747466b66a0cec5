//! What a Subscription's `spec.config` changes in the Deployments of its operator.
//!
//! `config.selector` has no effect, and the proxy settings of a cluster are left out: only some
//! distributions have them.

use operon_object::{Object, Value};

use crate::{
    golang::{GoType, TypeFault, typed_value},
    pod::{append_missing, each_container, merge_by, merge_environment, pod_spec},
};

/// Changes a Deployment and its spec as the configuration of a Subscription asks; `null` asks for
/// nothing. The spec must be in the form of its type.
pub(crate) fn apply_config(
    deployment: &mut Object,
    spec: &mut Value,
    config: &Value,
) -> Result<(), TypeFault> {
    if config.is_null() {
        return Ok(());
    }
    let typed = typed_value(GoType::SubscriptionConfig, config)
        .map_err(|fault| fault.inside("spec.config"))?;
    let config = WrittenConfig { written: config, typed: &typed };
    each_container(spec, |container| config.change_container(container));
    config.change_pod(pod_spec(spec));
    config.add_annotations(deployment.value_mut().place(&["metadata"]));
    config.add_annotations(spec.place(&["template", "metadata"]));
    Ok(())
}

/// A configuration as written, and in the form of its type.
struct WrittenConfig<'a> {
    written: &'a Value,
    typed: &'a Value,
}

impl WrittenConfig<'_> {
    fn change_container(&self, container: &mut Value) {
        merge_environment(container, self.typed.get("env"));
        append_missing(container, "envFrom", self.typed.get("envFrom"));
        merge_by(container, "volumeMounts", "name", self.typed.get("volumeMounts"));
        let resources = self.typed.get("resources");
        if !resources.is_null() {
            container.set(&["resources"], resources.clone());
        }
    }

    fn change_pod(&self, pod: &mut Value) {
        merge_by(pod, "volumes", "name", self.typed.get("volumes"));
        append_missing(pod, "tolerations", self.typed.get("tolerations"));
        // An empty selector takes the operator's own away, so the written form decides.
        if matches!(self.written.get("nodeSelector"), Value::Map(_)) {
            pod.set(&["nodeSelector"], self.typed.get("nodeSelector").clone());
        }
        override_affinity(pod, self.typed.get("affinity"));
    }

    /// Adds annotations to some metadata; those it has win.
    fn add_annotations(&self, metadata: &mut Value) {
        for (name, value) in self.typed.get("annotations").entries() {
            if metadata.at(&["annotations", name]).is_null() {
                metadata.set(&["annotations", name], value.clone());
            }
        }
    }
}

/// Replaces the kinds of affinity that are given; `{}` clears a kind, or all of them.
///
/// An empty `podAntiAffinity` clears only itself here, as is documented; the reference clears
/// everything.
fn override_affinity(pod: &mut Value, affinity: &Value) {
    if affinity.is_null() {
        return;
    }
    let mut merged = match affinity.is_empty() {
        true => Value::Null,
        false => pod.get("affinity").clone(),
    };
    let is_replaced = merged.is_empty();
    for kind in ["nodeAffinity", "podAffinity", "podAntiAffinity"] {
        let wanted = affinity.get(kind);
        if wanted.is_null() {
            continue;
        }
        // Upstream: where the operator has no affinity at all, the given one is taken as it is.
        if wanted.is_empty() && !is_replaced {
            merged.remove(&[kind]);
        } else {
            merged.set(&[kind], wanted.clone());
        }
    }
    if merged.is_empty() {
        pod.remove(&["affinity"]);
    } else {
        pod.set(&["affinity"], merged);
    }
}
