//! The one document of a template: its schema, its fields, and places for errors.

use std::ops::Range;

use operon_document::{
    json::{Kind, Node, Tape},
    stream::{self, Document, Event, Format},
    yaml::{self, DuplicateKeys, YamlOptions},
};

use super::{RenderBundle, TemplateError, TemplateKind};
use crate::{RenderedBundle, property::text};

/// Tells which kind of template a text is, by the schema of its first document.
pub fn detect(template: &[u8]) -> Option<TemplateKind> {
    let mut schema = None;
    stream::read(template, &mut Tape::new(), &mut |event| {
        if let Event::Document(document) = event
            && !document.root.is_null()
        {
            schema.get_or_insert_with(|| text(document.root.field("schema")));
        }
    });
    TemplateKind::from_schema(&schema?)
}

/// A template while it is read.
pub(super) struct Template<'a> {
    text: &'a [u8],
    document: &'a Document<'a>,
}

/// A bundle that a template names, and where.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) image: String,
    pub(super) range: Range<usize>,
}

/// Reads the template of the given kind that a text holds.
///
/// Unlike upstream, which reads the first document and forgets the rest, a second one is an error.
pub(super) fn read<Value>(
    text: &[u8],
    kind: TemplateKind,
    take: impl Fn(&Template<'_>) -> Result<Value, TemplateError>,
) -> Result<Value, TemplateError> {
    let mut result: Option<Result<Value, TemplateError>> = None;
    stream::read(text, &mut Tape::new(), &mut |event| match event {
        Event::Document(document) if document.root.is_null() => {}
        Event::Document(document) => {
            let template = Template { text, document: &document };
            result = Some(match result.take() {
                None => template.check_schema(kind).and_then(|()| take(&template)),
                Some(Ok(_)) => Err(template.error(
                    document.root,
                    "a template is one document, but here a second one begins",
                )),
                Some(Err(error)) => Err(error),
            });
        }
        Event::Broken(broken) => {
            let message = format!("the template cannot be read: {}", broken.message);
            let error = TemplateError::at(text, broken.place, message);
            result = Some(match result.take() {
                Some(Err(earlier)) => Err(earlier),
                Some(Ok(_)) | None => Err(error),
            });
        }
        Event::Ignored(_) => {}
    });
    result.unwrap_or_else(|| Err(TemplateError::whole("the template is empty")))
}

/// Renders a bundle, with an error at the place where the template names it.
pub(super) fn render_reference(
    text: &[u8],
    reference: &Reference,
    render: &mut RenderBundle<'_>,
) -> Result<RenderedBundle, TemplateError> {
    render(&reference.image).map_err(|reason| {
        let message = format!("cannot render `{}`: {reason}", reference.image);
        TemplateError::at(text, reference.range.clone(), message)
    })
}

impl<'a> Template<'a> {
    pub(super) fn root(&self) -> Node<'a> {
        self.document.root
    }

    pub(super) fn range(&self, node: Node<'_>) -> Range<usize> {
        self.document.place(node.span())
    }

    pub(super) fn error(&self, node: Node<'_>, message: impl Into<String>) -> TemplateError {
        TemplateError::at(self.text, self.range(node), message)
    }

    /// Returns a field that must be a string; empty if it is missing.
    pub(super) fn text(&self, object: Node<'a>, name: &str) -> Result<String, TemplateError> {
        let Some(node) = self.field(object, name, Kind::String, "a string")? else {
            return Ok(String::new());
        };
        Ok(text(Some(node)))
    }

    /// Returns a field that must be a bool; false if it is missing.
    pub(super) fn bool(&self, object: Node<'a>, name: &str) -> Result<bool, TemplateError> {
        let node = self.field(object, name, Kind::Bool, "true or false")?;
        Ok(node.and_then(Node::as_bool).unwrap_or_default())
    }

    /// Returns the elements of a field that must be a list of objects; none if it is missing.
    pub(super) fn objects(
        &self,
        object: Node<'a>,
        name: &str,
    ) -> Result<Vec<Node<'a>>, TemplateError> {
        let list = self.field(object, name, Kind::Array, "a list")?;
        let elements: Vec<Node<'a>> = list.into_iter().flat_map(Node::elements).collect();
        for element in &elements {
            if element.kind() != Kind::Object {
                let found = element.kind().name();
                let message = format!("an element of `{name}` must be an object, not {found}");
                return Err(self.error(*element, message));
            }
        }
        Ok(elements)
    }

    /// Returns a field of the wanted kind; `null` counts as missing.
    pub(super) fn field(
        &self,
        object: Node<'a>,
        name: &str,
        kind: Kind,
        expected: &str,
    ) -> Result<Option<Node<'a>>, TemplateError> {
        let mut found = None;
        let members: Vec<_> = object.members().filter(|(key, _)| key.folds_to(name)).collect();
        if members.len() > 1 {
            let ranges = members.iter().map(|(key, _)| self.range(*key));
            let last = ranges.max_by_key(|range| range.start).unwrap_or_default();
            return Err(TemplateError::at(self.text, last, format!("`{name}` is given twice")));
        }
        for (_, value) in members {
            if value.kind() != kind && !value.is_null() {
                let message = format!("`{name}` must be {expected}, not {}", value.kind().name());
                return Err(self.error(value, message));
            }
            found = Some(value);
        }
        Ok(found.filter(|value| !value.is_null()))
    }

    /// Refuses keys that a mapping of a YAML text sets twice; reading keeps only the last one.
    pub(super) fn refuse_repeated_keys(&self) -> Result<(), TemplateError> {
        if self.document.format == Format::Json {
            return Ok(());
        }
        let span = self.document.span();
        let options =
            YamlOptions { duplicate_keys: DuplicateKeys::Report, ..YamlOptions::default() };
        let converted = yaml::to_json(&self.text[span.clone()], &options);
        let duplicates = converted.map(|converted| converted.duplicates).unwrap_or_default();
        duplicates.first().map_or(Ok(()), |duplicate| {
            let range = span.start + duplicate.second.start..span.start + duplicate.second.end;
            let message = format!("`{}` is given twice", duplicate.key);
            Err(TemplateError::at(self.text, range, message))
        })
    }

    /// Refuses fields that are not among the known ones.
    pub(super) fn refuse_others(
        &self,
        object: Node<'a>,
        known: &[&str],
    ) -> Result<(), TemplateError> {
        for (key, _) in object.members() {
            if !known.iter().any(|name| key.folds_to(name)) {
                let message = format!(
                    "unknown field `{}`; known are `{}`",
                    text(Some(key)),
                    known.join("`, `")
                );
                return Err(self.error(key, message));
            }
        }
        Ok(())
    }

    fn check_schema(&self, kind: TemplateKind) -> Result<(), TemplateError> {
        let root = self.root();
        if root.kind() != Kind::Object {
            let found = root.kind().name();
            return Err(self.error(root, format!("a template must be an object, not {found}")));
        }
        let schema = self.text(root, "schema")?;
        if schema == kind.schema() {
            return Ok(());
        }
        let node = root.field("schema").unwrap_or(root);
        let message =
            format!("the schema of this template is `{schema}`, but must be `{}`", kind.schema());
        Err(self.error(node, message))
    }
}
