//! What is asked and answered on the socket: the calls of the port, as messages.
//!
//! Reading is strict: a call that is not understood whole is refused, not guessed.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use operon_driver::{Change, Changes, ClusterError, Cursor, Interest, Listing, Part};
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, ObjectKey, Value, map};

use crate::frame::Message;

/// The version of the language spoken on the socket.
pub(crate) const PROTOCOL: i64 = 3;

/// The words for parts of a kind.
const LABELLED: &str = "labelled";
const NAMED: &str = "named";
const WITHIN: &str = "within";

/// Something asked of a cluster. `manager` is the name that field ownership is recorded under.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Call {
    /// Which language is spoken?
    Hello,
    /// [`operon_driver::Cluster::list`]
    List(BTreeSet<Interest>),
    /// [`operon_driver::Cluster::changes`]
    Changes(BTreeSet<Interest>, Cursor),
    /// [`operon_driver::Cluster::get`]
    Get(ObjectKey),
    /// [`operon_driver::Cluster::create`]
    Create(Object, String),
    /// [`operon_driver::Cluster::update`]
    Update(Object, String),
    /// [`operon_driver::Cluster::update_status`]
    UpdateStatus(Object, String),
    /// [`operon_driver::Cluster::apply`]
    Apply(Object, String),
    /// [`operon_driver::Cluster::delete`]
    Delete(ObjectKey, String),
    /// [`crate::LocalCluster::wait_for_change`]
    Wait(Cursor, Duration),
}

/// What is answered when nothing went wrong.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// The language.
    Hello(i64),
    /// The objects and the point.
    Listing(Listing),
    /// What happened and the point after it.
    Changes(Changes),
    /// The object, if there is one.
    Object(Option<Object>),
    /// It is done.
    Done,
    /// Whether something changed.
    News(bool),
}

impl Call {
    pub(crate) fn write(&self) -> Message {
        let of = |head: Value| Message { head, objects: Vec::new() };
        let with = |call: &str, object: &Object, manager: &str| Message {
            head: map! { "call" => call, "manager" => manager },
            objects: vec![object.clone()],
        };
        match self {
            Self::Hello => of(map! { "call" => "hello", "protocol" => PROTOCOL }),
            Self::List(interests) => of(map! {
                "call" => "list",
                "interests" => write_interests(interests),
            }),
            Self::Changes(interests, since) => of(map! {
                "call" => "changes",
                "interests" => write_interests(interests),
                "since" => write_cursor(since),
            }),
            Self::Get(key) => of(map! { "call" => "get", "key" => write_key(key) }),
            Self::Create(object, manager) => with("create", object, manager),
            Self::Update(object, manager) => with("update", object, manager),
            Self::UpdateStatus(object, manager) => with("update-status", object, manager),
            Self::Apply(object, manager) => with("apply", object, manager),
            Self::Delete(key, uid) => of(map! {
                "call" => "delete",
                "key" => write_key(key),
                "uid" => uid.as_str(),
            }),
            Self::Wait(since, at_most) => of(map! {
                "call" => "wait",
                "since" => write_cursor(since),
                "milliseconds" => i64::try_from(at_most.as_millis()).unwrap_or(i64::MAX),
            }),
        }
    }

    pub(crate) fn read(message: Message) -> Result<Self, String> {
        let Message { head, mut objects } = message;
        let object = objects.pop();
        let write = |make: fn(Object, String) -> Self| {
            let object = object.clone().ok_or("the call comes without its object")?;
            Ok(make(object, read_text(&head, "manager")?))
        };
        match head.get("call").str() {
            "hello" => Ok(Self::Hello),
            "list" => Ok(Self::List(read_interests(head.get("interests"))?)),
            "changes" => {
                let interests = read_interests(head.get("interests"))?;
                Ok(Self::Changes(interests, read_cursor(head.get("since"))?))
            }
            "get" => Ok(Self::Get(read_key(head.get("key"))?)),
            "create" => write(Self::Create),
            "update" => write(Self::Update),
            "update-status" => write(Self::UpdateStatus),
            "apply" => write(Self::Apply),
            "delete" => Ok(Self::Delete(read_key(head.get("key"))?, read_text(&head, "uid")?)),
            "wait" => {
                let milliseconds = head.get("milliseconds").as_integer();
                let milliseconds = milliseconds.and_then(|count| u64::try_from(count).ok());
                let milliseconds = milliseconds.ok_or("`milliseconds` must be a count")?;
                let since = read_cursor(head.get("since"))?;
                Ok(Self::Wait(since, Duration::from_millis(milliseconds)))
            }
            other => Err(format!("the call `{other}` is not known")),
        }
    }
}

/// Writes an answer.
pub(crate) fn write_reply(reply: Result<Reply, ClusterError>) -> Message {
    let plain = |head: Value| Message { head, objects: Vec::new() };
    match reply {
        Ok(Reply::Hello(protocol)) => plain(map! { "protocol" => protocol }),
        Ok(Reply::Listing(Listing { objects, cursor })) => {
            Message { head: map! { "cursor" => write_cursor(&cursor) }, objects }
        }
        Ok(Reply::Changes(Changes { changes, cursor })) => {
            let mut marks = Vec::with_capacity(changes.len());
            let mut objects = Vec::with_capacity(changes.len());
            for change in changes {
                let (is_gone, object) = match change {
                    Change::Is(object) => (false, object),
                    Change::Gone(object) => (true, object),
                };
                marks.push(Value::Bool(is_gone));
                objects.push(object);
            }
            let head = map! { "cursor" => write_cursor(&cursor), "gone" => marks };
            Message { head, objects }
        }
        Ok(Reply::Object(object)) => {
            Message { head: map! { "found" => object.is_some() }, objects: Vec::from_iter(object) }
        }
        Ok(Reply::Done) => plain(map! { "done" => true }),
        Ok(Reply::News(is_news)) => plain(map! { "news" => is_news }),
        Err(ClusterError { kind, message }) => {
            plain(map! { "error" => kind_name(kind), "message" => message })
        }
    }
}

/// Reads the answer to a call.
pub(crate) fn read_reply(call: &Call, message: Message) -> Result<Reply, ClusterError> {
    let Message { head, mut objects } = message;
    if let Some(name) = head.get("error").as_text() {
        let text = head.get("message").str().to_owned();
        return Err(ClusterError { kind: named_kind(name), message: text });
    }
    let reply = match call {
        Call::Hello => head.get("protocol").as_integer().map(Reply::Hello),
        Call::List(_) => read_cursor(head.get("cursor"))
            .ok()
            .map(|cursor| Reply::Listing(Listing { objects, cursor })),
        Call::Changes(..) => read_changes(&head, objects).map(Reply::Changes),
        Call::Get(_)
        | Call::Create(..)
        | Call::Update(..)
        | Call::UpdateStatus(..)
        | Call::Apply(..) => head
            .get("found")
            .as_bool()
            .filter(|is_found| *is_found == (objects.len() == 1))
            .map(|_| Reply::Object(objects.pop())),
        Call::Delete(..) => head.get("done").as_bool().map(|_| Reply::Done),
        Call::Wait(..) => head.get("news").as_bool().map(Reply::News),
    };
    reply.ok_or_else(|| ClusterError {
        kind: ErrorKind::Unavailable,
        message: format!("the answer of the cluster was not understood: {head}"),
    })
}

fn read_changes(head: &Value, objects: Vec<Object>) -> Option<Changes> {
    let marks = head.get("gone").elements();
    if marks.len() != objects.len() {
        return None;
    }
    let changes = marks.iter().zip(objects).map(|(mark, object)| match mark {
        Value::Bool(true) => Change::Gone(object),
        _ => Change::Is(object),
    });
    Some(Changes { changes: changes.collect(), cursor: read_cursor(head.get("cursor")).ok()? })
}

// ---- The parts of calls ----

fn write_interests(interests: &BTreeSet<Interest>) -> Value {
    Value::list(interests.iter().map(|Interest { kind, part, .. }| match part {
        Part::All => Value::texts([kind.group(), kind.name()]),
        Part::Labelled { namespace, label, value } => {
            let namespace = Some(namespace.as_str()).filter(|namespace| !namespace.is_empty());
            let texts = [kind.group(), kind.name(), LABELLED, label, value];
            Value::texts(texts.into_iter().chain(namespace))
        }
        Part::Within { namespace } => Value::texts([kind.group(), kind.name(), WITHIN, namespace]),
        Part::Named { namespace, name } => {
            Value::texts([kind.group(), kind.name(), NAMED, namespace, name])
        }
    }))
}

fn read_interests(value: &Value) -> Result<BTreeSet<Interest>, String> {
    value.elements().iter().map(read_interest).collect()
}

fn read_interest(value: &Value) -> Result<Interest, String> {
    let texts: Option<Vec<&str>> = value.elements().iter().map(Value::as_text).collect();
    match texts.as_deref() {
        Some([group, kind]) => Ok(Interest::all(Kind::new(*group, *kind))),
        Some([group, kind, LABELLED, label, value]) => {
            Ok(Interest::labelled(Kind::new(*group, *kind), label, value))
        }
        Some([group, kind, LABELLED, label, value, namespace]) => {
            Ok(Interest::labelled_within(Kind::new(*group, *kind), namespace, label, value))
        }
        Some([group, kind, WITHIN, namespace]) => {
            Ok(Interest::within(Kind::new(*group, *kind), namespace))
        }
        Some([group, kind, NAMED, namespace, name]) => {
            Ok(Interest::named(Kind::new(*group, *kind).key(namespace, name)))
        }
        _ => Err(format!(
            "an interest is a list of group and kind, and perhaps of `{LABELLED}`, a label, its \
             value and a namespace, of `{WITHIN}` and a namespace, or of `{NAMED}`, a namespace and a name"
        )),
    }
}

fn write_key(key: &ObjectKey) -> Value {
    let ObjectKey { kind, namespace, name } = key;
    Value::texts([kind.group(), kind.name(), namespace, name])
}

fn read_key(value: &Value) -> Result<ObjectKey, String> {
    match value.elements() {
        [Value::Text(group), Value::Text(kind), Value::Text(namespace), Value::Text(name)] => {
            Ok(Kind::new(&**group, &**kind).key(namespace, name))
        }
        _ => Err("a key is a list of group, kind, namespace and name".to_owned()),
    }
}

fn write_cursor(cursor: &Cursor) -> Value {
    Value::map(cursor.0.iter().map(|(name, value)| (name, Value::text(value))))
}

fn read_cursor(value: &Value) -> Result<Cursor, String> {
    let Some(entries) = value.as_map() else {
        return Err("a point is a map of texts".to_owned());
    };
    let entries = entries.iter().map(|(name, value)| (name.to_owned(), value.str().to_owned()));
    Ok(Cursor(entries.collect::<BTreeMap<_, _>>()))
}

fn read_text(value: &Value, name: &str) -> Result<String, String> {
    let text = value.get(name).as_text().ok_or_else(|| format!("`{name}` must be a text"))?;
    Ok(text.to_owned())
}

const KIND_NAMES: &[(ErrorKind, &str)] = &[
    (ErrorKind::Forbidden, "Forbidden"),
    (ErrorKind::NotFound, "NotFound"),
    (ErrorKind::AlreadyExists, "AlreadyExists"),
    (ErrorKind::Invalid, "Invalid"),
    (ErrorKind::Conflict, "Conflict"),
    (ErrorKind::Unavailable, "Unavailable"),
    (ErrorKind::Other, "Other"),
];

fn kind_name(kind: ErrorKind) -> &'static str {
    KIND_NAMES.iter().find(|(named, _)| *named == kind).map_or("Other", |(_, name)| name)
}

fn named_kind(name: &str) -> ErrorKind {
    let found = KIND_NAMES.iter().find(|(_, named)| *named == name);
    found.map_or(ErrorKind::Other, |(kind, _)| *kind)
}
