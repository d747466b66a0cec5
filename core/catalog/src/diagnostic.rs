//! A finding about a catalog: which rule, where, what is wrong, why it matters, what to do.

use crate::{Place, Rule};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The catalog is not valid: upstream's tools refuse it.
    Error,
    /// Upstream accepts it, but it does not do what its author wants.
    Warning,
    /// A better way exists.
    Advice,
}

impl Severity {
    /// Returns the word a reader sees.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "advice",
        }
    }
}

/// A finding about a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that found it.
    pub rule: Rule,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// Where; `None` for a finding about the catalog as a whole.
    pub place: Option<Place>,
    /// What the marked text is, for the caret line; may be empty.
    pub label: String,
    /// Other places that belong to the finding, with what they are.
    pub related: Vec<(Place, String)>,
    /// Why it matters.
    pub notes: Vec<Note>,
}

/// A line under a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// What follows from it: "a Subscription to this channel cannot know which is newest".
    Why(String),
    /// What to do about it: "let etcd.v0.10.0 replace or skip etcd.v0.9.4".
    Help(String),
}

impl Diagnostic {
    /// Starts a finding.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            message: message.into(),
            place: None,
            label: String::new(),
            related: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Says where it is.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Says what the marked text is.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }

    /// Says why it matters.
    #[must_use]
    pub fn why(mut self, text: impl Into<String>) -> Self {
        self.notes.push(Note::Why(text.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.notes.push(Note::Help(text.into()));
        self
    }

    /// Returns all texts of the finding.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let notes = self.notes.iter_mut().map(|note| match note {
            Note::Why(text) | Note::Help(text) => text,
        });
        let related = self.related.iter_mut().map(|(_, label)| label);
        [&mut self.message, &mut self.label].into_iter().chain(related).chain(notes)
    }

    /// Returns how much it matters.
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }
}
