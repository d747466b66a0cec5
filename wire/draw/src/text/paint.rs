//! Writes the lines of a section as characters: signs, rails, columns, wrapping, colour, legend.
//!
//! It deliberately decides nothing about the graph; it writes the rows that `rows` made.

use unicode_width::UnicodeWidthChar;

use super::{
    TextOptions,
    rows::{Joint, Line, Row},
};
use crate::graph::Role;

/// The narrowest terminal that is laid out for; a narrower one gets lines of this width.
pub const MIN_TEXT_WIDTH: usize = 40;

/// The most lines that the words beside one version may take; a long message is cut there.
pub const MAX_NOTE_LINES: usize = 4;

/// The spaces between the columns of labels and of words.
const COLUMN_GAP: usize = 2;

/// The characters of one character set.
struct Signs {
    installable: &'static str,
    skipped: &'static str,
    hollow: &'static str,
    stranded: &'static str,
    warning: &'static str,
    folded: &'static str,
    rail: &'static str,
    branch: &'static str,
    last_branch: &'static str,
    separator: &'static str,
    ellipsis: &'static str,
}

const UNICODE: Signs = Signs {
    installable: "●",
    skipped: "○",
    hollow: "◌",
    stranded: "✕",
    warning: "⚠",
    folded: "…",
    rail: "│",
    branch: "├─",
    last_branch: "╰─",
    separator: " · ",
    ellipsis: "…",
};

const ASCII: Signs = Signs {
    installable: "*",
    skipped: "o",
    hollow: "?",
    stranded: "x",
    warning: "!",
    folded: "+",
    rail: "|",
    branch: "|-",
    last_branch: "`-",
    separator: "; ",
    ellipsis: "...",
};

/// Names the few colours by what they are for; the text says the same without them.
#[derive(Clone, Copy)]
enum Tone {
    Heading,
    Installable,
    Quiet,
    Warning,
    Broken,
}

/// Remembers which signs were written, for the legend.
#[derive(Default)]
struct Used {
    installable: bool,
    skipped: bool,
    hollow: bool,
    stranded: bool,
    deprecated: bool,
    problem: bool,
}

/// Collects the text of all sections.
pub(super) struct Painter {
    signs: &'static Signs,
    unicode: bool,
    width: usize,
    color: bool,
    used: Used,
    output: String,
}

impl Painter {
    pub(super) fn new(options: &TextOptions) -> Self {
        Self {
            signs: if options.unicode { &UNICODE } else { &ASCII },
            unicode: options.unicode,
            width: options.width.max(MIN_TEXT_WIDTH),
            color: options.color,
            used: Used::default(),
            output: String::new(),
        }
    }

    pub(super) fn empty_line(&mut self) {
        self.output.push('\n');
    }

    pub(super) fn plain_line(&mut self, line: &str) {
        for part in self.wrapped(&self.legible(line), self.width) {
            self.write_line(&part);
        }
    }

    pub(super) fn heading(&mut self, title: &str) {
        let title = self.fitted(&self.legible(title), self.width);
        let title = self.toned(Tone::Heading, &title);
        self.write_line(&title);
    }

    pub(super) fn package_warning(&mut self, package: &str, sentence: &str) {
        self.used.deprecated = true;
        self.warning_lines(&format!("package {package} is {sentence}"));
    }

    pub(super) fn deprecated_channel(&mut self, sentence: &str) {
        self.used.deprecated = true;
        self.warning_lines(&format!("channel {sentence}"));
    }

    pub(super) fn problem(&mut self, problem: &str) {
        self.used.problem = true;
        self.warning_lines(&format!("problem: {problem}"));
    }

    /// Writes the rows of one section in columns of their own.
    pub(super) fn lines(&mut self, lines: &[Line]) {
        let has_side = lines.iter().any(|line| match line {
            Line::Gap => false,
            Line::Version(row) | Line::Folded(row) => row.joint != Joint::InChain,
        });
        let gutter = if has_side { 4 } else { 2 };
        // A label may take half of what is left, so that the words keep room to be read.
        let most = (self.width - gutter - COLUMN_GAP) / 2;
        let column = lines
            .iter()
            .map(|line| match line {
                Line::Version(row) => display_width(&self.legible(&row.label)).min(most),
                Line::Gap | Line::Folded(_) => 0,
            })
            .max()
            .unwrap_or(0);
        for line in lines {
            match line {
                Line::Gap => self.empty_line(),
                Line::Version(row) => self.version(row, gutter, column),
                Line::Folded(row) => self.folded(row, gutter),
            }
        }
    }

    /// Writes the meaning of every sign that occurs above.
    pub(super) fn legend(&mut self) {
        let warning = match (self.used.deprecated, self.used.problem) {
            (true, true) => Some("deprecated or a problem"),
            (true, false) => Some("deprecated"),
            (false, true) => Some("problem"),
            (false, false) => None,
        };
        let entries = [
            (self.used.installable, self.signs.installable, "installable"),
            (self.used.skipped, self.signs.skipped, "skipped"),
            (self.used.hollow, self.signs.hollow, "virtual"),
            (self.used.stranded, self.signs.stranded, "stranded"),
            (warning.is_some(), self.signs.warning, warning.unwrap_or_default()),
        ];
        let mut line = String::new();
        for (_, sign, meaning) in entries.into_iter().filter(|(used, _, _)| *used) {
            let entry = format!("{sign} {meaning}");
            if line.is_empty() {
                self.empty_line();
                line = entry;
            } else if display_width(&line) + 2 + display_width(&entry) > self.width {
                self.write_line(&line);
                line = entry;
            } else {
                line = format!("{line}  {entry}");
            }
        }
        if !line.is_empty() {
            self.write_line(&line);
        }
    }

    pub(super) fn finish(self) -> String {
        self.output
    }

    fn version(&mut self, row: &Row, gutter: usize, column: usize) {
        let (sign, tone) = self.sign(row.role);
        let label = self.fitted(&self.legible(&row.label), column);
        let mut notes = Vec::new();
        if let Some(warning) = &row.warning {
            self.used.deprecated = true;
            notes.push(format!("{} {}", self.signs.warning, self.legible(warning)));
        }
        notes.extend(row.notes.iter().map(|note| self.legible(note)));
        // The head is told first: it is what a reader looks for.
        if row.role == Role::Head && notes.len() > 1 && row.warning.is_some() {
            notes.swap(0, 1);
        }
        let room = self.width - gutter - column - COLUMN_GAP;
        let notes = self.wrapped(&notes.join(self.signs.separator), room);

        let note_tone = if row.role == Role::Stranded {
            Tone::Broken
        } else if row.warning.is_some() {
            Tone::Warning
        } else {
            Tone::Quiet
        };
        let mut line = self.joined(row, sign, tone, gutter);
        line.push_str(&self.toned(tone, &label));
        let padding = " ".repeat(column.saturating_sub(display_width(&label)) + COLUMN_GAP);
        let mut notes = notes.into_iter();
        if let Some(first) = notes.next() {
            line = format!("{line}{padding}{}", self.toned(note_tone, &first));
        }
        self.write_line(&line);
        let rail = if row.rail_below { self.signs.rail } else { " " };
        for note in notes {
            let indent = " ".repeat(gutter - 1 + column + COLUMN_GAP);
            let note = self.toned(note_tone, &note);
            self.write_line(&format!("{rail}{indent}{note}"));
        }
    }

    fn folded(&mut self, row: &Row, gutter: usize) {
        self.used.skipped = true;
        let mut line = self.joined(row, self.signs.folded, Tone::Quiet, gutter);
        let sentence = self.fitted(&self.legible(&row.label), self.width - gutter);
        line.push_str(&self.toned(Tone::Quiet, &sentence));
        self.write_line(&line);
    }

    /// Returns the part before the label: rail, branch and sign, exactly `gutter` columns wide.
    fn joined(&self, row: &Row, sign: &str, tone: Tone, gutter: usize) -> String {
        let sign = self.toned(tone, sign);
        match row.joint {
            Joint::InChain => format!("{sign}{}", " ".repeat(gutter - 1)),
            Joint::Hanging if row.rail_below => format!("{}{sign} ", self.signs.branch),
            Joint::Hanging => format!("{}{sign} ", self.signs.last_branch),
            Joint::Loose { rail: true } => format!("{} {sign} ", self.signs.rail),
            Joint::Loose { rail: false } => format!("  {sign} "),
        }
    }

    fn sign(&mut self, role: Role) -> (&'static str, Tone) {
        match role {
            Role::Head | Role::Chain => {
                self.used.installable = true;
                (self.signs.installable, Tone::Installable)
            }
            Role::Skipped => {
                self.used.skipped = true;
                (self.signs.skipped, Tone::Quiet)
            }
            Role::Virtual => {
                self.used.hollow = true;
                (self.signs.hollow, Tone::Quiet)
            }
            Role::Stranded => {
                self.used.stranded = true;
                (self.signs.stranded, Tone::Broken)
            }
        }
    }

    fn warning_lines(&mut self, sentence: &str) {
        let sentence = self.legible(sentence);
        let mut sign = self.signs.warning;
        for part in self.wrapped(&sentence, self.width - 2) {
            let line = self.toned(Tone::Warning, &format!("{sign} {part}"));
            self.write_line(&line);
            sign = " ";
        }
    }

    /// Returns the text with what the character set cannot show replaced.
    fn legible(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let mut legible = String::new();
        for character in text.chars() {
            match character {
                '…' => legible.push_str(ASCII.ellipsis),
                _ if character.is_ascii() => legible.push(character),
                _ => legible.push('?'),
            }
        }
        legible
    }

    /// Returns the text cut to `room` columns, with an ellipsis where something was lost.
    fn fitted(&self, text: &str, room: usize) -> String {
        if display_width(text) <= room {
            return text.to_owned();
        }
        let ellipsis = self.signs.ellipsis;
        let (head, _) = split_at_width(text, room.saturating_sub(display_width(ellipsis)));
        format!("{}{ellipsis}", head.trim_end())
    }

    /// Returns the text in lines of at most `room` columns and at most [`MAX_NOTE_LINES`].
    fn wrapped(&self, text: &str, room: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if lines.len() + 1 == MAX_NOTE_LINES || display_width(rest) <= room {
                lines.push(self.fitted(rest, room));
                break;
            }
            let (head, tail) = split_at_width(rest, room);
            let cut = match head.rfind(' ') {
                _ if tail.starts_with(' ') => head.len(),
                Some(space) if space > 0 => space,
                Some(_) | None => head.len(),
            };
            lines.push(rest[..cut].trim_end().to_owned());
            rest = rest[cut..].trim_start();
        }
        lines
    }

    fn toned(&self, tone: Tone, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Heading => "1",
            Tone::Installable => "32",
            Tone::Quiet => "2",
            Tone::Warning => "33",
            Tone::Broken => "31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    fn write_line(&mut self, line: &str) {
        self.output.push_str(line.trim_end());
        self.output.push('\n');
    }
}

/// Returns the columns that the text takes, counted as [`split_at_width`] counts them.
fn display_width(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or(0)).sum()
}

/// Splits the text where its display reaches `room` columns, but never before its first character:
/// a caller that loops over the rest must always move on.
fn split_at_width(text: &str, room: usize) -> (&str, &str) {
    let mut used = 0;
    for (position, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > room && position > 0 {
            return text.split_at(position);
        }
    }
    (text, "")
}
