//! An operator's webhooks are called by the API server, with the certificate that Operon made.
//!
//! The server is `src/bin/admission-server.rs`, in an image, in a pod.

use std::path::Path;

use operon_object::known;
use operon_proof::{Installation, shelf::subscription};

use crate::{
    Verdict,
    operators::{Operator, publish, reaches},
};

/// The namespace whose OperatorGroup is for all namespaces, as the manifests make it.
const NAMESPACE: &str = "operators";

/// Where buoys are made.
const SEA: &str = "default";

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: buoys.sea.example.com }
spec:
  group: sea.example.com
  scope: Namespaced
  names: { plural: buoys, singular: buoy, kind: Buoy, listKind: BuoyList }
  versions:
  - name: v1
    served: true
    storage: true
    schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer }, colour: { type: string } } } } } }
  - name: v2
    served: true
    storage: false
    schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer }, paint: { type: string } } } } } }
";

fn webhook(kind: &str, name: &str, path: &str, more: &str) -> String {
    format!(
        "
  - type: {kind}
    generateName: {name}.sea.example.com
    deploymentName: sea-operator
    containerPort: 443
    targetPort: 9443
    sideEffects: None
    failurePolicy: Fail
    admissionReviewVersions: [v1]
    webhookPath: {path}
    {more}"
    )
}

pub(crate) fn are_called(operon: &Installation<'_>) -> Verdict {
    let rig = operon.rig();
    let server = Path::new(env!("CARGO_BIN_EXE_admission-server"));
    let image = rig.push_program(server, "test/admission:1").map_err(|error| error.to_string())?;
    let rules = "rules: [{ apiGroups: [sea.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [buoys] }]";
    let mut operator = Operator::new("sea");
    operator.image = image;
    operator.is_global = true;
    operator.spec = format!(
        "
  customresourcedefinitions:
    owned:
    - {{ name: buoys.sea.example.com, version: v1, kind: Buoy }}
    - {{ name: buoys.sea.example.com, version: v2, kind: Buoy }}
  webhookdefinitions:{}{}{}",
        webhook("ValidatingAdmissionWebhook", "refuse", "/validate", rules),
        webhook("MutatingAdmissionWebhook", "default", "/mutate", rules),
        webhook(
            "ConversionWebhook",
            "convert",
            "/convert",
            "conversionCRDs: [buoys.sea.example.com]"
        ),
    );
    let manifests = vec![operator.csv(), DEFINITION.to_owned()];
    publish(operon, NAMESPACE, "sea", &[("sea", manifests)])?;
    operon.apply(&subscription(NAMESPACE, "sea", (NAMESPACE, "sea")))?;
    reaches(operon, NAMESPACE, "sea.v1.0.0", "Succeeded")?;
    calls(operon)?;
    let key = known::SUBSCRIPTION.key(NAMESPACE, "sea");
    operon.delete(&key)?;
    operon.delete(&known::CLUSTER_SERVICE_VERSION.key(NAMESPACE, "sea.v1.0.0"))?;
    operon.until("the webhooks go with their operator", |operon| {
        let kinds =
            [known::VALIDATING_WEBHOOK_CONFIGURATION, known::MUTATING_WEBHOOK_CONFIGURATION];
        kinds.iter().all(|kind| {
            let objects = operon.list(kind, "");
            objects.iter().all(|object| !object.name().contains("sea.example.com"))
        })
    })?;
    Ok("refused, defaulted and converted by a pod, with the certificate that was mounted"
        .to_owned())
}

/// Makes buoys, and looks at what became of them.
fn calls(operon: &Installation<'_>) -> Result<(), String> {
    let rig = operon.rig();
    let buoy = |name: &str, size: i64| {
        format!(
            "apiVersion: sea.example.com/v1\nkind: Buoy\n\
             metadata: {{ name: {name}, namespace: {SEA} }}\nspec: {{ size: {size} }}\n"
        )
    };
    // Endpoints and iptables may follow the pod by a moment.
    operon.until("a buoy is let in", |_| rig.apply(&buoy("small", 3)).is_ok())?;
    let Err(refusal) = rig.apply(&buoy("large", 11)) else {
        return Err("the large buoy was let in".to_owned());
    };
    let refusal = refusal.to_string();
    if !refusal.contains("a buoy of size 11 sinks the boat") {
        return Err(format!("it was refused with other words: {refusal}"));
    }
    let read = |what: &str, path: &str| {
        let path = format!("--output=jsonpath={{{path}}}");
        rig.kubectl(&["get", "--namespace", SEA, what, "small", &path])
            .map_err(|error| error.to_string())
    };
    for (version, path, wanted) in
        [("v1", ".spec.colour", "red"), ("v2", ".spec.paint", "red"), ("v2", ".spec.colour", "")]
    {
        let found = read(&format!("buoys.{version}.sea.example.com"), path)?;
        if found.trim() != wanted {
            return Err(format!("{path} of {version} is `{found}` instead of `{wanted}`"));
        }
    }
    Ok(())
}
