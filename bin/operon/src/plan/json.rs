//! A plan for programs; the names of members are part of the contract.

use operon_lifecycle::views::{NewRight, PreviewPlan};
use operon_resolve::{Reason, SourceName};

use super::{
    fixpoint::{Ending, Generations},
    situation::{Situation, VisibleCatalog},
    text::ending_words,
    view::{Blocked, Change, PlanView, Row},
};
use crate::output::Json;

/// Returns the plans of all namespaces of a cluster, and what is wrong with its manifests.
pub(super) fn namespaces(plans: Vec<Json>, problems: &[String]) -> Json {
    Json::Object(vec![("namespaces", Json::list(plans)), ("problems", Json::texts(problems))])
}

/// Returns the plan of a namespace, with all its generations when they were asked for.
pub(super) fn plan(
    situation: &Situation,
    plan: &PlanView,
    generations: Option<&Generations>,
) -> Json {
    let mut members = vec![
        ("namespace", Json::text(&situation.namespace)),
        ("semantics", Json::text(situation.semantics.name())),
        ("catalogs", Json::list(situation.catalogs.iter().map(catalog))),
        ("remarks", Json::texts(&situation.remarks)),
    ];
    members.extend(answer(plan));
    let all = generations.map_or(&[][..], |generations| &generations.plans);
    let each = all.iter().map(|plan| Json::Object(answer(plan)));
    members.insert(members.len() - 1, ("generations", Json::list(each)));
    if let Some(generations) = generations {
        let ending = match generations.ending {
            Ending::Settled => "settled",
            Ending::Circle { .. } => "circle",
            Ending::TooMany => "too-many",
        };
        let ending =
            vec![("kind", Json::text(ending)), ("text", Json::text(ending_words(generations)))];
        members.insert(members.len() - 1, ("ending", Json::Object(ending)));
    }
    Json::Object(members)
}

fn answer(plan: &PlanView) -> Vec<(&'static str, Json)> {
    let is_kept = |row: &&Row| row.change == Change::Keep;
    let additions = plan.rows.iter().filter(|row| !is_kept(row)).map(addition);
    let kept = plan.rows.iter().filter(is_kept).map(kept);
    let notices = plan.notices.iter().map(|notice| {
        Json::Object(vec![
            ("request", Json::text(&notice.request)),
            ("kind", Json::text(notice.kind)),
            ("text", Json::text(&notice.text)),
        ])
    });
    let conflicts = plan.unanswered.iter().map(|part| {
        let mut members = vec![
            ("requests", Json::texts(&part.requests)),
            ("installed", Json::texts(&part.installed)),
        ];
        members.extend(part.told.members());
        Json::Object(members)
    });
    let refusals: usize = plan.refusals().count();
    let summary = Json::Object(vec![
        ("install", Json::number(plan.count(Change::Install))),
        ("upgrade", Json::number(plan.count(Change::Upgrade))),
        ("keep", Json::number(plan.count(Change::Keep))),
        ("waiting", Json::number(plan.waiting())),
        ("conflicts", Json::number(plan.unanswered.len())),
        ("blocked", Json::number(plan.held.len())),
        ("failed", Json::number(plan.failed.len())),
        ("refusals", Json::number(refusals)),
        ("problems", Json::number(plan.problems.len())),
        ("text", Json::text(plan.summary())),
    ]);
    vec![
        ("additions", Json::list(additions)),
        ("kept", Json::list(kept)),
        ("plans", Json::list(plan.plans.iter().map(preview_plan))),
        ("blocked", Json::list(plan.held.iter().map(blocked))),
        ("failed", Json::list(plan.failed.iter().map(blocked))),
        ("inProgress", Json::texts(&plan.busy)),
        ("problems", Json::texts(&plan.problems)),
        ("notices", Json::list(notices)),
        ("conflicts", Json::list(conflicts)),
        ("summary", summary),
    ]
}

fn blocked(blocked: &Blocked) -> Json {
    Json::Object(vec![
        ("subscription", Json::text(&blocked.subscription)),
        ("reason", Json::text(&blocked.reason)),
        ("message", Json::text(&blocked.message)),
    ])
}

fn preview_plan(plan: &PreviewPlan) -> Json {
    let objects = plan.objects.iter().map(|key| {
        Json::Object(vec![
            ("kind", Json::text(key.kind.to_string())),
            ("namespace", Json::text(&key.namespace)),
            ("name", Json::text(&key.name)),
        ])
    });
    let operators: Vec<String> =
        plan.operators.iter().map(|operator| operator.addition.name.clone()).collect();
    Json::Object(vec![
        ("name", Json::text(&plan.name)),
        ("content", Json::text(&plan.content)),
        ("exists", Json::Bool(plan.exists)),
        ("waitsForApproval", Json::Bool(plan.waits)),
        ("manual", Json::texts(&plan.manual)),
        ("operators", Json::texts(&operators)),
        ("objects", Json::list(objects)),
        ("permissions", Json::list(plan.rights.iter().map(right))),
        ("refusals", Json::texts(&plan.refusals)),
    ])
}

fn right(right: &NewRight) -> Json {
    Json::Object(vec![
        ("operator", Json::text(&right.operator)),
        ("clusterWide", Json::Bool(right.is_cluster_wide)),
        ("rules", Json::number(right.rules)),
        ("notable", Json::texts(&right.notable)),
    ])
}

fn catalog(catalog: &VisibleCatalog) -> Json {
    let is_available = catalog.content.is_ok();
    Json::Object(vec![
        ("namespace", Json::text(&catalog.name.namespace)),
        ("name", Json::text(&catalog.name.name)),
        ("priority", Json::number(catalog.priority)),
        ("available", Json::Bool(is_available)),
        ("digest", Json::optional(is_available.then_some(&catalog.digest))),
        ("path", Json::text(&catalog.path)),
        ("reason", Json::optional(catalog.content.as_ref().err())),
    ])
}

fn addition(row: &Row) -> Json {
    let Some(addition) = &row.addition else { return Json::Null };
    let change = match row.change {
        Change::Install => "install",
        Change::Upgrade => "upgrade",
        Change::Keep => "keep",
    };
    let mut members = operator(row);
    members.extend([
        ("change", Json::text(change)),
        ("updates", Json::text(&addition.updates)),
        ("from", Json::optional(row.from.as_ref())),
        ("replaces", Json::text(&addition.replaces)),
        ("image", Json::text(&addition.image)),
        ("waitsForApproval", Json::Bool(row.waits)),
    ]);
    members.extend(why(row));
    Json::Object(members)
}

fn kept(row: &Row) -> Json {
    let mut members = operator(row);
    members.extend(why(row));
    Json::Object(members)
}

fn operator(row: &Row) -> Vec<(&'static str, Json)> {
    let source: Option<&SourceName> = row.source.as_ref();
    vec![
        ("name", Json::text(&row.name)),
        ("package", Json::text(if row.package == row.name { "" } else { &row.package })),
        ("version", Json::text(&row.version)),
        ("channel", Json::text(&row.channel)),
        ("catalog", Json::optional(source.map(|source| &source.name))),
        ("catalogNamespace", Json::optional(source.map(|source| &source.namespace))),
    ]
}

fn why(row: &Row) -> [(&'static str, Json); 2] {
    [("why", Json::text(&row.why)), ("reasons", Json::list(row.reasons.iter().map(reason)))]
}

/// Returns why an operator is in the answer.
pub(crate) fn reason(reason: &Reason) -> Json {
    Json::Object(match reason {
        Reason::Requested(request) => {
            vec![("kind", Json::text("requested")), ("request", Json::text(request))]
        }
        Reason::Freestanding => vec![("kind", Json::text("freestanding"))],
        Reason::Needed { by, requirement, message } => vec![
            ("kind", Json::text("needed")),
            ("by", Json::text(by)),
            ("requirement", Json::text(requirement)),
            ("message", Json::text(message)),
        ],
    })
}
