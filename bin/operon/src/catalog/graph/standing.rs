//! Where each version stands in its channel: head, chain, skipped, virtual or stranded.
//!
//! The rule is the registry's: from the head along `replaces`, up to the first name that is skipped.
//! Updates through skipRange play no part. Nothing is drawn here.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use operon_catalog::{
    Bundle, Channel, Entry,
    graph::{ChainDefect, GraphEntry, chain},
};
use operon_draw::Role;

/// How many names a sentence about a whole channel lists.
const LISTED_NAMES: usize = 5;

/// A name in a channel and the part it plays.
#[derive(Debug, Clone, Copy)]
pub(in crate::catalog) struct Standing<'a> {
    pub(in crate::catalog) name: &'a str,
    /// `None` for a name that only others mention.
    pub(in crate::catalog) entry: Option<Entry<'a>>,
    pub(in crate::catalog) role: Role,
}

/// The names of a channel: the head, then along the chain; what is skipped after what skips it; the
/// stranded ones last.
#[derive(Debug)]
pub(in crate::catalog) struct Standings<'a> {
    pub(in crate::catalog) standings: Vec<Standing<'a>>,
    /// Why the channel has no order.
    pub(in crate::catalog) problem: Option<String>,
}

/// Orders channels for reading: the default one first, then those with the newest heads.
pub(in crate::catalog) fn in_reading_order(mut channels: Vec<Channel<'_>>) -> Vec<Channel<'_>> {
    channels.sort_by_key(|channel| {
        let head = channel.head().and_then(Entry::bundle).map(Bundle::version_rank);
        (!channel.is_default(), Reverse(head), channel.name())
    });
    channels
}

/// Finds where each name of a channel stands.
pub(in crate::catalog) fn standings(channel: Channel<'_>) -> Standings<'_> {
    let entries: Vec<Entry<'_>> = channel.entries().collect();
    let graph: Vec<GraphEntry<'_>> = entries.iter().map(|entry| entry.graph_entry()).collect();
    let problem = if graph.is_empty() {
        None
    } else {
        chain(&graph).err().and_then(|defect| problem(&graph, &defect))
    };
    let mut arrangement = Arrangement::new(entries);
    arrangement.place_all();
    let problem = problem.or_else(|| head_without_content(channel));
    Standings { standings: arrangement.placed, problem }
}

/// Says why a channel has no order; stranded entries do not take it away.
fn problem(entries: &[GraphEntry<'_>], defect: &ChainDefect) -> Option<String> {
    let listed = |names: Vec<&str>, separator: &str| {
        let more = names.len().saturating_sub(LISTED_NAMES);
        let shown = names[..names.len() - more].join(separator);
        if more == 0 { shown } else { format!("{shown} and {more} more") }
    };
    match defect {
        ChainDefect::NoHead => {
            Some("no head: every entry is replaced or skipped by another".to_owned())
        }
        ChainDefect::ManyHeads(heads) => {
            let names = heads.iter().map(|&head| entries[head].name).collect();
            Some(format!("{} heads, so there is no order: {}", heads.len(), listed(names, ", ")))
        }
        ChainDefect::Cycle(names) => {
            let names = names.iter().map(String::as_str).collect();
            Some(format!("replaces runs in a circle: {}", listed(names, " replaces ")))
        }
        ChainDefect::Stranded(_) => None,
    }
}

fn head_without_content(channel: Channel<'_>) -> Option<String> {
    let head = channel.head().filter(|head| head.bundle().is_none())?;
    Some(format!("the head {} has no content, so nothing can be installed afresh", head.name()))
}

/// A channel whose entries are being put in order.
struct Arrangement<'a> {
    entries: Vec<Entry<'a>>,
    by_name: HashMap<&'a str, usize>,
    skipped: HashSet<&'a str>,
    /// Names that are no entry, but that the chain runs into: they stand in the chain.
    tails: HashSet<&'a str>,
    is_placed: Vec<bool>,
    mentioned: HashSet<&'a str>,
    placed: Vec<Standing<'a>>,
}

impl<'a> Arrangement<'a> {
    fn new(entries: Vec<Entry<'a>>) -> Self {
        let mut by_name = HashMap::new();
        for (position, entry) in entries.iter().enumerate() {
            by_name.entry(entry.name()).or_insert(position);
        }
        let skipped = entries.iter().flat_map(|entry| entry.skips()).collect();
        Self {
            is_placed: vec![false; entries.len()],
            entries,
            by_name,
            skipped,
            tails: HashSet::new(),
            mentioned: HashSet::new(),
            placed: Vec::new(),
        }
    }

    fn place_all(&mut self) {
        let walks: Vec<Vec<usize>> = self.walks();
        let mut walked = vec![false; self.entries.len()];
        for &position in walks.iter().flatten() {
            walked[position] = true;
        }
        let mut stranded: Vec<usize> = (0..self.entries.len())
            .filter(|&position| {
                !walked[position] && !self.skipped.contains(self.entries[position].name())
            })
            .collect();
        self.sort(&mut stranded);
        for &position in walks.iter().flatten().chain(&stranded) {
            let replaces = self.entries[position].replaces();
            self.tails.extend(replaces.filter(|name| !self.by_name.contains_key(name)));
        }
        for walk in &walks {
            for (step, &position) in walk.iter().enumerate() {
                self.place_in_chain(position, if step == 0 { Role::Head } else { Role::Chain });
            }
        }
        for position in stranded {
            self.place_in_chain(position, Role::Stranded);
        }
        // Everything skipped hangs on something above, unless circles of skips hang on each other.
        for position in 0..self.entries.len() {
            self.hang(vec![self.entries[position].name()]);
        }
    }

    /// Follows replaces from each head, newest first.
    fn walks(&self) -> Vec<Vec<usize>> {
        let mut named: HashSet<&str> = self.skipped.iter().copied().collect();
        named.extend(self.entries.iter().filter_map(|entry| entry.replaces()));
        let mut heads: Vec<usize> = (0..self.entries.len())
            .filter(|&position| !named.contains(self.entries[position].name()))
            .collect();
        self.sort(&mut heads);
        let mut seen = vec![false; self.entries.len()];
        let mut walks = Vec::new();
        for head in heads {
            let mut walk = Vec::new();
            let mut current = Some(head);
            while let Some(position) = current.filter(|&position| !seen[position]) {
                seen[position] = true;
                walk.push(position);
                let next =
                    self.entries[position].replaces().filter(|name| !self.skipped.contains(name));
                current = next.and_then(|name| self.by_name.get(name).copied());
            }
            walks.push(walk);
        }
        walks
    }

    /// Places an entry, what it skips beside it, and the name without entry that it replaces.
    fn place_in_chain(&mut self, position: usize, role: Role) {
        if std::mem::replace(&mut self.is_placed[position], true) {
            return;
        }
        let entry = self.entries[position];
        self.push(entry, role);
        self.hang(self.skips_newest_first(entry));
        if let Some(name) = entry.replaces()
            && !self.by_name.contains_key(name)
            && self.mentioned.insert(name)
        {
            self.placed.push(Standing { name, entry: None, role: Role::Virtual });
        }
    }

    /// Places names beside the chain, each followed by what it skips itself.
    fn hang(&mut self, names: Vec<&'a str>) {
        let mut waiting: Vec<&'a str> = names.into_iter().rev().collect();
        while let Some(name) = waiting.pop() {
            match self.by_name.get(name).copied() {
                Some(position) => {
                    let is_beside = self.skipped.contains(name);
                    if !is_beside || std::mem::replace(&mut self.is_placed[position], true) {
                        continue;
                    }
                    let entry = self.entries[position];
                    self.push(entry, Role::Skipped);
                    let replaced = entry.replaces().filter(|name| !self.by_name.contains_key(name));
                    waiting.extend(replaced);
                    waiting.extend(self.skips_newest_first(entry).into_iter().rev());
                }
                None if !self.tails.contains(name) && self.mentioned.insert(name) => {
                    self.placed.push(Standing { name, entry: None, role: Role::Virtual });
                }
                None => {}
            }
        }
    }

    /// An entry without content is a name like any other that nothing stands behind.
    fn push(&mut self, entry: Entry<'a>, role: Role) {
        let role = if entry.bundle().is_some() { role } else { Role::Virtual };
        self.placed.push(Standing { name: entry.name(), entry: Some(entry), role });
    }

    fn skips_newest_first(&self, entry: Entry<'a>) -> Vec<&'a str> {
        let mut names: Vec<&'a str> = entry.skips().collect();
        names.sort_by_key(|name| {
            let position = self.by_name.get(name).copied();
            Reverse(position.map(|position| rank(self.entries[position])))
        });
        names
    }

    fn sort(&self, positions: &mut [usize]) {
        positions.sort_by_key(|&position| {
            (Reverse(rank(self.entries[position])), self.entries[position].name())
        });
    }
}

fn rank(entry: Entry<'_>) -> u32 {
    entry.bundle().map_or(0, Bundle::version_rank)
}
