//! One operator as people see it while it is looked after.
//!
//! Sentences are those that the engine wrote into the objects; here they are only chosen.

use operon_kinds::{InstallPlan, Phase, PlanPhase, ServiceVersion, Subscription, condition};
use operon_lifecycle::Objects;
use operon_object::{Object, Value, known};

/// What a running operator is said to be when there is nothing else to say.
const FINE: &str = "ok";

/// What there is to say about a Subscription of which nothing is known yet.
const LOOKED_FOR: &str = "a version is looked for";

/// What the engine says first about an operator; it is said here a moment earlier.
const NEW: &str = "requirements not yet checked";

/// Stands between the version that runs and the one that takes its place.
const ARROW: &str = " → ";

/// An operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OperatorRow {
    /// What it is called here; set when all rows are known.
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) package: String,
    /// What tells it from all others in its namespace.
    pub(super) full_name: String,
    /// `1.0.0`, or `1.0.0 → 1.1.0` while one takes the place of the other.
    pub(super) version: String,
    /// The phase in a word.
    pub(super) phase: String,
    /// What is waited for, or what is wrong.
    pub(super) detail: String,
    pub(super) standing: Standing,
    /// Whether a person has to say yes.
    pub(super) needs_approval: bool,
}

/// How an operator stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It runs.
    Running,
    /// It does not run, and will not by itself.
    Failed,
    /// It does not run yet.
    Waiting,
}

/// Makes the row of a Subscription.
pub(super) fn subscription_row(objects: &Objects, object: &Object) -> OperatorRow {
    let subscription = Subscription::read(object);
    let namespace = object.namespace();
    let find = |name: &str| {
        let found = objects.get(&known::CLUSTER_SERVICE_VERSION, namespace, name);
        found.map(ServiceVersion::read)
    };
    let mut row = OperatorRow {
        name: String::new(),
        namespace: namespace.to_owned(),
        package: subscription.package().to_owned(),
        full_name: format!("subscription/{}", object.name()),
        version: "–".to_owned(),
        phase: "Pending".to_owned(),
        detail: LOOKED_FOR.to_owned(),
        standing: Standing::Waiting,
        needs_approval: false,
    };
    let plan = objects.get(&known::INSTALL_PLAN, namespace, subscription.plan());
    let (current, installed) = (subscription.current_csv(), subscription.installed_csv());
    match (find(current), find(installed)) {
        (Some(operator), _) => {
            row.show_operator(objects, operator);
            row.show_conditions(object);
        }
        (None, Some(operator)) => {
            row.show_operator(objects, operator);
            row.show_plan(plan.map(InstallPlan::read), Some(current));
            row.show_conditions(object);
        }
        (None, None) => {
            if !current.is_empty() {
                row.version = version_of(&row.package, current);
            }
            row.show_plan(plan.map(InstallPlan::read), None);
            row.show_conditions(object);
        }
    }
    row
}

/// Makes the row of an operator that belongs to no Subscription, unless it is on its way out.
pub(super) fn freestanding_row(objects: &Objects, object: &Object) -> Option<OperatorRow> {
    let operator = ServiceVersion::read(object);
    let namespace = object.namespace();
    let is_subscribed = objects.within(&known::SUBSCRIPTION, namespace).any(|subscription| {
        let subscription = Subscription::read(subscription);
        // What a plan brings for a dependency is there before its Subscription knows.
        let names =
            [subscription.installed_csv(), subscription.current_csv(), subscription.starting_csv()];
        names.contains(&operator.name())
    });
    let is_replaced = objects
        .within(&known::CLUSTER_SERVICE_VERSION, namespace)
        .any(|other| ServiceVersion::read(other).replaces() == operator.name());
    if operator.is_copied() || is_subscribed || is_replaced {
        return None;
    }
    let mut row = OperatorRow {
        name: String::new(),
        namespace: namespace.to_owned(),
        package: operator.name().to_owned(),
        full_name: format!("csv/{}", operator.name()),
        version: String::new(),
        phase: String::new(),
        detail: String::new(),
        standing: Standing::Waiting,
        needs_approval: false,
    };
    row.show_operator(objects, operator);
    Some(row)
}

impl OperatorRow {
    fn show_operator(&mut self, objects: &Objects, operator: ServiceVersion<'_>) {
        let find = |name| objects.get(&known::CLUSTER_SERVICE_VERSION, &self.namespace, name);
        let replaced = find(operator.replaces()).map(ServiceVersion::read);
        self.version = match replaced {
            Some(replaced) => {
                format!("{}{ARROW}{}", replaced.version_text(), operator.version_text())
            }
            None => operator.version_text().to_owned(),
        };
        let phase = operator.phase();
        self.standing = match phase {
            Phase::Succeeded => Standing::Running,
            Phase::Failed => Standing::Failed,
            Phase::None
            | Phase::Pending
            | Phase::InstallReady
            | Phase::Installing
            | Phase::Unknown
            | Phase::Replacing
            | Phase::Deleting => Standing::Waiting,
        };
        self.detail = match phase {
            Phase::Succeeded => FINE.to_owned(),
            Phase::None => NEW.to_owned(),
            Phase::Pending => match missing(operator).as_str() {
                "" => operator.message().to_owned(),
                missing => format!("needs {missing}"),
            },
            Phase::InstallReady
            | Phase::Installing
            | Phase::Failed
            | Phase::Unknown
            | Phase::Replacing
            | Phase::Deleting => operator.message().to_owned(),
        };
        self.phase = match phase {
            Phase::None => Phase::Pending.text().to_owned(),
            phase => phase.text().to_owned(),
        };
    }

    /// Shows a plan that moves the operator on to the one of a name, or brings its first.
    fn show_plan(&mut self, plan: Option<InstallPlan<'_>>, target: Option<&str>) {
        let Some(plan) = plan else { return };
        let target = target.map(|target| version_of(&self.package, target));
        match plan.phase() {
            PlanPhase::RequiresApproval if plan.is_rejected() => {
                if target.is_none() {
                    self.standing = Standing::Failed;
                    self.phase = "Rejected".to_owned();
                }
                self.say(target, format!("InstallPlan {} was rejected", plan.name()));
            }
            PlanPhase::RequiresApproval if plan.is_approved() => {
                self.say(target, format!("InstallPlan {} is approved", plan.name()));
            }
            PlanPhase::RequiresApproval => {
                self.needs_approval = true;
                let text = format!("waits for approval: operon approve {}", self.package);
                self.say(target, text);
            }
            PlanPhase::None | PlanPhase::Installing => {
                if let Some(target) = target {
                    let from = self.version.rsplit(ARROW).next().unwrap_or_default();
                    self.version = format!("{from}{ARROW}{target}");
                }
                self.standing = Standing::Waiting;
                self.phase = PlanPhase::Installing.text().to_owned();
                self.detail = match plan.message() {
                    "" => format!("InstallPlan {} is carried out", plan.name()),
                    message => message.to_owned(),
                };
            }
            PlanPhase::Failed => {
                if target.is_none() {
                    self.standing = Standing::Failed;
                    self.phase = PlanPhase::Failed.text().to_owned();
                }
                let text = format!("InstallPlan {} failed: {}", plan.name(), plan.message());
                self.say(target, text);
            }
            PlanPhase::Complete => {}
        }
    }

    /// Says something about an operator that may run all the same, of another version.
    fn say(&mut self, target: Option<String>, text: String) {
        self.detail = match target {
            Some(target) => format!("{target}: {text}"),
            None => text,
        };
    }

    /// Shows what the engine says about a Subscription, where nothing says more already.
    fn show_conditions(&mut self, subscription: &Object) {
        let told = ["ResolutionFailed", "Held", "BundleUnpackFailed", "BundleUnpacking"]
            .map(|kind| condition(subscription.status(), kind))
            .into_iter()
            .find(|found| found.get("status").str() == "True");
        let Some(told) = told else {
            let catalogs = condition(subscription.status(), "CatalogSourcesUnhealthy");
            if self.detail == LOOKED_FOR && catalogs.get("status").str() == "True" {
                self.detail = catalogs.get("message").str().to_owned();
            }
            return;
        };
        let message = told.get("message").str().to_owned();
        let is_under_way = told.get("type").str() == "BundleUnpacking";
        match self.standing {
            Standing::Running | Standing::Failed if is_under_way => {}
            Standing::Running if self.detail == FINE => {
                self.detail = format!("runs, but {message}");
            }
            Standing::Waiting if self.detail == LOOKED_FOR => {
                if !is_under_way {
                    self.standing = Standing::Failed;
                    self.phase = match told.get("type").str() {
                        "BundleUnpackFailed" => "BundleUnpackFailed",
                        _ => "Unresolved",
                    }
                    .to_owned();
                }
                if !message.is_empty() {
                    self.detail = message;
                }
            }
            // Why it is not moved on matters more than what failed, which it repeats.
            Standing::Failed => self.detail = message,
            Standing::Running | Standing::Waiting => {}
        }
    }
}

fn version_of(package: &str, operator: &str) -> String {
    let version = operator.strip_prefix(package).and_then(|rest| rest.strip_prefix('.'));
    let version = version.map(|version| version.strip_prefix('v').unwrap_or(version));
    version.unwrap_or(operator).to_owned()
}

/// Lists what an operator needs and is not there.
fn missing(operator: ServiceVersion<'_>) -> String {
    let is_missing = |entry: &&Value| {
        let status = entry.get("status").str();
        matches!(status, "NotPresent" | "PresentNotSatisfied" | "DeploymentNotFound")
            && entry.get("kind").str() != "ClusterServiceVersion"
    };
    let entries = operator.object.status().get("requirementStatus").elements().iter();
    let told = entries.filter(is_missing).map(|entry| {
        let text = format!("{} {}", entry.get("kind").str(), entry.get("name").str());
        match entry.get("message").str() {
            "" => text,
            message => format!("{text} ({message})"),
        }
    });
    told.collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use operon_object::{list, map};

    use super::*;

    #[test]
    fn pull_failure_is_not_called_unresolved() {
        let phase = |kind: &str| {
            let version = "operators.coreos.com/v1alpha1";
            let mut object = Object::new(version, "Subscription", "harbour", "tide");
            let told = map! { "type" => kind, "status" => "True", "message" => "because" };
            object.set(&["status", "conditions"], list![told]);
            let row = subscription_row(&Objects::default(), &object);
            (row.phase, row.detail, row.standing)
        };
        let failed = |word: &str| (word.to_owned(), "because".to_owned(), Standing::Failed);
        assert_eq!(phase("BundleUnpackFailed"), failed("BundleUnpackFailed"));
        assert_eq!(phase("ResolutionFailed"), failed("Unresolved"));
    }
}
