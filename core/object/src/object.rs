//! An object: a tree with metadata.
//!
//! Reading metadata never fails: what is missing or of another shape reads as empty. Whether an
//! object is well-formed is what a schema says, not this file.

use std::fmt;

use crate::{ApiKind, Kind, Map, ObjectKey, OwnerReference, Timestamp, Value};

/// An object of a cluster, or a manifest that may become one.
#[derive(Clone, PartialEq)]
pub struct Object {
    root: Value,
}

/// A value that cannot be an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedObject {
    /// Says what is missing or wrong.
    pub reason: String,
}

impl fmt::Display for MalformedObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl std::error::Error for MalformedObject {}

/// What only an API server writes into metadata.
const SERVER_METADATA: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

impl Object {
    /// Begins an object without content.
    pub fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        let mut object = Self { root: Value::default() };
        object.root.set(&["apiVersion"], api_version);
        object.root.set(&["kind"], kind);
        object.root.set(&["metadata", "name"], name);
        if !namespace.is_empty() {
            object.set_namespace(namespace);
        }
        object
    }

    /// Takes a value as an object: a map that says `apiVersion` and `kind`, and whose `metadata`,
    /// if any, is a map.
    pub fn from_value(root: Value) -> Result<Self, MalformedObject> {
        let fault = |reason: &str| Err(MalformedObject { reason: reason.to_owned() });
        if root.as_map().is_none() {
            return fault("an object is a map of `apiVersion`, `kind`, `metadata` and more");
        }
        for name in ["apiVersion", "kind"] {
            if root.get(name).str().is_empty() {
                return fault(&format!("`{name}` is missing"));
            }
        }
        if !matches!(root.get("metadata"), Value::Null | Value::Map(_)) {
            return fault("`metadata` must be a map");
        }
        Ok(Self { root })
    }

    /// Returns the whole tree.
    pub fn value(&self) -> &Value {
        &self.root
    }

    /// Returns the whole tree to change.
    pub fn value_mut(&mut self) -> &mut Value {
        &mut self.root
    }

    /// Gives the tree back.
    pub fn into_value(self) -> Value {
        self.root
    }

    /// Returns the value at a path of names.
    pub fn at(&self, path: &[&str]) -> &Value {
        self.root.at(path)
    }

    /// Puts a value at a path of names.
    pub fn set(&mut self, path: &[&str], value: impl Into<Value>) {
        self.root.set(path, value);
    }

    /// Returns the kind in the version it is written in.
    pub fn api_kind(&self) -> ApiKind {
        ApiKind::from_api_version(self.api_version(), self.root.get("kind").str())
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.api_kind().kind
    }

    /// Returns `apiVersion`, such as `apps/v1`.
    pub fn api_version(&self) -> &str {
        self.root.get("apiVersion").str()
    }

    /// Returns what names it in a cluster.
    pub fn key(&self) -> ObjectKey {
        self.kind().key(self.namespace(), self.name())
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        self.metadata("name").str()
    }

    /// Returns its namespace; empty where it has none.
    pub fn namespace(&self) -> &str {
        self.metadata("namespace").str()
    }

    /// Moves it into a namespace.
    pub fn set_namespace(&mut self, namespace: &str) {
        self.root.set(&["metadata", "namespace"], namespace);
    }

    /// Returns its identity; empty before a cluster has it.
    pub fn uid(&self) -> &str {
        self.metadata("uid").str()
    }

    /// Returns the version of its content; empty before a cluster has it.
    pub fn resource_version(&self) -> &str {
        self.metadata("resourceVersion").str()
    }

    /// Returns the version of its wishes, 0 before a cluster has it.
    pub fn generation(&self) -> i64 {
        self.metadata("generation").as_integer().unwrap_or(0)
    }

    /// Returns when it was created.
    pub fn created(&self) -> Option<Timestamp> {
        Timestamp::parse(self.metadata("creationTimestamp").str())
    }

    /// Removes what only an API server writes into metadata, as in a manifest that `kubectl get` printed, or
    /// that says `creationTimestamp: null`.
    pub fn forget_server_metadata(&mut self) {
        for name in SERVER_METADATA {
            self.metadata_mut().remove(name);
        }
    }

    /// Tells whether it is being deleted.
    pub fn is_deleting(&self) -> bool {
        !self.metadata("deletionTimestamp").is_null()
    }

    /// Returns one field of its metadata.
    pub fn metadata(&self, name: &str) -> &Value {
        self.root.get("metadata").get(name)
    }

    /// Returns a label, or the empty text.
    pub fn label(&self, name: &str) -> &str {
        self.metadata("labels").get(name).str()
    }

    /// Returns its labels.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.metadata("labels").entries().map(|(name, value)| (name, value.str()))
    }

    /// Puts a label on it.
    pub fn set_label(&mut self, name: &str, value: &str) {
        self.root.place(&["metadata", "labels"]).make_map().insert(name, value);
    }

    /// Returns an annotation, where there is one.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata("annotations").get(name).as_text()
    }

    /// Returns its annotations.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        self.metadata("annotations").entries().map(|(name, value)| (name, value.str()))
    }

    /// Puts an annotation on it.
    pub fn set_annotation(&mut self, name: &str, value: &str) {
        self.root.place(&["metadata", "annotations"]).make_map().insert(name, value);
    }

    /// Takes an annotation away.
    pub fn remove_annotation(&mut self, name: &str) {
        self.root.remove(&["metadata", "annotations", name]);
    }

    /// Returns who owns it.
    pub fn owners(&self) -> impl Iterator<Item = OwnerReference> {
        self.metadata("ownerReferences").elements().iter().map(OwnerReference::read)
    }

    /// Adds an owner, unless it is one already.
    pub fn add_owner(&mut self, owner: &OwnerReference) {
        if self.owners().any(|other| other.is_same_owner(owner)) {
            return;
        }
        self.root.place(&["metadata", "ownerReferences"]).make_list().push(owner.into());
    }

    /// Returns a reference to it as an owner that neither manages nor waits.
    pub fn owner_reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.api_version().to_owned(),
            kind: self.root.get("kind").str().to_owned(),
            name: self.name().to_owned(),
            uid: self.uid().to_owned(),
            controller: Some(false),
            block_owner_deletion: Some(false),
        }
    }

    /// Returns the names that keep it from going away.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        self.metadata("finalizers").iter_texts()
    }

    /// Returns what is wished.
    pub fn spec(&self) -> &Value {
        self.root.get("spec")
    }

    /// Returns what is observed.
    pub fn status(&self) -> &Value {
        self.root.get("status")
    }

    /// Returns the metadata to change.
    pub fn metadata_mut(&mut self) -> &mut Map {
        self.root.place(&["metadata"]).make_map()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.root, formatter)
    }
}
