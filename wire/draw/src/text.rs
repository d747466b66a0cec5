//! The upgrade graph for a terminal, read from the head down like `git log --graph`.
//!
//! The first column is the chain; what is skipped hangs beside the version that skips it. An empty
//! line means that no line leads on. Every sign is said in words too, so that colour is never
//! needed. It deliberately does not ask the terminal anything: width, character set and colour are
//! arguments.

mod paint;
mod rows;

use crate::{
    graph::{Lane, PackageGraph},
    outline::Outline,
    words::{channel_title, clean, deprecated_sentence},
};
use paint::Painter;

pub use paint::{MAX_NOTE_LINES, MIN_TEXT_WIDTH};
pub use rows::FOLD_SKIPPED_ABOVE;

/// Holds what the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// The number of columns; narrower than [`MIN_TEXT_WIDTH`] counts as that.
    pub width: usize,
    /// Whether characters beyond ASCII may be written.
    pub unicode: bool,
    /// Whether ANSI colours may be written.
    pub color: bool,
}

/// Returns the graph as text, one section per channel, with a legend of the signs that occur.
///
/// Every line ends with a line feed.
pub fn text(graph: &PackageGraph, options: &TextOptions) -> String {
    let mut painter = Painter::new(options);
    if let Some(message) = &graph.deprecation {
        painter.package_warning(&clean(&graph.package), &deprecated_sentence(message));
        painter.empty_line();
    }
    if graph.lanes.is_empty() {
        painter.plain_line(&format!("{} has no channels", clean(&graph.package)));
    }
    for (position, lane) in graph.lanes.iter().enumerate() {
        if position > 0 {
            painter.empty_line();
        }
        section(lane, &mut painter);
    }
    painter.legend();
    painter.finish()
}

fn section(lane: &Lane, painter: &mut Painter) {
    painter.heading(&channel_title(&lane.channel, lane.is_default));
    if let Some(message) = &lane.deprecation {
        painter.deprecated_channel(&deprecated_sentence(message));
    }
    if let Some(problem) = &lane.problem {
        painter.problem(&clean(problem));
    }
    if lane.nodes.is_empty() {
        painter.plain_line("(no versions)");
    }
    painter.lines(&rows::lines(&Outline::of(lane)));
}
