//! A case that is a line of JSON.

use std::collections::BTreeMap;

use operon_api::ManifestReader;
use operon_document::json::{Kind, Node, Tape};
use operon_resolve::SourceName;

use crate::case::{Case, CatalogOrigin, Settings};

/// Reads a line; the error says why it is not a case.
pub(crate) fn read(file: &str, number: usize, line: &[u8]) -> Result<Case, String> {
    let mut tape = Tape::new();
    let root = tape.read(line).map_err(|error| format!("it is not JSON: {error}"))?;
    if root.kind() != Kind::Object {
        return Err(format!("an object is expected, not {}", root.kind().name()));
    }
    let Some(cluster) = root.get("cluster").filter(|node| !node.is_null()) else {
        return Err("it has no `cluster`, the list of manifests".to_owned());
    };
    let mut reader = ManifestReader::default();
    reader.read_value(file, Some(number), cluster);
    let mut catalogs = BTreeMap::new();
    let elements = root.get("catalogs").into_iter().flat_map(Node::elements);
    for (index, element) in elements.enumerate() {
        let text =
            |name: &str| element.get(name).and_then(Node::as_str).map(|text| text.into_owned());
        let (Some(namespace), Some(name)) = (text("namespace"), text("name")) else {
            return Err(format!("`catalogs.{index}` must have a `name` and a `namespace`"));
        };
        let source = SourceName { namespace, name };
        if catalogs.contains_key(&source) {
            return Err(format!("the catalog {source} is given twice"));
        }
        // A catalog without documents at all is one that cannot be reached.
        let Some(documents) = element.get("fbc").filter(|node| !node.is_null()) else { continue };
        if documents.kind() != Kind::Array {
            return Err(format!("`catalogs.{index}.fbc` must be a list of documents"));
        }
        let texts: Vec<&[u8]> = documents.elements().map(Node::raw).collect();
        catalogs.insert(source, texts.join(&b'\n'));
    }
    let id = root.get("id").and_then(Node::as_str).unwrap_or_default().into_owned();
    Ok(Case {
        id,
        settings: Settings::read(Some(root))?,
        manifests: reader.finish(),
        catalogs: CatalogOrigin::Memory(catalogs),
    })
}
