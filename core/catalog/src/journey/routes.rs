//! The updates of one channel, or of several channels under the rules of OLM v1.
//!
//! Entries of several channels that name the same bundle are one place to be, however many ways lead
//! there. What the rules are is decided in `graph`; only the choice to stay is added here.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use operon_version::{Version, VersionRange};

use super::Installed;
use crate::{
    Bundle, Channel, Entry,
    graph::{MAX_SEARCH_EDGES, OrderError, Rules, Upgrades},
};

/// The updates of some channels of a package under one set of rules.
#[derive(Debug)]
pub struct Routes<'a> {
    rules: Rules,
    channels: Vec<Channel<'a>>,
    /// The entries by their position in `upgrades`.
    entries: Vec<Entry<'a>>,
    upgrades: Upgrades<'a>,
    /// The distinct names of entries; a place is a position in this list.
    places: Vec<&'a str>,
    place_by_name: BTreeMap<&'a str, usize>,
    place_of_entry: Vec<usize>,
    /// The entries of each place, in the order of channels.
    entries_of_place: Vec<Vec<usize>>,
}

/// What makes an entry an update of an installed operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step<'a> {
    /// The entry's `replaces` names the installed operator.
    Replaces,
    /// The entry's `skips` name the installed operator.
    Skips,
    /// The entry's skipRange, given as written, includes the installed version.
    SkipRange(&'a str),
}

/// One update on a journey.
#[derive(Debug, Clone)]
pub struct Hop<'a> {
    /// The entry that is installed by the update.
    pub entry: Entry<'a>,
    /// Why it is an update; never empty.
    pub steps: Vec<Step<'a>>,
}

/// What happens when every update is taken as soon as it is offered.
#[derive(Debug, Clone)]
pub struct Automatic<'a> {
    /// The updates in order.
    pub hops: Vec<Hop<'a>>,
    /// How it ends.
    pub ending: Ending<'a>,
}

/// How automatic updates end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'a> {
    /// Nothing more is offered.
    Rest,
    /// The updates lead back to a name that was installed before, and would run in a circle.
    Circle(&'a str),
}

impl<'a> Hop<'a> {
    /// Returns the bundle that the update installs.
    pub fn bundle(&self) -> Option<Bundle<'a>> {
        self.entry.bundle()
    }

    /// Tells whether the catalog advises against the bundle.
    pub fn is_deprecated(&self) -> bool {
        self.bundle().is_some_and(|bundle| bundle.deprecation().is_some())
    }
}

impl<'a> Routes<'a> {
    /// Prepares the updates of a channel as OLM v0 offers them.
    pub fn v0(channel: Channel<'a>) -> Self {
        Self::new(Rules::V0, vec![channel])
    }

    /// Prepares the updates of channels as OLM v1 offers them: all of them count together.
    pub fn v1(channels: impl IntoIterator<Item = Channel<'a>>) -> Self {
        Self::new(Rules::V1, channels.into_iter().collect())
    }

    /// Prepares the updates of one channel.
    pub fn of_channel(channel: Channel<'a>, rules: Rules) -> Self {
        match rules {
            Rules::V0 => Self::v0(channel),
            Rules::V1 => Self::v1([channel]),
        }
    }

    fn new(rules: Rules, channels: Vec<Channel<'a>>) -> Self {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut seen = BTreeSet::new();
        for entry in channels.iter().flat_map(|channel| channel.entries()) {
            // Channels repeat each other; an entry with the same edges adds nothing.
            let skips: Vec<&str> = entry.skips().collect();
            if seen.insert((entry.name(), entry.replaces(), skips, entry.skip_range())) {
                entries.push(entry);
            }
        }
        let mut places: Vec<&'a str> = entries.iter().map(|entry| entry.name()).collect();
        places.sort_unstable();
        places.dedup();
        let place_by_name: BTreeMap<&'a str, usize> =
            places.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        let place_of_entry: Vec<usize> =
            entries.iter().map(|entry| place_by_name[entry.name()]).collect();
        let mut entries_of_place = vec![Vec::new(); places.len()];
        for (position, &place) in place_of_entry.iter().enumerate() {
            entries_of_place[place].push(position);
        }
        let upgrades = Upgrades::new(entries.iter().map(|entry| entry.graph_entry()).collect());
        Self {
            rules,
            channels,
            entries,
            upgrades,
            places,
            place_by_name,
            place_of_entry,
            entries_of_place,
        }
    }

    /// Returns whose rules apply.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns the channels, in the order they were given.
    pub fn channels(&self) -> &[Channel<'a>] {
        &self.channels
    }

    /// Returns the names that can be installed or have been, in order; a place is a position here.
    pub fn places(&self) -> &[&'a str] {
        &self.places
    }

    /// Returns the place of a name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.place_by_name.get(name).copied()
    }

    /// Returns the first entry of a place.
    pub fn entry(&self, place: usize) -> Entry<'a> {
        self.entries[self.entries_of_place[place][0]]
    }

    /// Returns the places of the heads of the channels.
    pub fn heads(&self) -> Vec<usize> {
        let heads = self.channels.iter().filter_map(|channel| channel.head());
        let mut places: Vec<usize> = heads.filter_map(|head| self.place(head.name())).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Returns what a fresh installation gets: the head of the channel, or under OLM v1 the highest
    /// version that is not deprecated.
    pub fn destination(&self) -> Option<usize> {
        match self.rules {
            Rules::V0 => self.heads().first().copied(),
            Rules::V1 => (0..self.places.len()).min_by_key(|&place| self.worth(place)),
        }
    }

    /// Ranks places as OLM v1 does, the best one lowest.
    fn worth(&self, place: usize) -> (bool, Reverse<u32>) {
        let bundle = self.entry(place).bundle();
        let deprecated = bundle.is_some_and(|bundle| bundle.deprecation().is_some());
        (deprecated, Reverse(bundle.map_or(0, Bundle::version_rank)))
    }

    /// Returns why OLM v0 cannot follow the channel at all; never under the rules of OLM v1.
    pub fn defect(&self) -> Option<&OrderError> {
        match self.rules {
            Rules::V0 => self.upgrades.order().err(),
            Rules::V1 => None,
        }
    }

    /// Returns the places an installed operator can be updated to, the preferred one first.
    pub fn successors(&self, installed: &Installed) -> Vec<usize> {
        self.successors_of(&installed.name, installed.version.as_ref())
    }

    pub(super) fn successors_of(&self, name: &str, version: Option<&Version>) -> Vec<usize> {
        let covers = |position: &usize| match (self.skip_range(*position), version) {
            (Some(range), Some(version)) => range.contains(version),
            (Some(_) | None, _) => false,
        };
        let mut seen = vec![false; self.places.len()];
        let found = self.upgrades.successors(name, version, self.rules).into_iter();
        found
            // An operator without a name must not be taken for what replaces the empty name.
            .filter(|position| !name.is_empty() || covers(position))
            .map(|position| self.place_of_entry[position])
            .filter(|&place| !std::mem::replace(&mut seen[place], true))
            .collect()
    }

    fn skip_range(&self, position: usize) -> Option<&VersionRange> {
        self.upgrades.entries()[position].skip_range.as_ref()
    }

    /// Returns the update that is offered to an installed operator.
    ///
    /// Upstream: OLM v1 also considers staying, so an operator that is the better choice itself (not
    /// deprecated, or of a higher version) is left alone.
    pub fn next(&self, installed: &Installed) -> Option<usize> {
        let successors = self.successors(installed);
        self.choose(self.place(&installed.name), &successors)
    }

    pub(super) fn choose(&self, here: Option<usize>, successors: &[usize]) -> Option<usize> {
        let &first = successors.first()?;
        match (self.rules, here) {
            (Rules::V1, Some(here)) if self.worth(here) <= self.worth(first) => None,
            (Rules::V0 | Rules::V1, _) => Some(first),
        }
    }

    /// Tells whether the routes are small enough to be searched within [`MAX_SEARCH_EDGES`]; real
    /// ones are a thousand times smaller. Ask before following updates of a catalog from elsewhere.
    pub fn is_searchable(&self) -> bool {
        self.places.len().saturating_mul(self.entries.len()) <= MAX_SEARCH_EDGES
    }

    /// Follows the updates as they are offered.
    pub fn automatic(&self, installed: &Installed) -> Automatic<'a> {
        let mut hops = Vec::new();
        let mut been: BTreeSet<usize> = self.place(&installed.name).into_iter().collect();
        let mut current = installed.clone();
        while let Some(next) = self.next(&current) {
            if !been.insert(next) {
                return Automatic { hops, ending: Ending::Circle(self.places[next]) };
            }
            hops.push(self.hop(&current, next));
            current = self.at(next);
        }
        Automatic { hops, ending: Ending::Rest }
    }

    /// Returns the fewest updates that lead to a place, or `None` when no updates do.
    pub fn shortest(&self, installed: &Installed, target: usize) -> Option<Vec<Hop<'a>>> {
        if self.place(&installed.name) == Some(target) {
            return Some(Vec::new());
        }
        let mut came_from: Vec<Option<Option<usize>>> = vec![None; self.places.len()];
        let mut queue: VecDeque<Option<usize>> = VecDeque::from([None]);
        while let Some(current) = queue.pop_front() {
            let standing = current.map_or_else(|| installed.clone(), |place| self.at(place));
            for next in self.successors(&standing) {
                if came_from[next].is_none() && self.places[next] != installed.name {
                    came_from[next] = Some(current);
                    queue.push_back(Some(next));
                }
            }
            if came_from[target].is_some() {
                break;
            }
        }
        let mut places = vec![target];
        let mut current = target;
        while let Some(before) = came_from[current]? {
            places.push(before);
            current = before;
        }
        places.reverse();
        let starts = std::iter::once(installed.clone()).chain(places.iter().map(|&at| self.at(at)));
        Some(starts.zip(&places).map(|(from, &to)| self.hop(&from, to)).collect())
    }

    /// Returns a place as an installed operator.
    pub fn at(&self, place: usize) -> Installed {
        match self.entry(place).bundle() {
            Some(bundle) => Installed::published(bundle),
            None => Installed::mentioned(self.places[place]),
        }
    }

    /// Returns the update from an installed operator to a place that is a successor of it.
    pub(super) fn hop(&self, from: &Installed, to: usize) -> Hop<'a> {
        let candidates = self.entries_of_place[to].iter();
        candidates
            .map(|&position| Hop {
                entry: self.entries[position],
                steps: self.steps(from, position),
            })
            .find(|hop| !hop.steps.is_empty())
            .unwrap_or_else(|| Hop { entry: self.entry(to), steps: Vec::new() })
    }

    /// Returns why an entry is an update of an installed operator; empty when it is not.
    fn steps(&self, from: &Installed, position: usize) -> Vec<Step<'a>> {
        let entry = self.entries[position];
        let mut steps = Vec::new();
        if !from.name.is_empty() && entry.replaces() == Some(from.name.as_str()) {
            steps.push(Step::Replaces);
        }
        if !from.name.is_empty() && entry.skips().any(|skip| skip == from.name) {
            steps.push(Step::Skips);
        }
        if let (Some(range), Some(version)) = (self.skip_range(position), &from.version)
            && range.contains(version)
        {
            steps.extend(entry.skip_range().map(Step::SkipRange));
        }
        steps
    }

    /// Returns entries that have an edge from an installed operator which OLM v0 does not follow,
    /// because the entry is skipped or hidden.
    pub(super) fn ignored_updates(&self, installed: &Installed) -> Vec<&'a str> {
        let offered = self.successors(installed);
        let positions = 0..self.entries.len();
        let names = positions
            .filter(|&position| !self.steps(installed, position).is_empty())
            .map(|position| self.entries[position].name());
        let mut ignored: Vec<&str> = names
            .filter(|name| *name != installed.name)
            .filter(|name| self.place(name).is_some_and(|place| !offered.contains(&place)))
            .collect();
        ignored.sort_unstable();
        ignored.dedup();
        ignored
    }

    /// Returns the entries whose `skips` name a place.
    pub(super) fn skipped_by(&self, name: &str) -> Vec<&'a str> {
        let skipping = self.entries.iter().filter(|entry| entry.skips().any(|skip| skip == name));
        let mut names: Vec<&str> = skipping.map(|entry| entry.name()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Tells whether a place can be offered at all: under OLM v0 only what has a place in order.
    pub(super) fn is_offered(&self, place: usize) -> bool {
        match self.rules {
            Rules::V0 => {
                let order = self.upgrades.order().unwrap_or_default();
                order.iter().any(|&position| self.place_of_entry[position] == place)
            }
            Rules::V1 => true,
        }
    }

    pub(super) fn entry_count(&self) -> usize {
        self.entries.len()
    }
}
