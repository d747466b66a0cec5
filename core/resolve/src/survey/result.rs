//! What a survey says, as data; obstacles are kept once per package and referred to.

use operon_catalog::EntryId;

use super::Obstacle;
use crate::universe::SourceName;

/// What is to be said about every package, ordered by name.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The packages, ordered by name.
    pub packages: Vec<PackageSurvey>,
}

impl Survey {
    /// Puts the packages, as workers found them, into the order of their names.
    pub fn new(mut packages: Vec<PackageSurvey>) -> Self {
        packages.sort_by(|left, right| left.package.cmp(&right.package));
        Self { packages }
    }
}

/// What is to be said about a package, in all catalogs that offer it.
#[derive(Debug, Clone)]
pub struct PackageSurvey {
    /// The package's name.
    pub package: String,
    /// Its channels, in the order of catalogs and names.
    pub channels: Vec<ChannelSurvey>,
    /// The obstacles that the entries refer to, each once.
    pub obstacles: Vec<Obstacle>,
}

impl PackageSurvey {
    /// Returns the obstacle of this number.
    pub fn obstacle(&self, id: ObstacleId) -> &Obstacle {
        &self.obstacles[id.0]
    }
}

/// The number of an obstacle in its package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObstacleId(pub usize);

/// What is to be said about a channel.
#[derive(Debug, Clone)]
pub struct ChannelSurvey {
    /// The catalog that has it.
    pub source: SourceName,
    /// The channel's name.
    pub channel: String,
    /// Whether it is the package's default channel.
    pub is_default: bool,
    /// The name of the head; none when the channel has no single head.
    pub head: Option<String>,
    /// The entries that have a bundle, the oldest version first.
    pub entries: Vec<EntrySurvey>,
}

/// What is to be said about one version in a channel.
#[derive(Debug, Clone)]
pub struct EntrySurvey {
    /// The entry in its catalog.
    pub entry: EntryId,
    /// The name of the bundle.
    pub name: String,
    /// The version as written; may be empty.
    pub version: String,
    /// Whether it can be installed.
    pub install: Install,
    /// Whether updates lead from it to the head of the channel.
    pub update: Update,
}

/// Whether a bundle can be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Install {
    /// A set of operators exists that contains it and in which every need is met.
    Possible,
    /// There is no such set, because of this.
    Impossible(ObstacleId),
    /// The budget ended before there was an answer.
    Undecided,
}

/// Where the updates lead that an installation on a version is offered, the first that can be
/// installed each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// It is the head.
    Head,
    /// They lead to the head.
    Reaches {
        /// In so many updates.
        steps: u32,
    },
    /// They end elsewhere.
    Stuck {
        /// The name of the bundle they end at; itself when there are none.
        at: String,
        /// The version of that bundle as written.
        version: String,
        /// Why they end there.
        why: Stuck,
    },
}

/// Why updates end before the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stuck {
    /// The channel has no single head, so that nobody can follow it.
    NoHead,
    /// Nothing replaces, skips or covers the version.
    NoUpdate,
    /// There are updates, and none of them can be installed.
    Blocked {
        /// The name of the preferred one.
        name: String,
        /// Its version as written.
        version: String,
        /// What stands in its way.
        obstacle: ObstacleId,
    },
    /// The updates run in a circle, or the version is offered as an update of itself.
    Circle,
    /// The budget ended before there was an answer.
    Undecided,
}
