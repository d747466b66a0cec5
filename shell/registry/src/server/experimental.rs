//! `api.ExperimentalRegistry`: documents of schemas that the registry does not interpret.
//!
//! Documents are read one at a time, as the client takes them.

use std::{pin::Pin, sync::Arc};

use operon_catalog::Place;
use operon_document::json::{Kind, Node, Tape, number_value};
use prost_types::{ListValue, Struct, Value, value};
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status};

use super::state::State;
use crate::{
    api::{
        ExperimentalListPackageCustomSchemasRequest as Asked,
        experimental_registry_server::ExperimentalRegistry,
    },
    limits::MAX_STRUCT_DEPTH,
    shelf::Shelf,
};

/// The header by which a client says that it knows the answer may change.
pub(crate) const ACKNOWLEDGE: &str = "x-acknowledge-experimental";

/// The service `api.ExperimentalRegistry`.
#[derive(Debug)]
pub(crate) struct ExperimentalService {
    pub(crate) state: Arc<State>,
}

#[tonic::async_trait]
impl ExperimentalRegistry for ExperimentalService {
    type ExperimentalListPackageCustomSchemasStream =
        Pin<Box<dyn Stream<Item = Result<Struct, Status>> + Send>>;

    async fn experimental_list_package_custom_schemas(
        &self,
        request: Request<Asked>,
    ) -> Result<Response<Self::ExperimentalListPackageCustomSchemasStream>, Status> {
        let acknowledged = request.metadata().get(ACKNOWLEDGE);
        // Upstream: a client that does not know gets an empty list, not an error.
        if acknowledged.is_none_or(|value| value.as_bytes() != b"true") {
            return Ok(Response::new(Box::pin(tokio_stream::empty())));
        }
        let Asked { schema, package_name } = request.into_inner();
        if schema.is_empty() {
            return Err(Status::invalid_argument("schema must not be empty"));
        }
        for (what, name) in [("schema", &schema), ("package name", &package_name)] {
            if !name.is_empty() && !is_name(name) {
                return Err(Status::invalid_argument(format!(
                    "invalid {what} {name:?}: it may have letters, digits, `.`, `_` and `-`, and \
                     begins with a letter or digit"
                )));
            }
        }
        let shelf = self.state.shelf().await?;
        let places: Vec<Place> = shelf
            .catalog()
            .others()
            .filter(|other| other.schema == schema && other.package == package_name)
            .map(|other| other.place)
            .collect();
        let state = Arc::clone(&self.state);
        let documents = tokio_stream::iter(places).then(move |place| {
            let (state, shelf) = (Arc::clone(&state), Arc::clone(&shelf));
            async move { state.read(move || document(&shelf, place)).await }
        });
        Ok(Response::new(Box::pin(documents)))
    }
}

fn is_name(name: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.bytes().all(rest) && name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
}

fn document(shelf: &Shelf, place: Place) -> Result<Struct, String> {
    let text = shelf.document(place)?;
    let path = shelf.catalog().file_path(place.file);
    let mut tape = Tape::new();
    let root = tape.read(text.as_bytes()).map_err(|error| format!("`{path}`: {error}"))?;
    structure(root, 1).ok_or_else(|| {
        format!("a document in `{path}` is nested deeper than {MAX_STRUCT_DEPTH} levels")
    })
}

/// Turns an object into the message that carries it; `None` if it is nested too deep.
fn structure(node: Node<'_>, depth: usize) -> Option<Struct> {
    if depth > MAX_STRUCT_DEPTH {
        return None;
    }
    let mut fields = std::collections::BTreeMap::new();
    for (key, member) in node.members() {
        fields.insert(key.as_str()?.into_owned(), value(member, depth + 1)?);
    }
    Some(Struct { fields })
}

/// Turns a value into its message. The depth is limited, because writing the message recurses.
fn value(node: Node<'_>, depth: usize) -> Option<Value> {
    if depth > MAX_STRUCT_DEPTH {
        return None;
    }
    let kind = match node.kind() {
        Kind::Null => value::Kind::NullValue(0),
        Kind::Bool => value::Kind::BoolValue(node.as_bool()?),
        Kind::Number => value::Kind::NumberValue(number_value(node.raw())?),
        Kind::String => value::Kind::StringValue(node.as_str()?.into_owned()),
        Kind::Array => {
            let values = node.elements().map(|element| value(element, depth + 1));
            value::Kind::ListValue(ListValue { values: values.collect::<Option<_>>()? })
        }
        Kind::Object => value::Kind::StructValue(structure(node, depth)?),
    };
    Some(Value { kind: Some(kind) })
}
