//! Writes SVG elements: escaped text, lines, and the sign of each role.
//!
//! Shape and colour say the same: a disc is installable, an open circle skipped, a broken one
//! virtual, a cross stranded; what is deprecated is square and struck through. It deliberately
//! computes no positions.

use std::fmt::{Arguments, Write};

use crate::graph::Role;

/// Collects the elements of a picture.
pub(super) struct Canvas {
    output: String,
}

impl Canvas {
    pub(super) fn new() -> Self {
        Self { output: String::new() }
    }

    /// Writes markup that is already safe. Writing to a `String` cannot fail.
    pub(super) fn raw(&mut self, markup: Arguments) {
        let _ = self.output.write_fmt(markup);
        self.output.push('\n');
    }

    pub(super) fn text(&mut self, class: &str, x: usize, y: usize, content: &str) {
        let content = escaped(content);
        self.raw(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{content}</text>"));
    }

    /// Writes the tooltip of the surrounding element.
    pub(super) fn tooltip(&mut self, content: &str) {
        let content = escaped(content);
        self.raw(format_args!("<title>{content}</title>"));
    }

    /// Writes the text for those who hear the picture.
    pub(super) fn description(&mut self, content: &str) {
        let content = escaped(content);
        self.raw(format_args!("<desc>{content}</desc>"));
    }

    pub(super) fn path(&mut self, class: &str, commands: &str) {
        self.raw(format_args!("<path class=\"{class}\" d=\"{commands}\"/>"));
    }

    /// Writes the triangle that goes before a warning, its base at `y`.
    pub(super) fn triangle(&mut self, x: usize, y: usize) {
        self.path("triangle", &format!("M{x} {y}h11l-5.5 -9.5zm5.5 -6v2.5m0 2v0.1"));
    }

    /// Writes the sign of a version.
    pub(super) fn sign(&mut self, role: Role, deprecated: bool, x: usize, y: usize) {
        let radius = if deprecated { 6 } else { 5 };
        let strike = match role {
            Role::Head => {
                self.outlined("ring", deprecated, x, y, 8);
                self.outlined("sign head", deprecated, x, y, radius - 1);
                "strike-full"
            }
            Role::Chain => {
                self.outlined("sign chain", deprecated, x, y, radius);
                "strike-full"
            }
            Role::Skipped => {
                self.outlined("sign skipped", deprecated, x, y, radius);
                "sign skipped"
            }
            Role::Virtual => {
                self.outlined("sign virtual", deprecated, x, y, radius);
                "sign virtual"
            }
            Role::Stranded => {
                if deprecated {
                    self.outlined("sign stranded", true, x, y, radius);
                }
                self.path("cross", &format!("M{} {}l10 10m0 -10l-10 10", x - 5, y - 5));
                return;
            }
        };
        if deprecated {
            self.path(strike, &format!("M{} {}L{} {}", x - 6, y + 6, x + 6, y - 6));
        }
    }

    pub(super) fn finish(self) -> String {
        self.output
    }

    fn outlined(&mut self, class: &str, square: bool, x: usize, y: usize, radius: usize) {
        if square {
            let (left, top, side) = (x - radius, y - radius, 2 * radius);
            self.raw(format_args!(
                "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"{side}\" height=\"{side}\"/>"
            ));
        } else {
            self.raw(format_args!(
                "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
            ));
        }
    }
}

/// Returns the text with everything that XML could read as markup written as an entity.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
