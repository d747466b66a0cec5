//! The chain of a channel as a registry demands it: one head, no circle, nothing stranded.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::GraphEntry;

/// A channel that a registry accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The position of the head.
    pub head: usize,
}

/// Why a registry refuses a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainDefect {
    /// Every entry is named by some replaces or skips.
    NoHead,
    /// These entries are named by none; sorted by name.
    ManyHeads(Vec<usize>),
    /// Following replaces from the head comes back; the names of the circle, first and last equal.
    Cycle(Vec<String>),
    /// These entries are neither on the way from the head nor skipped; sorted by name.
    Stranded(Vec<usize>),
}

/// Follows replaces from the head and checks that everything is reached or skipped.
pub fn chain(entries: &[GraphEntry<'_>]) -> Result<Chain, ChainDefect> {
    let head = head(entries)?;
    let by_name: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(position, entry)| (entry.name, position)).collect();
    let skipped: HashSet<&str> =
        entries.iter().flat_map(|entry| entry.skips.iter().copied()).collect();

    let mut walk = vec![entries[head].name];
    let mut seen: HashSet<&str> = HashSet::from([entries[head].name]);
    let mut current = Some(head);
    while let Some(position) = current {
        let next = entries[position].replaces;
        // Upstream: an edge to a skipped entry ends the walk, so a skipped entry hides its tail.
        if skipped.contains(next) {
            break;
        }
        // Upstream: no replaces is followed like the name "", which matters to an entry without a
        // name and to nothing else.
        if !seen.insert(next) {
            let start = walk.iter().position(|name| *name == next).unwrap_or(0);
            let circle = walk[start..].iter().copied().chain([next]).map(str::to_owned);
            return Err(ChainDefect::Cycle(circle.collect()));
        }
        walk.push(next);
        current = by_name.get(next).copied();
    }

    let stranded = sorted_by_name(entries, |entry| {
        !seen.contains(entry.name) && !skipped.contains(entry.name)
    });
    if stranded.is_empty() { Ok(Chain { head }) } else { Err(ChainDefect::Stranded(stranded)) }
}

fn head(entries: &[GraphEntry<'_>]) -> Result<usize, ChainDefect> {
    let mut named: HashSet<&str> = HashSet::new();
    for entry in entries {
        if !entry.replaces.is_empty() {
            named.insert(entry.replaces);
        }
        named.extend(entry.skips.iter().copied());
    }
    let heads = sorted_by_name(entries, |entry| !named.contains(entry.name));
    match heads.as_slice() {
        [] => Err(ChainDefect::NoHead),
        [head] => Ok(*head),
        _ => Err(ChainDefect::ManyHeads(heads)),
    }
}

fn sorted_by_name(
    entries: &[GraphEntry<'_>],
    wanted: impl Fn(&GraphEntry<'_>) -> bool,
) -> Vec<usize> {
    let named: BTreeSet<(&str, usize)> = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| wanted(entry))
        .map(|(position, entry)| (entry.name, position))
        .collect();
    named.into_iter().map(|(_, position)| position).collect()
}
