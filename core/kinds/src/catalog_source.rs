//! CatalogSource: where bundles come from, and how much a catalog is preferred.

use std::fmt;

use operon_object::{Object, Value};
use operon_resolve::SourceName;

/// A CatalogSource (`operators.coreos.com/v1alpha1`).
#[derive(Debug, Clone, Copy)]
pub struct CatalogSource<'o> {
    /// The object.
    pub object: &'o Object,
}

/// What is wrong with a CatalogSource's spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceProblem {
    /// It reads a ConfigMap and does not say which.
    NoConfigMap(String),
    /// It reads a registry and says neither image nor address.
    NoImageOrAddress,
    /// Its type is not known.
    UnknownType(String),
}

/// Upstream's words.
impl fmt::Display for SourceProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoConfigMap(kind) => {
                write!(formatter, "configmap name unset: must be set for sourcetype: {kind}")
            }
            Self::NoImageOrAddress => formatter.write_str(
                "image and address unset: at least one must be set for sourcetype: grpc",
            ),
            Self::UnknownType(kind) => write!(formatter, "unknown sourcetype: {kind}"),
        }
    }
}

impl std::error::Error for SourceProblem {}

impl<'o> CatalogSource<'o> {
    /// Reads an object as a CatalogSource.
    pub fn read(object: &'o Object) -> Self {
        Self { object }
    }

    /// Returns what names it.
    pub fn source_name(self) -> SourceName {
        SourceName {
            namespace: self.object.namespace().to_owned(),
            name: self.object.name().to_owned(),
        }
    }

    /// Returns its priority: higher is preferred.
    pub fn priority(self) -> i64 {
        self.object.spec().get("priority").as_integer().unwrap_or(0)
    }

    /// Returns its type as it is written.
    pub fn source_type(self) -> &'o str {
        self.object.spec().get("sourceType").str()
    }

    /// Returns the image it is read from.
    pub fn image(self) -> &'o str {
        self.object.spec().get("image").str()
    }

    /// Returns the address of the registry it is read from.
    pub fn address(self) -> &'o str {
        self.object.spec().get("address").str()
    }

    /// Returns the ConfigMap it is read from.
    pub fn config_map(self) -> &'o str {
        self.object.spec().get("configMap").str()
    }

    /// Returns the ConfigMap that its type says it is read from.
    pub fn reads_config_map(self) -> Option<&'o str> {
        matches!(self.source_type(), "internal" | "configmap").then(|| self.config_map())
    }

    /// Returns the names of the Secrets with credentials for its images.
    pub fn pull_secrets(self) -> impl Iterator<Item = &'o str> + use<'o> {
        let secrets = self.object.spec().get("secrets").elements().iter();
        secrets.map(Value::str).filter(|name| !name.is_empty())
    }

    /// Returns how often a newer image is looked for, as it is written.
    pub fn poll_interval(self) -> Option<&'o str> {
        self.object.spec().at(&["updateStrategy", "registryPoll", "interval"]).as_text()
    }

    /// Says what is wrong with its spec, if anything.
    pub fn problem(self) -> Option<SourceProblem> {
        match self.source_type() {
            kind @ ("internal" | "configmap") if self.config_map().is_empty() => {
                Some(SourceProblem::NoConfigMap(kind.to_owned()))
            }
            "grpc" if self.image().is_empty() && self.address().is_empty() => {
                Some(SourceProblem::NoImageOrAddress)
            }
            "internal" | "configmap" | "grpc" => None,
            unknown => Some(SourceProblem::UnknownType(unknown.to_owned())),
        }
    }
}
