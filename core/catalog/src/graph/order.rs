//! The order of a channel as the resolver prefers its entries: the replaces chain from the head,
//! without skipped entries.

use std::{collections::HashMap, error::Error, fmt};

use super::GraphEntry;

/// Why the entries of a channel have no order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderError {
    /// Every entry is replaced or skipped by another one.
    NoHead,
    /// Following replaces from the named entry comes back to an entry already seen.
    Cycle(String),
    /// More than one entry is replaced by none; the chains as upstream prints them.
    ManyChains(Vec<String>),
}

impl OrderError {
    /// Returns upstream's text for the error in this channel of this package.
    pub fn upstream_text(&self, channel: &str, package: &str) -> String {
        let place = format!("in channel {channel:?} of package {package:?}");
        match self {
            OrderError::NoHead => {
                format!("no channel heads (entries not replaced by another entry) found {place}")
            }
            OrderError::Cycle(head) => format!(
                "a cycle exists in the chain of replacement beginning with {head:?} {place}"
            ),
            OrderError::ManyChains(chains) => format!(
                "a unique replacement chain within a channel is required to determine the relative \
                 order between channel entries, but {} replacement chains were found {place}: {}",
                chains.len(),
                chains.join(", ")
            ),
        }
    }
}

impl fmt::Display for OrderError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderError::NoHead => {
                write!(formatter, "every entry is replaced or skipped by another")
            }
            OrderError::Cycle(head) => {
                write!(formatter, "following replaces from `{head}` runs in a circle")
            }
            OrderError::ManyChains(chains) => {
                write!(formatter, "{} entries are replaced by none", chains.len())
            }
        }
    }
}

impl Error for OrderError {}

/// Orders a channel: positions in `entries`, head first. Entries that are skipped, or that no chain
/// reaches, are left out.
pub fn order(entries: &[GraphEntry<'_>]) -> Result<Vec<usize>, OrderError> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let by_name: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(position, entry)| (entry.name, position)).collect();
    let mut replaced = vec![false; entries.len()];
    let mut skipped = vec![false; entries.len()];
    for entry in entries {
        if !entry.replaces.is_empty()
            && let Some(&older) = by_name.get(entry.replaces)
        {
            replaced[older] = true;
        }
        for name in &entry.skips {
            if let Some(&older) = by_name.get(name) {
                replaced[older] = true;
                skipped[older] = true;
            }
        }
    }
    let mut chains = Vec::new();
    for head in (0..entries.len()).filter(|&position| !replaced[position]) {
        chains.push(walk(entries, &by_name, &skipped, head)?);
    }
    match chains.len() {
        0 => Err(OrderError::NoHead),
        1 => Ok(chains.remove(0)),
        _ => Err(OrderError::ManyChains(
            chains.iter().map(|chain| print_chain(entries, chain)).collect(),
        )),
    }
}

/// Follows replaces from a head; skipped entries are walked through but not kept.
fn walk(
    entries: &[GraphEntry<'_>],
    by_name: &HashMap<&str, usize>,
    skipped: &[bool],
    head: usize,
) -> Result<Vec<usize>, OrderError> {
    let mut chain = Vec::new();
    let mut steps = 0;
    let mut current = Some(head);
    while let Some(position) = current {
        // A walk of more steps than there are entries has met one of them twice.
        steps += 1;
        if steps > entries.len() {
            return Err(OrderError::Cycle(entries[head].name.to_owned()));
        }
        if !skipped[position] {
            chain.push(position);
        }
        let replaces = entries[position].replaces;
        current = if replaces.is_empty() { None } else { by_name.get(replaces).copied() };
    }
    Ok(chain)
}

fn print_chain(entries: &[GraphEntry<'_>], chain: &[usize]) -> String {
    match chain {
        [] => "[]".to_owned(),
        [only] => entries[*only].name.to_owned(),
        [first, .., last] => format!("{}...{}", entries[*first].name, entries[*last].name),
    }
}
