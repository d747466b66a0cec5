//! What a bundle brings: one ClusterServiceVersion and the objects beside it.

use std::fmt;

use operon_object::{Object, known};

/// The objects of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleContents {
    /// The operator.
    pub service_version: Object,
    /// Everything else, in the order of the bundle.
    pub objects: Vec<Object>,
}

/// Objects that are no bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentsError {
    /// There is no ClusterServiceVersion.
    NoServiceVersion,
    /// There is more than one.
    ServiceVersions(Vec<String>),
    /// The ClusterServiceVersion is called otherwise than its bundle.
    OtherName {
        /// What the bundle is called.
        expected: String,
        /// What it is called.
        found: String,
    },
}

impl fmt::Display for ContentsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServiceVersion => {
                formatter.write_str("the bundle contains no ClusterServiceVersion")
            }
            Self::ServiceVersions(names) => write!(
                formatter,
                "the bundle contains {} ClusterServiceVersions instead of one: {}",
                names.len(),
                names.join(", ")
            ),
            Self::OtherName { expected, found } => write!(
                formatter,
                "the ClusterServiceVersion of bundle {expected} is called {found}; both must have the same name"
            ),
        }
    }
}

impl std::error::Error for ContentsError {}

impl BundleContents {
    /// Takes the objects of the bundle of a name.
    pub fn new(
        name: &str,
        objects: impl IntoIterator<Item = Object>,
    ) -> Result<Self, ContentsError> {
        let (mut operators, objects): (Vec<Object>, Vec<Object>) =
            objects.into_iter().partition(|object| object.kind() == known::CLUSTER_SERVICE_VERSION);
        let Some(service_version) = operators.pop() else {
            return Err(ContentsError::NoServiceVersion);
        };
        if !operators.is_empty() {
            operators.push(service_version);
            let names = operators.iter().map(|operator| operator.name().to_owned()).collect();
            return Err(ContentsError::ServiceVersions(names));
        }
        if service_version.name() != name {
            return Err(ContentsError::OtherName {
                expected: name.to_owned(),
                found: service_version.name().to_owned(),
            });
        }
        Ok(Self { service_version, objects })
    }
}
