//! Pods that do what a scenario says.
//!
//! Scenarios name images that nobody has. The API server itself puts one that exists into their place
//! when a pod is made, so that no Deployment is other than the scenario and the engine wrote it. Pods of
//! scenarios have one container, or two where an operator's Deployment meets somebody else's. What takes the
//! place of the real program answers no probe, so there is none but the scenario's.

use operon_apiserver::WORKLOAD_ANNOTATION;
use operon_rig::BUSYBOX_IMAGE;

/// Where the images of scenarios pretend to come from.
const PRETENDED: &str = "example.com/";

/// The name of the policy.
const POLICY: &str = "pods-of-scenarios";

/// Returns the manifests of the policy that makes pods real; probes are asked for at a port.
pub(crate) fn manifests(probe_port: u16) -> String {
    let words = format!("object.metadata.annotations['{WORKLOAD_ANNOTATION}']");
    let has_words = format!(
        "has(object.metadata.annotations) && '{WORKLOAD_ANNOTATION}' in object.metadata.annotations"
    );
    let probe = "Object.spec.containers.readinessProbe";
    let without = |probe: &str| {
        format!(
            "(has(object.spec.containers[0].{probe}) ? \
             [ JSONPatch{{op: \"remove\", path: \"/spec/containers/0/{probe}\"}} ] : [])"
        )
    };
    let [startup, readiness, liveness] =
        ["startupProbe", "readinessProbe", "livenessProbe"].map(without);
    format!(
        r#"apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{ name: {POLICY} }}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }}
  matchConditions:
  - name: pretended
    expression: object.spec.containers[0].image.startsWith("{PRETENDED}")
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [ JSONPatch{{op: "replace", path: "/spec/containers/0/image", value: "{BUSYBOX_IMAGE}"}},
          JSONPatch{{op: "add", path: "/spec/terminationGracePeriodSeconds", value: 0}} ]
        + {startup} + {readiness} + {liveness}
        + (size(object.spec.containers) > 1
          ? [ JSONPatch{{op: "replace", path: "/spec/containers/1/image", value: "{BUSYBOX_IMAGE}"}} ]
          : [])
        + (({has_words} && {words} == "crash")
          ? [ JSONPatch{{op: "add", path: "/spec/containers/0/command", value: ["/bin/sh", "-c", "exit 1"]}} ]
          : [])
        + (({has_words} && {words} != "crash" && {words} != "ready")
          ? [ JSONPatch{{op: "add", path: "/spec/containers/0/readinessProbe", value: {probe}{{
                periodSeconds: 1, failureThreshold: 1,
                httpGet: {probe}.httpGet{{
                  host: "127.0.0.1", port: {probe_port},
                  path: "/" + request.namespace + "/" + object.metadata.generateName + "/" + {words} }} }} }} ]
          : [])
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{ name: {POLICY} }}
spec: {{ policyName: {POLICY} }}
"#
    )
}
