//! `operon plan`: what would happen in a namespace, before anything happens.
//!
//! Nothing is changed. The namespace is described by manifests, catalogs and "what if", or is one of an
//! embedded cluster. What is planned is computed by the resolver's and the engine's rooms.

mod arguments;
mod fixpoint;
mod json;
mod manifests;
mod mermaid;
mod notices;
mod situation;
mod snapshot;
mod standing;
mod subscribe;
mod text;
mod view;

use anyhow::bail;
use clap::{Args, ValueEnum};

pub(crate) use self::{
    arguments::SituationArguments,
    fixpoint::generations,
    json::reason as reason_json,
    situation::{Question, Situation},
    subscribe::{follow, new_subscription, no_such_package, subscriptions},
    view::{Blocked, Change, PlanView, Row},
};
use self::{
    fixpoint::{Ending, Generations},
    situation::Gathered,
};
use crate::{
    exit::Outcome,
    output::{Json, Rendered, stdout_is_terminal, terminal},
};

/// Shows what would be installed, upgraded and kept in a namespace, and why; changes nothing
///
/// The namespace is described by manifests (`kubectl get
/// subscriptions,csv,operatorgroups,catalogsources,installplans -o yaml`) and catalogs, or is one of a
/// cluster: with --dir it is what `operon up` does next, on a real cluster what the controller does.
/// Permission to list is enough there. --subscribe and --without ask what would happen if there were
/// another Subscription, or if a catalog were gone.
///
/// The checks that execution runs are run, too: what would fail is reported. Plans have the names of their
/// InstallPlans where the contents of the bundles are at hand.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 nothing to do, 2 there are changes, 1 something has no solution, would fail or is broken

Examples:
  operon plan --dir examples/quickstart
  operon plan --dir examples/quickstart --subscribe foghorn
  operon plan --catalog ./catalog --subscribe etcd
  operon plan --catalog olm/operatorhub=./catalog --cluster cluster.yaml
  kubectl get subs,csv,og,catsrc -A -o yaml | operon plan --cluster - --namespace operators
  operon plan --catalog ./catalog --cluster cluster.yaml --to-fixpoint -o json")]
pub(crate) struct Plan {
    /// The Kubernetes version of the embedded cluster, or of the cluster that the manifests describe
    /// [default: v1.33.0 with --dir, else unknown]
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["kubeconfig", "context"])]
    kube_version: Option<String>,
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

    /// Returns the command that carries out plans; a controller does it by itself.
    fn reconcile_command(&self) -> Option<String> {
        let directory = self.situation.dir.as_ref()?.display().to_string();
        Some(if directory == "." {
            "operon up".to_owned()
        } else {
            format!("operon up {directory}")
        })
    }
}

/// The plan of a namespace, and what follows it.
struct Planned<'g> {
    situation: &'g Situation,
    plan: PlanView,
    generations: Option<Generations>,
}

impl Planned<'_> {
    fn is_sound(&self) -> bool {
        let all = self.generations.as_ref().map_or(&[][..], |generations| &generations.plans);
        let settles =
            self.generations.as_ref().is_none_or(|all| matches!(all.ending, Ending::Settled));
        settles && !std::iter::once(&self.plan).chain(all).any(PlanView::has_problems)
    }
}

pub(crate) fn run(command: &Plan) -> anyhow::Result<Outcome> {
    let gathered = Situation::gather_all(&command.situation, command.kube_version.as_deref())?;
    let plan = |situation| {
        let world = Situation::world(situation);
        let plan = PlanView::new(situation, &situation.question(&world));
        let generations = command.to_fixpoint.then(|| generations(situation));
        Planned { situation, plan, generations }
    };
    let planned: Vec<Planned<'_>> = gathered.situations.iter().map(plan).collect();
    let rendered = match command.output {
        PlanFormat::Text => Rendered::Text(render(command, &gathered, &planned)),
        PlanFormat::Json => as_json(&gathered, &planned).to_json(),
        PlanFormat::Yaml => as_json(&gathered, &planned).to_yaml(),
        PlanFormat::Mermaid => match planned.as_slice() {
            [only] => Rendered::Text(mermaid::render(&only.plan)),
            _ => bail!("a picture shows one namespace\nhint: choose it with -n"),
        },
    };
    rendered.print()?;
    Ok(if !gathered.problems.is_empty() || !planned.iter().all(Planned::is_sound) {
        Outcome::Negative
    } else if planned.iter().any(|planned| planned.plan.has_changes()) {
        Outcome::Changes
    } else {
        Outcome::Done
    })
}

/// Plans of a cluster are listed by namespace; manifests describe one.
fn as_json(gathered: &Gathered, planned: &[Planned<'_>]) -> Json {
    let mut plans: Vec<Json> = planned
        .iter()
        .map(|planned| json::plan(planned.situation, &planned.plan, planned.generations.as_ref()))
        .collect();
    let is_in_files = planned.iter().all(|planned| planned.situation.option.is_none());
    match (is_in_files, plans.pop()) {
        (true, Some(plan)) => plan,
        (_, last) => {
            plans.extend(last);
            json::namespaces(plans, &gathered.problems)
        }
    }
}

fn render(command: &Plan, gathered: &Gathered, planned: &[Planned<'_>]) -> String {
    let width = command.text_width();
    let mut out = String::new();
    for problem in &gathered.problems {
        out += &text::line(&format!("not applied: {problem}"));
    }
    if !gathered.problems.is_empty() {
        out.push('\n');
    }
    if planned.is_empty() {
        return out + &text::line("Nothing to plan: no Subscription found.");
    }
    let acts = command.reconcile_command();
    let texts: Vec<String> = planned
        .iter()
        .map(|Planned { situation, plan, generations }| match generations {
            Some(generations) => text::render_generations(situation, generations, width),
            None => text::render(situation, plan, acts.as_deref(), width),
        })
        .collect();
    out += &texts.join("\n");
    // A plan that waits for an approval is not carried out by `operon up`.
    let changes = |planned: &Planned<'_>| {
        planned.plan.plans.iter().any(|plan| !plan.exists || !plan.waits)
            && planned.situation.subscribed.is_empty()
            && planned.generations.is_none()
    };
    if planned.iter().any(|planned| planned.situation.option.is_some() && changes(planned)) {
        out.push('\n');
        out += &text::line(&match &acts {
            Some(command) => {
                format!("Next: {command} carries out the plans until nothing changes.")
            }
            None => "The controller carries out the plans.".to_owned(),
        });
    }
    out
}
