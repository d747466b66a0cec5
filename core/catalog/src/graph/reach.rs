//! Which updates exist from an installed version, under the rules of either generation of upstream.
//!
//! Only the graph is asked here: whether an update is possible in a namespace is the resolver's
//! business.

use std::{
    cmp::Reverse,
    collections::{HashMap, VecDeque},
};

use operon_version::Version;

use super::{GraphEntry, OrderError, order};

/// How many edges a search looks at before it gives up: a bound for absurd channels, ten thousand
/// times what the largest real channel needs.
pub const MAX_SEARCH_EDGES: usize = 200_000_000;

/// Whose rules decide what an installed operator can be updated to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rules {
    /// OLM v0: only entries in channel order, so none that is skipped; the one nearest the head wins.
    V0,
    /// OLM v1: any entry with an edge, skipped or not; not deprecated first, then the highest version.
    V1,
}

/// The updates of a set of entries, ready to be asked.
#[derive(Debug)]
pub struct Upgrades<'a> {
    entries: Vec<GraphEntry<'a>>,
    order: Result<Vec<usize>, OrderError>,
    /// Position in channel order, for entries that have one.
    rank: Vec<Option<usize>>,
    /// Entries that replace or skip a name.
    direct: HashMap<&'a str, Vec<usize>>,
    /// Entries with a skipRange.
    ranged: Vec<usize>,
}

/// How far each entry is from an installed version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The number of updates needed to get to each entry, `None` when there is no way.
    pub hops: Vec<Option<u32>>,
    /// Whether the search came to its end; `false` only beyond [`MAX_SEARCH_EDGES`].
    pub complete: bool,
}

impl<'a> Upgrades<'a> {
    /// Prepares the updates of a channel.
    pub fn new(entries: Vec<GraphEntry<'a>>) -> Self {
        let order = order(&entries);
        let mut rank = vec![None; entries.len()];
        for (position, &entry) in order.iter().flatten().enumerate() {
            rank[entry] = Some(position);
        }
        let mut direct: HashMap<&'a str, Vec<usize>> = HashMap::new();
        for (position, entry) in entries.iter().enumerate() {
            direct.entry(entry.replaces).or_default().push(position);
            for name in &entry.skips {
                direct.entry(name).or_default().push(position);
            }
        }
        let ranged =
            (0..entries.len()).filter(|&entry| entries[entry].skip_range.is_some()).collect();
        Self { entries, order, rank, direct, ranged }
    }

    /// Returns the entries, in the order they were given.
    pub fn entries(&self) -> &[GraphEntry<'a>] {
        &self.entries
    }

    /// Returns the positions of the entries in channel order, head first.
    pub fn order(&self) -> Result<&[usize], &OrderError> {
        self.order.as_deref()
    }

    /// Returns the updates of an installed operator, the preferred one first, itself excluded.
    pub fn successors(&self, name: &str, version: Option<&Version>, rules: Rules) -> Vec<usize> {
        let mut found: Vec<usize> = self.direct.get(name).cloned().unwrap_or_default();
        if let Some(version) = version {
            found.extend(self.ranged.iter().copied().filter(|&entry| {
                self.entries[entry].skip_range.as_ref().is_some_and(|range| range.contains(version))
            }));
        }
        found.retain(|&entry| self.entries[entry].name != name);
        match rules {
            Rules::V0 => {
                found.retain(|&entry| self.rank[entry].is_some());
                found.sort_by_key(|&entry| self.rank[entry]);
            }
            Rules::V1 => found.sort_by_key(|&entry| {
                let candidate = &self.entries[entry];
                (candidate.deprecated, Reverse(candidate.version.as_ref()), candidate.name, entry)
            }),
        }
        found.dedup();
        found
    }

    /// Returns the fewest updates that lead to `target`, or `None` when there is no way.
    pub fn shortest_path(
        &self,
        name: &str,
        version: Option<&Version>,
        target: usize,
        rules: Rules,
    ) -> Option<Vec<usize>> {
        let search = self.search(name, version, rules, Some(target));
        search.hops[target]?;
        let mut path = vec![target];
        let mut current = target;
        while let Some(before) = search.came_from[current] {
            path.push(before);
            current = before;
        }
        path.reverse();
        Some(path)
    }

    /// Returns how many updates each entry is away from an installed operator.
    pub fn reach(&self, name: &str, version: Option<&Version>, rules: Rules) -> Reach {
        let search = self.search(name, version, rules, None);
        Reach { hops: search.hops, complete: search.complete }
    }

    fn search(
        &self,
        name: &str,
        version: Option<&Version>,
        rules: Rules,
        target: Option<usize>,
    ) -> Search {
        let count = self.entries.len();
        let mut search: Search =
            Search { hops: vec![None; count], came_from: vec![None; count], complete: true };
        let mut queue: VecDeque<Option<usize>> = VecDeque::from([None]);
        let mut edges = 0usize;
        while let Some(current) = queue.pop_front() {
            let (current_name, current_version, hops) = match current {
                None => (name, version, 0),
                Some(entry) => {
                    let found: &GraphEntry<'a> = &self.entries[entry];
                    (found.name, found.version.as_ref(), search.hops[entry].unwrap_or(0))
                }
            };
            let successors = self.successors(current_name, current_version, rules);
            edges = edges.saturating_add(self.ranged.len() + successors.len());
            if edges > MAX_SEARCH_EDGES {
                search.complete = false;
                break;
            }
            for next in successors {
                if search.hops[next].is_none() && self.entries[next].name != name {
                    search.hops[next] = Some(hops + 1);
                    search.came_from[next] = current;
                    queue.push_back(Some(next));
                }
            }
            if target.is_some_and(|target| search.hops[target].is_some()) {
                break;
            }
        }
        search
    }
}

struct Search {
    hops: Vec<Option<u32>>,
    came_from: Vec<Option<usize>>,
    complete: bool,
}
