//! The errors found so far.
//!
//! Alternatives are judged into the same report and taken out again, so that nothing is copied on
//! the way up. Equal errors are told once.

use std::collections::BTreeSet;

use crate::FieldError;

/// Limits how many errors are told about one object; nobody reads more.
pub const MAX_FIELD_ERRORS: usize = 10_000;

/// Limits the bytes of all explanations about one object: an explanation may quote a large text.
pub const MAX_ERROR_TEXT: usize = 16 << 20;

#[derive(Default)]
pub(super) struct Report {
    errors: Vec<FieldError>,
    text: usize,
    /// Counts also the errors that found no room.
    failures: u64,
}

/// A moment in the making of a report.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    errors: usize,
    text: usize,
    failures: u64,
}

/// The errors that an alternative found.
pub(super) struct Failures {
    errors: Vec<FieldError>,
    text: usize,
    failures: u64,
}

impl Report {
    pub(super) fn add(&mut self, error: FieldError) {
        self.failures += 1;
        self.text += error.field.len() + error.detail.len();
        if self.errors.len() < MAX_FIELD_ERRORS && self.text <= MAX_ERROR_TEXT {
            self.errors.push(error);
        }
    }

    /// Tells whether no further error finds room.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_FIELD_ERRORS || self.text > MAX_ERROR_TEXT
    }

    /// Counts an error that need not be written because it would find no room.
    pub(super) fn count_only(&mut self) {
        self.failures += 1;
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { errors: self.errors.len(), text: self.text, failures: self.failures }
    }

    /// Tells whether an error was found since a moment.
    pub(super) fn has_failed_since(&self, mark: Mark) -> bool {
        self.failures > mark.failures
    }

    /// Takes the errors found since a moment out again; nothing where there are none.
    pub(super) fn take_since(&mut self, mark: Mark) -> Option<Failures> {
        if !self.has_failed_since(mark) {
            return None;
        }
        let failures = Failures {
            errors: self.errors.split_off(mark.errors.min(self.errors.len())),
            text: self.text - mark.text,
            failures: self.failures - mark.failures,
        };
        self.text = mark.text;
        self.failures = mark.failures;
        Some(failures)
    }

    /// Puts errors back that were taken out.
    pub(super) fn put(&mut self, failures: Failures) {
        let room = MAX_FIELD_ERRORS.saturating_sub(self.errors.len());
        self.errors.extend(failures.errors.into_iter().take(room));
        self.text += failures.text;
        self.failures += failures.failures;
    }

    pub(super) fn into_errors(self) -> Vec<FieldError> {
        let mut told = BTreeSet::new();
        let is_new: Vec<bool> = (self.errors.iter())
            .map(|error| (error.kind, &error.field, &error.detail))
            .map(|key| told.insert(key))
            .collect();
        let errors = self.errors.into_iter().zip(is_new);
        errors.filter_map(|(error, is_new)| is_new.then_some(error)).collect()
    }
}
