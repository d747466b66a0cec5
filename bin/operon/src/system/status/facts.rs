//! What there is to know about Operon on a cluster, and which of it is wrong.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Context;
use operon_api::crd_objects;
use operon_driver::{Cluster, Interest};
use operon_kinds::{CatalogSource, InstallPlan, PlanPhase, ServiceVersion};
use operon_kube::LEASE_NAME;
use operon_lifecycle::views::{StatusProblem, problems};
use operon_object::{Object, Timestamp, known};

use super::signatures::Signatures;
use crate::{
    cluster::{DEFAULT_GLOBAL_NAMESPACE, Reached},
    system::{
        install::{is_established, pods_of_controller},
        manifests::{APP_LABEL, CONTROLLER_NAME, VERSION_LABEL},
        rollout::{Rollout, is_ready, restarts, troubles},
    },
};

/// What there is to know.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) place: String,
    /// Nothing on an embedded cluster, which has none.
    pub(super) controllers: Option<Controllers>,
    pub(super) lease: Option<Lease>,
    pub(super) signatures: Signatures,
    pub(super) definitions: Definitions,
    pub(super) catalogs: Vec<Catalog>,
    /// How many operators are in each phase.
    pub(super) operators: BTreeMap<String, usize>,
    /// The InstallPlans that wait for approval.
    pub(super) waiting: Vec<String>,
    pub(super) problems: Vec<Problem>,
}

/// The Deployment of the controllers.
#[derive(Debug)]
pub(super) struct Controllers {
    pub(super) namespace: String,
    pub(super) version: String,
    pub(super) image: String,
    pub(super) rollout: Rollout,
    pub(super) pods: Vec<Pod>,
}

/// One of the controllers.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) name: String,
    pub(super) is_ready: bool,
    pub(super) restarts: i64,
}

/// Who leads.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) holder: String,
    /// Since when, as it is written.
    pub(super) since: String,
    pub(super) held_for: Duration,
    pub(super) is_valid: bool,
}

/// The definitions of Operon's kinds.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) wanted: usize,
    pub(super) served: usize,
}

/// A catalog.
#[derive(Debug)]
pub(super) struct Catalog {
    pub(super) name: String,
    pub(super) state: String,
}

/// Something that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) told: String,
    pub(super) help: String,
}

impl Lease {
    /// Returns the pod that leads.
    pub(super) fn pod(&self) -> &str {
        self.holder.split('_').next().unwrap_or_default()
    }

    fn read(object: &Object, now: Timestamp) -> Option<Self> {
        let spec = object.spec();
        let holder = spec.get("holderIdentity").str();
        if holder.is_empty() {
            return None;
        }
        let time = |name: &str| Timestamp::parse(spec.get(name).str());
        let seconds = spec.get("leaseDurationSeconds").as_integer();
        let lasts = Duration::from_secs(seconds.and_then(|s| u64::try_from(s).ok()).unwrap_or(0));
        let renewed = time("renewTime");
        Some(Self {
            holder: holder.to_owned(),
            since: spec.get("acquireTime").str().to_owned(),
            held_for: time("acquireTime").map(|time| now.since(time)).unwrap_or_default(),
            is_valid: renewed.is_some_and(|renewed| now.since(renewed) <= lasts),
        })
    }
}

impl Facts {
    /// Looks at a cluster.
    pub(super) fn of(cluster: &Reached, now: Timestamp) -> anyhow::Result<Self> {
        let mut facts = Self::default();
        match cluster {
            Reached::Real(real) => {
                let version = real.server_version().with_context(|| {
                    format!("the API server at {} cannot be asked", real.server())
                })?;
                facts.place = format!("{} (Kubernetes {version})", real.server());
                facts.look_at_controllers(cluster, now)?;
                facts.look_at_definitions(cluster)?;
            }
            Reached::Embedded { directory, .. } => {
                let who =
                    if cluster.is_idle() { "nobody looks after it" } else { "operon up runs" };
                facts.place = format!("the embedded cluster of {} ({who})", directory.display());
                facts.signatures = Signatures::of_environment();
                let all = crd_objects().len();
                facts.definitions = Definitions { wanted: all, served: all };
            }
        }
        facts.look_at_work(cluster)?;
        Ok(facts)
    }

    fn wrong(&mut self, told: String, help: impl Into<String>) {
        self.problems.push(Problem { told, help: help.into() });
    }

    fn look_at_controllers(&mut self, cluster: &Reached, now: Timestamp) -> anyhow::Result<()> {
        let interest = Interest::labelled(known::DEPLOYMENT, APP_LABEL, CONTROLLER_NAME);
        let mut deployments = cluster.list(&[interest].into())?.objects;
        deployments.retain(|deployment| deployment.name() == CONTROLLER_NAME);
        let namespace = deployments
            .first()
            .map_or(DEFAULT_GLOBAL_NAMESPACE, |deployment| deployment.namespace())
            .to_owned();
        let lease = cluster.get(&known::LEASE.key(&namespace, LEASE_NAME))?;
        self.lease = lease.and_then(|lease| Lease::read(&lease, now));
        for other in deployments.iter().skip(1) {
            let told = format!("Operon is also in namespace {}", other.namespace());
            self.wrong(told, "keep one; two do not know of each other");
        }
        let is_led = self.lease.as_ref().is_some_and(|lease| lease.is_valid);
        match deployments.first() {
            Some(deployment) => self.look_at_deployment(cluster, deployment)?,
            // Somebody may run a controller outside of the cluster.
            None if is_led => {}
            None => self.wrong("Operon is not on this cluster".to_owned(), "operon install"),
        }
        if !is_led && !deployments.is_empty() {
            let told = match &self.lease {
                Some(lease) => format!("nobody leads: the lease of `{}` ran out", lease.holder),
                None => "nobody leads".to_owned(),
            };
            self.wrong(told, format!("kubectl logs deployment/{CONTROLLER_NAME} -n {namespace}"));
        }
        Ok(())
    }

    fn look_at_deployment(&mut self, cluster: &Reached, deployment: &Object) -> anyhow::Result<()> {
        let namespace = deployment.namespace().to_owned();
        let mut pods = pods_of_controller(cluster)?;
        pods.retain(|pod| pod.namespace() == namespace);
        let rollout = Rollout::of(deployment);
        self.signatures = Signatures::of_deployment(deployment);
        let containers = deployment.at(&["spec", "template", "spec", "containers"]).elements();
        if rollout.wanted == 0 {
            let help =
                format!("kubectl scale deployment {CONTROLLER_NAME} --replicas=2 -n {namespace}");
            self.wrong("no controller is wanted".to_owned(), help);
        } else if !rollout.is_complete {
            self.wrong(
                rollout.to_string(),
                format!("kubectl get pods -n {namespace} -l {APP_LABEL}={CONTROLLER_NAME}"),
            );
        }
        for trouble in troubles(&pods) {
            self.wrong(trouble, format!("kubectl describe pods -n {namespace}"));
        }
        self.controllers = Some(Controllers {
            version: deployment.label(VERSION_LABEL).to_owned(),
            image: containers.first().map_or("", |first| first.get("image").str()).to_owned(),
            rollout,
            pods: pods
                .iter()
                .filter(|pod| !pod.is_deleting())
                .map(|pod| Pod {
                    name: pod.name().to_owned(),
                    is_ready: is_ready(pod),
                    restarts: restarts(pod),
                })
                .collect(),
            namespace,
        });
        Ok(())
    }

    fn look_at_definitions(&mut self, cluster: &Reached) -> anyhow::Result<()> {
        let mut missing = Vec::new();
        let wanted = crd_objects();
        for definition in &wanted {
            let found = cluster.get(&definition.key())?;
            if !found.is_some_and(|found| is_established(&found) && !found.is_deleting()) {
                missing.push(definition.name().to_owned());
            }
        }
        self.definitions =
            Definitions { wanted: wanted.len(), served: wanted.len() - missing.len() };
        // Where nothing is, one word about it is enough.
        if !missing.is_empty() && (self.controllers.is_some() || self.lease.is_some()) {
            let told = format!("these CRDs are not served: {}", missing.join(", "));
            self.wrong(told, "operon install makes them anew");
        }
        Ok(())
    }

    fn look_at_work(&mut self, cluster: &Reached) -> anyhow::Result<()> {
        let kinds = [
            known::CATALOG_SOURCE,
            known::CLUSTER_SERVICE_VERSION,
            known::SUBSCRIPTION,
            known::INSTALL_PLAN,
            known::OPERATOR_GROUP,
        ];
        let mut all = Vec::new();
        for kind in kinds {
            let interest = Interest::all_of([kind.clone()]);
            // A kind that is not there was told already.
            let Ok(listed) = cluster.list(&interest) else { continue };
            for object in &listed.objects {
                match () {
                    () if kind == known::CATALOG_SOURCE => self.take_catalog(object),
                    () if kind == known::CLUSTER_SERVICE_VERSION => self.take_operator(object),
                    () if kind == known::INSTALL_PLAN => self.take_plan(object),
                    () => {}
                }
            }
            all.extend(listed.objects);
        }
        for problem in problems(&all) {
            let StatusProblem { about, message } = problem;
            let kind = about.kind.name().to_lowercase();
            let help = match kind.as_str() {
                "subscription" => format!("operon plan -n {}", about.namespace),
                "clusterserviceversion" => {
                    format!("operon describe csv {} -n {}", about.name, about.namespace)
                }
                kind => format!("operon describe {kind} {} -n {}", about.name, about.namespace),
            };
            self.wrong(message, help);
        }
        Ok(())
    }

    fn take_catalog(&mut self, object: &Object) {
        let name = format!("{}/{}", object.namespace(), object.name());
        let status = object.status();
        let state = status.at(&["connectionState", "lastObservedState"]).str();
        let message = status.get("message").str();
        let problem = CatalogSource::read(object).problem().map(|problem| problem.to_string());
        if state == "TRANSIENT_FAILURE" || problem.is_some() {
            let said = problem.unwrap_or_else(|| message.to_owned());
            let help = format!(
                "operon describe catalogsource {} -n {}",
                object.name(),
                object.namespace()
            );
            self.wrong(format!("catalog {name} cannot be read: {said}"), help);
        }
        let state = if state.is_empty() { "not read yet" } else { state };
        self.catalogs.push(Catalog { name, state: state.to_owned() });
    }

    fn take_operator(&mut self, object: &Object) {
        let operator = ServiceVersion::read(object);
        if operator.is_copied() {
            return;
        }
        let phase = match object.status().get("phase").str() {
            "" => "new",
            phase => phase,
        };
        *self.operators.entry(phase.to_owned()).or_default() += 1;
    }

    fn take_plan(&mut self, object: &Object) {
        let plan = InstallPlan::read(object);
        if plan.phase() == PlanPhase::RequiresApproval && !plan.is_rejected() {
            self.waiting.push(format!("{}/{}", object.namespace(), object.name()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_ran_out_is_no_leader() {
        let mut object = Object::new("coordination.k8s.io/v1", "Lease", "olm", LEASE_NAME);
        let at = |text: &str| Timestamp::parse(text).expect("a time");
        let now = at("2026-01-01T00:01:00Z");
        assert!(Lease::read(&object, now).is_none());
        object.set(&["spec", "holderIdentity"], "pod-1_00ff");
        object.set(&["spec", "acquireTime"], "2026-01-01T00:00:00.000000Z");
        object.set(&["spec", "leaseDurationSeconds"], 15);
        object.set(&["spec", "renewTime"], "2026-01-01T00:00:50.000000Z");
        let lease = Lease::read(&object, now).expect("somebody");
        assert!(lease.is_valid);
        assert_eq!((lease.pod(), lease.held_for.as_secs()), ("pod-1", 60));
        object.set(&["spec", "renewTime"], "2026-01-01T00:00:40.000000Z");
        assert!(!Lease::read(&object, now).expect("somebody").is_valid);
    }
}
