//! `operon why-not`: why a package or a version is not in the plan of a namespace.
//!
//! What is asked about must be in a visible catalog; the reasons are found in `inquiry`.

mod inquiry;

use clap::Args;
use operon_catalog::{Bundle, Package};
use operon_resolve::SourceName;

use self::inquiry::{Answer, Inquiry};
use super::WhyFormat;
use crate::{
    catalog::find::find_bundle,
    exit::Outcome,
    output::{Json, Rendered, clean},
    plan::{PlanView, Question, Situation, SituationArguments, no_such_package},
};

/// Tells why a package or a version is not in the plan of a namespace, and whether it could be
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 told, 1 no visible catalog has it, or something is wrong

Examples:
  operon why-not etcd --catalog ./catalog --cluster cluster.yaml
  operon why-not etcd@0.9.2 --catalog ./catalog --cluster cluster.yaml
  operon why-not etcdoperator.v0.9.2 --catalog ./catalog -o json")]
pub(crate) struct WhyNot {
    /// A package, a version of it, or the name of a bundle
    #[arg(value_name = "PACKAGE[@VERSION]")]
    name: String,
    #[command(flatten)]
    situation: SituationArguments,
    /// How to print the answer
    #[arg(short, long, value_enum, default_value = "text")]
    output: WhyFormat,
}

/// What is asked about: a version of a package in a catalog, or the package itself.
struct Target<'s> {
    source: &'s SourceName,
    package: Package<'s>,
    /// `None` when any version would do.
    bundle: Option<Bundle<'s>>,
}

pub(crate) fn run(command: &WhyNot) -> anyhow::Result<Outcome> {
    let situation = Situation::gather(&command.situation)?;
    let world = situation.world();
    let question = situation.question(&world);
    let plan = PlanView::new(&situation, &question);
    let target = find_target(&situation, &question, &command.name)?;
    let inquiry =
        Inquiry { situation: &situation, question: &question, plan: &plan, target: &target };
    let answer = inquiry.answer();
    let rendered = match command.output {
        WhyFormat::Text => Rendered::Text(text(&answer)),
        WhyFormat::Json => json(&command.name, &target, &answer).to_json(),
        WhyFormat::Yaml => json(&command.name, &target, &answer).to_yaml(),
    };
    rendered.print()?;
    Ok(Outcome::Done)
}

/// Finds what a person means; the catalog of the package's Subscription is looked at first.
fn find_target<'s>(
    situation: &'s Situation,
    question: &Question<'_>,
    text: &'s str,
) -> anyhow::Result<Target<'s>> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let asked = question.requests.iter().find(|request| request.package == name);
    let is_own =
        |source: &SourceName| asked.is_some_and(|asked| asked.source.as_ref() == Some(source));
    let mut visible: Vec<_> = situation.catalogs.iter().collect();
    visible.sort_by_key(|catalog| !is_own(&catalog.name));
    let readable = visible.iter().filter_map(|visible| Some((&visible.name, visible.catalog()?)));
    let mut problem = None;
    for (source, catalog) in readable.clone() {
        let Some(package) = catalog.package(name) else { continue };
        let Some(version) = version else { return Ok(Target { source, package, bundle: None }) };
        match find_bundle(package, version) {
            Ok(bundle) => return Ok(Target { source, package, bundle: Some(bundle) }),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    if version.is_none() {
        for (source, catalog) in readable {
            if let Some(bundle) = catalog.bundles_named(name).next() {
                return Ok(Target { source, package: bundle.package(), bundle: Some(bundle) });
            }
        }
    }
    Err(problem.unwrap_or_else(|| no_such_package(&situation.catalogs, name)))
}

fn text(answer: &Answer) -> String {
    let mut out: String = answer.sentences.iter().map(|sentence| clean(sentence) + "\n").collect();
    if let Some(told) = &answer.told {
        out.push('\n');
        for line in told.text().lines() {
            out += format!("  {}", clean(line)).trim_end();
            out.push('\n');
        }
    }
    out
}

fn json(asked: &str, target: &Target<'_>, answer: &Answer) -> Json {
    let told = answer.told.as_ref().map(|told| Json::Object(told.members()));
    Json::Object(vec![
        ("asked", Json::text(asked)),
        ("package", Json::text(target.package.name())),
        ("bundle", Json::optional(target.bundle.map(Bundle::name))),
        ("version", Json::optional(target.bundle.map(Bundle::version_text))),
        ("catalog", Json::text(&target.source.name)),
        ("catalogNamespace", Json::text(&target.source.namespace)),
        ("sentences", Json::texts(&answer.sentences)),
        ("possible", answer.possible.map_or(Json::Null, Json::Bool)),
        ("conflict", told.unwrap_or(Json::Null)),
    ])
}
