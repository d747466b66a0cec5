//! The contract of [`Cluster`], as checks that every implementation passes.
//!
//! A check is given a cluster and works in a namespace of its own, so that it can run on a cluster
//! that has other things in it. What a cluster does in its own time is waited for, by looking a
//! bounded number of times. Only what the driver relies on is checked.

mod fields;
mod history;
mod kinds;
mod objects;
mod owners;

use std::fmt;

use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, ObjectKey, Value, known, list, map};

use crate::{Cluster, ClusterError};

/// How often a check looks for what a cluster does in its own time.
pub const TRIES_LIMIT: usize = 600;

/// A cluster that is checked.
pub struct Subject<'a> {
    /// The cluster.
    pub cluster: &'a dyn Cluster,
    /// Lets some time pass; called between two looks.
    pub pause: &'a dyn Fn(),
    /// The beginning of the names that are used, at most 20 letters; another one for each run.
    pub name: &'a str,
}

/// One claim about clusters.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// The claim.
    pub name: &'static str,
    run: fn(&Stage<'_>) -> Outcome,
}

/// Says how a cluster broke the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The claim that does not hold, and what was seen instead.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<ClusterError> for Failure {
    fn from(ClusterError { kind, message }: ClusterError) -> Self {
        Self { message: format!("the cluster refused with {kind:?}: {message}") }
    }
}

/// Returns every check.
pub fn all() -> Vec<Check> {
    [objects::CHECKS, fields::CHECKS, history::CHECKS, owners::CHECKS, kinds::CHECKS].concat()
}

impl Check {
    /// Checks a cluster, and cleans up as far as the cluster lets it.
    pub fn run(&self, subject: &Subject<'_>) -> Result<(), Failure> {
        let words = self.name.split_whitespace().flat_map(str::chars);
        let tail: String = words.filter(char::is_ascii_lowercase).take(36).collect();
        let namespace = format!("{}-{tail}", subject.name);
        let stage = Stage { subject, group: format!("{namespace}.example.com"), namespace };
        let home = stage.cluster().create(&Object::new("v1", "Namespace", "", &stage.namespace))?;
        let outcome = (self.run)(&stage);
        let _ = stage.cluster().delete(&home.key(), home.uid());
        outcome.map_err(|failure| Failure { message: format!("{}: {failure}", self.name) })
    }
}

type Outcome = Result<(), Failure>;

/// Where a check works.
struct Stage<'a> {
    subject: &'a Subject<'a>,
    namespace: String,
    /// A group for kinds of its own.
    group: String,
}

impl Stage<'_> {
    fn cluster(&self) -> &dyn Cluster {
        self.subject.cluster
    }

    /// Begins a ConfigMap that says one thing.
    fn config_map(&self, name: &str, entry: &str) -> Object {
        let mut object = Object::new("v1", "ConfigMap", &self.namespace, name);
        object.set(&["data", "entry"], entry);
        object
    }

    fn key(&self, kind: &Kind, name: &str) -> ObjectKey {
        kind.key(&self.namespace, name)
    }

    /// Returns an object that must be there.
    fn find(&self, key: &ObjectKey) -> Result<Object, Failure> {
        let found = self.cluster().get(key)?;
        found.ok_or_else(|| Failure { message: format!("{key} is not there") })
    }

    /// Looks again and again until something is so.
    fn eventually(&self, claim: &str, mut is_so: impl FnMut() -> Result<bool, Failure>) -> Outcome {
        for _ in 0..TRIES_LIMIT {
            if is_so()? {
                return Ok(());
            }
            (self.subject.pause)();
        }
        Err(Failure { message: format!("not even after {TRIES_LIMIT} looks: {claim}") })
    }

    fn eventually_gone(&self, key: &ObjectKey) -> Outcome {
        self.eventually(&format!("{key} is gone"), || Ok(self.cluster().get(key)?.is_none()))
    }

    /// Names the kind of the stage.
    fn widget_kind(&self) -> Kind {
        Kind::new(self.group.as_str(), "Widget")
    }

    /// Begins an object of the kind of the stage.
    fn widget(&self, name: &str, size: i64) -> Object {
        let api_version = format!("{}/v1", self.group);
        let mut object = Object::new(&api_version, "Widget", &self.namespace, name);
        object.set(&["spec", "size"], size);
        object
    }

    /// Begins the definition of the kind of the stage: a size of at least 1, a colour, and a status
    /// of its own.
    fn widget_definition(&self) -> Object {
        let text = map! { "type" => "string" };
        let spec = map! {
            "type" => "object",
            "properties" => map! {
                "size" => map! { "type" => "integer", "minimum" => 1 },
                "colour" => text.clone(),
            },
        };
        let status = map! { "type" => "object", "properties" => map! { "phase" => text } };
        let schema = map! {
            "type" => "object",
            "properties" => map! { "spec" => spec, "status" => status },
        };
        let version = map! {
            "name" => "v1",
            "served" => true,
            "storage" => true,
            "schema" => map! { "openAPIV3Schema" => schema },
            "subresources" => map! { "status" => Value::map::<&str>([]) },
        };
        let name = format!("widgets.{}", self.group);
        let api_version = "apiextensions.k8s.io/v1";
        let mut definition = Object::new(api_version, "CustomResourceDefinition", "", &name);
        let spec = map! {
            "group" => self.group.as_str(),
            "scope" => "Namespaced",
            "names" => map! {
                "plural" => "widgets",
                "singular" => "widget",
                "kind" => "Widget",
                "listKind" => "WidgetList",
            },
            "versions" => list![version],
        };
        definition.set(&["spec"], spec);
        definition
    }

    /// Brings the kind of the stage to the cluster, and returns its definition.
    fn define_widgets(&self) -> Result<Object, Failure> {
        let definition = self.cluster().create(&self.widget_definition())?;
        let key = definition.key();
        self.eventually("a new definition is established", || {
            let found = self.find(&key)?;
            let conditions = found.status().get("conditions").elements();
            Ok(conditions.iter().any(|condition| {
                condition.get("type").str() == "Established"
                    && condition.get("status").str() == "True"
            }))
        })?;
        // A cluster may need another moment before it takes objects.
        let probe = self.widget("probe", 1);
        self.eventually("a new kind takes objects", || match self.cluster().create(&probe) {
            Ok(probe) => {
                self.cluster().delete(&probe.key(), probe.uid())?;
                Ok(true)
            }
            Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        })?;
        Ok(definition)
    }

    /// Takes the kind of the stage away again.
    fn forget_widgets(&self, definition: &Object) -> Outcome {
        self.cluster().delete(&definition.key(), definition.uid())?;
        self.eventually_gone(&definition.key())
    }
}

fn require(holds: bool, claim: impl fmt::Display) -> Outcome {
    if holds { Ok(()) } else { Err(Failure { message: format!("this does not hold: {claim}") }) }
}

fn require_equal(found: &Value, wanted: impl Into<Value>, claim: &str) -> Outcome {
    let wanted = wanted.into();
    require(*found == wanted, format_args!("{claim}: {found} is {wanted}"))
}

/// Requires that something was refused for a reason.
fn require_refusal<T>(answer: Result<T, ClusterError>, wanted: ErrorKind, claim: &str) -> Outcome {
    match answer {
        Ok(_) => Err(Failure { message: format!("this was not refused: {claim}") }),
        Err(ClusterError { kind, message }) => {
            require(kind == wanted, format_args!("{claim}: {kind:?} is {wanted:?} ({message})"))
        }
    }
}

/// The kinds of the objects that most checks work with.
const CONFIG_MAP: Kind = known::CONFIG_MAP;
