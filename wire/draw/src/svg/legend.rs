//! Draws the legend: only the signs and lines that occur in the picture, wrapped to its width.
//!
//! It deliberately explains signs, not semantics; one short sentence each.

use super::{
    canvas::Canvas, captions::SMALL_FONT, columns::MARGIN, lines, measure::text_width,
    tracks::Stroke,
};
use crate::graph::{PackageGraph, Role};

const LINE_HEIGHT: usize = 22;
const ICON_WIDTH: usize = 28;
const ENTRY_GAP: usize = 20;

/// Describes the sign of one entry.
#[derive(Clone, Copy)]
enum Icon {
    Sign { role: Role, deprecated: bool },
    Line(Stroke),
    SameVersion,
}

/// Draws the legend below `top` and returns where it ends.
pub(super) fn draw(entries: &[Entry], top: usize, right: usize, canvas: &mut Canvas) -> usize {
    let mut x = MARGIN;
    let mut y = top + LINE_HEIGHT / 2;
    for entry in entries {
        let width = ICON_WIDTH + text_width(entry.meaning, SMALL_FONT);
        if x > MARGIN && x + width > right {
            x = MARGIN;
            y += LINE_HEIGHT;
        }
        match entry.icon {
            Icon::Sign { role, deprecated } => canvas.sign(role, deprecated, x + 11, y),
            Icon::Line(stroke) => lines::sample(stroke, x, y, canvas),
            Icon::SameVersion => canvas.path("line same", &format!("M{x} {y}h22")),
        }
        canvas.text("small", x + ICON_WIDTH, y + 4, entry.meaning);
        x += width + ENTRY_GAP;
    }
    y + LINE_HEIGHT / 2
}

/// Describes one entry of the legend.
pub(super) struct Entry {
    icon: Icon,
    meaning: &'static str,
}

/// Returns the entries for what occurs in the picture.
pub(super) fn entries(graph: &PackageGraph, strokes: &[Stroke], same_version: bool) -> Vec<Entry> {
    let nodes = || graph.lanes.iter().flat_map(|lane| &lane.nodes);
    let mut entries = Vec::new();
    for role in [Role::Head, Role::Chain, Role::Skipped, Role::Virtual, Role::Stranded] {
        if nodes().any(|node| node.role == role) {
            let icon = Icon::Sign { role, deprecated: false };
            entries.push(Entry { icon, meaning: role_meaning(role) });
        }
    }
    if nodes().any(|node| node.deprecation.is_some()) {
        let icon = Icon::Sign { role: Role::Chain, deprecated: true };
        entries.push(Entry { icon, meaning: "square and struck: deprecated" });
    }
    for stroke in [Stroke::Replaces, Stroke::Ignored, Stroke::Skips, Stroke::Range] {
        if strokes.contains(&stroke) {
            entries.push(Entry { icon: Icon::Line(stroke), meaning: stroke_meaning(stroke) });
        }
    }
    if same_version {
        entries.push(Entry { icon: Icon::SameVersion, meaning: "same version" });
    }
    entries
}

fn role_meaning(role: Role) -> &'static str {
    match role {
        Role::Head => "head: a fresh installation gets it",
        Role::Chain => "installable",
        Role::Skipped => "skipped: not to be installed",
        Role::Virtual => "virtual: named, no content",
        Role::Stranded => "stranded: no path to the head",
    }
}

fn stroke_meaning(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Replaces => "replaces",
        Stroke::Ignored => "replaces, but is itself off the chain",
        Stroke::Skips => "skips",
        Stroke::Range => "skipRange: from each tick to the arrows above",
    }
}
