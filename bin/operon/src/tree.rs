//! `operon tree`: who needs whom.
//!
//! Who meets a need is worked out by the engine's room; here it is only drawn.

use std::collections::BTreeSet;

use anstyle::{AnsiColor, Style};
use clap::Args;
use operon_constraint::Requirement;
use operon_driver::Interest;
use operon_kinds::Subscription;
use operon_lifecycle::{
    Objects,
    views::{NeedState, OperatorNeed, OperatorNode, Provider, tree},
};
use operon_object::known;

use crate::{
    cluster::{ClusterArguments, NamespaceArguments, look_at},
    exit::Outcome,
    output::{Json, OutputOptions, clean, print, stderr_line, terminal},
};

/// The longest chain that is drawn; a line says where a longer one was cut.
const MAX_DRAWN_DEPTH: usize = 50;

/// Shows the operators of the cluster, what each needs, and who provides it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  operon tree\n  operon tree -n harbour -o json --dir ./harbour"
)]
pub(crate) struct Tree {
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(command: &Tree) -> anyhow::Result<Outcome> {
    let cluster = command.cluster.reach()?;
    let kinds =
        [known::CLUSTER_SERVICE_VERSION, known::SUBSCRIPTION, known::CUSTOM_RESOURCE_DEFINITION];
    // Whoever provides something may be in another namespace than the one that is asked about.
    let objects = look_at(&cluster, &Interest::all_of(kinds))?;
    let nodes = tree(&objects, None);
    let waiting = waiting(&objects, &command.namespace);
    let is_meant = |namespace: &str| {
        command.namespace.namespace.as_ref().is_none_or(|wanted| wanted == namespace)
    };
    let meant: Vec<&OperatorNode> = nodes.iter().filter(|node| is_meant(&node.namespace)).collect();
    let is_empty = meant.is_empty() && waiting.is_empty();
    print(
        command.output.output,
        || draw(&nodes, &meant, &waiting),
        || Json::list(meant.iter().map(|node| value(node))),
    )?;
    if is_empty {
        stderr_line!("there is no operator and no Subscription here");
    }
    Ok(Outcome::Done)
}

/// A Subscription that has no operator: its namespace, its name and its package.
type Waiting = (String, String, String);

fn waiting(objects: &Objects, namespace: &NamespaceArguments) -> Vec<Waiting> {
    let subscriptions = objects.all(&known::SUBSCRIPTION).filter(|object| namespace.takes(object));
    let bare = subscriptions
        .map(Subscription::read)
        .filter(|subscription| subscription.installed_csv().is_empty());
    bare.map(|subscription| {
        let namespace = subscription.object.namespace().to_owned();
        (namespace, subscription.name().to_owned(), subscription.package().to_owned())
    })
    .collect()
}

fn draw(nodes: &[OperatorNode], meant: &[&OperatorNode], waiting: &[Waiting]) -> String {
    let mut namespaces: BTreeSet<&str> = meant.iter().map(|node| node.namespace.as_str()).collect();
    namespaces.extend(waiting.iter().map(|(namespace, _, _)| namespace.as_str()));
    let mut drawing = Drawing { nodes, lines: Lines::of_terminal(), text: String::new() };
    for namespace in namespaces {
        drawing.namespace(namespace, meant, waiting);
    }
    drawing.text
}

/// The lines that join operators, in what the terminal can show.
#[derive(Clone, Copy)]
struct Lines {
    branch: &'static str,
    last: &'static str,
    beside: &'static str,
    dot: &'static str,
    cross: &'static str,
}

impl Lines {
    fn of_terminal() -> Self {
        if terminal::has_unicode() {
            Self { branch: "├─ ", last: "└─ ", beside: "│  ", dot: "·", cross: "✗" }
        } else {
            Self { branch: "|- ", last: "`- ", beside: "|  ", dot: "-", cross: "x" }
        }
    }
}

struct Drawing<'n> {
    nodes: &'n [OperatorNode],
    lines: Lines,
    text: String,
}

impl<'n> Drawing<'n> {
    fn namespace(&mut self, namespace: &str, meant: &[&'n OperatorNode], waiting: &[Waiting]) {
        let bold = Style::new().bold();
        self.text += &format!("{bold}{}{bold:#}\n", clean(namespace));
        let here: Vec<&OperatorNode> =
            meant.iter().copied().filter(|node| node.namespace == namespace).collect();
        // Whoever was asked for, then whoever stands alone: nobody below whom it could be drawn.
        let mut roots: Vec<&OperatorNode> =
            here.iter().copied().filter(|node| !node.was_generated).collect();
        let mut reached = self.reachable(&roots);
        for node in here {
            if !reached.contains(&key(node)) {
                roots.push(node);
                reached.extend(self.reachable(&[node]));
            }
        }
        let bare: Vec<&Waiting> =
            waiting.iter().filter(|(place, _, _)| place == namespace).collect();
        let count = roots.len() + bare.len();
        let mut drawn = BTreeSet::new();
        for (index, node) in roots.into_iter().enumerate() {
            let joint = self.joint(index + 1 == count);
            self.text += &format!("{joint}{}\n", self.label(node, namespace));
            drawn.insert(key(node));
            let indent = self.indent("", index + 1 == count);
            self.needs(node, &indent, &mut drawn, 1);
        }
        for (index, (_, name, package)) in bare.iter().enumerate() {
            let joint = self.joint(index + 1 == bare.len());
            let dot = self.lines.dot;
            let told =
                format!("{package} {dot} nothing is installed yet {dot} Subscription {name}");
            self.text += &format!("{joint}{}\n", clean(&told));
        }
    }

    fn needs(
        &mut self,
        node: &'n OperatorNode,
        indent: &str,
        drawn: &mut BTreeSet<(&'n str, &'n str)>,
        depth: usize,
    ) {
        for (index, need) in node.needs.iter().enumerate() {
            let is_last = index + 1 == node.needs.len();
            let joint = self.joint(is_last);
            let text = clean(&need.text);
            let providers = match &need.state {
                NeedState::Met(providers) => providers.as_slice(),
                NeedState::Unmet => {
                    let told = self.alarm(unmet(need));
                    self.text += &format!("{indent}{joint}needs {text}: {told}\n");
                    continue;
                }
                NeedState::Unknown(why) => {
                    let told = match need.constraint {
                        Some(_) => format!("needs {text}: {}", self.alarm(&clean(why))),
                        None => self.alarm(&text),
                    };
                    self.text += &format!("{indent}{joint}{told}\n");
                    continue;
                }
            };
            let below = self.indent(indent, is_last);
            match providers {
                [] => self.text += &format!("{indent}{joint}needs {text}: met\n"),
                [provider] => {
                    let start = format!("{indent}{joint}needs {text}: ");
                    self.provider(node, provider, &start, &below, drawn, depth);
                }
                providers => {
                    self.text += &format!("{indent}{joint}needs {text}:\n");
                    for (index, provider) in providers.iter().enumerate() {
                        let is_last = index + 1 == providers.len();
                        let start = format!("{below}{}", self.joint(is_last));
                        let below = self.indent(&below, is_last);
                        self.provider(node, provider, &start, &below, drawn, depth);
                    }
                }
            }
        }
    }

    /// Draws what takes part in meeting a need of an operator, and what it needs in turn.
    fn provider(
        &mut self,
        node: &'n OperatorNode,
        provider: &'n Provider,
        start: &str,
        indent: &str,
        drawn: &mut BTreeSet<(&'n str, &'n str)>,
        depth: usize,
    ) {
        let Some(other) = self.operator(provider) else {
            let told = match provider {
                Provider::Cluster => "there is a CRD for it, and no operator".to_owned(),
                Provider::Operator(_, name) => clean(name),
            };
            self.text += &format!("{start}{told}\n");
            return;
        };
        if key(other) == key(node) {
            self.text += &format!("{start}provided by itself\n");
            return;
        }
        let label = self.label(other, &node.namespace);
        let has_needs = !other.needs.is_empty();
        let is_new = drawn.insert(key(other));
        let is_drawn = has_needs && is_new && depth < MAX_DRAWN_DEPTH;
        let more = match (has_needs, is_drawn) {
            (false, _) | (_, true) => "",
            (true, false) if is_new => " (and so on)",
            (true, false) => " (drawn above)",
        };
        self.text += &format!("{start}{label}{more}\n");
        if is_drawn {
            self.needs(other, indent, drawn, depth + 1);
        }
    }

    /// Returns the operator that takes part.
    fn operator(&self, provider: &Provider) -> Option<&'n OperatorNode> {
        let Provider::Operator(namespace, name) = provider else { return None };
        self.nodes.iter().find(|node| node.namespace == *namespace && node.name == *name)
    }

    fn alarm(&self, text: &str) -> String {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        format!("{red}{} {text}{red:#}", self.lines.cross)
    }

    fn label(&self, node: &OperatorNode, from: &str) -> String {
        let dot = self.lines.dot;
        let place =
            if node.namespace == from { String::new() } else { format!("{}/", node.namespace) };
        let name = match node.package.as_str() {
            "" => node.name.clone(),
            package => format!("{package} {}", node.version),
        };
        let why = match (node.subscription.as_str(), node.was_generated) {
            ("", _) => "no Subscription".to_owned(),
            (_, true) => "came along".to_owned(),
            (subscription, false) => format!("Subscription {subscription}"),
        };
        clean(&format!("{place}{name} {dot} {} {dot} {why}", node.phase.text()))
    }

    /// Returns everybody who is needed by some operators, and themselves.
    fn reachable(&self, from: &[&'n OperatorNode]) -> BTreeSet<(&'n str, &'n str)> {
        let mut open: Vec<&OperatorNode> = from.to_vec();
        let mut reached = BTreeSet::new();
        while let Some(node) = open.pop() {
            if reached.insert(key(node)) {
                let providers = node.needs.iter().flat_map(OperatorNeed::providers);
                open.extend(providers.filter_map(|provider| self.operator(provider)));
            }
        }
        reached
    }

    fn joint(&self, is_last: bool) -> &'static str {
        if is_last { self.lines.last } else { self.lines.branch }
    }

    fn indent(&self, indent: &str, is_last: bool) -> String {
        format!("{indent}{}", if is_last { "   " } else { self.lines.beside })
    }
}

fn key(node: &OperatorNode) -> (&str, &str) {
    (&node.namespace, &node.name)
}

/// Says that a need is not met.
fn unmet(need: &OperatorNeed) -> &'static str {
    match need.constraint.as_ref().map(|constraint| &constraint.requirement) {
        Some(Requirement::Gvk(_) | Requirement::Package { .. } | Requirement::Label(_)) => {
            "no operator provides it"
        }
        Some(_) | None => "not met",
    }
}

fn value(node: &OperatorNode) -> Json {
    Json::Object(vec![
        ("namespace", Json::text(&node.namespace)),
        ("name", Json::text(&node.name)),
        ("package", Json::text(&node.package)),
        ("version", Json::text(&node.version)),
        ("phase", Json::text(node.phase.text())),
        ("subscription", Json::text(&node.subscription)),
        ("generated", Json::Bool(node.was_generated)),
        ("needs", Json::list(node.needs.iter().map(need_value))),
    ])
}

/// Returns a need for programs. The member `provider` is the first of `providers`.
fn need_value(need: &OperatorNeed) -> Json {
    let mut members = need_members(need);
    members.push(("text", Json::text(&need.text)));
    let kind = |kind: &str| Json::Object(vec![("kind", Json::text(kind))]);
    let (met, provider) = match &need.state {
        NeedState::Met(providers) => {
            (Json::Bool(true), providers.first().map_or(Json::Null, provider_value))
        }
        NeedState::Unmet => (Json::Bool(false), kind("none")),
        NeedState::Unknown(_) => (Json::Null, kind("unknown")),
    };
    members.extend([("met", met), ("provider", provider)]);
    members.push(("providers", Json::list(need.providers().iter().map(provider_value))));
    if let NeedState::Unknown(why) = &need.state {
        members.push(("error", Json::text(why)));
    }
    Json::Object(members)
}

fn provider_value(provider: &Provider) -> Json {
    match provider {
        Provider::Operator(namespace, name) => Json::Object(vec![
            ("kind", Json::text("operator")),
            ("namespace", Json::text(namespace)),
            ("name", Json::text(name)),
        ]),
        Provider::Cluster => Json::Object(vec![("kind", Json::text("cluster"))]),
    }
}

fn need_members(need: &OperatorNeed) -> Vec<(&'static str, Json)> {
    match need.constraint.as_ref().map(|constraint| &constraint.requirement) {
        Some(Requirement::Gvk(api)) => vec![
            ("group", Json::text(&api.group)),
            ("version", Json::text(&api.version)),
            ("kind", Json::text(&api.kind)),
        ],
        Some(Requirement::Package { name, range }) => {
            vec![("package", Json::text(name)), ("range", Json::text(range.to_string()))]
        }
        Some(
            Requirement::Label(_)
            | Requirement::Cel(_)
            | Requirement::All(_)
            | Requirement::Any(_)
            | Requirement::Not(_),
        )
        | None => Vec::new(),
    }
}
