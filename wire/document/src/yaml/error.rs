//! What can be wrong with a YAML text, and where.

use std::{error::Error, fmt};

/// A YAML text that cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    message: String,
    place: Option<Place>,
}

/// A position in the text, for programs and for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The byte offset in the text as it was given.
    pub(super) offset: usize,
    /// The line, counted from one.
    pub(super) line: usize,
    /// The character in the line, counted from one.
    pub(super) column: usize,
}

/// A fault found at an offset of the text after its encoding was settled.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) offset: usize,
}

impl YamlError {
    /// Makes an error about the text as a whole.
    pub(super) fn unplaced(message: String) -> Self {
        YamlError { message, place: None }
    }

    /// Makes an error about one position.
    pub(super) fn placed(message: String, place: Place) -> Self {
        YamlError { message, place: Some(place) }
    }

    /// Returns the byte offset in the text at which the fault was found.
    pub fn offset(&self) -> Option<usize> {
        self.place.map(|place| place.offset)
    }

    /// Returns what is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(Place { line, column, .. }) => {
                write!(formatter, "line {line}, column {column}: {}", self.message)
            }
            None => formatter.write_str(&self.message),
        }
    }
}

impl Error for YamlError {}

impl Problem {
    /// Makes a problem at an offset.
    pub(super) fn at(offset: u32, message: impl Into<String>) -> Self {
        Problem { message: message.into(), offset: offset as usize }
    }
}
