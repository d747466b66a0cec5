//! The deployments of an operator, as far as people ask about them.

use operon_object::Value;

/// A deployment that an operator installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeploymentSummary {
    /// Its name.
    pub name: String,
    /// How many pods it runs; one if it does not say.
    pub replicas: i64,
    /// The ServiceAccount of its pods; empty for the namespace's own.
    pub account: String,
    /// Its containers, those that only start things first.
    pub containers: Vec<ContainerSummary>,
    /// Ways in which its pods reach out of their containers: host network, privileged containers.
    pub reach: Vec<&'static str>,
    /// Everything it says, as compact JSON, to tell whether anything changed.
    pub json: String,
}

/// A container of a deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerSummary {
    /// Its name.
    pub name: String,
    /// The image it runs.
    pub image: String,
}

/// Reads the deployments from the spec of a ClusterServiceVersion.
pub(super) fn read(spec: &Value) -> Vec<DeploymentSummary> {
    spec.at(&["install", "spec", "deployments"]).elements().iter().map(read_one).collect()
}

fn read_one(deployment: &Value) -> DeploymentSummary {
    let spec = deployment.get("spec");
    let pod = spec.at(&["template", "spec"]);
    let containers = || {
        let lists = [pod.get("initContainers"), pod.get("containers")];
        lists.into_iter().flat_map(Value::elements)
    };
    let mut reach = Vec::new();
    for (field, name) in
        [("hostNetwork", "host network"), ("hostPID", "host processes"), ("hostIPC", "host memory")]
    {
        if pod.get(field).as_bool() == Some(true) {
            reach.push(name);
        }
    }
    if containers().any(|one| one.at(&["securityContext", "privileged"]).as_bool() == Some(true)) {
        reach.push("privileged");
    }
    if pod.get("volumes").elements().iter().any(|volume| !volume.get("hostPath").is_null()) {
        reach.push("host files");
    }
    DeploymentSummary {
        name: deployment.get("name").str().to_owned(),
        replicas: spec.get("replicas").as_integer().unwrap_or(1),
        account: pod.get("serviceAccountName").str().to_owned(),
        containers: containers()
            .map(|container| ContainerSummary {
                name: container.get("name").str().to_owned(),
                image: container.get("image").str().to_owned(),
            })
            .collect(),
        reach,
        json: operon_object::go_json(deployment),
    }
}
