//! `operon plan`: what would happen in a namespace, before anything happens.
//!
//! Nothing is changed. The namespace is described by manifests, catalogs and "what if", or is one of an
//! embedded cluster. What is planned is computed by the resolver's and the engine's rooms.

mod arguments;
mod directory;
mod embedded;
mod fixpoint;
mod identity;
mod json;
mod manifests;
mod mermaid;
mod notices;
mod situation;
mod subscribe;
mod text;
mod view;

use clap::{Args, ValueEnum};

use self::fixpoint::Ending;
pub(crate) use self::{
    arguments::SituationArguments,
    fixpoint::generations,
    json::reason as reason_json,
    situation::{Question, Situation},
    subscribe::no_such_package,
    view::{Change, PlanView, Row},
};
use crate::{
    cluster::DEFAULT_KUBE_VERSION,
    exit::Outcome,
    output::{Rendered, stdout_is_terminal, terminal},
};

/// Shows what would be installed, upgraded and kept in a namespace, and why; changes nothing
///
/// The namespace is described by manifests (`kubectl get
/// subscriptions,csv,operatorgroups,catalogsources -o yaml`), by catalogs, and by what if: there were
/// another Subscription, or a catalog were gone. Without manifests it is empty. With --dir, and no what
/// if, it is what `operon up` does next; on a real cluster, what the controller does. Rights to list are
/// enough there.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 nothing to do, 2 there are changes, 1 something has no answer or is wrong

Examples:
  operon plan --dir examples/quickstart
  operon plan --dir examples/quickstart --subscribe foghorn
  operon plan --catalog ./catalog --subscribe etcd
  operon plan --catalog olm/operatorhub=./catalog --cluster cluster.yaml
  kubectl get subs,csv,og,catsrc -A -o yaml | operon plan --cluster - --namespace operators
  operon plan --catalog ./catalog --cluster cluster.yaml --to-fixpoint -o json")]
pub(crate) struct Plan {
    /// The Kubernetes version that the embedded cluster says it has
    #[arg(long, value_name = "VERSION", default_value = DEFAULT_KUBE_VERSION, requires = "dir")]
    kube_version: String,
    #[command(flatten)]
    situation: SituationArguments,
    /// Goes on as if each plan were done, until nothing changes, and shows every generation
    #[arg(long)]
    to_fixpoint: bool,
    /// How wide the text may be [default: the terminal's width, or as wide as it gets]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
    /// How to print the plan
    #[arg(short, long, value_enum, default_value = "text")]
    output: PlanFormat,
}

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlanFormat {
    /// A line for each operator, for people
    Text,
    /// JSON for programs
    Json,
    /// YAML for programs
    Yaml,
    /// A Mermaid flowchart: who asks for what, and who needs whom
    Mermaid,
}

impl Plan {
    /// Rows are folded only for a terminal: whoever reads a file can scroll.
    fn text_width(&self) -> usize {
        let default = || if stdout_is_terminal() { terminal::width() } else { usize::MAX };
        self.width.unwrap_or_else(default)
    }
}

pub(crate) fn run(command: &Plan) -> anyhow::Result<Outcome> {
    // What if something were otherwise is a question to the resolver, not to the engine.
    let asks_what_if = command.to_fixpoint || command.situation.asks_what_if();
    if let (Some(cluster), false) = (command.situation.living(), asks_what_if) {
        return embedded::run(command, &cluster);
    }
    let situation = Situation::gather(&command.situation)?;
    let question = situation.question();
    let generations = command.to_fixpoint.then(|| generations(&question, &situation.subscribed));
    let alone;
    let plan = match generations.as_ref().and_then(|generations| generations.plans.first()) {
        Some(first) => first,
        None => {
            alone = PlanView::new(&question, &question.resolve(), &situation.subscribed);
            &alone
        }
    };
    let rendered = match command.output {
        PlanFormat::Text => {
            let width = command.text_width();
            Rendered::Text(match &generations {
                Some(generations) => text::render_generations(&situation, generations, width),
                None => text::render(&situation, plan, width),
            })
        }
        PlanFormat::Json => json::plan(&situation, plan, generations.as_ref()).to_json(),
        PlanFormat::Yaml => json::plan(&situation, plan, generations.as_ref()).to_yaml(),
        PlanFormat::Mermaid => Rendered::Text(mermaid::render(plan)),
    };
    rendered.print()?;
    let all = generations.as_ref().map_or(std::slice::from_ref(plan), |all| &all.plans);
    let settles = generations.as_ref().is_none_or(|all| matches!(all.ending, Ending::Settled));
    Ok(if !settles || all.iter().any(|plan| !plan.unanswered.is_empty()) {
        Outcome::Negative
    } else if plan.has_changes() {
        Outcome::Changes
    } else {
        Outcome::Done
    })
}
