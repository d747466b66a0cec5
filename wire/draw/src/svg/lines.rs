//! Draws the edges of one column, and the thin lines that join the same version across columns.
//!
//! The newer version is always where the arrow head is. It deliberately draws no signs and no words.

use std::collections::BTreeMap;

use super::{
    canvas::Canvas,
    columns::{Column, Picture},
    tracks::{Bus, Stroke, Way, replaces_stroke, way},
};

/// The distance from the middle of a sign at which lines end.
const REACH: usize = 10;
/// The radius of a corner.
const CORNER: usize = 5;

/// Draws a thin line between columns that show the same version, where nothing stands between.
///
/// Returns whether there was any.
pub(super) fn same_versions(picture: &Picture, canvas: &mut Canvas) -> bool {
    let mut last_in_row: BTreeMap<usize, (&str, usize)> = BTreeMap::new();
    let mut any = false;
    for column in &picture.columns {
        for (index, &row) in column.row_of.iter().enumerate() {
            let name = column.outline.lane.nodes[index].name.as_str();
            let last = last_in_row.insert(row, (name, column.captions.end_of(index)));
            if let Some((last_name, end)) = last
                && last_name == name
            {
                any = true;
                let y = picture.row_y(row);
                let begin = column.node_x(index) - REACH - 2;
                canvas.path("line same", &format!("M{} {y}H{begin}", end + 6));
            }
        }
    }
    any
}

/// Draws every edge of the column and returns the kinds that occur.
pub(super) fn edges(picture: &Picture, column: &Column, canvas: &mut Canvas) -> Vec<Stroke> {
    let mut strokes = Vec::new();
    let ports = ports(column);
    for (position, bus) in column.tracks.buses.iter().enumerate() {
        strokes.push(bus.stroke);
        let port_y = |index: usize| {
            let middle = picture.row_y(column.row_of[index]);
            let offset = ports.get(&(index, position)).copied().unwrap_or(0);
            middle.saturating_add_signed(offset)
        };
        draw_bus(column, bus, port_y, canvas);
    }
    for index in 0..column.drawn {
        let Some(target) = column.outline.replaces[index] else {
            continue;
        };
        let stroke = replaces_stroke(column.outline.lane.nodes[index].role);
        let class = class(stroke);
        let x = column.node_x(index);
        let y = picture.row_y(column.row_of[index]);
        // A straight line to a version that is not drawn leads to the note that says so.
        let below = match column.row_of.get(target) {
            Some(&row) => picture.row_y(row),
            None => picture.row_y(column.row_of[column.drawn - 1] + 1),
        };
        match way(&column.outline, index, target) {
            Way::Spine | Way::Side => canvas.path(class, &format!("M{x} {y}V{below}")),
            Way::Elbow => {
                let end = column.spine_x() + REACH;
                canvas.path(
                    class,
                    &format!(
                        "M{x} {y}V{}Q{x} {below} {} {below}H{end}",
                        below - CORNER,
                        x - CORNER
                    ),
                );
            }
            Way::Track => continue,
        }
        strokes.push(stroke);
    }
    strokes
}

/// Draws a sample of the line, for the legend.
pub(super) fn sample(stroke: Stroke, x: usize, y: usize, canvas: &mut Canvas) {
    canvas.path(class(stroke), &format!("M{x} {y}h22"));
}

fn class(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Replaces => "line replaces",
        Stroke::Skips => "line skips",
        Stroke::Ignored => "line ignored",
        Stroke::Range => "line range",
    }
}

fn tip_class(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Replaces => "tip-replaces",
        Stroke::Skips => "tip-skips",
        Stroke::Ignored => "tip-ignored",
        Stroke::Range => "tip-range",
    }
}

/// Returns for each version and bus how far from the middle of the row the line arrives.
///
/// Lines that meet at one version would hide each other. They are ordered so that they do not
/// cross: first those that come from above, the inner track first; last those that go down.
fn ports(column: &Column) -> BTreeMap<(usize, usize), isize> {
    let mut arrivals: BTreeMap<usize, Vec<(usize, isize, usize)>> = BTreeMap::new();
    for (position, bus) in column.tracks.buses.iter().enumerate() {
        let stops = bus.stops();
        let track = isize::try_from(bus.track).unwrap_or(0);
        for (order, &stop) in stops.iter().enumerate() {
            if bus.is_bundled() && bus.owners.binary_search(&stop).is_err() {
                continue;
            }
            let key = if order + 1 == stops.len() {
                (0, track, position)
            } else if order > 0 {
                (1, track, position)
            } else {
                (2, -track, position)
            };
            arrivals.entry(stop).or_default().push(key);
        }
    }
    let mut ports = BTreeMap::new();
    for (stop, mut keys) in arrivals {
        keys.sort_unstable();
        let offsets = port_offsets(keys.len());
        for ((_, _, position), &offset) in keys.into_iter().zip(offsets) {
            ports.insert((stop, position), offset);
        }
    }
    ports
}

/// There are never more arrivals than tracks, because a track serves a version once.
fn port_offsets(count: usize) -> &'static [isize] {
    match count {
        0 | 1 => &[0],
        2 => &[-3, 3],
        3 => &[-5, 0, 5],
        4 => &[-6, -2, 2, 6],
        _ => &[-7, -4, -1, 2, 5, 8],
    }
}

fn draw_bus(column: &Column, bus: &Bus, port_y: impl Fn(usize) -> usize, canvas: &mut Canvas) {
    let x = column.track_x(bus.track);
    let is_owner = |index: usize| bus.owners.binary_search(&index).is_ok();
    let end = |index: usize| {
        if is_owner(index) || !bus.is_bundled() { column.node_x(index) + REACH } else { x - CORNER }
    };
    let stops = bus.stops();
    let (first, last) = (stops[0], stops[stops.len() - 1]);
    let (top, bottom) = (port_y(first), port_y(last));
    let mut commands = format!(
        "M{} {top}H{left}Q{x} {top} {x} {}V{}Q{x} {bottom} {left} {bottom}H{}",
        end(first),
        top + CORNER,
        bottom - CORNER,
        end(last),
        left = x - CORNER,
    );
    for &stop in &stops[1..stops.len() - 1] {
        commands.push_str(&format!("M{x} {}H{}", port_y(stop), end(stop)));
    }
    canvas.path(class(bus.stroke), &commands);
    let tips: String = bus
        .owners
        .iter()
        .map(|&owner| format!("M{} {}l6 -3v6z", end(owner) - 1, port_y(owner)))
        .collect();
    canvas.path(tip_class(bus.stroke), &tips);
}
