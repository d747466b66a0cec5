//! Catalog templates: short documents that are expanded into the documents of a catalog.
//!
//! A template names bundles by image; the caller renders them. The result is not checked: whether
//! the documents make a valid catalog is for the reader of catalogs to say.

use std::{error::Error, fmt, ops::Range};

use crate::{RenderedBundle, error::line_and_column};

mod basic;
mod document;
mod semver;
mod substitutes;

pub use basic::basic;
pub use document::detect;
pub use semver::semver;
pub use substitutes::substitutes;

/// Renders the bundle that an image reference or path names, or says why it cannot.
pub type RenderBundle<'a> = dyn FnMut(&str) -> Result<RenderedBundle, String> + 'a;

/// The kinds of templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// Catalog documents, of which each bundle is only an image.
    Basic,
    /// Lists of images by stability, from which channels are made by version.
    Semver,
    /// A whole catalog, and bundles that take the place of others in its channels.
    Substitutes,
}

impl TemplateKind {
    /// Every kind.
    pub const ALL: [TemplateKind; 3] =
        [TemplateKind::Basic, TemplateKind::Semver, TemplateKind::Substitutes];

    /// Returns the schema that marks a template of this kind.
    pub fn schema(self) -> &'static str {
        match self {
            TemplateKind::Basic => "olm.template.basic",
            TemplateKind::Semver => "olm.semver",
            TemplateKind::Substitutes => "olm.template.substitutes",
        }
    }

    /// Returns the kind with this schema.
    pub fn from_schema(schema: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.schema() == schema)
    }

    /// Returns the short name, such as `semver`.
    pub fn name(self) -> &'static str {
        match self {
            TemplateKind::Basic => "basic",
            TemplateKind::Semver => "semver",
            TemplateKind::Substitutes => "substitutes",
        }
    }
}

/// Why a template cannot be expanded, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// The bytes of the template it is about; nothing if it is about the whole.
    pub range: Option<Range<usize>>,
    /// The line and column of the first of those bytes, from one.
    pub position: Option<(usize, usize)>,
}

/// Expands a template of any kind.
pub fn expand(
    template: &[u8],
    render: &mut RenderBundle<'_>,
) -> Result<Vec<String>, TemplateError> {
    match detect(template) {
        Some(TemplateKind::Basic) => basic(template, render),
        Some(TemplateKind::Semver) => semver(template, render),
        Some(TemplateKind::Substitutes) => substitutes(template, render),
        None => {
            let schemas = TemplateKind::ALL.map(TemplateKind::schema).join("`, `");
            Err(TemplateError::whole(format!(
                "the text is not a template: its `schema` must be one of `{schemas}`"
            )))
        }
    }
}

impl TemplateError {
    fn whole(message: impl Into<String>) -> Self {
        Self { message: message.into(), range: None, position: None }
    }

    fn at(template: &[u8], range: Range<usize>, message: impl Into<String>) -> Self {
        let position = Some(line_and_column(template, range.start));
        Self { message: message.into(), range: Some(range), position }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(formatter, "line {line}, column {column}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

impl Error for TemplateError {}
