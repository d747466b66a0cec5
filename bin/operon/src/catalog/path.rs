//! `operon catalog path`: the way from one version to another, hop by hop, or why there is none.

pub(super) mod names;
mod text;

use anyhow::bail;
use clap::{Args, ValueEnum};
use operon_catalog::{
    Channel, Package,
    graph::Rules,
    journey::{Automatic, Ending, Hop, Installed, NoWay, Origin, Routes, Step},
};

use self::names::{chosen_channels, not_found, rules_key};
use super::{find::find_package, open::CatalogPath};
use crate::{
    exit::Outcome,
    output::{self, Json, OutputOptions},
};

/// What a user writes for the version that a fresh installation gets.
const HEAD: &str = "head";

/// Shows the updates that lead from one version of a package to another
///
/// Two ways are shown for each channel: the shortest one, and the automatic one, where every update
/// is taken as soon as it is offered. OLM v0 follows one channel; OLM v1 lets all channels of the
/// package count together unless --channel is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 there is a way, 1 there is none under any of the rules asked for

Examples:
  operon catalog path ./catalog etcd 0.9.0 head
  operon catalog path ./catalog etcd etcdoperator.v0.6.1 0.9.4 --channel alpha --rules v0
  operon catalog path ./catalog etcd 0.9.0 0.9.4 -o json")]
pub(crate) struct Path {
    #[command(flatten)]
    catalog: CatalogPath,
    /// The package
    package: String,
    /// What is installed: a bundle name or a version, published or not
    from: String,
    /// Where to go: a bundle name, a version, or `head`
    to: String,
    /// Only this channel; may be given several times
    #[arg(long)]
    channel: Vec<String>,
    /// Whose rules decide what is an update
    #[arg(long, value_enum, default_value = "both")]
    rules: RulesChoice,
    #[command(flatten)]
    output: OutputOptions,
}

/// Whose rules decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesChoice {
    /// OLM v0: one channel, nothing that is skipped, the nearest to the head wins
    V0,
    /// OLM v1: every edge counts, the highest version wins
    V1,
    /// Both
    Both,
}

impl RulesChoice {
    pub(super) fn rules(self) -> &'static [Rules] {
        match self {
            RulesChoice::V0 => &[Rules::V0],
            RulesChoice::V1 => &[Rules::V1],
            RulesChoice::Both => &[Rules::V0, Rules::V1],
        }
    }
}

/// The answer to the question of a path.
struct Answer<'c> {
    package: Package<'c>,
    from: Installed,
    to: &'c str,
    journeys: Vec<Journey<'c>>,
}

/// The way through one channel, or through several under OLM v1.
struct Journey<'c> {
    rules: Rules,
    channels: Vec<Channel<'c>>,
    /// Whether these are all channels of the package.
    is_whole_package: bool,
    target: Option<&'c str>,
    /// `None` when there is no way.
    shortest: Option<Vec<Hop<'c>>>,
    automatic: Automatic<'c>,
    no_way: Option<NoWay>,
}

pub(crate) fn run(command: &Path) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open()?;
    let package = find_package(opened.catalog(), &command.package)?;
    let from = Installed::find(package, &command.from).map_err(|error| {
        let known = Installed::all(package);
        let names = known.iter().map(|installed| installed.name.as_str());
        not_found(&error.to_string(), &command.from, names)
    })?;
    let to = match command.to.as_str() {
        HEAD => None,
        text => Some(find_target(package, text)?),
    };
    let channels = chosen_channels(package, &command.channel)?;
    let mut routes = Vec::new();
    for &rules in command.rules.rules() {
        match rules {
            Rules::V0 => routes.extend(channels.iter().map(|&channel| Routes::v0(channel))),
            Rules::V1 => routes.push(Routes::v1(channels.iter().copied())),
        }
    }
    if routes.iter().any(|routes| !routes.is_searchable()) {
        bail!("package `{}` has too many entries to be searched", package.name());
    }
    let journeys = routes.iter().map(|routes| journey(routes, &from, to.as_ref())).collect();
    let to = to.as_ref().and_then(|to| package.bundle(&to.name)).map_or(HEAD, |to| to.name());
    let answer = Answer { package, from, to, journeys };
    output::print(command.output.output, || text::render(&answer), || json(&answer))?;
    let found = answer.journeys.iter().any(|journey| journey.shortest.is_some());
    Ok(if found { Outcome::Done } else { Outcome::Negative })
}

fn find_target(package: Package<'_>, text: &str) -> anyhow::Result<Installed> {
    let name = package.name();
    let message = match Installed::find(package, text) {
        Ok(found) => match found.origin {
            Origin::Published => return Ok(found),
            Origin::Mentioned => {
                bail!("`{text}` is only mentioned in package `{name}`, it cannot be installed")
            }
            Origin::Unknown => format!("package `{name}` has no version `{text}`"),
        },
        Err(error) => error.to_string(),
    };
    let newest_first = package.bundles_by_version();
    let names = newest_first.iter().flat_map(|bundle| [bundle.version_text(), bundle.name()]);
    Err(not_found(&message, text, names))
}

fn journey<'c>(routes: &Routes<'c>, from: &Installed, to: Option<&Installed>) -> Journey<'c> {
    let destination = routes.destination().map(|place| routes.at(place));
    let to = to.or(destination.as_ref());
    let target = to.and_then(|to| routes.place(&to.name));
    let shortest = target.and_then(|target| routes.shortest(from, target));
    let no_way = match (&shortest, to) {
        (Some(_), _) => None,
        (None, Some(to)) => Some(NoWay::explain(routes, from, to)),
        (None, None) => Some(NoWay::explain(routes, from, &Installed::mentioned(HEAD))),
    };
    let package = routes.channels().first().map(|channel| channel.package());
    Journey {
        rules: routes.rules(),
        channels: routes.channels().to_vec(),
        is_whole_package: package
            .is_some_and(|package| package.channels().len() == routes.channels().len()),
        target: target.map(|target| routes.places()[target]),
        shortest,
        automatic: routes.automatic(from),
        no_way,
    }
}

impl<'c> Journey<'c> {
    /// Returns how many automatic updates lead to the target; `None` when they pass it by.
    fn automatic_hops_to_target(&self, from: &Installed) -> Option<usize> {
        if self.target == Some(from.name.as_str()) {
            return Some(0);
        }
        let hops = self.automatic.hops.iter();
        let names = hops.map(|hop| Some(hop.entry.name()));
        names.zip(1..).find(|(name, _)| *name == self.target).map(|(_, hops)| hops)
    }
}

fn json(answer: &Answer<'_>) -> Json {
    let journeys = answer.journeys.iter().map(|journey| {
        let reason = journey.no_way.as_ref().map(ToString::to_string);
        let shortest = journey.shortest.as_ref();
        Json::Object(vec![
            ("rules", Json::text(rules_key(journey.rules))),
            ("channels", Json::texts(journey.channels.iter().map(|channel| channel.name()))),
            ("target", Json::optional(journey.target)),
            ("reachable", Json::Bool(shortest.is_some())),
            ("shortest", shortest.map_or(Json::Null, |hops| hops_json(hops))),
            ("automatic", automatic_json(journey, &answer.from)),
            ("reason", Json::optional(reason)),
        ])
    });
    Json::Object(vec![
        ("package", Json::text(answer.package.name())),
        ("from", installed_json(&answer.from)),
        ("to", Json::text(answer.to)),
        ("journeys", Json::list(journeys)),
    ])
}

/// Prints an installed operator for programs.
pub(super) fn installed_json(installed: &Installed) -> Json {
    let name = Some(&installed.name).filter(|name| !name.is_empty());
    let origin = match installed.origin {
        Origin::Published => "published",
        Origin::Mentioned => "mentioned",
        Origin::Unknown => "unknown",
    };
    Json::Object(vec![
        ("name", Json::optional(name)),
        ("version", Json::optional(installed.version.as_ref().map(ToString::to_string))),
        ("origin", Json::text(origin)),
    ])
}

fn automatic_json(journey: &Journey<'_>, from: &Installed) -> Json {
    let circle = match journey.automatic.ending {
        Ending::Rest => None,
        Ending::Circle(name) => Some(name),
    };
    let end = journey.automatic.hops.last().map(|hop| hop.entry.name());
    Json::Object(vec![
        ("updates", hops_json(&journey.automatic.hops)),
        ("end", Json::optional(end)),
        ("circle", Json::optional(circle)),
        ("hopsToTarget", journey.automatic_hops_to_target(from).map_or(Json::Null, Json::number)),
    ])
}

fn hops_json(hops: &[Hop<'_>]) -> Json {
    Json::list(hops.iter().map(|hop| {
        let bundle = hop.bundle();
        let edges = hop.steps.iter().map(|step| {
            Json::Object(match step {
                Step::Replaces => vec![("kind", Json::text("replaces"))],
                Step::Skips => vec![("kind", Json::text("skips"))],
                Step::SkipRange(range) => {
                    vec![("kind", Json::text("skipRange")), ("range", Json::text(*range))]
                }
            })
        });
        Json::Object(vec![
            ("name", Json::text(hop.entry.name())),
            ("version", Json::optional(bundle.map(|bundle| bundle.version_text()))),
            ("channel", Json::text(hop.entry.channel().name())),
            ("edges", Json::list(edges)),
            ("deprecation", Json::optional(bundle.and_then(|bundle| bundle.deprecation()))),
        ])
    }))
}
