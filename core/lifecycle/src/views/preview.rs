//! The plans that the engine would create next in a namespace, and what blocks the others.
//!
//! This is the engine's own outlook: the plans shown here are the plans it creates, and they go through the
//! checks that their execution runs.

use std::collections::{BTreeMap, BTreeSet};

use operon_install::PolicyRule;
use operon_kinds::{InstallPlan, PlanPhase, ServiceVersion};
use operon_object::{Kind, Object, ObjectKey, known};
use operon_plan::{Draft, PlannedOperator, lift_plan, lift_status};

use super::problems;
use crate::{BundleKey, outlook::Outlook, plans, records, scene::Scene, service_versions};

/// What would happen next in a namespace.
#[derive(Debug, Clone, Default)]
pub struct Preview {
    /// The plans that would be made, or that are there and carry out what should happen.
    pub plans: Vec<PreviewPlan>,
    /// Subscriptions that have an answer which is not carried out: name, one word, a sentence.
    pub held: Vec<(String, String, String)>,
    /// Subscriptions without an answer: name, one word, a sentence.
    pub failed: Vec<(String, String, String)>,
    /// Subscriptions for which something is under way.
    pub busy: Vec<String>,
    /// The bundles whose contents have to be read first.
    pub wanted: BTreeSet<BundleKey>,
    /// The additions of the resolution that are not installed now: an operation is in progress, they are
    /// blocked, or their plan would fail.
    pub deferred: BTreeSet<String>,
    /// The operators that InstallPlans in progress still have to create.
    pub arriving: BTreeSet<String>,
    /// What is wrong with operators that are installed, by their names.
    pub problems: BTreeMap<String, String>,
    /// What is wrong with InstallPlans that are being executed.
    pub plan_problems: Vec<String>,
    /// The kinds whose objects must be listed before all checks of the plans can run.
    pub unseen_kinds: BTreeSet<Kind>,
    /// The objects that must be read before all checks of the plans can run.
    pub unseen_objects: BTreeSet<ObjectKey>,
}

/// A plan.
#[derive(Debug, Clone)]
pub struct PreviewPlan {
    /// The name that it has or would have.
    pub name: String,
    /// The hash of its content.
    pub content: String,
    /// Whether the cluster has it already.
    pub exists: bool,
    /// Whether it is executed only after an approval.
    pub waits: bool,
    /// The operators that it brings.
    pub operators: Vec<PlannedOperator>,
    /// The Subscriptions for which a person has to approve it.
    pub manual: Vec<String>,
    /// What it writes, in order.
    pub objects: Vec<ObjectKey>,
    /// The rights that it grants and that are not granted now.
    pub rights: Vec<NewRight>,
    /// Why the plan would fail, or its operators would not come up.
    pub refusals: Vec<String>,
}

/// A right that a plan grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRight {
    /// The operator.
    pub operator: String,
    /// Whether it holds in the whole cluster.
    pub is_cluster_wide: bool,
    /// How many rules it has.
    pub rules: usize,
    /// What is worth a second look in it, in words.
    pub notable: Vec<String>,
}

impl Preview {
    pub(super) fn new(scene: &Scene<'_>, outlook: Outlook) -> Self {
        let mut preview = Self::default();
        for (name, prospect) in &outlook.prospects {
            if let Some((reason, message)) = &prospect.failure {
                preview.failed.push((name.clone(), (*reason).to_owned(), message.clone()));
            }
            if let Some(message) = &prospect.unpack_failure {
                let reason = "BundleUnpackFailed".to_owned();
                preview.failed.push((name.clone(), reason, message.clone()));
            }
            if let Some(hold) = &prospect.hold {
                preview.held.push((name.clone(), hold.reason.to_owned(), hold.message.clone()));
            }
            if prospect.is_busy {
                preview.busy.push(name.clone());
            }
        }
        preview.deferred = outlook.deferred;
        for draft in &outlook.drafts {
            let plan = preview.plan(scene, draft);
            if !plan.refusals.is_empty() {
                let names = plan.operators.iter().map(|operator| &operator.addition.name);
                preview.deferred.extend(names.cloned());
            }
            preview.plans.push(plan);
        }
        preview.wanted = outlook.wanted;
        preview.arriving = scene.arriving.iter().map(|object| object.name().to_owned()).collect();
        let troubled = scene.operators.iter().map(|operator| (operator.name(), *operator));
        let troubled = troubled.filter_map(|(name, operator)| {
            Some((name.to_owned(), problems::of_operator(operator)?))
        });
        preview.problems = troubled.collect();
        let executed = scene.plans.iter().filter(|plan| plan.phase() == PlanPhase::Installing);
        preview.plan_problems =
            executed.filter_map(|plan| problems::of_plan(*plan, false)).collect();
        preview
    }

    fn plan(&mut self, scene: &Scene<'_>, draft: &Draft) -> PreviewPlan {
        let known =
            |plan: &&InstallPlan<'_>| !plan.is_finished() && plan.content() == draft.content;
        let existing = scene.plans.iter().find(known);
        let name = match existing {
            Some(plan) => plan.name().to_owned(),
            None => plans::name(scene, draft),
        };
        let refusals = self.refusals(scene, draft, &name, existing.copied());
        PreviewPlan {
            name,
            content: draft.content.clone(),
            exists: existing.is_some(),
            waits: !draft.manual.is_empty() && !existing.is_some_and(|plan| plan.is_approved()),
            operators: draft.operators.clone(),
            manual: draft.manual.clone(),
            objects: draft.steps.iter().map(|step| step.object.key()).collect(),
            rights: rights(scene, draft),
            refusals,
        }
    }

    /// Runs the checks that the execution of a draft would make, and those of its operators.
    fn refusals(
        &mut self,
        scene: &Scene<'_>,
        draft: &Draft,
        name: &str,
        existing: Option<InstallPlan<'_>>,
    ) -> Vec<String> {
        let mut lifted = lift_plan(draft, name, plans::next_generation(scene), &[], "");
        lifted.set(&["status"], lift_status(draft, true));
        let lifted = InstallPlan::read(&lifted);
        // A plan that waits for approval holds its steps; one that was just created does not yet.
        let plan = existing.filter(|plan| plan.steps().next().is_some()).unwrap_or(lifted);
        let mut checked = plans::check(scene, plan);
        self.unseen_kinds.append(&mut checked.unseen_kinds);
        self.unseen_objects.append(&mut checked.unseen_objects);
        let operators = draft.steps.iter().filter(|step| {
            step.object.kind() == known::CLUSTER_SERVICE_VERSION
                && scene.operator(step.object.name()).is_none()
        });
        for step in operators {
            let found = service_versions::refusals(scene, ServiceVersion::read(&step.object));
            let operator = step.object.name();
            checked
                .faults
                .extend(found.into_iter().map(|refusal| format!("{operator}: {refusal}")));
        }
        checked.faults
    }
}

/// More comparisons of permissions than these are not made, and then every permission counts as new: a bundle
/// made to multiply would take minutes. Real operators need some thousands.
const MAX_COMPARISONS: usize = 2_000_000;

/// Returns what the roles of a draft grant beyond what is there, and beyond what the plans of the operators
/// that are replaced have granted.
fn rights(scene: &Scene<'_>, draft: &Draft) -> Vec<NewRight> {
    let is_role = |kind: &Kind| *kind == known::ROLE || *kind == known::CLUSTER_ROLE;
    let mut rights = Vec::new();
    for operator in &draft.operators {
        let addition = &operator.addition;
        let granted = records::granted(scene, &addition.updates);
        let granted = granted.map(|granted| granted.objects).unwrap_or_default();
        let before = |is_cluster_wide: bool| -> Vec<PolicyRule> {
            let roles = granted.iter().filter(|object| {
                let kind = object.kind();
                kind == known::CLUSTER_ROLE || (kind == known::ROLE && !is_cluster_wide)
            });
            roles.flat_map(rules).collect()
        };
        let steps = draft.steps.iter().filter(|step| step.resolving == addition.name);
        for role in steps.map(|step| &step.object).filter(|object| is_role(&object.kind())) {
            let live = scene.world.objects.find(&role.key());
            if live.is_some_and(|live| live.at(&["rules"]) == role.at(&["rules"])) {
                continue;
            }
            let is_cluster_wide = role.kind() == known::CLUSTER_ROLE;
            let before = before(is_cluster_wide);
            let wanted = rules(role);
            let units = |rule: &PolicyRule| {
                let resources = rule.resources.len().saturating_mul(rule.api_groups.len());
                resources
                    .saturating_add(rule.non_resource_urls.len())
                    .saturating_mul(rule.verbs.len())
            };
            let size = wanted.iter().map(units).fold(0, usize::saturating_add);
            let is_too_much = size.saturating_mul(before.len()) > MAX_COMPARISONS;
            let before = if is_too_much { Vec::new() } else { before };
            let gained: Vec<Vec<PolicyRule>> = wanted
                .iter()
                .map(|rule| rule.beyond(&before))
                .filter(|beyond| !beyond.is_empty())
                .collect();
            if gained.is_empty() {
                continue;
            }
            rights.push(NewRight {
                operator: addition.name.clone(),
                is_cluster_wide,
                rules: gained.len(),
                notable: notable(gained.iter().flatten()),
            });
        }
    }
    rights
}

fn rules(role: &Object) -> Vec<PolicyRule> {
    role.at(&["rules"]).elements().iter().map(PolicyRule::read).collect()
}

/// Names what in rules lets their holder reach further than it seems.
fn notable<'r>(rules: impl Iterator<Item = &'r PolicyRule>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for rule in rules {
        let everything = |list: &BTreeSet<String>| list.contains("*");
        let has = |list: &BTreeSet<String>, wanted: &[&str]| {
            everything(list) || wanted.iter().any(|word| list.contains(*word))
        };
        let PolicyRule { verbs, api_groups, resources, .. } = rule;
        if everything(verbs) && everything(resources) && everything(api_groups) {
            found.insert("do everything");
            continue;
        }
        if has(api_groups, &[""]) && has(resources, &["secrets"]) {
            if has(verbs, &["get", "list", "watch"]) {
                found.insert("read secrets");
            }
            if has(verbs, &["create", "update", "patch", "delete"]) {
                found.insert("change secrets");
            }
        }
        if has(api_groups, &[""]) && has(resources, &["pods/exec", "pods/attach"]) {
            found.insert("run commands in pods");
        }
        let is_rbac = has(api_groups, &["rbac.authorization.k8s.io"]);
        if is_rbac && has(verbs, &["escalate", "bind"]) {
            found.insert("grant rights that it does not have");
        }
        if is_rbac && has(verbs, &["create", "update", "patch"]) {
            found.insert("change roles");
        }
        if has(resources, &["users", "groups", "serviceaccounts"]) && has(verbs, &["impersonate"]) {
            found.insert("act as somebody else");
        }
    }
    found.into_iter().map(str::to_owned).collect()
}
