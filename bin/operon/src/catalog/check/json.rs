//! A survey for programs: the findings with their reasons as trees, and every entry.

use operon_resolve::{
    Universe,
    survey::{
        Absence, ChannelSurvey, Clause, EntrySurvey, Install, Obstacle, PackageSurvey, Stuck,
        Survey, Update,
    },
};

use super::findings::{Finding, Findings};
use crate::output::Json;

/// Returns everything that was found.
pub(super) fn json(
    survey: &Survey,
    findings: &Findings<'_>,
    semantics: &str,
    universe: &Universe<'_>,
) -> Json {
    let counts = &findings.counts;
    let summary = [
        ("packages", counts.packages),
        ("channels", counts.channels),
        ("versions", counts.versions),
        ("notInstallable", counts.not_installable),
        ("missingApi", counts.missing_api),
        ("notReachingHead", counts.stuck),
        ("undecided", counts.undecided),
    ];
    let catalogs = universe.sources.iter().map(|source| source.name.name.as_str());
    Json::Object(vec![
        ("semantics", Json::text(semantics)),
        ("catalogs", Json::texts(catalogs)),
        ("summary", Json::Object(summary.map(|(key, count)| (key, Json::number(count))).into())),
        ("notInstallable", Json::list(findings.installs.iter().map(finding))),
        ("notReachingHead", Json::list(findings.updates.iter().map(finding))),
        ("packages", Json::list(survey.packages.iter().map(package))),
    ])
}

fn finding(finding: &Finding<'_>) -> Json {
    let missing_api = finding.obstacle.is_some_and(Obstacle::is_missing_api);
    Json::Object(vec![
        ("package", Json::text(finding.package)),
        ("catalog", Json::text(finding.catalog)),
        ("channels", Json::texts(finding.channels.iter().copied())),
        ("versions", Json::text(&finding.folded)),
        ("bundles", Json::texts(finding.names.iter().copied())),
        ("reason", Json::text(&finding.reason)),
        ("missingApi", Json::Bool(missing_api)),
        ("obstacle", finding.obstacle.map_or(Json::Null, obstacle)),
    ])
}

/// The recursion is bounded by the length of chains of reasons.
fn obstacle(found: &Obstacle) -> Json {
    let kind = |name: &str| ("kind", Json::text(name));
    let members = match found {
        Obstacle::Deprecated => vec![kind("deprecated")],
        Obstacle::Malformed { error } => vec![kind("malformed"), ("error", Json::text(error))],
        Obstacle::ListedTwice { api } => {
            vec![kind("listedTwice"), ("api", Json::text(api.to_string()))]
        }
        Obstacle::ExcludesItself { excluded } => {
            vec![kind("excludesItself"), ("excluded", Json::text(excluded.to_string()))]
        }
        Obstacle::Absent { need, absence } => {
            let (instead, here) = match absence {
                Absence::Api => ("nothingProvides", &[][..]),
                Absence::Package => ("noSuchPackage", &[][..]),
                Absence::Versions(versions) => ("otherVersions", versions.as_slice()),
                Absence::NotOffered(names) => ("notOffered", names.as_slice()),
                Absence::Nothing => ("nothingFits", &[][..]),
            };
            vec![
                kind("absent"),
                ("need", Json::text(need.to_string())),
                ("message", Json::optional(need.failure_message.as_deref())),
                ("absence", Json::text(instead)),
                ("here", Json::texts(here)),
            ]
        }
        Obstacle::Hindered { need, hindrances, more } => {
            let told = hindrances.iter().map(|hindrance| {
                Json::Object(vec![
                    ("package", Json::text(&hindrance.package)),
                    ("bundle", Json::text(&hindrance.name)),
                    ("obstacle", obstacle(&hindrance.obstacle)),
                ])
            });
            vec![
                kind("hindered"),
                ("need", Json::text(need.to_string())),
                ("message", Json::optional(need.failure_message.as_deref())),
                ("by", Json::list(told)),
                ("more", Json::number(*more)),
            ]
        }
        Obstacle::Stopped { operator, error } => vec![
            kind("stopped"),
            ("bundle", Json::text(&operator.name)),
            ("error", Json::text(error)),
        ],
        Obstacle::Clash { operator, clauses } => vec![
            kind("clash"),
            ("bundle", Json::text(&operator.name)),
            ("clauses", Json::list(clauses.iter().map(clause))),
        ],
        Obstacle::Deeper => vec![kind("deeper")],
    };
    Json::Object(members)
}

fn clause(clause: &Clause) -> Json {
    let kind = match clause {
        Clause::Needs { .. } => "needs",
        Clause::Excludes { .. } => "excludes",
        Clause::Deprecated { .. } => "deprecated",
        Clause::Malformed { .. } => "malformed",
        Clause::OneProvider { .. } => "oneProvider",
        Clause::OneVersion { .. } => "oneVersion",
    };
    let bundles = clause.operators().iter().map(|operator| operator.name.as_str());
    Json::Object(vec![
        ("kind", Json::text(kind)),
        ("bundles", Json::texts(bundles)),
        ("phrase", Json::text(clause.phrase())),
    ])
}

fn package(package: &PackageSurvey) -> Json {
    let channels = package.channels.iter().map(|known| channel(package, known));
    Json::Object(vec![
        ("package", Json::text(&package.package)),
        ("channels", Json::list(channels)),
    ])
}

fn channel(package: &PackageSurvey, channel: &ChannelSurvey) -> Json {
    Json::Object(vec![
        ("catalog", Json::text(&channel.source.name)),
        ("channel", Json::text(&channel.channel)),
        ("default", Json::Bool(channel.is_default)),
        ("head", Json::optional(channel.head.as_deref())),
        ("entries", Json::list(channel.entries.iter().map(|known| entry(package, known)))),
    ])
}

fn entry(package: &PackageSurvey, entry: &EntrySurvey) -> Json {
    let (installable, reason) = match entry.install {
        Install::Possible => (Json::Bool(true), Json::Null),
        Install::Impossible(id) => {
            (Json::Bool(false), Json::text(package.obstacle(id).to_string()))
        }
        Install::Undecided => (Json::Null, Json::text("not decided within the limits of work")),
    };
    Json::Object(vec![
        ("name", Json::text(&entry.name)),
        ("version", Json::text(&entry.version)),
        ("installable", installable),
        ("reason", reason),
        ("update", update(&entry.update)),
    ])
}

fn update(update: &Update) -> Json {
    let (steps, at, why, to) = match update {
        Update::Head => (Json::number(0), None, None, None),
        Update::Reaches { steps } => (Json::number(*steps), None, None, None),
        Update::Stuck { at, why, .. } => {
            let (why, to) = match why {
                Stuck::NoHead => ("noHead", None),
                Stuck::NoUpdate => ("noUpdate", None),
                Stuck::Blocked { name, .. } => ("blocked", Some(name)),
                Stuck::Circle => ("circle", None),
                Stuck::Undecided => ("undecided", None),
            };
            (Json::Null, Some(at), Some(why), to)
        }
    };
    Json::Object(vec![
        ("stepsToHead", steps),
        ("endsAt", Json::optional(at)),
        ("because", Json::optional(why)),
        ("blockedUpdate", Json::optional(to)),
    ])
}
