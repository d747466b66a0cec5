//! A draft as an InstallPlan.
//!
//! The object is made in two writes, as its status is a part of its own; both follow from the draft,
//! so that either can be repeated.

use operon_kinds::{PlanPhase, StepStatus, names, pack_manifest};
use operon_object::{Object, OwnerReference, Value, go_json, map, sha256_hex};

use crate::{Draft, PlannedStep};

/// How many digits of a hash name a plan: enough that no two plans of a namespace meet.
const NAME_DIGITS: usize = 10;

/// How many bytes the manifests of a plan may have together until the larger ones are compressed. A cluster
/// stores 1.5 MiB; in a status they are written once more, with every quotation mark escaped.
const READABLE_BYTES_LIMIT: usize = 512 << 10;

/// The manifests that people can always read as they are: nothing is gained by compressing them.
const SMALL_MANIFEST_BYTES: usize = 8 << 10;

/// Names a plan: the same content at the same place in the sequence of its Subscriptions' plans has the
/// same name, so that a plan that is made twice is made once.
pub fn plan_name(draft: &Draft, sequence: i64) -> String {
    let Draft { namespace, content, .. } = draft;
    let digits = sha256_hex(format!("{namespace}\n{sequence}\n{content}"));
    format!("install-{}", &digits[..NAME_DIGITS])
}

/// Returns the InstallPlan without its status.
pub fn lift_plan(
    draft: &Draft,
    name: &str,
    generation: i64,
    owners: &[OwnerReference],
    because: &str,
) -> Object {
    let mut plan =
        Object::new("operators.coreos.com/v1alpha1", "InstallPlan", &draft.namespace, name);
    for owner in owners {
        plan.add_owner(owner);
    }
    plan.set_label(names::MANAGED_LABEL, "true");
    for operator in &draft.operators {
        let label = operon_install::component_label(&operator.addition.package, &draft.namespace);
        plan.set_label(&label, "");
    }
    let targets = draft.targets.iter().map(|(name, csv)| (name, Value::text(csv)));
    plan.set_annotation(names::CONTENT_ANNOTATION, &draft.content);
    plan.set_annotation(names::TARGETS_ANNOTATION, &go_json(&Value::map(targets)));
    plan.set_annotation(names::BECAUSE_ANNOTATION, because);
    let is_automatic = draft.manual.is_empty();
    let operators = draft.operators.iter().map(|operator| &operator.addition.name);
    let spec = map! {
        "approval" => if is_automatic { "Automatic" } else { "Manual" },
        "approved" => is_automatic,
        "clusterServiceVersionNames" => Value::texts(operators),
        "generation" => generation,
    };
    plan.set(&["spec"], spec);
    plan
}

/// Returns the status that a plan begins with.
pub fn lift_status(draft: &Draft, is_approved: bool) -> Value {
    let phase = if is_approved { PlanPhase::Installing } else { PlanPhase::RequiresApproval };
    let sources = draft.sources().into_iter().map(|source| Value::text(&source.name));
    let lookups = draft.operators.iter().filter(|operator| !operator.addition.image.is_empty());
    let lookups = lookups.map(|operator| {
        let addition = &operator.addition;
        map! {
            "path" => addition.image.as_str(),
            "identifier" => addition.name.as_str(),
            "replaces" => addition.replaces.as_str(),
            "catalogSourceRef" => map! {
                "name" => addition.source.name.as_str(),
                "namespace" => addition.source.namespace.as_str(),
            },
            "properties" => operon_install::properties_annotation(&operator.properties),
        }
    });
    map! {
        "phase" => phase.text(),
        "catalogSources" => Value::list(sources),
        "bundleLookups" => Value::list(lookups),
        "plan" => Value::list(lift_steps(&draft.steps)),
    }
}

fn lift_steps(steps: &[PlannedStep]) -> Vec<Value> {
    let manifests: Vec<String> = steps.iter().map(|step| go_json(step.object.value())).collect();
    let is_large = manifests.iter().map(String::len).sum::<usize>() > READABLE_BYTES_LIMIT;
    let lifted = steps.iter().zip(manifests).map(|(step, manifest)| {
        let is_packed = is_large && manifest.len() > SMALL_MANIFEST_BYTES;
        lift_step(step, if is_packed { pack_manifest(&manifest) } else { manifest })
    });
    lifted.collect()
}

fn lift_step(step: &PlannedStep, manifest: String) -> Value {
    let kind = step.object.api_kind();
    map! {
        "resolving" => step.resolving.as_str(),
        "status" => StepStatus::Unknown.text(),
        "resource" => map! {
            "sourceName" => step.source.name.as_str(),
            "sourceNamespace" => step.source.namespace.as_str(),
            "group" => kind.kind.group(),
            "version" => kind.version.as_str(),
            "kind" => operon_install::step_kind(kind.kind.name()),
            "name" => step.object.name(),
            "manifest" => manifest,
        },
    }
}
