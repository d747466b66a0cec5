//! A finding about manifests: which rule, where, which object, which field, and what to do.
//!
//! How it is printed beside source lines is not decided here.

use std::{fmt, ops::Range};

/// Which rule made a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ManifestRule {
    /// The text is neither JSON nor YAML.
    Syntax,
    /// Text behind the end of a document is not read.
    IgnoredText,
    /// A document or an item of a list is not an object.
    NotAnObject,
    /// A field that an object cannot do without is missing, such as `metadata.name`.
    MissingField,
    /// A field has another type than it should, such as a number in `spec.channel`.
    WrongType,
    /// A field has a value that nobody understands, such as `spec.version: latest`.
    InvalidValue,
    /// A field is spelt with other capitals than it should be, so that it is not read.
    Spelling,
    /// The same object is given twice with different content.
    Contradiction,
    /// There are more objects than are read.
    TooMany,
    /// An object, or a list in a list, nests deeper than is read.
    TooDeep,
}

impl ManifestRule {
    /// Returns the stable name of the rule.
    pub fn id(self) -> &'static str {
        match self {
            Self::Syntax => "manifest-syntax",
            Self::IgnoredText => "manifest-ignored-text",
            Self::NotAnObject => "manifest-not-an-object",
            Self::MissingField => "manifest-missing-field",
            Self::WrongType => "manifest-wrong-type",
            Self::InvalidValue => "manifest-invalid-value",
            Self::Spelling => "manifest-spelling",
            Self::Contradiction => "manifest-contradiction",
            Self::TooMany => "manifest-too-many",
            Self::TooDeep => "manifest-too-deep",
        }
    }
}

/// What a finding means for the object it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ManifestSeverity {
    /// The object is left out.
    Error,
    /// The object is used, but perhaps not as its author means it.
    Warning,
}

/// The name of an object, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectName {
    /// Such as `Subscription`.
    pub kind: String,
    /// May be empty.
    pub namespace: String,
    /// May be empty.
    pub name: String,
}

/// A finding about manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestDiagnostic {
    /// What it means for the object.
    pub severity: ManifestSeverity,
    /// The rule that found it.
    pub rule: ManifestRule,
    /// The name of the text, such as `cluster.yaml`.
    pub file: String,
    /// The line, counted from 1, where it is known.
    pub line: Option<usize>,
    /// The object it is about.
    pub object: Option<ObjectName>,
    /// The field it is about, such as `spec.channel`; may be empty.
    pub path: String,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// What to do about it; may be empty.
    pub help: String,
}

impl fmt::Display for ObjectName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.kind)?;
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => Ok(()),
            ("", name) => write!(formatter, " {name}"),
            (namespace, name) => write!(formatter, " {namespace}/{name}"),
        }
    }
}

/// Prints `cluster.yaml:12: Subscription operators/etcd: spec.channel: …`, without the help.
impl fmt::Display for ManifestDiagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        if let Some(object) = &self.object {
            write!(formatter, ": {object}")?;
        }
        if !self.path.is_empty() {
            write!(formatter, ": {}", self.path)?;
        }
        write!(formatter, ": {}", self.message)
    }
}

/// What is wrong with a value of an object, before it is known whose it is.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) rule: ManifestRule,
    /// The place in the document's JSON text.
    pub(crate) span: Range<usize>,
    pub(crate) path: String,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Fault {
    pub(crate) fn new(
        rule: ManifestRule,
        span: Range<usize>,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { rule, span, path: path.into(), message: message.into(), help: String::new() }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}
