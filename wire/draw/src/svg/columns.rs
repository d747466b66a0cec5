//! Computes where everything stands: one column per lane, common rows, widths that fit the texts.
//!
//! All numbers are whole pixels, so that the picture is the same bytes everywhere. It deliberately
//! writes nothing.

use super::{
    MAX_DRAWN_LANES, MAX_DRAWN_NODES,
    captions::{Captions, Header},
    rows::{self, Entry},
    tracks::{self, Tracks},
};
use crate::{
    graph::PackageGraph,
    outline::{Outline, Place},
};

pub(super) const MARGIN: usize = 24;
pub(super) const ROW_HEIGHT: usize = 26;
const PADDING: usize = 16;
const COLUMN_GAP: usize = 14;
const SIDE_OFFSET: usize = 20;
const TRACK_PITCH: usize = 9;
const WARNING_LINE: usize = 18;
const MIN_COLUMN_WIDTH: usize = 150;

/// Holds the positions of a whole picture.
pub(super) struct Picture<'graph> {
    pub(super) columns: Vec<Column<'graph>>,
    /// The lanes that are not drawn.
    pub(super) lanes_left_out: usize,
    /// The right edge of the last column.
    pub(super) right: usize,
    pub(super) panel_top: usize,
    pub(super) panel_bottom: usize,
    rows_top: usize,
}

/// Holds the positions of one lane.
pub(super) struct Column<'graph> {
    pub(super) outline: Outline<'graph>,
    /// How many nodes are drawn, counted from the head.
    pub(super) drawn: usize,
    pub(super) left: usize,
    pub(super) width: usize,
    pub(super) row_of: Vec<usize>,
    pub(super) tracks: Tracks,
    pub(super) header: Header,
    pub(super) captions: Captions,
    tracks_x: usize,
}

impl<'graph> Picture<'graph> {
    /// Lays out the graph below `top`.
    pub(super) fn new(graph: &'graph PackageGraph, top: usize) -> Self {
        let lanes = &graph.lanes[..graph.lanes.len().min(MAX_DRAWN_LANES)];
        let outlines: Vec<Outline> = lanes.iter().map(Outline::of).collect();
        let entries: Vec<Vec<Entry>> = outlines.iter().map(entries).collect();
        let rows = rows::merge(&entries);
        drop(entries);

        let mut columns: Vec<Column> = Vec::new();
        let mut left = MARGIN;
        for (outline, row_of) in outlines.into_iter().zip(rows.row_of) {
            let column = Column::new(outline, row_of, left);
            left += column.width + COLUMN_GAP;
            columns.push(column);
        }
        let warnings = columns.iter().map(|column| column.header.warnings.len()).max().unwrap_or(0);
        let rows_top = top + 60 + warnings * WARNING_LINE;
        let truncated = columns.iter().any(|column| column.left_out() > 0);
        let row_count = rows.count.max(1) + usize::from(truncated);
        Self {
            lanes_left_out: graph.lanes.len() - lanes.len(),
            right: left.saturating_sub(COLUMN_GAP),
            panel_top: top,
            panel_bottom: rows_top + row_count * ROW_HEIGHT + 8,
            rows_top,
            columns,
        }
    }

    /// Returns the middle of the row.
    pub(super) fn row_y(&self, row: usize) -> usize {
        self.rows_top + row * ROW_HEIGHT + ROW_HEIGHT / 2
    }

    /// Returns the base line of the warning, counted from the top of the column.
    pub(super) fn warning_y(&self, position: usize) -> usize {
        self.panel_top + 64 + position * WARNING_LINE
    }
}

impl<'graph> Column<'graph> {
    fn new(outline: Outline<'graph>, row_of: Vec<usize>, left: usize) -> Self {
        let drawn = row_of.len();
        let tracks = tracks::assign(&outline, drawn);
        let has_side = outline.places[..drawn].contains(&Place::Side);
        let side = if has_side { SIDE_OFFSET } else { 0 };
        let tracks_x = left + PADDING + 8 + side + 18;
        let label_x = match tracks.count {
            0 => left + PADDING + 8 + side + 16,
            count => tracks_x + (count - 1) * TRACK_PITCH + 14,
        };
        let captions = Captions::new(&outline, drawn, label_x);
        let mut header = Header::new(&outline);
        let width =
            MIN_COLUMN_WIDTH.max(captions.end + PADDING - left).max(header.width + 2 * PADDING);
        header.fit_warnings(width - 2 * PADDING);
        Self { outline, drawn, left, width, row_of, tracks, header, captions, tracks_x }
    }

    /// Returns where the texts above the rows begin.
    pub(super) fn text_x(&self) -> usize {
        self.left + PADDING
    }

    /// Returns where the sign of the node stands.
    pub(super) fn node_x(&self, index: usize) -> usize {
        match self.outline.places[index] {
            Place::Spine => self.spine_x(),
            Place::Side => self.spine_x() + SIDE_OFFSET,
        }
    }

    pub(super) fn spine_x(&self) -> usize {
        self.left + PADDING + 8
    }

    pub(super) fn track_x(&self, track: usize) -> usize {
        self.tracks_x + track * TRACK_PITCH
    }

    /// Returns how many nodes are not drawn.
    pub(super) fn left_out(&self) -> usize {
        self.outline.lane.nodes.len() - self.drawn
    }
}

fn entries<'outline>(outline: &'outline Outline) -> Vec<Entry<'outline>> {
    let nodes = &outline.lane.nodes[..outline.lane.nodes.len().min(MAX_DRAWN_NODES)];
    nodes
        .iter()
        .zip(&outline.labels)
        .zip(&outline.places)
        .map(|((node, label), place)| Entry {
            name: &node.name,
            label,
            on_spine: *place == Place::Spine,
        })
        .collect()
}
