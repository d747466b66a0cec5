//! The words of one column: what stands above it and what stands beside each version.
//!
//! Every text is cut to a room of its own, and measured, so that none can touch another. It
//! deliberately leaves long messages to the tooltips.

use super::measure::{fitted, middle_fitted, text_width};
use crate::{
    graph::{Lane, Role},
    outline::Outline,
    words::{channel_title, clean, counted, deprecated_sentence},
};

/// The font sizes; the style sheet says the same.
const LABEL_FONT: usize = 13;
pub(super) const SMALL_FONT: usize = 11;
const HEADING_FONT: usize = 15;
pub(super) const TITLE_FONT: usize = 20;

/// A warning is worth some room, but a message of a thousand characters is left to the tooltip.
const MAX_HEADER_WIDTH: usize = 260;
const MAX_LABEL_WIDTH: usize = 180;
const MAX_ANNOTATION_WIDTH: usize = 230;

/// The room that the sign before a warning takes.
const WARNING_SIGN: usize = 16;
const GAP: usize = 10;

/// Holds the words beside the versions of a column.
pub(super) struct Captions {
    pub(super) labels: Vec<String>,
    pub(super) annotations: Vec<String>,
    pub(super) label_x: usize,
    /// Where the annotation of each version begins.
    pub(super) annotation_x: Vec<usize>,
    /// Where the widest row ends.
    pub(super) end: usize,
}

impl Captions {
    /// Places the words of the first `drawn` nodes from `label_x` on.
    pub(super) fn new(outline: &Outline, drawn: usize, label_x: usize) -> Self {
        let nodes = &outline.lane.nodes;
        let labels: Vec<String> = outline.labels[..drawn]
            .iter()
            .map(|label| middle_fitted(label, LABEL_FONT, MAX_LABEL_WIDTH))
            .collect();
        let annotations = (0..drawn)
            .map(|index| annotation(outline, index))
            .map(|annotation| fitted(&annotation, SMALL_FONT, MAX_ANNOTATION_WIDTH))
            .collect();
        let widths: Vec<usize> = labels.iter().map(|label| text_width(label, LABEL_FONT)).collect();
        // The words stand in a column beside the versions; a long name pushes only its own.
        let column = (0..drawn)
            .filter(|&index| nodes[index].role != Role::Virtual)
            .map(|index| widths[index])
            .max()
            .unwrap_or(0);
        let annotation_x = widths.iter().map(|&width| label_x + width.max(column) + GAP).collect();
        let mut captions = Self { labels, annotations, label_x, annotation_x, end: label_x };
        let ends = (0..drawn).map(|index| captions.end_of(index));
        captions.end = ends.chain([label_x]).fold(0, usize::max);
        if nodes.len() > drawn {
            let note = left_out_note(nodes.len() - drawn);
            captions.end = captions.end.max(label_x + text_width(&note, SMALL_FONT));
        }
        captions
    }

    /// Returns where the words of the node end.
    pub(super) fn end_of(&self, index: usize) -> usize {
        if self.annotations[index].is_empty() {
            self.label_x + text_width(&self.labels[index], LABEL_FONT)
        } else {
            self.annotation_x[index] + text_width(&self.annotations[index], SMALL_FONT)
        }
    }
}

/// Holds the words above a column.
pub(super) struct Header {
    pub(super) heading: String,
    pub(super) summary: String,
    pub(super) warnings: Vec<Warning>,
    /// The width of the widest of them.
    pub(super) width: usize,
}

/// Describes one warning above a column.
pub(super) struct Warning {
    /// The whole sentence, for the tooltip.
    pub(super) sentence: String,
    /// What of it fits.
    pub(super) shown: String,
}

impl Header {
    pub(super) fn new(outline: &Outline) -> Self {
        let heading = heading(outline.lane);
        let summary = fitted(&summary(outline), SMALL_FONT, MAX_HEADER_WIDTH);
        let warnings: Vec<Warning> = warnings(outline.lane)
            .into_iter()
            .map(|sentence| Warning {
                shown: fitted(&sentence, SMALL_FONT, MAX_HEADER_WIDTH - WARNING_SIGN),
                sentence,
            })
            .collect();
        let width = warnings
            .iter()
            .map(|warning| WARNING_SIGN + text_width(&warning.shown, SMALL_FONT))
            .chain([text_width(&summary, SMALL_FONT), heading_width(&heading)])
            .fold(0, usize::max);
        Self { heading, summary, warnings, width }
    }

    /// Lets the warnings use all of the width that the column came to have.
    pub(super) fn fit_warnings(&mut self, width: usize) {
        for warning in &mut self.warnings {
            warning.shown = fitted(&warning.sentence, SMALL_FONT, width - WARNING_SIGN);
        }
    }
}

/// Returns the sentence about nodes that are not drawn.
pub(super) fn left_out_note(count: usize) -> String {
    format!("… {} not drawn", counted(count, "older version"))
}

/// The words beside a label are few: the sign and the tooltip say the rest.
fn annotation(outline: &Outline, index: usize) -> String {
    let node = &outline.lane.nodes[index];
    let mut parts: Vec<String> = Vec::new();
    match node.role {
        Role::Head => parts.push("head".to_owned()),
        Role::Virtual => parts.push("no content".to_owned()),
        Role::Stranded => parts.push("stranded".to_owned()),
        Role::Chain | Role::Skipped => {}
    }
    if node.deprecation.is_some() {
        parts.push("deprecated".to_owned());
    }
    if let Some(range) = &node.skip_range {
        parts.push(format!("skipRange {}", clean(&range.text)));
    }
    parts.join(" · ")
}

/// The mark of the default channel is never cut.
fn heading(lane: &Lane) -> String {
    let title = channel_title(&lane.channel, lane.is_default);
    let channel = channel_title(&lane.channel, false);
    let mark = title.strip_prefix(channel.as_str()).unwrap_or_default();
    let room = MAX_HEADER_WIDTH - text_width(mark, HEADING_FONT);
    format!("{}{mark}", fitted(&channel, HEADING_FONT, room))
}

/// Semibold is wider than what is measured.
fn heading_width(heading: &str) -> usize {
    text_width(heading, HEADING_FONT) * 11 / 10
}

fn summary(outline: &Outline) -> String {
    let nodes = &outline.lane.nodes;
    let virtuals = nodes.iter().filter(|node| node.role == Role::Virtual).count();
    let versions = counted(nodes.len() - virtuals, "version");
    let heads = nodes.iter().filter(|node| node.role == Role::Head).count();
    match outline.head_label() {
        Some(head) if heads == 1 => format!("{versions}, head {head}"),
        Some(_) => format!("{versions}, {heads} heads"),
        None => format!("{versions}, no head"),
    }
}

fn warnings(lane: &Lane) -> Vec<String> {
    let deprecated = lane.deprecation.as_deref().map(deprecated_sentence);
    let problem = lane.problem.as_deref().map(|problem| format!("problem: {}", clean(problem)));
    deprecated.into_iter().chain(problem).collect()
}
