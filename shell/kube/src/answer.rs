//! What an API server answers, in the words of the port.
//!
//! The server's sentence stays as it is; only its class is told.

use std::time::Duration;

use bytes::Bytes;
use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;
use operon_object::{ApiKind, Object, Value};

use crate::pieces::pieces;

/// How much of an answer that is no Status is shown to people.
const SHOWN_TEXT: usize = 300;

/// An answer as it came.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    /// What the header says about when to ask again.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// Returns the body of a success.
    pub(crate) fn success(self) -> Result<Bytes, ClusterError> {
        if self.is_success() { Ok(self.body) } else { Err(self.refusal()) }
    }

    /// Says why the server refused.
    pub(crate) fn refusal(&self) -> ClusterError {
        let status = Value::parse_json(&self.body).unwrap_or_default();
        if status.get("kind").str() == "Status" {
            return read_status(&status, self.code);
        }
        let text = String::from_utf8_lossy(&self.body);
        let text: String = text.trim().chars().take(SHOWN_TEXT).collect();
        let code = self.code;
        let message = match text.as_str() {
            "" => format!("the API server answered with code {code} and no word more"),
            text => format!("the API server answered with code {code}: {text}"),
        };
        ClusterError { kind: classify(code, "", &message), message }
    }

    /// Returns how long the server wants not to be asked.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.retry_after.or_else(|| {
            let status = Value::parse_json(&self.body).unwrap_or_default();
            let seconds = status.at(&["details", "retryAfterSeconds"]).as_integer()?;
            u64::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs)
        })
    }
}

/// Reads a Status, as refusals and broken watches carry it.
pub(crate) fn read_status(status: &Value, code: u16) -> ClusterError {
    let told = status.get("code").as_integer().and_then(|code| u16::try_from(code).ok());
    let code = told.filter(|code| *code != 0).unwrap_or(code);
    let reason = status.get("reason").str();
    let message = match status.get("message").str() {
        "" => format!("the API server answered with code {code} ({reason})"),
        message => message.to_owned(),
    };
    ClusterError { kind: classify(code, reason, &message), message }
}

fn classify(code: u16, reason: &str, message: &str) -> ErrorKind {
    match (code, reason) {
        (409, "AlreadyExists") => ErrorKind::AlreadyExists,
        // What is forgotten must be read again, as what was changed meanwhile.
        (409 | 410, _) => ErrorKind::Conflict,
        (404, _) => ErrorKind::NotFound,
        // Who is not known lacks every right.
        (401 | 403, _) => ErrorKind::Forbidden,
        (400 | 413 | 422, _) => ErrorKind::Invalid,
        // Applying fields of wrong types is called the server's own fault.
        (500, _) if message.contains("typed patch object") => ErrorKind::Invalid,
        (408 | 429 | 500..=599, _) => ErrorKind::Unavailable,
        _ => ErrorKind::Other,
    }
}

/// Reads an object that the server answered with.
pub(crate) fn read_object(body: &[u8]) -> Result<Object, ClusterError> {
    let value = Value::parse_json(body).map_err(|error| not_understood(&error.to_string()))?;
    let object = Object::from_value(value).map_err(|error| not_understood(&error.to_string()))?;
    Ok(trimmed(object))
}

/// A page of a listing.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) objects: Vec<Object>,
    /// How many objects could not be read, such as those that nest too deeply. They are passed over.
    pub(crate) unreadable: u64,
    pub(crate) version: String,
    /// The token of the next page; empty on the last.
    pub(crate) next: String,
    pub(crate) bytes: usize,
}

/// Reads a page. Its objects may not say what they are: the list does.
pub(crate) fn read_page(body: &[u8], kind: &ApiKind) -> Result<Page, ClusterError> {
    let pieces = pieces(body).ok_or_else(|| not_understood("a listing was expected"))?;
    let list = Value::parse_json(&pieces.rest);
    let list = list.map_err(|error| not_understood(&error.to_string()))?;
    let version = list.at(&["metadata", "resourceVersion"]).str().to_owned();
    let next = list.at(&["metadata", "continue"]).str().to_owned();
    // Whoever took another answer for an empty listing would believe that everything is gone.
    if !list.get("kind").str().ends_with("List") || version.is_empty() {
        return Err(not_understood("a listing was expected, with `kind` and `resourceVersion`"));
    }
    let mut objects = Vec::with_capacity(pieces.items.len());
    let mut unreadable = 0;
    for item in pieces.items {
        let value = body.get(item).and_then(|text| Value::parse_json(text).ok());
        let object = value.and_then(|mut value| {
            value.as_map()?;
            name_kind(&mut value, kind);
            Object::from_value(value).ok()
        });
        match object {
            Some(object) => objects.push(trimmed(object)),
            None => unreadable += 1,
        }
    }
    Ok(Page { objects, unreadable, version, next, bytes: body.len() })
}

fn name_kind(value: &mut Value, kind: &ApiKind) {
    value.set(&["apiVersion"], kind.api_version());
    value.set(&["kind"], kind.kind.name());
}

/// Something that a watch tells.
#[derive(Debug)]
pub(crate) enum Event {
    /// An object is now like this.
    Is(Object),
    /// An object is gone.
    Gone(Object),
    /// Everything up to this version was told.
    Bookmark(String),
    /// Something that cannot be read, such as an object that nests too deeply.
    Unreadable,
    /// The watch is over.
    Over(ClusterError),
}

/// Reads a line of a watch. Where only metadata is told, objects do not say what they are.
pub(crate) fn read_event(line: &[u8], described: Option<&ApiKind>) -> Event {
    let Ok(mut value) = Value::parse_json(line) else { return Event::Unreadable };
    let mut object = value.remove(&["object"]).unwrap_or_default();
    if let Some(kind) = described
        && object.get("kind").str() == "PartialObjectMetadata"
    {
        name_kind(&mut object, kind);
    }
    match value.get("type").str() {
        "ERROR" => Event::Over(read_status(&object, 500)),
        "BOOKMARK" => Event::Bookmark(object.at(&["metadata", "resourceVersion"]).str().to_owned()),
        word @ ("ADDED" | "MODIFIED" | "DELETED") => match Object::from_value(object) {
            Ok(object) if word == "DELETED" => Event::Gone(identity(&object)),
            Ok(object) => Event::Is(trimmed(object)),
            Err(_) => Event::Unreadable,
        },
        _ => Event::Unreadable,
    }
}

/// Returns what is needed to know an object again.
pub(crate) fn identity(object: &Object) -> Object {
    let kind = object.kind();
    let mut slim =
        Object::new(object.api_version(), kind.name(), object.namespace(), object.name());
    slim.set(&["metadata", "uid"], object.uid());
    slim.set(&["metadata", "resourceVersion"], object.resource_version());
    slim
}

/// Forgets which fields who has written, which is often half of an object. Who wrote, and when, stays:
/// decisions rest on when rights were last changed.
fn trimmed(mut object: Object) -> Object {
    if !object.metadata("managedFields").is_null() {
        let writers = object.metadata_mut().place("managedFields");
        for writer in writers.make_list() {
            writer.remove(&["fieldsV1"]);
            writer.remove(&["fieldsType"]);
        }
    }
    object
}

/// Returns an object as it is sent: who wrote which fields is the server's business.
pub(crate) fn sent(object: &Object) -> String {
    if object.metadata("managedFields").is_null() {
        return operon_object::exact_json(object.value());
    }
    let mut object = object.clone();
    object.metadata_mut().remove("managedFields");
    operon_object::exact_json(object.value())
}

fn not_understood(reason: &str) -> ClusterError {
    ClusterError {
        kind: ErrorKind::Unavailable,
        message: format!("the answer of the API server was not understood: {reason}"),
    }
}
