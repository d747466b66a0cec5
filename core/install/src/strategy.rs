//! What a ClusterServiceVersion asks to be installed.
//!
//! Only the shape is checked here: whether rules or Deployments make sense is seen by those who turn
//! them into objects.

use std::fmt;

use operon_object::{Object, Value};

use crate::golang::TypeFault;

/// Reasons why nothing can be made of what a ClusterServiceVersion asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategyFault {
    /// The strategy is not `deployment`.
    Unrecognized(String),
    /// A field does not fit its type, such as a text in place of a port.
    Type(TypeFault),
}

impl fmt::Display for StrategyFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unrecognized(name) => {
                write!(
                    formatter,
                    "unrecognized install strategy: `{name}`, only `deployment` is known"
                )
            }
            Self::Type(fault) => fault.fmt(formatter),
        }
    }
}

impl std::error::Error for StrategyFault {}

impl From<TypeFault> for StrategyFault {
    fn from(fault: TypeFault) -> Self {
        Self::Type(fault)
    }
}

/// One Deployment as a ClusterServiceVersion writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct DeploymentTemplate {
    /// Its name.
    pub name: String,
    /// Its spec, as written.
    pub spec: Value,
    /// Labels for the Deployment itself.
    pub labels: Value,
}

/// Rules for one ServiceAccount.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// The ServiceAccount; empty where none is named.
    pub account: String,
    /// The whole entry, as written.
    pub value: Value,
}

/// What a ClusterServiceVersion asks to be installed.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// Its Deployments, in the order written.
    pub deployments: Vec<DeploymentTemplate>,
    /// Rules within the namespaces it watches.
    pub permissions: Vec<Permission>,
    /// Rules for the whole cluster.
    pub cluster_permissions: Vec<Permission>,
}

impl Strategy {
    /// Reads the install strategy of a ClusterServiceVersion.
    pub fn read(csv: &Object) -> Result<Self, StrategyFault> {
        let install = csv.at(&["spec", "install"]);
        let name = install.get("strategy").str();
        if name != "deployment" {
            return Err(StrategyFault::Unrecognized(name.to_owned()));
        }
        let details = install.get("spec");
        let deployments =
            details.get("deployments").elements().iter().map(|deployment| DeploymentTemplate {
                name: deployment.get("name").str().to_owned(),
                spec: deployment.get("spec").clone(),
                labels: deployment.get("label").clone(),
            });
        let permissions = |name| {
            let permissions = details.get(name).elements().iter();
            permissions.map(Permission::read).collect()
        };
        Ok(Self {
            deployments: deployments.collect(),
            permissions: permissions("permissions"),
            cluster_permissions: permissions("clusterPermissions"),
        })
    }
}

impl Permission {
    fn read(value: &Value) -> Self {
        Self { account: value.get("serviceAccountName").str().to_owned(), value: value.clone() }
    }

    /// Returns its rules.
    pub fn rules(&self) -> &Value {
        self.value.get("rules")
    }
}
