//! ClusterServiceVersion: an operator in a namespace.
//!
//! What its Deployments and rules become is not read here: that is the install room's work.

use operon_object::{Object, Timestamp, Value};
use operon_version::Version;

use crate::names;

/// A ClusterServiceVersion (`operators.coreos.com/v1alpha1`).
#[derive(Debug, Clone, Copy)]
pub struct ServiceVersion<'o> {
    /// The object.
    pub object: &'o Object,
}

/// How far an operator has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Nobody has looked at it.
    None,
    /// It waits for what it requires.
    Pending,
    /// Everything it requires is there.
    InstallReady,
    /// Its Deployments are made.
    Installing,
    /// It runs.
    Succeeded,
    /// It does not run.
    Failed,
    /// Nobody knows.
    Unknown,
    /// Another one takes its place.
    Replacing,
    /// Another one has taken its place.
    Deleting,
}

/// How far an operator may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstallMode {
    /// Its own namespace.
    OwnNamespace,
    /// One other namespace.
    SingleNamespace,
    /// Several namespaces.
    MultiNamespace,
    /// All namespaces.
    AllNamespaces,
}

impl Phase {
    /// Reads a phase.
    pub fn read(text: &str) -> Self {
        match text {
            "" => Self::None,
            "Pending" => Self::Pending,
            "InstallReady" => Self::InstallReady,
            "Installing" => Self::Installing,
            "Succeeded" => Self::Succeeded,
            "Failed" => Self::Failed,
            "Replacing" => Self::Replacing,
            "Deleting" => Self::Deleting,
            _ => Self::Unknown,
        }
    }

    /// Returns the phase as it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Pending => "Pending",
            Self::InstallReady => "InstallReady",
            Self::Installing => "Installing",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Unknown => "Unknown",
            Self::Replacing => "Replacing",
            Self::Deleting => "Deleting",
        }
    }
}

impl InstallMode {
    /// Reads a mode.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "OwnNamespace" => Some(Self::OwnNamespace),
            "SingleNamespace" => Some(Self::SingleNamespace),
            "MultiNamespace" => Some(Self::MultiNamespace),
            "AllNamespaces" => Some(Self::AllNamespaces),
            _ => None,
        }
    }

    /// Returns the mode as it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::OwnNamespace => "OwnNamespace",
            Self::SingleNamespace => "SingleNamespace",
            Self::MultiNamespace => "MultiNamespace",
            Self::AllNamespaces => "AllNamespaces",
        }
    }
}

impl<'o> ServiceVersion<'o> {
    /// Reads an object as a ClusterServiceVersion.
    pub fn read(object: &'o Object) -> Self {
        Self { object }
    }

    /// Returns its name.
    pub fn name(self) -> &'o str {
        self.object.name()
    }

    /// Returns its phase.
    pub fn phase(self) -> Phase {
        Phase::read(self.object.status().get("phase").str())
    }

    /// Returns why it is in that phase.
    pub fn reason(self) -> &'o str {
        self.object.status().get("reason").str()
    }

    /// Returns the sentence about its phase.
    pub fn message(self) -> &'o str {
        self.object.status().get("message").str()
    }

    /// Returns when it entered its phase.
    pub fn last_transition(self) -> Option<Timestamp> {
        Timestamp::parse(self.object.status().get("lastTransitionTime").str())
    }

    /// Returns the name of the one it replaces; empty where there is none. One that names itself
    /// replaces nothing.
    pub fn replaces(self) -> &'o str {
        let replaces = self.object.spec().get("replaces").str();
        if replaces == self.name() { "" } else { replaces }
    }

    /// Returns its version as it is written.
    pub fn version_text(self) -> &'o str {
        self.object.spec().get("version").str()
    }

    /// Returns its version; `0.0.0` when it states none that can be read.
    pub fn version(self) -> Version {
        Version::parse_tolerant(self.version_text()).unwrap_or_else(|_| Version::new(0, 0, 0))
    }

    /// Returns what it is called for people.
    pub fn display_name(self) -> &'o str {
        self.object.spec().get("displayName").str()
    }

    /// Returns the Deployments it installs.
    pub fn deployments(self) -> &'o [Value] {
        self.object.spec().at(&["install", "spec", "deployments"]).elements()
    }

    /// Returns the CRDs it owns.
    pub fn owned_crds(self) -> &'o [Value] {
        self.object.spec().at(&["customresourcedefinitions", "owned"]).elements()
    }

    /// Returns the CRDs it requires.
    pub fn required_crds(self) -> &'o [Value] {
        self.object.spec().at(&["customresourcedefinitions", "required"]).elements()
    }

    /// Returns its install modes: types as written, and whether each is supported.
    pub fn install_modes(self) -> impl Iterator<Item = (&'o str, bool)> {
        self.object
            .spec()
            .get("installModes")
            .elements()
            .iter()
            .map(|mode| (mode.get("type").str(), mode.get("supported").as_bool().unwrap_or(false)))
    }

    /// Tells whether a mode is supported; one that is not listed is not.
    pub fn supports(self, mode: InstallMode) -> bool {
        self.install_modes().any(|(name, supported)| supported && name == mode.text())
    }

    /// Returns its webhooks.
    pub fn webhooks(self) -> &'o [Value] {
        self.object.spec().get("webhookdefinitions").elements()
    }

    /// Tells whether it is the copy of one in another namespace.
    pub fn is_copied(self) -> bool {
        let home = self.object.annotation(names::OPERATOR_NAMESPACE_ANNOTATION);
        self.reason() == "Copied"
            || !self.object.label(names::COPIED_FROM_LABEL).is_empty()
            || home.is_some_and(|home| home != self.object.namespace())
    }
}
