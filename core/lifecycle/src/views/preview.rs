//! What the engine would do next in a namespace, without doing it.
//!
//! It is the engine's own outlook, not a second opinion: the plans shown here are the plans it makes.

use std::collections::BTreeSet;

use operon_kinds::InstallPlan;
use operon_object::{Object, ObjectKey, known};
use operon_plan::{Draft, PlannedOperator};

use crate::{BundleKey, World, outlook::Outlook, scene::Scene};

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
}

/// A plan.
#[derive(Debug, Clone)]
pub struct PreviewPlan {
    /// The name that it has or would have.
    pub name: String,
    /// The hash of its content.
    pub content: String,
    /// Whether it is there already.
    pub exists: bool,
    /// The operators that it brings.
    pub operators: Vec<PlannedOperator>,
    /// The Subscriptions for which a person has to approve it.
    pub manual: Vec<String>,
    /// What it writes, in order.
    pub objects: Vec<ObjectKey>,
    /// The rights that it grants and that are not granted now.
    pub rights: Vec<NewRight>,
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

/// Looks ahead for a namespace.
pub fn preview(world: &World<'_>, namespace: &str) -> Preview {
    let scene = Scene::new(world, namespace);
    let outlook = Outlook::of(&scene);
    let mut preview = Preview::default();
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
    preview.plans = outlook.drafts.iter().map(|draft| plan(&scene, draft)).collect();
    preview.wanted = outlook.wanted;
    preview
}

fn plan(scene: &Scene<'_>, draft: &Draft) -> PreviewPlan {
    let known = |plan: &&InstallPlan<'_>| !plan.is_finished() && plan.content() == draft.content;
    let existing = scene.plans.iter().find(known);
    let name = match existing {
        Some(plan) => plan.name().to_owned(),
        None => crate::plans::name(scene, draft),
    };
    PreviewPlan {
        name,
        content: draft.content.clone(),
        exists: existing.is_some(),
        operators: draft.operators.clone(),
        manual: draft.manual.clone(),
        objects: draft.steps.iter().map(|step| step.object.key()).collect(),
        rights: rights(scene, draft),
    }
}

/// Returns what the roles of a draft grant, without those that are there already.
fn rights(scene: &Scene<'_>, draft: &Draft) -> Vec<NewRight> {
    let roles = draft.steps.iter().filter(|step| {
        let kind = step.object.kind();
        kind == known::ROLE || kind == known::CLUSTER_ROLE
    });
    roles
        .filter(|step| {
            let live = scene.world.objects.find(&step.object.key());
            !live.is_some_and(|live| live.at(&["rules"]) == step.object.at(&["rules"]))
        })
        .map(|step| NewRight {
            operator: step.resolving.clone(),
            is_cluster_wide: step.object.kind() == known::CLUSTER_ROLE,
            rules: step.object.at(&["rules"]).elements().len(),
            notable: notable(&step.object),
        })
        .collect()
}

/// Names what a role allows that lets its holder reach further than it seems.
fn notable(role: &Object) -> Vec<String> {
    let mut found = BTreeSet::new();
    for rule in role.at(&["rules"]).elements() {
        let has = |list: &str, wanted: &[&str]| {
            rule.get(list).iter_texts().any(|text| text == "*" || wanted.contains(&text))
        };
        let everything = |list: &str| rule.get(list).iter_texts().any(|text| text == "*");
        if everything("verbs") && everything("resources") && everything("apiGroups") {
            found.insert("do everything");
            continue;
        }
        if has("apiGroups", &[""]) && has("resources", &["secrets"]) {
            if has("verbs", &["get", "list", "watch"]) {
                found.insert("read secrets");
            }
            if has("verbs", &["create", "update", "patch", "delete"]) {
                found.insert("change secrets");
            }
        }
        if has("apiGroups", &[""]) && has("resources", &["pods/exec", "pods/attach"]) {
            found.insert("run commands in pods");
        }
        let is_rbac = has("apiGroups", &["rbac.authorization.k8s.io"]);
        if is_rbac && has("verbs", &["escalate", "bind"]) {
            found.insert("grant rights that it does not have");
        }
        if is_rbac && has("verbs", &["create", "update", "patch"]) {
            found.insert("change roles");
        }
        if has("resources", &["users", "groups", "serviceaccounts"])
            && has("verbs", &["impersonate"])
        {
            found.insert("act as somebody else");
        }
    }
    found.into_iter().map(str::to_owned).collect()
}
