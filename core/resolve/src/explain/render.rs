//! An explanation as text: a sentence with its tree for people, one line for a status.

use super::fold::fold_names;
use super::{Because, BecauseKind, Explanation};

/// The longest line for a status: messages of conditions may have 32768 characters, people read fewer.
pub const MAX_LINE: usize = 1024;

/// Renders the sentence, the chain of reasons as a tree, and the ways out.
pub fn render_text(explanation: &Explanation) -> String {
    let mut text = explanation.headline.clone();
    if !text.ends_with(['.', '?', '!']) {
        text.push('.');
    }
    text.push('\n');
    let told = matches!(explanation.because.as_slice(), [only] if only.because.is_empty() && explanation.headline == only.text);
    if !told {
        text.push('\n');
        for step in &explanation.because {
            render_step(&mut text, step);
        }
    }
    if !explanation.ways_out.is_empty() {
        let checked = explanation.ways_out.iter().all(|way| way.checked);
        text.push_str(if checked { "\nWays out (each was checked):\n" } else { "\nWays out:\n" });
        for (number, way) in explanation.ways_out.iter().enumerate() {
            let note = if way.checked || checked { "" } else { " (not checked)" };
            text.push_str(&format!("  {}. {}{note}\n", number + 1, way.text));
        }
    }
    text
}

/// Renders the sentence alone, cut to the length that a status can show.
pub fn render_line(explanation: &Explanation) -> String {
    let mut line = explanation.headline.replace('\n', " ");
    if line.len() > MAX_LINE {
        let mut end = MAX_LINE - '…'.len_utf8();
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line.push('…');
    }
    line
}

/// A step and where it stands in the tree.
struct Placed<'s> {
    step: &'s Because,
    above: Option<&'s Because>,
    indent: String,
    is_last: bool,
}

/// Renders a step and what is below it, without recursion.
fn render_step(text: &mut String, root: &Because) {
    let mut open = vec![Placed { step: root, above: None, indent: String::new(), is_last: true }];
    while let Some(Placed { step, above, indent, is_last }) = open.pop() {
        let is_root = above.is_none();
        let branch = match (is_root, is_last) {
            (true, _) => "",
            (false, true) => "└─ ",
            (false, false) => "├─ ",
        };
        let which = match (step.kind, fold_names(&step.operators)) {
            (BecauseKind::Versions, 0 | 1) => "",
            (BecauseKind::Versions, _) => ", each of which",
            _ => "",
        };
        // Words of the author that stand above already are not repeated.
        let message = match step.message.as_str() {
            "" => String::new(),
            message if above.is_some_and(|above| above.message == message) => String::new(),
            message => format!("   \"{message}\""),
        };
        text.push_str(&format!("{indent}{branch}{}{which}{message}\n", step.text));
        let below = match (is_root, is_last) {
            (true, _) => indent,
            (false, true) => format!("{indent}   "),
            (false, false) => format!("{indent}│  "),
        };
        let count = step.because.len();
        for (number, next) in step.because.iter().enumerate().rev() {
            open.push(Placed {
                step: next,
                above: Some(step),
                indent: below.clone(),
                is_last: number + 1 == count,
            });
        }
    }
}
