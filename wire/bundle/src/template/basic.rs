//! The basic template: a catalog in which every bundle is only an image.

use operon_document::json::{Kind, Node, canonical};

use super::{
    RenderBundle, TemplateError, TemplateKind,
    document::{Reference, Template, read, render_reference},
};

/// Expands a basic template into catalog documents, in the order of its entries.
///
/// Unlike upstream, fields of entries that a catalog does not know are kept.
pub fn basic(template: &[u8], render: &mut RenderBundle<'_>) -> Result<Vec<String>, TemplateError> {
    let entries = read(template, TemplateKind::Basic, |template| {
        let entries = template.objects(template.root(), "entries")?;
        entries.into_iter().map(|entry| read_entry(template, entry)).collect::<Result<Vec<_>, _>>()
    })?;
    let mut documents = Vec::with_capacity(entries.len());
    for entry in entries {
        documents.push(match entry {
            Entry::Document(json) => json,
            Entry::Bundle(reference) => render_reference(template, &reference, render)?.json,
        });
    }
    Ok(documents)
}

enum Entry {
    Document(String),
    Bundle(Reference),
}

fn read_entry<'a>(template: &Template<'a>, entry: Node<'a>) -> Result<Entry, TemplateError> {
    let schema = read_header(template, entry)?;
    if schema != "olm.bundle" {
        return Ok(Entry::Document(canonical(entry)));
    }
    for name in ["package", "properties", "relatedImages"] {
        if let Some(node) = entry.field(name)
            && !is_empty(node)
        {
            let message = format!(
                "a bundle of a basic template has only `schema` and `image`; `{name}` comes from the image"
            );
            return Err(template.error(node, message));
        }
    }
    let image = template.text(entry, "image")?;
    if image.is_empty() {
        return Err(template.error(entry, "a bundle of a basic template must have an `image`"));
    }
    let range = template.range(entry.field("image").unwrap_or(entry));
    Ok(Entry::Bundle(Reference { image, range }))
}

/// Checks the fields that every catalog document has, and returns its schema.
pub(super) fn read_header<'a>(
    template: &Template<'a>,
    entry: Node<'a>,
) -> Result<String, TemplateError> {
    template.text(entry, "package")?;
    template.text(entry, "name")?;
    let schema = template.text(entry, "schema")?;
    if schema.is_empty() {
        return Err(template.error(entry, "an entry must say what it is in its `schema`"));
    }
    Ok(schema)
}

fn is_empty(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Null => true,
        Kind::String => node.as_str().is_none_or(|text| text.is_empty()),
        Kind::Array => node.elements().next().is_none(),
        Kind::Bool | Kind::Number | Kind::Object => false,
    }
}
