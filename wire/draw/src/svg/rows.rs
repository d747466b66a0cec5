//! Merges the versions of all lanes into common rows, so that the same name stands on one line.
//!
//! Within a lane the given order always holds from top to bottom; a name shared by lanes shares a
//! row wherever that order allows it, and gets a second row where it does not. Names that only one
//! lane has take no room in the others, so that channels with nothing in common stand side by side.
//! It deliberately does not interpret versions: labels are compared only to find a merged order in
//! which many names can share.

use std::{cmp::Ordering, collections::BTreeMap};

/// Describes one version as the merge sees it.
#[derive(Clone, Copy)]
pub(super) struct Entry<'lane> {
    pub(super) name: &'lane str,
    pub(super) label: &'lane str,
    /// Whether the version stands on the spine; those are aligned before all others.
    pub(super) on_spine: bool,
}

/// Holds the rows of a picture.
pub(super) struct Rows {
    /// For every lane and every version in it, the row; strictly growing within a lane.
    pub(super) row_of: Vec<Vec<usize>>,
    /// The number of rows.
    pub(super) count: usize,
}

/// Returns the rows for the lanes, merged one after the other.
pub(super) fn merge(lanes: &[Vec<Entry>]) -> Rows {
    let mut merged: Vec<Merged> = Vec::new();
    let mut identities = 0;
    let mut identity_of: Vec<Vec<usize>> = Vec::new();
    for lane in lanes {
        let (next, chosen) = merge_lane(&merged, lane, &mut identities);
        merged = next;
        identity_of.push(chosen);
    }
    let order: Vec<usize> = merged.iter().map(|row| row.identity).collect();
    let row_by_identity = compact(&order, &identity_of);
    let count = row_by_identity.iter().max().map_or(0, |last| last + 1);
    let row_of = identity_of
        .iter()
        .map(|lane| lane.iter().map(|&identity| row_by_identity[identity]).collect())
        .collect();
    Rows { row_of, count }
}

/// Returns a row for every identity, so that each lane grows from top to bottom.
///
/// First everything rises as high as what is above it allows. Then it sinks down to what is below
/// it, so that a channel begins close above the first version that it shares.
fn compact(order: &[usize], lanes: &[Vec<usize>]) -> Vec<usize> {
    let mut lanes_of: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    for (lane, identities) in lanes.iter().enumerate() {
        for &identity in identities {
            lanes_of[identity].push(lane);
        }
    }
    let mut rows = vec![0; order.len()];
    let mut free = vec![0; lanes.len()];
    for &identity in order {
        let row = lanes_of[identity].iter().map(|&lane| free[lane]).max();
        rows[identity] = row.unwrap_or(0);
        for &lane in &lanes_of[identity] {
            free[lane] = rows[identity] + 1;
        }
    }
    let mut below: Vec<Option<usize>> = vec![None; lanes.len()];
    for &identity in order.iter().rev() {
        let limit = lanes_of[identity].iter().filter_map(|&lane| below[lane]).min();
        rows[identity] = limit.map_or(rows[identity], |limit| limit - 1);
        for &lane in &lanes_of[identity] {
            below[lane] = Some(rows[identity]);
        }
    }
    rows
}

/// A row while rows are still being inserted around it; its identity stays.
#[derive(Clone, Copy)]
struct Merged<'lane> {
    entry: Entry<'lane>,
    identity: usize,
}

/// Returns the rows with one more lane, and the identity of the row of each of its versions.
fn merge_lane<'lane>(
    merged: &[Merged<'lane>],
    lane: &[Entry<'lane>],
    identities: &mut usize,
) -> (Vec<Merged<'lane>>, Vec<usize>) {
    let mut position_by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (position, row) in merged.iter().enumerate() {
        position_by_name.entry(row.entry.name).or_insert(position);
    }
    let positions: Vec<Option<usize>> =
        lane.iter().map(|entry| position_by_name.get(entry.name).copied()).collect();
    let anchored = heaviest_increasing(lane, &positions);

    let mut next = Vec::with_capacity(merged.len() + lane.len());
    let mut chosen = vec![0; lane.len()];
    let mut waiting: Vec<Merged> = Vec::new();
    let mut taken = 0;
    for (index, entry) in lane.iter().enumerate() {
        match positions[index].filter(|_| anchored[index]) {
            Some(position) => {
                interleave(&mut waiting, &merged[taken..position], &mut next);
                next.push(merged[position]);
                chosen[index] = merged[position].identity;
                taken = position + 1;
            }
            None => {
                chosen[index] = *identities;
                waiting.push(Merged { entry: *entry, identity: *identities });
                *identities += 1;
            }
        }
    }
    interleave(&mut waiting, &merged[taken..], &mut next);
    (next, chosen)
}

/// Moves both lists into `next`, each in its own order, the newer label first.
fn interleave<'lane>(
    waiting: &mut Vec<Merged<'lane>>,
    existing: &[Merged<'lane>],
    next: &mut Vec<Merged<'lane>>,
) {
    let mut existing = existing.iter().peekable();
    for row in waiting.drain(..) {
        while let Some(other) = existing
            .next_if(|other| compare_labels(other.entry.label, row.entry.label) != Ordering::Less)
        {
            next.push(*other);
        }
        next.push(row);
    }
    next.extend(existing);
}

/// Marks the versions that keep the row they have: one heaviest strictly increasing subsequence.
///
/// The chain outweighs what is skipped: a channel is recognised by its chain.
fn heaviest_increasing(lane: &[Entry], positions: &[Option<usize>]) -> Vec<bool> {
    // For every position, the best subsequence that ends there; only those are kept that are
    // heavier than all that end earlier, so both keys and weights grow along the map.
    let mut best: BTreeMap<usize, (Weight, usize)> = BTreeMap::new();
    let mut before: Vec<Option<usize>> = vec![None; positions.len()];
    for (index, position) in positions.iter().enumerate() {
        let Some(position) = *position else { continue };
        let shorter = best.range(..position).next_back().map(|(_, &found)| found);
        before[index] = shorter.map(|(_, member)| member);
        let (spine, side) = shorter.map_or((0, 0), |(weight, _)| weight);
        let weight = if lane[index].on_spine { (spine + 1, side) } else { (spine, side + 1) };
        if best.get(&position).is_some_and(|(other, _)| *other >= weight) {
            continue;
        }
        best.insert(position, (weight, index));
        while let Some((&next, (other, _))) = best.range(position + 1..).next()
            && *other <= weight
        {
            best.remove(&next);
        }
    }
    let mut marked = vec![false; positions.len()];
    let mut member = best.last_key_value().map(|(_, &(_, index))| index);
    while let Some(index) = member {
        marked[index] = true;
        member = before[index];
    }
    marked
}

/// The number of versions on the spine, then beside it.
type Weight = (usize, usize);

/// Orders labels as people order versions: numbers as numbers, `1.0.0-rc1` before `1.0.0`.
fn compare_labels(left: &str, right: &str) -> Ordering {
    let mut left = left.trim_start_matches('v').chars().peekable();
    let mut right = right.trim_start_matches('v').chars().peekable();
    loop {
        let order = match (left.peek().copied(), right.peek().copied()) {
            (None, None) => return Ordering::Equal,
            (None, Some('-')) => return Ordering::Greater,
            (Some('-'), None) => return Ordering::Less,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) if a.is_ascii_digit() && b.is_ascii_digit() => {
                compare_digits(&take_digits(&mut left), &take_digits(&mut right))
            }
            // What follows a hyphen is before the release: 1.0.0-rc1 is older than 1.0.0.1.
            (Some('-'), Some(b)) if b != '-' => Ordering::Less,
            (Some(a), Some('-')) if a != '-' => Ordering::Greater,
            (Some(a), Some(b)) => {
                left.next();
                right.next();
                a.cmp(&b)
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn take_digits(characters: &mut std::iter::Peekable<std::str::Chars>) -> String {
    let mut digits = String::new();
    while let Some(digit) = characters.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    digits
}

/// Numbers of any length are compared without reading them as numbers.
fn compare_digits(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lanes: &[&str]) -> Vec<String> {
        let lanes: Vec<Vec<Entry>> = lanes
            .iter()
            .map(|lane| {
                lane.split(' ')
                    .map(|name| Entry { name, label: name, on_spine: !name.starts_with('o') })
                    .collect()
            })
            .collect();
        let rows = merge(&lanes);
        let mut table = vec![vec!["-"; lanes.len()]; rows.count];
        for (position, lane) in lanes.iter().enumerate() {
            assert!(rows.row_of[position].is_sorted_by(|above, below| above < below));
            for (entry, &row) in lane.iter().zip(&rows.row_of[position]) {
                table[row][position] = entry.name;
            }
        }
        table.into_iter().map(|row| row.join(" ")).collect()
    }

    #[test]
    fn shared_names_share_a_row_and_others_find_their_place() {
        assert_eq!(rows(&["5 4 3 1", "4.9 4 2 1 0"]), ["5 4.9", "4 4", "3 2", "1 1", "- 0"]);
        assert_eq!(rows(&["2 1", "10 9"]), ["2 10", "1 9"]);
        // The third lane shares every row with one of the others, because 4 was put above 2.
        assert_eq!(rows(&["2 1", "4 3", "4 3 2 1"]), ["- 4 4", "- 3 3", "2 - 2", "1 - 1"]);
        // A channel begins close above what it shares.
        assert_eq!(rows(&["5 4 3 2", "2.5 2"]), ["5 -", "4 -", "3 2.5", "2 2"]);
    }

    #[test]
    fn contradicting_orders_keep_each_lane_in_order() {
        assert_eq!(rows(&["3 2 1", "1 3 2"]), ["- 1", "3 3", "2 2", "1 -"]);
        // Two skipped versions do not outweigh one of the chain.
        assert_eq!(rows(&["o1 o2 3", "3 o1 o2"]), ["o1 -", "o2 -", "3 3", "- o1", "- o2"]);
    }

    #[test]
    fn labels_are_ordered_as_people_order_versions() {
        let ascending = [
            "0.9.9",
            "0.10.0-rc1",
            "0.10.0",
            "v0.10.1",
            "1.0.0-alpha.2",
            "1.0.0-alpha.10",
            "1.0.0",
        ];
        assert!(ascending.is_sorted_by(|older, newer| {
            compare_labels(older, newer) == Ordering::Less
                && compare_labels(newer, older) == Ordering::Greater
        }));
    }
}
