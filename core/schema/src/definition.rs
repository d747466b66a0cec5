//! What a CustomResourceDefinition defines, in version `v1` and `v1beta1`.
//!
//! Old and new forms read the same: what `v1beta1` says once for all versions is said for each
//! version here. Schemas are kept as they were written until somebody asks for them.

mod version;

use std::fmt;

use operon_object::{Kind, Object, Value, known};

pub use self::version::Version;

/// A CRD in the words of its users.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The name of the CRD, `<plural>.<group>`.
    pub name: String,
    /// The group of the kind.
    pub group: String,
    /// What the kind is called.
    pub names: Names,
    /// Where its objects lie.
    pub scope: Scope,
    /// Its versions, in the order of the CRD.
    pub versions: Vec<Version>,
    /// How objects get from one version to another.
    pub conversion: Conversion,
    /// Says that unknown fields are kept whatever the schemas say.
    pub preserves_unknown_fields: bool,
    /// The versions in which objects may lie in storage.
    pub stored_versions: Vec<String>,
    /// Says that the API is served under its names: `Established` and `NamesAccepted` are true.
    pub is_established: bool,
}

/// What a kind is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The kind, such as `EtcdCluster`.
    pub kind: String,
    /// The kind of lists; by default the kind and `List`.
    pub list_kind: String,
    /// The name in URLs and role rules.
    pub plural: String,
    /// The name people type; by default the kind in lower case.
    pub singular: String,
    /// More names people type.
    pub short_names: Vec<String>,
    /// The groups of kinds, such as `all`, it is listed with.
    pub categories: Vec<String>,
}

/// Says where the objects of a kind lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each in a namespace.
    Namespaced,
    /// In no namespace.
    Cluster,
}

/// Says how objects get from one version to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// Only `apiVersion` changes.
    None,
    /// A server converts them.
    Webhook,
}

/// Says where a CRD is wrong and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionFault {
    /// The place, such as `spec.names.plural`.
    pub path: String,
    /// What is wrong there, and what is expected.
    pub reason: String,
}

impl fmt::Display for DefinitionFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` of the CRD {}", self.path, self.reason)
    }
}

impl std::error::Error for DefinitionFault {}

impl Definition {
    /// Reads a CRD.
    pub fn read(object: &Object) -> Result<Self, DefinitionFault> {
        let is_beta = is_beta(object)?;
        let spec = object.spec();
        let group = required(spec, &["group"])?;
        let kind = required(spec, &["names", "kind"])?;
        let names = spec.get("names");
        let or_else = |given: &str, default: String| match given {
            "" => default,
            given => given.to_owned(),
        };
        let texts = |value: &Value| value.iter_texts().map(str::to_owned).collect();
        let preserves = spec.get("preserveUnknownFields").as_bool();
        Ok(Self {
            name: object.name().to_owned(),
            group: group.to_owned(),
            names: Names {
                kind: kind.to_owned(),
                list_kind: or_else(names.get("listKind").str(), format!("{kind}List")),
                plural: required(spec, &["names", "plural"])?.to_owned(),
                singular: or_else(names.get("singular").str(), kind.to_lowercase()),
                short_names: texts(names.get("shortNames")),
                categories: texts(names.get("categories")),
            },
            scope: scope(spec, is_beta)?,
            versions: version::read_all(object, is_beta)?,
            conversion: conversion(object),
            // Upstream: in the old form unknown fields are kept unless it says otherwise.
            preserves_unknown_fields: preserves.unwrap_or(is_beta),
            stored_versions: stored_versions(object),
            is_established: is_true(object, "Established") && is_true(object, "NamesAccepted"),
        })
    }

    /// Returns the kind it defines.
    pub fn kind(&self) -> Kind {
        Kind::new(&*self.group, &*self.names.kind)
    }

    /// Returns a version by name.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// Returns the version in which objects are stored from now on.
    pub fn storage_version(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.is_storage)
    }
}

/// Returns the versions of a CRD without asking for more than they need.
pub(crate) fn versions(object: &Object) -> Result<Vec<Version>, DefinitionFault> {
    version::read_all(object, is_beta(object)?)
}

/// Tells whether a CRD is written in the old form.
pub(crate) fn is_beta(object: &Object) -> Result<bool, DefinitionFault> {
    if object.kind() != known::CUSTOM_RESOURCE_DEFINITION {
        return fault("kind", format!("must be CustomResourceDefinition, not {}", object.kind()));
    }
    match object.api_kind().version.as_str() {
        "v1" => Ok(false),
        "v1beta1" => Ok(true),
        other => fault("apiVersion", format!("must end in `v1` or `v1beta1`, not `{other}`")),
    }
}

/// Returns the versions in which objects may lie in storage.
pub(crate) fn stored_versions(object: &Object) -> Vec<String> {
    object.status().get("storedVersions").iter_texts().map(str::to_owned).collect()
}

/// Returns how a CRD converts its objects.
pub(crate) fn conversion(object: &Object) -> Conversion {
    match object.spec().at(&["conversion", "strategy"]).str() {
        "Webhook" => Conversion::Webhook,
        _ => Conversion::None,
    }
}

fn scope(spec: &Value, is_beta: bool) -> Result<Scope, DefinitionFault> {
    match spec.get("scope").str() {
        "Namespaced" => Ok(Scope::Namespaced),
        "Cluster" => Ok(Scope::Cluster),
        "" if is_beta => Ok(Scope::Namespaced),
        other => fault("spec.scope", format!("must be `Namespaced` or `Cluster`, not `{other}`")),
    }
}

fn is_true(object: &Object, condition: &str) -> bool {
    object
        .status()
        .get("conditions")
        .elements()
        .iter()
        .any(|given| given.get("type").str() == condition && given.get("status").str() == "True")
}

fn required<'s>(spec: &'s Value, path: &[&str]) -> Result<&'s str, DefinitionFault> {
    match spec.at(path).str() {
        "" => fault(&format!("spec.{}", path.join(".")), "is missing"),
        text => Ok(text),
    }
}

fn fault<T>(path: &str, reason: impl Into<String>) -> Result<T, DefinitionFault> {
    Err(DefinitionFault { path: path.to_owned(), reason: reason.into() })
}
