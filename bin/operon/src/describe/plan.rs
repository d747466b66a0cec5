//! An InstallPlan: what it brings, why it was made, and its steps.

use operon_kinds::{InstallPlan, names};
use operon_object::Object;

use super::page::Page;

/// Describes a plan.
pub(super) fn describe(object: &Object, page: &mut Page) {
    let plan = InstallPlan::read(object);
    page.line("Phase", plan.phase().text());
    page.line("Message", plan.message());
    let approved = match (plan.is_approved(), plan.is_rejected()) {
        (true, _) => "yes",
        (false, true) => "rejected",
        (false, false) => "no",
    };
    page.line("Approved", approved);
    page.line("Generation", &plan.generation().to_string());
    page.line("Because", object.annotation(names::BECAUSE_ANNOTATION).unwrap_or_default());
    let targets: Vec<Vec<String>> =
        plan.targets().into_iter().map(|(name, operator)| vec![name, operator]).collect();
    page.table("Moves", &["SUBSCRIPTION", "TO"], &targets);
    let steps: Vec<Vec<String>> = plan
        .steps()
        .map(|step| {
            let kind = step.api_kind().kind.name().to_owned();
            let status = step.status().text().to_owned();
            vec![status, kind, step.name().to_owned(), step.resolving().to_owned()]
        })
        .collect();
    page.table("Steps", &["STATUS", "KIND", "NAME", "FOR"], &steps);
}
