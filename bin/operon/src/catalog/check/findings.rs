//! What a survey found, with everything that has one reason as one finding.

use std::collections::{BTreeMap, BTreeSet};

use operon_resolve::survey::{
    ChannelSurvey, EntrySurvey, Install, Obstacle, ObstacleId, PackageSurvey, Stuck, Survey, Update,
};

use super::fold::Versions;

/// What was found over all packages.
#[derive(Debug, Default)]
pub(super) struct Findings<'s> {
    /// What cannot be installed.
    pub(super) installs: Vec<Finding<'s>>,
    /// What cannot get to the head of a channel.
    pub(super) updates: Vec<Finding<'s>>,
    pub(super) counts: Counts,
}

/// How much was looked at and found; versions are bundles that some channel has, each once.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) packages: usize,
    pub(super) channels: usize,
    pub(super) versions: usize,
    pub(super) not_installable: usize,
    /// Those of them that need an API that nothing here provides.
    pub(super) missing_api: usize,
    /// Versions that do not get to the head of at least one channel.
    pub(super) stuck: usize,
    /// Versions about which the budget left something open.
    pub(super) undecided: usize,
}

/// Versions of a package that have the same reason.
#[derive(Debug)]
pub(super) struct Finding<'s> {
    pub(super) package: &'s str,
    pub(super) catalog: &'s str,
    /// The channels it is about; none when it is about all that have the versions.
    pub(super) channels: Vec<&'s str>,
    /// The names of the bundles, the oldest first.
    pub(super) names: Vec<&'s str>,
    /// The versions as they are shown.
    pub(super) folded: String,
    /// The reason, as a phrase that follows the versions.
    pub(super) reason: String,
    /// What stands in the way, if it is a bundle that cannot be installed.
    pub(super) obstacle: Option<&'s Obstacle>,
}

impl<'s> Findings<'s> {
    pub(super) fn new(survey: &'s Survey) -> Self {
        let mut findings = Self::default();
        for package in &survey.packages {
            findings.add_package(package);
        }
        findings
    }

    /// Tells whether everything was decided and can be.
    pub(super) fn is_clean(&self) -> bool {
        self.installs.is_empty() && self.updates.is_empty() && self.counts.undecided == 0
    }

    fn add_package(&mut self, package: &'s PackageSurvey) {
        self.counts.packages += 1;
        self.counts.channels += package.channels.len();
        let mut by_catalog: BTreeMap<&str, Vec<&'s ChannelSurvey>> = BTreeMap::new();
        for channel in &package.channels {
            by_catalog.entry(&channel.source.name).or_default().push(channel);
        }
        for channels in by_catalog.into_values() {
            let entries = || channels.iter().flat_map(|channel| &channel.entries);
            let bundles = entries().map(|entry| (entry.name.as_str(), entry.version.as_str()));
            let versions = Versions::new(bundles);
            self.counts.versions += versions.count();
            self.count(package, &channels);
            self.add_installs(package, &channels, &versions);
            self.add_updates(package, &channels, &versions);
        }
    }

    fn count(&mut self, package: &PackageSurvey, channels: &[&'s ChannelSurvey]) {
        let mut named: [BTreeSet<&str>; 4] = Default::default();
        for entry in channels.iter().flat_map(|channel| &channel.entries) {
            let [not_installable, missing_api, stuck, undecided] = &mut named;
            match entry.install {
                Install::Possible => {}
                Install::Impossible(obstacle) => {
                    not_installable.insert(&entry.name);
                    if package.obstacle(obstacle).is_missing_api() {
                        missing_api.insert(&entry.name);
                    }
                }
                Install::Undecided => {
                    undecided.insert(&entry.name);
                }
            }
            match &entry.update {
                Update::Head | Update::Reaches { .. } => {}
                Update::Stuck { why: Stuck::Undecided, .. } => {
                    undecided.insert(&entry.name);
                }
                Update::Stuck { .. } => {
                    stuck.insert(&entry.name);
                }
            }
        }
        let [not_installable, missing_api, stuck, undecided] = named.map(|names| names.len());
        self.counts.not_installable += not_installable;
        self.counts.missing_api += missing_api;
        self.counts.stuck += stuck;
        self.counts.undecided += undecided;
    }

    fn add_installs(
        &mut self,
        package: &'s PackageSurvey,
        channels: &[&'s ChannelSurvey],
        versions: &Versions,
    ) {
        for (number, obstacle) in package.obstacles.iter().enumerate() {
            let has_it = |entry: &EntrySurvey| matches!(entry.install, Install::Impossible(id) if id.0 == number);
            let having: Vec<&ChannelSurvey> =
                channels.iter().copied().filter(|known| known.entries.iter().any(has_it)).collect();
            let affected = having.iter().flat_map(|channel| &channel.entries);
            let names: BTreeSet<&str> =
                affected.filter(|entry| has_it(entry)).map(|entry| entry.name.as_str()).collect();
            if names.is_empty() {
                continue;
            }
            let is_elsewhere_free = channels
                .iter()
                .flat_map(|channel| &channel.entries)
                .any(|entry| names.contains(entry.name.as_str()) && !has_it(entry));
            self.installs.push(Finding {
                package: &package.package,
                catalog: &channels[0].source.name,
                channels: if is_elsewhere_free { channel_names(&having) } else { Vec::new() },
                folded: versions.fold(names.iter().copied()),
                names: names.into_iter().collect(),
                reason: obstacle.to_string(),
                obstacle: Some(obstacle),
            });
        }
    }

    fn add_updates(
        &mut self,
        package: &'s PackageSurvey,
        channels: &[&'s ChannelSurvey],
        versions: &Versions,
    ) {
        let first = self.updates.len();
        for channel in channels {
            let entries = channel.entries.iter();
            let own =
                Versions::new(entries.map(|entry| (entry.name.as_str(), entry.version.as_str())));
            for group in stuck_groups(channel) {
                let reason = stuck_reason(package, &group, versions);
                let same = self.updates[first..]
                    .iter_mut()
                    .find(|known| (&known.names, &known.reason) == (&group.names, &reason));
                if let Some(known) = same {
                    known.channels.push(&channel.channel);
                    continue;
                }
                let obstacle = match group.cause {
                    StuckCause::Blocked(obstacle) | StuckCause::Itself(obstacle) => {
                        Some(package.obstacle(obstacle))
                    }
                    StuckCause::NoHead
                    | StuckCause::Circle
                    | StuckCause::NoUpdate
                    | StuckCause::NoUpdateOf(_) => None,
                };
                self.updates.push(Finding {
                    package: &package.package,
                    catalog: &channel.source.name,
                    channels: vec![&channel.channel],
                    folded: own.fold(group.names.iter().copied()),
                    names: group.names,
                    reason,
                    obstacle,
                });
            }
        }
    }
}

fn channel_names<'s>(channels: &[&'s ChannelSurvey]) -> Vec<&'s str> {
    channels.iter().map(|channel| channel.channel.as_str()).collect()
}

/// Versions of a channel that do not get to its head for the same reason.
struct StuckGroup<'s> {
    cause: StuckCause<'s>,
    names: Vec<&'s str>,
    /// The updates that cannot be installed.
    targets: Vec<&'s str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StuckCause<'s> {
    NoHead,
    Circle,
    /// Nothing updates the version itself.
    NoUpdate,
    /// Nothing updates the version that updates of several end at.
    NoUpdateOf(&'s str),
    /// No update can be installed.
    Blocked(ObstacleId),
    /// Upstream: the version itself stops the namespace.
    Itself(ObstacleId),
}

fn stuck_groups<'s>(channel: &'s ChannelSurvey) -> Vec<StuckGroup<'s>> {
    let mut groups: Vec<StuckGroup<'s>> = Vec::new();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &channel.entries {
        if let Update::Stuck { at, why: Stuck::NoUpdate, .. } = &entry.update {
            *ends.entry(at).or_default() += 1;
        }
    }
    for entry in &channel.entries {
        let Update::Stuck { at, why, .. } = &entry.update else { continue };
        let (cause, target) = match why {
            // It is counted; there is nothing to say about it.
            Stuck::Undecided => continue,
            Stuck::NoHead => (StuckCause::NoHead, None),
            Stuck::Circle => (StuckCause::Circle, None),
            Stuck::NoUpdate if ends.get(at.as_str()) == Some(&1) => (StuckCause::NoUpdate, None),
            Stuck::NoUpdate => (StuckCause::NoUpdateOf(at), None),
            Stuck::Blocked { name, obstacle, .. } if *name == entry.name => {
                (StuckCause::Itself(*obstacle), None)
            }
            Stuck::Blocked { name, obstacle, .. } => (StuckCause::Blocked(*obstacle), Some(name)),
        };
        let position = groups.iter().position(|known| known.cause == cause);
        let position = position.unwrap_or_else(|| {
            groups.push(StuckGroup { cause, names: Vec::new(), targets: Vec::new() });
            groups.len() - 1
        });
        groups[position].names.push(&entry.name);
        groups[position].targets.extend(target.map(String::as_str));
    }
    groups
}

/// Says why versions do not get to the head, as a phrase that follows them.
fn stuck_reason(package: &PackageSurvey, group: &StuckGroup<'_>, versions: &Versions) -> String {
    match group.cause {
        StuckCause::NoHead => "the channel has no single head".to_owned(),
        StuckCause::Circle => "updates run in a circle".to_owned(),
        StuckCause::NoUpdate if group.names.len() > 1 => "nothing updates them".to_owned(),
        StuckCause::NoUpdate => "nothing updates it".to_owned(),
        StuckCause::NoUpdateOf(name) => format!("nothing updates {}", versions.label(name)),
        StuckCause::Itself(obstacle) => {
            format!("cannot be updated, because it {}", package.obstacle(obstacle))
        }
        StuckCause::Blocked(obstacle) => {
            let obstacle = package.obstacle(obstacle);
            let targets = versions.fold(group.targets.iter().copied());
            let is_one = group.targets.iter().all(|target| *target == group.targets[0]);
            let which = if is_one { "which" } else { "each of which" };
            format!("cannot be updated to {targets}, {which} {obstacle}")
        }
    }
}
