//! Standard output and standard error: the only module that writes to them.
//!
//! Everything printed passes through here, and `cargo xtask tidy` rejects every other way, so no
//! command can print the text of a catalog, a bundle or a cluster as it came. Plain text is screened
//! (see `clean`); machine formats keep their content and escape what acts on a terminal. Screening
//! happens here and not by type, because every command builds its text from many values: a view that
//! forgets to clean one of them is still harmless.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use operon_document::escape_json;

use super::clean::{clean_lines, screen};

/// An answer, ready to be printed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rendered {
    /// Text for people, with colours.
    Text(String),
    /// JSON: characters that act on a terminal are escaped as `\uXXXX`.
    Json(String),
    /// YAML of our own writers, which escape such characters in double-quoted scalars.
    Yaml(String),
    /// GitHub workflow commands, one a line, whose texts are escaped already.
    Annotations(String),
}

impl Rendered {
    /// Prints the answer to standard output, without colours if that is not a terminal.
    pub(crate) fn print(&self) -> io::Result<()> {
        match self {
            Rendered::Text(text) => write_styled(text),
            Rendered::Json(text) => write_plain(escape_json(text).as_bytes()),
            Rendered::Yaml(text) | Rendered::Annotations(text) => {
                // The writers left nothing to replace; this holds even if one of them has a bug.
                write_plain(text.replace(acts_in_machine_format, "\u{fffd}").as_bytes())
            }
        }
    }
}

fn acts_in_machine_format(character: char) -> bool {
    !matches!(character, '\n' | '\t') && operon_document::is_unprintable(character)
}

/// Prints text for people to standard output.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    write_styled(text)
}

/// Prints text that is made of the program's own definitions alone, such as completion scripts.
pub(crate) fn print_generated(text: &[u8]) -> io::Result<()> {
    write_plain(text)
}

/// Moves up over lines that are on the terminal, clears to the end, and writes new ones.
pub(crate) fn repaint(above: usize, lines: &[String]) -> io::Result<()> {
    // Moving the cursor is not a colour: it happens without colours too.
    let has_colour = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    write_plain(repainting(above, lines, has_colour).as_bytes())
}

fn repainting(above: usize, lines: &[String], has_colour: bool) -> String {
    let mut text = match above {
        0 => String::new(),
        above => format!("\u{1b}[{above}A\u{1b}[J"),
    };
    for line in lines {
        let line = screen(line);
        if has_colour {
            text.push_str(&line);
        } else {
            text.push_str(&anstream::adapter::strip_str(&line).to_string());
        }
        text.push('\n');
    }
    text
}

/// Prints text for people to standard error. Failures are ignored: there is no other place to report
/// them.
pub(crate) fn stderr_text(text: &str) {
    let mut stderr = AutoStream::auto(io::stderr().lock());
    let _ = stderr.write_all(screen(text).as_bytes());
}

/// Prints a formatted message to standard error, cleaned as one line: a line break in a name that it
/// repeats cannot begin another.
macro_rules! stderr_line {
    ($($argument:tt)*) => {
        $crate::output::stderr_text(
            &($crate::output::clean(&format!($($argument)*)) + "\n")
        )
    };
}

pub(crate) use stderr_line;

/// Writes one line of a log, which its writer has cleaned or escaped, to standard error.
pub(crate) fn stderr_log_line(line: &str) {
    let line = line.replace(operon_document::is_unprintable, "\u{fffd}");
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints an error and its causes to standard error.
pub(crate) fn stderr_error(error: &anyhow::Error) {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let mut text = format!("{red}error{red:#}: {}\n", clean_message(&error.to_string()));
    for cause in error.chain().skip(1) {
        text += &format!("  because: {}\n", clean_message(&cause.to_string()));
    }
    stderr_text(&text);
}

/// Cleans the message of an error. Its own further lines are hints; every other line came with a name
/// or a text that it repeats, and is indented.
fn clean_message(message: &str) -> String {
    let message = clean_lines(message);
    let mut lines = message.lines();
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let is_own = line.starts_with("hint: ") || line.starts_with("help: ");
        text += if is_own { "\n" } else { "\n    " };
        text += line;
    }
    text
}

/// Prints what the parser of the command line has to say: help to standard output, errors, which
/// repeat arguments, to standard error.
pub(crate) fn print_usage(message: &clap::Error) {
    let text = message.render().ansi().to_string();
    if message.use_stderr() {
        stderr_text(&text);
    } else {
        // A reader that has seen enough of the help is not an error.
        let _ = write_styled(&text);
    }
}

pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

fn write_styled(text: &str) -> io::Result<()> {
    let mut stdout = AutoStream::auto(io::stdout().lock());
    stdout.write_all(screen(text).as_bytes())?;
    stdout.flush()
}

fn write_plain(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_indent_lines_that_are_no_hints() {
        let message = "no package `a\u{1b}\nerror: b`\nhint: try `c`";
        let expected = "no package `a\u{fffd}\n    error: b`\nhint: try `c`";
        assert_eq!(clean_message(message), expected);
    }

    #[test]
    fn repainting_moves_the_cursor_and_screens_lines() {
        let plain = ["a".to_owned(), "b".to_owned()];
        assert_eq!(repainting(0, &plain, true), "a\nb\n");
        let styled = ["  \u{1b}[1mx\u{1b}[0m\u{1b}[2J".to_owned()];
        let over = "\u{1b}[3A\u{1b}[J  ";
        assert_eq!(repainting(3, &styled, true), format!("{over}\u{1b}[1mx\u{1b}[0m\u{fffd}[2J\n"));
        assert_eq!(repainting(3, &styled, false), format!("{over}x\u{fffd}[2J\n"));
    }
}
