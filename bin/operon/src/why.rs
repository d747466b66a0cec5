//! `operon why` and `operon why-not`: why an operator is in the answer, or why it is not.
//!
//! Nothing is guessed: every sentence comes from the reasons of a resolution, from the catalog, or
//! from resolving again with the question changed.

mod chain;
mod choice;
pub(crate) mod not;
mod suppose;
mod way;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use operon_catalog::nearest;
use operon_lifecycle::views::PreviewPlan;
use operon_resolve::Reason;

use crate::{
    exit::Outcome,
    output::{Json, Rendered, clean},
    plan::{PlanView, Question, Row, Situation, SituationArguments, no_such_package, reason_json},
};

/// Tells why an operator is in the plan of a namespace, and how it was chosen
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 told, 1 it is not in the plan, or something is wrong

Examples:
  operon why etcd --catalog ./catalog --cluster cluster.yaml
  operon why etcdoperator.v0.9.4 --catalog ./catalog --subscribe vault -o json")]
pub(crate) struct Why {
    /// The operator: a package, or the name of a bundle
    name: String,
    #[command(flatten)]
    situation: SituationArguments,
    /// How to print the answer
    #[arg(short, long, value_enum, default_value = "text")]
    output: WhyFormat,
}

/// How an answer in words is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhyFormat {
    /// Sentences for people
    Text,
    /// JSON for programs
    Json,
    /// YAML for programs
    Yaml,
}

pub(crate) fn run(command: &Why) -> anyhow::Result<Outcome> {
    let situation = Situation::gather(&command.situation)?;
    let world = situation.world();
    let question = situation.question(&world);
    let plan = PlanView::new(&situation, &question);
    let rows = rows_named(&plan, &command.name);
    if rows.is_empty() {
        return Err(not_in_the_plan(&situation, &question, &plan, &command.name));
    }
    let told: Vec<(&Row, Vec<String>)> = rows
        .iter()
        .map(|row| {
            let mut sentences = chain::sentences(&plan, row, &situation.subscribed);
            sentences.extend(choice::sentences(&situation, &question, &plan, row));
            sentences.extend(troubles(&question, &plan, row));
            (*row, sentences)
        })
        .collect();
    print(command.output, &told)?;
    Ok(Outcome::Done)
}

/// Says what keeps an operator from moving on, and what is wrong with it or with its plan.
fn troubles(question: &Question<'_>, plan: &PlanView, row: &Row) -> Vec<String> {
    let wanted = |name: &str| row.reasons.contains(&Reason::Requested(name.to_owned()));
    let blocked =
        plan.held.iter().chain(&plan.failed).filter(|blocked| wanted(&blocked.subscription));
    let blocked = blocked.map(|blocked| {
        format!("Subscription {} is blocked: {}.", blocked.subscription, blocked.message)
    });
    let problem = question.preview.problems.get(&row.name);
    let problem = problem.map(|problem| format!("There is a problem: {problem}."));
    let brings = |plan: &&PreviewPlan| {
        plan.operators.iter().any(|operator| operator.addition.name == row.name)
    };
    let plans = plan.plans.iter().filter(brings);
    let refusals = plans.flat_map(|plan| {
        plan.refusals
            .iter()
            .map(|refusal| format!("InstallPlan {} would fail: {refusal}.", plan.name))
    });
    blocked.chain(problem).chain(refusals).collect()
}

/// Returns the operators of a plan that a person means by the name of a package or a bundle.
fn rows_named<'p>(plan: &'p PlanView, name: &str) -> Vec<&'p Row> {
    plan.rows.iter().filter(|row| row.package == name || row.name == name).collect()
}

/// Names an operator in a sentence, as `tide 2.0.1`.
fn label(row: &Row) -> String {
    if row.package == row.name {
        row.name.clone()
    } else {
        format!("{} {}", row.package, row.version)
    }
}

fn not_in_the_plan(
    situation: &Situation,
    question: &Question<'_>,
    plan: &PlanView,
    name: &str,
) -> anyhow::Error {
    let shown = clean(name);
    let is_known =
        situation.catalogs.iter().filter_map(|catalog| catalog.catalog()).any(|catalog| {
            catalog.package(name).is_some() || catalog.bundles_named(name).next().is_some()
        });
    if is_known || question.requests.iter().any(|request| request.package == name) {
        return anyhow!("`{shown}` is not in the plan\nhint: operon why-not {shown} tells why");
    }
    let names = plan.rows.iter().flat_map(|row| [row.package.as_str(), row.name.as_str()]);
    match nearest(name, names) {
        Some(near) => {
            anyhow!("`{shown}` is not in the plan\nhint: did you mean `{}`?", clean(near))
        }
        None => no_such_package(&situation.catalogs, name),
    }
}

fn print(format: WhyFormat, told: &[(&Row, Vec<String>)]) -> anyhow::Result<()> {
    let value = || {
        Json::list(told.iter().map(|(row, sentences)| {
            Json::Object(vec![
                ("name", Json::text(&row.name)),
                ("package", Json::text(&row.package)),
                ("version", Json::text(&row.version)),
                ("reasons", Json::list(row.reasons.iter().map(reason_json))),
                ("sentences", Json::texts(sentences)),
            ])
        }))
    };
    let rendered = match format {
        WhyFormat::Text => {
            let lines = told.iter().flat_map(|(_, sentences)| sentences);
            Rendered::Text(lines.map(|line| clean(line) + "\n").collect())
        }
        WhyFormat::Json => value().to_json(),
        WhyFormat::Yaml => value().to_yaml(),
    };
    rendered.print()?;
    Ok(())
}
