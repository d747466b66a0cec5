//! Reading a text into a document: attempt, repair, attempt again.
//!
//! The events themselves are put together by the composer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use libyaml_safer::{Encoding, Error, ErrorKind, Parser};

use super::{
    composer::Composer,
    document::{Content, Document},
    error::Problem,
    intake::{Intake, first_forbidden, last_line_start},
    repair::Repairs,
    upstream,
};

/// Composes the first document of a text.
pub(super) fn compose(intake: &Intake<'_>) -> Result<Document, Problem> {
    let mut repairs = Repairs::new(intake);
    upstream::check_directives(intake.text())?;
    loop {
        if repairs.is_exhausted() {
            let message = "too many texts between brackets that have to be put in quotes";
            return Err(Problem::at(0, message));
        }
        match attempt(intake, repairs.text(), &repairs) {
            Ok(composer) => return settle_final_line(composer, intake, &repairs),
            Err(Refusal::Problem(problem)) => return Err(problem),
            Err(Refusal::Mistake(position)) => repairs.take_back(position),
            Err(Refusal::Scanner(error)) => {
                if !repairs.mend(&error) {
                    return Err(describe(&error, intake.text()));
                }
            }
        }
    }
}

/// Why an attempt to read a text ended.
pub(super) enum Refusal {
    /// The scanner would not go on; upstream's might.
    Scanner(Error),
    /// The repair at this offset was wrong.
    Mistake(u32),
    /// Upstream would not go on either.
    Problem(Problem),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Refusal::Problem(problem)
    }
}

fn attempt<'t>(
    intake: &Intake<'_>,
    text: &'t [u8],
    repairs: &'t Repairs<'_>,
) -> Result<Composer<'t>, Refusal> {
    let mut parser = Parser::new();
    parser.set_encoding(Encoding::Utf8);
    parser.set_input(intake.portions(text));
    let mut composer = Composer::new(text, repairs);
    // A belt: the known panics of the scanner are prevented before it starts.
    let outcome = catch_unwind(AssertUnwindSafe(|| composer.run(&mut parser)));
    repairs.note_looks(composer.looks());
    match outcome {
        Ok(outcome) => outcome.map(|()| composer),
        Err(_) => {
            let offset = composer.document.nodes.last().map_or(0, |node| node.end);
            Err(Problem::at(offset, "internal: the YAML scanner failed after this place").into())
        }
    }
}

/// Decides the one question about a block scalar on the last line that the scanner leaves open.
fn settle_final_line(
    composer: Composer<'_>,
    intake: &Intake<'_>,
    repairs: &Repairs<'_>,
) -> Result<Document, Problem> {
    let Composer { mut document, doubtful, text, .. } = composer;
    if let Some(index) = doubtful {
        // The last line is blank. If the scalar is another without it, the line was content, and
        // the line break that was added behind it has to go.
        let without = attempt(intake, &text[..last_line_start(text)], repairs).ok();
        let without = without.as_ref().and_then(|it| text_of(&it.document, index));
        if without != text_of(&document, index)
            && let Content::Text(_, length) = &mut document.nodes[index as usize].content
        {
            *length -= 1;
        }
    }
    Ok(document)
}

fn text_of(document: &Document, index: u32) -> Option<&[u8]> {
    match document.nodes.get(index as usize)?.content {
        Content::Text(start, length) => Some(document.pooled((start, length))),
        _ => None,
    }
}

fn describe(error: &Error, text: &[u8]) -> Problem {
    let context = error.context().map_or(String::new(), |context| format!(" {context}"));
    let message = match error.kind() {
        ErrorKind::Io => error.to_string(),
        ErrorKind::Reader
        | ErrorKind::Scanner
        | ErrorKind::Parser
        | ErrorKind::Composer
        | ErrorKind::Emitter => format!("{}{context}", error.problem()),
    };
    let offset = match error.problem_mark() {
        Some(mark) => mark.index as usize,
        None => first_forbidden(text),
    };
    Problem { message, offset }
}
