//! Decides the lines of one section: which version, joined to what, with which words beside it.
//!
//! It deliberately writes no characters; how a line looks is decided in `paint`.

use crate::{
    graph::Role,
    outline::{Outline, Place},
    words::counted,
};

/// A run of skipped versions longer than this is folded into one line.
///
/// One screen has about 25 lines; a reader wants the chain in view, and the first few tell what
/// kind of versions were skipped.
pub const FOLD_SKIPPED_ABOVE: usize = 8;

/// How many versions of a folded run stay visible.
const KEPT_OF_FOLDED: usize = 5;

/// Describes one line of a section.
pub(super) enum Line {
    /// An empty line: nothing connects what is above with what is below.
    Gap,
    /// One version.
    Version(Row),
    /// Several skipped versions in one line.
    Folded(Row),
}

/// Describes a line with a sign.
pub(super) struct Row {
    pub(super) role: Role,
    pub(super) joint: Joint,
    /// Whether the line of the chain runs on below this row.
    pub(super) rail_below: bool,
    pub(super) label: String,
    pub(super) notes: Vec<String>,
    /// The deprecation sentence, written with its own sign before the other notes.
    pub(super) warning: Option<String>,
}

/// Says how the sign of a row is joined to the chain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// The sign stands in the chain.
    InChain,
    /// The sign hangs beside the chain; a line leads to it.
    Hanging,
    /// The sign stands beside the chain; no line leads to it.
    Loose { rail: bool },
}

/// Returns the lines of one section, from the head down.
pub(super) fn lines(outline: &Outline) -> Vec<Line> {
    let mut lines = Vec::new();
    let count = outline.lane.nodes.len();
    let mut above: Option<usize> = None;
    let mut index = 0;
    while index < count {
        match outline.places[index] {
            Place::Spine => {
                if above.is_some_and(|upper| !outline.is_linked(upper)) {
                    lines.push(Line::Gap);
                }
                let end = run_end(outline, index + 1);
                lines.push(Line::Version(spine_row(outline, index, index + 1..end)));
                above = Some(index);
                index += 1;
            }
            Place::Side => {
                let end = run_end(outline, index);
                side_rows(outline, above, index..end, &mut lines);
                index = end;
            }
        }
    }
    lines
}

/// Returns the end of the run of side nodes that begins at `start`; empty runs are common.
fn run_end(outline: &Outline, start: usize) -> usize {
    let rest = &outline.places[start..];
    start + rest.iter().take_while(|&&place| place == Place::Side).count()
}

fn spine_row(outline: &Outline, index: usize, run: std::ops::Range<usize>) -> Row {
    let hanging = run.clone().any(|side| outline.is_skipped_by(side, index));
    let mut notes: Vec<String> = outline.role_sentence(index).into_iter().collect();
    if let Some(target) = outline.replaces[index]
        && !outline.is_linked(index)
    {
        notes.push(format!("replaces {}", outline.labels[target]));
    }
    let elsewhere: Vec<usize> =
        outline.skips[index].iter().copied().filter(|target| !run.contains(target)).collect();
    if !elsewhere.is_empty() {
        let verb = if hanging { "also skips" } else { "skips" };
        notes.push(format!("{verb} {}", outline.listed(&elsewhere)));
    }
    notes.extend(outline.skip_range_sentence(index));
    Row {
        role: outline.lane.nodes[index].role,
        joint: Joint::InChain,
        rail_below: outline.is_linked(index) || hanging,
        label: outline.labels[index].clone(),
        notes,
        warning: outline.deprecated_sentence(index),
    }
}

fn side_rows(
    outline: &Outline,
    above: Option<usize>,
    run: std::ops::Range<usize>,
    lines: &mut Vec<Line>,
) {
    let hangs = |side: usize| above.is_some_and(|upper| outline.is_skipped_by(side, upper));
    let linked = above.is_some_and(|upper| outline.is_linked(upper));
    let last_hanging = run.clone().rev().find(|&side| hangs(side));
    let shown_end =
        if run.len() > FOLD_SKIPPED_ABOVE { run.start + KEPT_OF_FOLDED } else { run.end };
    for side in run.start..shown_end {
        let rail_below = linked || last_hanging.is_some_and(|last| side < last);
        let hanging = hangs(side);
        lines.push(Line::Version(Row {
            role: outline.lane.nodes[side].role,
            joint: if hanging { Joint::Hanging } else { Joint::Loose { rail: rail_below } },
            rail_below,
            label: outline.labels[side].clone(),
            notes: side_notes(outline, side, hanging),
            warning: outline.deprecated_sentence(side),
        }));
    }
    if shown_end < run.end {
        let hanging = last_hanging.is_some_and(|last| last >= shown_end);
        lines.push(Line::Folded(Row {
            role: Role::Skipped,
            joint: if hanging { Joint::Hanging } else { Joint::Loose { rail: linked } },
            rail_below: linked,
            label: folded_sentence(outline, shown_end..run.end),
            notes: Vec::new(),
            warning: None,
        }));
    }
}

fn side_notes(outline: &Outline, side: usize, hanging: bool) -> Vec<String> {
    let mut notes: Vec<String> = outline.role_sentence(side).into_iter().collect();
    let skippers = outline.skippers(side);
    if !hanging && !skippers.is_empty() {
        notes.push(format!("skipped by {skippers}"));
    }
    // A skipped version that replaces the one below it says nothing new.
    if let Some(target) = outline.replaces[side]
        && target != side + 1
        && Some(target) != outline.next_on_spine[side]
    {
        notes.push(format!("replaces {}", outline.labels[target]));
    }
    if !outline.skips[side].is_empty() {
        notes.push(format!("skips {}", outline.listed(&outline.skips[side])));
    }
    notes.extend(outline.skip_range_sentence(side));
    notes
}

/// What is folded away is counted, so that a deprecation inside is not silently lost.
fn folded_sentence(outline: &Outline, folded: std::ops::Range<usize>) -> String {
    let nodes = &outline.lane.nodes[folded.clone()];
    let mut sentence = format!("{} more skipped", folded.len());
    if let Some(last) = outline.labels[folded].last() {
        sentence.push_str(&format!(", down to {last}"));
    }
    let deprecated = nodes.iter().filter(|node| node.deprecation.is_some()).count();
    if deprecated > 0 {
        sentence.push_str(&format!(", {deprecated} deprecated"));
    }
    let hollow = nodes.iter().filter(|node| node.role == Role::Virtual).count();
    if hollow > 0 {
        sentence.push_str(&format!(", {} without content", counted(hollow, "name")));
    }
    sentence
}
