//! Asks about packages one by one, with a search of its own for the part of the space at hand.

use std::collections::BTreeMap;

use operon_catalog::{Channel, Entry};
use operon_sat::{Answer, Budget, Solver};

use super::clash::{ClashMemo, Guarded};
use super::journey::Journeys;
use super::{
    ChannelSurvey, ENTRY_REASON_STEPS, ENTRY_STEPS, EntrySurvey, Install, Obstacle, ObstacleId,
    PackageSurvey, REASON_STEPS, SURVEY_STEPS, Surveyor,
};
use crate::encode::{Encoded, encode};
use crate::space::{NodeId, SourceIndex};

/// Surveys packages, and remembers what it found out on the way.
#[derive(Debug)]
pub struct Worker<'s, 'u> {
    surveyor: &'s Surveyor<'u>,
    /// For each node of the part at hand its place in the problem.
    places: Vec<u32>,
    /// The nodes that some answer contained.
    is_possible: Vec<bool>,
    loaded: Option<Loaded>,
}

/// The part of the space at hand.
struct Loaded {
    part: usize,
    encoded: Encoded,
    solver: Solver,
    /// The same with rules that can be left out; made when the first contradiction is met.
    guarded: Option<Guarded>,
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Loaded").field("part", &self.part).finish_non_exhaustive()
    }
}

/// What is collected about a package.
pub(super) struct Findings<'u> {
    pub(super) installs: BTreeMap<NodeId, Install>,
    obstacles: Vec<Obstacle>,
    by_text: BTreeMap<String, ObstacleId>,
    clashes: ClashMemo<'u>,
    /// For the search.
    budget: Budget,
    /// For the search for reasons.
    reason_budget: Budget,
}

impl Findings<'_> {
    /// Keeps an obstacle once, however many bundles have it.
    pub(super) fn keep(&mut self, obstacle: Obstacle) -> ObstacleId {
        let next = ObstacleId(self.obstacles.len());
        let id = *self.by_text.entry(obstacle.to_string()).or_insert(next);
        if id == next {
            self.obstacles.push(obstacle);
        }
        id
    }
}

impl<'s, 'u> Worker<'s, 'u> {
    pub(super) fn new(surveyor: &'s Surveyor<'u>) -> Self {
        let count = surveyor.space.nodes.len();
        Self { surveyor, places: vec![0; count], is_possible: vec![false; count], loaded: None }
    }

    /// Surveys the package of this number.
    pub fn survey(&mut self, number: usize) -> PackageSurvey {
        let surveyor = self.surveyor;
        let package = &surveyor.packages[number];
        let mut nodes: Vec<NodeId> = Vec::new();
        for &(source, offered) in &package.offers {
            let entries = offered.channels().flat_map(|channel| channel.entries());
            nodes.extend(entries.filter_map(|entry| surveyor.node(source, entry)));
        }
        let mut findings = Findings {
            installs: BTreeMap::new(),
            obstacles: Vec::new(),
            by_text: BTreeMap::new(),
            clashes: ClashMemo::default(),
            budget: Budget::new(surveyor.share(SURVEY_STEPS, &ENTRY_STEPS, nodes.len())),
            reason_budget: Budget::new(surveyor.share(
                REASON_STEPS,
                &ENTRY_REASON_STEPS,
                nodes.len(),
            )),
        };
        for node in nodes {
            let install = self.install(package.part, node, &mut findings);
            findings.installs.insert(node, install);
        }
        let mut channels = Vec::new();
        for &(source, offered) in &package.offers {
            for channel in offered.channels() {
                channels.push(survey_channel(surveyor, source, channel, &mut findings));
            }
        }
        PackageSurvey { package: package.name.to_owned(), channels, obstacles: findings.obstacles }
    }

    fn install(&mut self, part: usize, node: NodeId, findings: &mut Findings<'u>) -> Install {
        if let Some(obstacle) = self.surveyor.plain_obstacle(node) {
            return Install::Impossible(findings.keep(obstacle));
        }
        if self.is_possible[node.index()] || self.surveyor.spread.is_free(node) {
            return Install::Possible;
        }
        if findings.budget.remaining() == 0 || !self.surveyor.is_finished[part] {
            return Install::Undecided;
        }
        let surveyor = self.surveyor;
        if self.loaded.as_ref().is_none_or(|loaded| loaded.part != part) {
            let encoded = encode(&surveyor.space, &surveyor.parts[part], &mut self.places);
            let solver = Solver::new(&encoded.problem);
            self.loaded = Some(Loaded { part, encoded, solver, guarded: None });
        }
        let Some(loaded) = &mut self.loaded else { return Install::Undecided };
        let variable = loaded.encoded.variables[self.places[node.index()] as usize];
        match loaded.solver.satisfy(&[variable.positive()], &mut findings.budget) {
            Answer::Satisfiable(solution) => {
                // Everything in an answer can be installed, by the same answer.
                for node in solution.chosen.iter().filter_map(|&chosen| loaded.encoded.node(chosen))
                {
                    self.is_possible[node.index()] = true;
                }
                Install::Possible
            }
            Answer::Unsatisfiable(_) => {
                let Findings { clashes, reason_budget, .. } = findings;
                let (space, places) = (&surveyor.space, &mut self.places);
                let part = &surveyor.parts[part];
                let obstacle =
                    clashes.obstacle(surveyor, node, || {
                        let guarded = &mut loaded.guarded;
                        guarded
                            .get_or_insert_with(|| Guarded::new(space, part, places))
                            .rules_against(space, part, node, variable, reason_budget)
                    });
                Install::Impossible(findings.keep(obstacle))
            }
            Answer::Spent => Install::Undecided,
        }
    }
}

impl Surveyor<'_> {
    /// Returns the node of an entry; none when the entry has no bundle.
    pub(super) fn node(&self, source: SourceIndex, entry: Entry<'_>) -> Option<NodeId> {
        self.space.sources[source.index()].node_of(entry.id())
    }
}

fn survey_channel<'u>(
    surveyor: &Surveyor<'u>,
    source: SourceIndex,
    channel: Channel<'u>,
    findings: &mut Findings<'u>,
) -> ChannelSurvey {
    let mut known: Vec<(u32, Entry<'u>, NodeId)> = Vec::new();
    for entry in channel.entries() {
        if let (Some(bundle), Some(node)) = (entry.bundle(), surveyor.node(source, entry)) {
            known.push((bundle.version_rank(), entry, node));
        }
    }
    known.sort_by(|left, right| (left.0, left.1.name()).cmp(&(right.0, right.1.name())));
    let mut journeys = Journeys::new(surveyor, source, channel, known.len());
    let mut entries = Vec::with_capacity(known.len());
    for (_, entry, node) in known {
        let version = entry.bundle().map(|bundle| bundle.version_text().to_owned());
        entries.push(EntrySurvey {
            entry: entry.id(),
            name: entry.name().to_owned(),
            version: version.unwrap_or_default(),
            install: findings.installs.get(&node).copied().unwrap_or(Install::Undecided),
            update: journeys.update(node, findings),
        });
    }
    ChannelSurvey {
        source: surveyor.space.sources[source.index()].name.clone(),
        channel: channel.name().to_owned(),
        is_default: channel.is_default(),
        head: channel.head().map(|head| head.name().to_owned()),
        entries,
    }
}
