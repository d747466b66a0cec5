//! What a whole catalog holds in store: which bundles can be installed at all, and which versions
//! get to the head of their channel.
//!
//! Every entry is asked as if a Subscription wanted it in an empty namespace that sees all the
//! catalogs; nothing is chosen for anyone. A [`Surveyor`] is prepared once and can be shared by
//! threads; each takes a [`Worker`] of its own and surveys packages one by one.

mod clash;
mod clause;
mod journey;
mod obstacle;
mod result;
mod sentence;
mod spread;
mod worker;

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;

use operon_catalog::Package;

use self::spread::Spread;
pub use self::{
    clause::Clause,
    obstacle::{Absence, Hindrance, MAX_CHAIN, MAX_HINDRANCES, Obstacle},
    result::{
        ChannelSurvey, EntrySurvey, Install, ObstacleId, PackageSurvey, Stuck, Survey, Update,
    },
    worker::Worker,
};
use crate::parts::{SpacePart, parts};
use crate::semantics::Semantics;
use crate::space::{self, NodeId, SourceIndex, Space};
use crate::universe::Universe;

/// Steps of the search over all entries, which have equal shares: a second of work, several times
/// what the community catalog needs. What is not decided by then is reported as undecided.
pub const SURVEY_STEPS: u64 = 60_000_000;

/// Steps of the search for the reasons of contradictions over all entries, which have equal shares;
/// where they do not suffice, a contradiction is reported without reasons.
pub const REASON_STEPS: u64 = 40_000_000;

/// The least and the most that an entry's share of search steps can be, however many entries there
/// are.
pub const ENTRY_STEPS: RangeInclusive<u64> = 20_000..=4_000_000;

/// The least and the most that an entry's share of steps for reasons can be.
pub const ENTRY_REASON_STEPS: RangeInclusive<u64> = 2_000..=4_000_000;

/// Pairs of an installed version and a possible update that are compared for one channel: the
/// largest real channels have some hundred thousand. Beyond it, updates are undecided.
pub const MAX_UPDATE_PAIRS: usize = 10_000_000;

/// Surveys everything that the catalogs of a universe offer, package by package.
pub fn survey(universe: &Universe<'_>, semantics: &Semantics) -> Survey {
    let surveyor = Surveyor::new(universe, semantics);
    let mut worker = surveyor.worker();
    let numbers = 0..surveyor.package_count();
    Survey::new(numbers.map(|number| worker.survey(number)).collect())
}

/// Everything that the catalogs of a universe offer, ready to be asked by several workers.
#[derive(Debug)]
pub struct Surveyor<'u> {
    space: Space<'u>,
    parts: Vec<SpacePart>,
    spread: Spread,
    /// For each part whether all needs in it are known.
    is_finished: Vec<bool>,
    /// In the order of their parts, so that a worker meets each part once.
    packages: Vec<Offered<'u>>,
}

/// A package, in all catalogs that offer it.
#[derive(Debug)]
struct Offered<'u> {
    name: &'u str,
    /// The part of the space that holds its entries; 0 when it has none.
    part: usize,
    offers: Vec<(SourceIndex, Package<'u>)>,
}

impl<'u> Surveyor<'u> {
    /// Prepares a survey of the catalogs of a universe; what is installed does not count, and
    /// catalogs that cannot be read are left out.
    pub fn new(universe: &'u Universe<'u>, semantics: &Semantics) -> Self {
        let space = space::whole(universe, *semantics);
        let parts = parts(&space);
        let spread = Spread::new(&space, semantics.failures);
        let unfinished: HashSet<NodeId> = space.unfinished.iter().map(|(node, _)| *node).collect();
        let is_finished = parts
            .iter()
            .map(|part| {
                unfinished.is_empty() || !part.nodes.iter().any(|node| unfinished.contains(node))
            })
            .collect();
        let packages = offered(&space, &parts);
        Self { space, parts, spread, is_finished, packages }
    }

    /// Returns how many packages there are; packages of one name in several catalogs are one.
    pub fn package_count(&self) -> usize {
        self.packages.len()
    }

    /// Returns the name of a package by its number.
    pub fn package_name(&self, number: usize) -> &'u str {
        self.packages[number].name
    }

    /// Returns the share of steps that so many entries have.
    fn share(&self, steps: u64, bounds: &RangeInclusive<u64>, entries: usize) -> u64 {
        let share = steps / (self.space.nodes.len() as u64).max(1);
        share.clamp(*bounds.start(), *bounds.end()).saturating_mul(entries as u64)
    }

    /// Returns a worker, which remembers what it found out; lower numbers are best asked first.
    pub fn worker(&self) -> Worker<'_, 'u> {
        Worker::new(self)
    }
}

fn offered<'u>(space: &Space<'u>, parts: &[SpacePart]) -> Vec<Offered<'u>> {
    let mut part_of_node = vec![0; space.nodes.len()];
    for (number, part) in parts.iter().enumerate() {
        for node in &part.nodes {
            part_of_node[node.index()] = number;
        }
    }
    let mut packages: BTreeMap<&'u str, Offered<'u>> = BTreeMap::new();
    for (index, source) in space.sources.iter().enumerate() {
        let catalog = source.catalog;
        for package in catalog.packages() {
            let name = package.name();
            let offered = packages.entry(name).or_insert_with(|| Offered {
                name,
                part: 0,
                offers: Vec::new(),
            });
            offered.offers.push((SourceIndex(index as u32), package));
            // One of a package excludes the others, so all entries of a package are in one part.
            let mut entries = package.channels().flat_map(|channel| channel.entries());
            let node = entries.find_map(|entry| source.node_of(entry.id()));
            offered.part = node.map_or(offered.part, |node| part_of_node[node.index()]);
        }
    }
    let mut packages: Vec<Offered<'u>> = packages.into_values().collect();
    packages.sort_by_key(|package| package.part);
    packages
}
