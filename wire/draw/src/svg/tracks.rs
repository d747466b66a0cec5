//! Gives the edges that are no straight line a vertical track of their own beside the spine.
//!
//! One bus serves many edges of a kind: a vertical line with an arrow at every version that an
//! upgrade reaches and a branch at every version that it starts from. Edges share a bus only where
//! that says exactly the same. Two buses on one track never touch. It deliberately knows nothing of
//! pixels.

use std::collections::BTreeMap;

use crate::{
    graph::Role,
    outline::{Outline, Place, is_installable},
    words::BUNDLE_ABOVE,
};

/// The most tracks in one lane.
///
/// Beyond a handful, parallel lines carry nothing to the eye. What finds no track is still written
/// beside its version and in the tooltip.
pub const MAX_TRACKS: usize = 6;

/// Names the kinds of line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stroke {
    /// `replaces`, leading to a version on the chain.
    Replaces,
    /// `skips`.
    Skips,
    /// `replaces`, leading to a version that is itself skipped or stranded.
    Ignored,
    /// `skipRange`.
    Range,
}

/// Describes one vertical line with its arrows and branches.
pub(super) struct Bus {
    pub(super) stroke: Stroke,
    /// The newer versions, where the upgrades lead, in the order of the lane.
    pub(super) owners: Vec<usize>,
    /// The older versions, in the order of the lane.
    pub(super) targets: Vec<usize>,
    /// The track, counted from the spine.
    pub(super) track: usize,
}

/// Holds the buses of a lane.
pub(super) struct Tracks {
    pub(super) buses: Vec<Bus>,
    /// The number of tracks in use.
    pub(super) count: usize,
    /// The number of versions whose edges found no track.
    pub(super) left_out: usize,
}

impl Bus {
    /// Returns whether the branches are short ticks rather than lines up to the older versions.
    pub(super) fn is_bundled(&self) -> bool {
        self.stroke == Stroke::Range && self.targets.len() > BUNDLE_ABOVE
    }

    /// Returns all versions that the bus reaches, in the order of the lane.
    pub(super) fn stops(&self) -> Vec<usize> {
        let mut stops = [self.owners.as_slice(), self.targets.as_slice()].concat();
        stops.sort_unstable();
        stops.dedup();
        stops
    }
}

/// Says how the `replaces` edge of a node is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Straight down the spine.
    Spine,
    /// Straight down beside the spine.
    Side,
    /// From beside the spine back to it.
    Elbow,
    /// On a track.
    Track,
}

/// Returns how the edge from `index` to the version it replaces is drawn.
pub(super) fn way(outline: &Outline, index: usize, target: usize) -> Way {
    match outline.places[index] {
        Place::Spine if outline.is_linked(index) => Way::Spine,
        Place::Spine => Way::Track,
        Place::Side if target != index + 1 => Way::Track,
        Place::Side => match outline.places[target] {
            Place::Spine => Way::Elbow,
            Place::Side => Way::Side,
        },
    }
}

/// Returns the kind of the line by which the node replaces another.
pub(super) fn replaces_stroke(role: Role) -> Stroke {
    match role {
        Role::Head | Role::Chain | Role::Virtual => Stroke::Replaces,
        Role::Skipped | Role::Stranded => Stroke::Ignored,
    }
}

/// Returns the buses among the first `drawn` nodes, the telling ones first to get a track.
pub(super) fn assign(outline: &Outline, drawn: usize) -> Tracks {
    let mut wanted = replaces_buses(outline, drawn);
    wanted.extend(skips_buses(outline, drawn));
    wanted.extend(range_buses(outline, drawn));
    let is_quiet = |bus: &Bus| !is_installable(outline.lane.nodes[bus.owners[0]].role);
    wanted.sort_by_key(|bus| (bus.stroke, is_quiet(bus), bus.owners[0]));

    let mut occupied: Vec<BTreeMap<usize, usize>> = Vec::new();
    let mut tracks = Tracks { buses: Vec::new(), count: 0, left_out: 0 };
    for mut bus in wanted {
        let stops = bus.stops();
        let (top, bottom) = (stops[0], stops[stops.len() - 1]);
        match free_track(&mut occupied, top, bottom) {
            Some(track) => {
                occupied[track].insert(top, bottom);
                bus.track = track;
                tracks.buses.push(bus);
            }
            None => tracks.left_out += bus.owners.len(),
        }
    }
    tracks.count = occupied.len();
    tracks
}

fn replaces_buses(outline: &Outline, drawn: usize) -> Vec<Bus> {
    let mut buses = Vec::new();
    for owner in 0..drawn {
        if let Some(target) = outline.replaces[owner]
            && target < drawn
            && target != owner
            && way(outline, owner, target) == Way::Track
        {
            let stroke = replaces_stroke(outline.lane.nodes[owner].role);
            buses.push(Bus { stroke, owners: vec![owner], targets: vec![target], track: 0 });
        }
    }
    buses
}

/// Versions that skip the same versions share one bus: from every branch to every arrow.
fn skips_buses(outline: &Outline, drawn: usize) -> Vec<Bus> {
    let mut owners_by_targets: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for owner in 0..drawn {
        let targets = drawn_targets(&outline.skips[owner], owner, drawn);
        if !targets.is_empty() {
            owners_by_targets.entry(targets).or_default().push(owner);
        }
    }
    owners_by_targets
        .into_iter()
        .map(|(targets, owners)| Bus { stroke: Stroke::Skips, owners, targets, track: 0 })
        .collect()
}

/// Nested ranges share one bus: from every branch up to every arrow above it.
///
/// That is the same as a bus for each exactly when every range covers all branches below its arrow,
/// which is tested from the oldest version up. Ranges such as `<2.0.0` in every version are common.
fn range_buses(outline: &Outline, drawn: usize) -> Vec<Bus> {
    let mut buses: Vec<Bus> = Vec::new();
    let mut latest_by_bottom: BTreeMap<usize, usize> = BTreeMap::new();
    for owner in (0..drawn).rev() {
        let targets = drawn_targets(&outline.covers[owner], owner, drawn);
        let Some(&bottom) = targets.last() else {
            continue;
        };
        if let Some(&latest) = latest_by_bottom.get(&bottom)
            && is_nested(&buses[latest], owner, &targets)
        {
            buses[latest].owners.insert(0, owner);
            buses[latest].targets = targets;
        } else {
            latest_by_bottom.insert(bottom, buses.len());
            buses.push(Bus { stroke: Stroke::Range, owners: vec![owner], targets, track: 0 });
        }
    }
    buses
}

/// Returns whether `owner` can join the bus: it covers every branch that is there, and adds none
/// below the topmost arrow; and in both, every branch is below the arrow that it belongs to.
fn is_nested(bus: &Bus, owner: usize, targets: &[usize]) -> bool {
    let topmost = bus.owners[0];
    let added = targets.len().saturating_sub(bus.targets.len());
    targets.ends_with(&bus.targets)
        && targets[..added].iter().all(|&target| target <= topmost)
        && topmost < bus.targets[0]
        && owner < targets[0]
}

fn drawn_targets(targets: &[usize], owner: usize, drawn: usize) -> Vec<usize> {
    let mut targets: Vec<usize> =
        targets.iter().copied().filter(|&target| target < drawn && target != owner).collect();
    targets.sort_unstable();
    targets
}

/// Returns the innermost track that is free from `top` to `bottom`, opening one when allowed.
fn free_track(
    occupied: &mut Vec<BTreeMap<usize, usize>>,
    top: usize,
    bottom: usize,
) -> Option<usize> {
    // Intervals on a track are disjoint, so the last one that begins above `bottom` decides.
    let is_free = |track: &BTreeMap<usize, usize>| {
        track.range(..=bottom).next_back().is_none_or(|(_, &end)| end < top)
    };
    if let Some(track) = occupied.iter().position(is_free) {
        return Some(track);
    }
    if occupied.len() == MAX_TRACKS {
        return None;
    }
    occupied.push(BTreeMap::new());
    Some(occupied.len() - 1)
}
