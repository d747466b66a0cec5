//! The upgrade graph as an SVG picture: one column per channel, the head at the top.
//!
//! The same version stands on the same line in every channel. The chain is a straight vertical
//! line; skips and ranges run on tracks to its right. Everything is said by shape as well as by
//! colour, and again in the tooltip. It deliberately needs no script, no font and no other file.

mod canvas;
mod captions;
mod columns;
mod legend;
mod lines;
mod measure;
mod rows;
mod style;
mod tracks;

use crate::{
    graph::{PackageGraph, Role},
    outline::{Outline, is_installable},
    words::{channel_title, clean, counted, deprecated_sentence},
};
use canvas::Canvas;
use captions::{SMALL_FONT, TITLE_FONT, left_out_note};
use columns::{Column, MARGIN, Picture, ROW_HEIGHT};
use measure::fitted;
use tracks::Stroke;

pub use tracks::MAX_TRACKS;

/// The most versions of one channel that are drawn, counted from the head.
///
/// The largest public channel has 237; at 26 pixels each, more than 500 is scrolled, not looked at.
pub const MAX_DRAWN_NODES: usize = 500;

/// The most channels that are drawn; the largest public package has 38.
pub const MAX_DRAWN_LANES: usize = 60;

/// The narrowest picture, so that title and legend have room.
const MIN_WIDTH: usize = 520;

/// The most channels told one by one in the description for screen readers.
const MAX_DESCRIBED_LANES: usize = 20;

/// Returns the graph as a complete SVG document, without an XML declaration.
///
/// It may be saved as a file or put into an HTML page as it is.
pub fn svg(graph: &PackageGraph) -> String {
    let header = MARGIN + 54 + if graph.deprecation.is_some() { 20 } else { 0 };
    let picture = Picture::new(graph, header);
    let width = (picture.right + MARGIN).max(MIN_WIDTH);

    let mut body = Canvas::new();
    draw_title(graph, width, &mut body);
    for column in &picture.columns {
        draw_panel(&picture, column, &mut body);
    }
    let same_version = lines::same_versions(&picture, &mut body);
    let mut strokes = Vec::new();
    for column in &picture.columns {
        strokes.extend(lines::edges(&picture, column, &mut body));
    }
    strokes.sort_unstable();
    strokes.dedup();
    for column in &picture.columns {
        draw_nodes(&picture, column, &mut body);
    }
    let bottom = draw_foot(graph, &picture, width, (&strokes, same_version), &mut body);
    let height = bottom + MARGIN;

    let mut document = Canvas::new();
    document.raw(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"operon-graph\" role=\"img\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    ));
    document.tooltip(&format!("Upgrade graph of package {}", clean(&graph.package)));
    document.description(&description(graph));
    document.raw(format_args!("<style>{}</style>", style::STYLE));
    document.raw(format_args!("<rect class=\"back\" width=\"{width}\" height=\"{height}\"/>"));
    document.raw(format_args!("{}</svg>", body.finish()));
    document.finish()
}

fn draw_title(graph: &PackageGraph, width: usize, canvas: &mut Canvas) {
    let room = width - 2 * MARGIN;
    // Semibold is wider than what is measured.
    let title = fitted(&clean(&graph.package), TITLE_FONT, room * 9 / 10);
    canvas.text("title", MARGIN, MARGIN + 18, &title);
    let channels = counted(graph.lanes.len(), "channel");
    let subtitle =
        format!("Upgrade graph, {channels}. Newest at the top, arrows lead to the newer version.");
    canvas.text("small", MARGIN, MARGIN + 38, &subtitle);
    if let Some(message) = &graph.deprecation {
        let sentence = format!("package {}", deprecated_sentence(message));
        draw_warning(
            &sentence,
            &fitted(&sentence, SMALL_FONT, room - 16),
            MARGIN,
            MARGIN + 58,
            canvas,
        );
    }
}

fn draw_panel(picture: &Picture, column: &Column, canvas: &mut Canvas) {
    let (left, top, width) = (column.left, picture.panel_top, column.width);
    let height = picture.panel_bottom - top;
    canvas.raw(format_args!(
        "<rect class=\"panel\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>"
    ));
    let lane = column.outline.lane;
    canvas.raw(format_args!("<g>"));
    canvas.tooltip(&channel_title(&lane.channel, lane.is_default));
    canvas.text("heading", column.text_x(), top + 28, &column.header.heading);
    canvas.raw(format_args!("</g>"));
    canvas.text("small", column.text_x(), top + 46, &column.header.summary);
    for (position, warning) in column.header.warnings.iter().enumerate() {
        draw_warning(
            &warning.sentence,
            &warning.shown,
            column.text_x(),
            picture.warning_y(position),
            canvas,
        );
    }
}

fn draw_warning(sentence: &str, shown: &str, x: usize, y: usize, canvas: &mut Canvas) {
    canvas.raw(format_args!("<g>"));
    canvas.tooltip(sentence);
    canvas.triangle(x, y);
    canvas.text("warning", x + 16, y, shown);
    canvas.raw(format_args!("</g>"));
}

fn draw_nodes(picture: &Picture, column: &Column, canvas: &mut Canvas) {
    let nodes = &column.outline.lane.nodes[..column.drawn];
    for (index, node) in nodes.iter().enumerate() {
        let y = picture.row_y(column.row_of[index]);
        let (left, top) = (column.left + 4, y - ROW_HEIGHT / 2 + 1);
        canvas.raw(format_args!("<g class=\"node\">"));
        canvas.tooltip(&column.outline.facts(index).join("\n"));
        canvas.raw(format_args!(
            "<rect class=\"area\" x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"4\"/>",
            column.width - 8,
            ROW_HEIGHT - 2
        ));
        canvas.sign(node.role, node.deprecation.is_some(), column.node_x(index), y);
        let class = if is_installable(node.role) { "label" } else { "label quiet" };
        canvas.text(class, column.captions.label_x, y + 4, &column.captions.labels[index]);
        if !column.captions.annotations[index].is_empty() {
            canvas.text(
                "small",
                column.captions.annotation_x[index],
                y + 4,
                &column.captions.annotations[index],
            );
        }
        canvas.raw(format_args!("</g>"));
    }
    if column.left_out() > 0 {
        let row = column.row_of.last().map_or(0, |last| last + 1);
        let note = left_out_note(column.left_out());
        canvas.text("small", column.captions.label_x, picture.row_y(row) + 4, &note);
    }
}

/// Draws legend and notes below the columns and returns where they end.
fn draw_foot(
    graph: &PackageGraph,
    picture: &Picture,
    width: usize,
    (strokes, same_version): (&[Stroke], bool),
    canvas: &mut Canvas,
) -> usize {
    let top =
        if picture.columns.is_empty() { picture.panel_top } else { picture.panel_bottom + 10 };
    let entries = legend::entries(graph, strokes, same_version);
    let mut bottom = legend::draw(&entries, top, width - MARGIN, canvas);
    let left_out: usize = picture.columns.iter().map(|column| column.tracks.left_out).sum();
    let mut notes = Vec::new();
    if left_out > 0 {
        let skipping = counted(left_out, "version");
        notes.push(format!(
            "The edges into {skipping} are in tooltips only: more lines hide the rest"
        ));
    }
    if picture.lanes_left_out > 0 {
        notes.push(format!("… {} not drawn", counted(picture.lanes_left_out, "more channel")));
    }
    for note in notes {
        bottom += 16;
        canvas.text("small", MARGIN, bottom, &note);
    }
    bottom
}

/// The picture in words, for those who hear it.
fn description(graph: &PackageGraph) -> String {
    let mut sentences = vec![counted(graph.lanes.len(), "channel")];
    if let Some(message) = &graph.deprecation {
        sentences.push(deprecated_sentence(message));
    }
    for lane in graph.lanes.iter().take(MAX_DESCRIBED_LANES) {
        let count = |role: Role| lane.nodes.iter().filter(|node| node.role == role).count();
        let mut parts = vec![format!(
            "{}: {}",
            channel_title(&lane.channel, lane.is_default),
            counted(lane.nodes.len(), "version")
        )];
        if let Some(head) = Outline::of(lane).head_label() {
            parts.push(format!("head {head}"));
        }
        for (role, word) in
            [(Role::Skipped, "skipped"), (Role::Virtual, "virtual"), (Role::Stranded, "stranded")]
        {
            if count(role) > 0 {
                parts.push(format!("{} {word}", count(role)));
            }
        }
        parts.extend(lane.deprecation.as_deref().map(deprecated_sentence));
        parts.extend(lane.problem.as_deref().map(clean));
        sentences.push(parts.join(", "));
    }
    if graph.lanes.len() > MAX_DESCRIBED_LANES {
        sentences.push(format!("and {} more", graph.lanes.len() - MAX_DESCRIBED_LANES));
    }
    format!("{}.", sentences.join(". "))
}
