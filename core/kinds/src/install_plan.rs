//! InstallPlan: what is done to get from one set of operators to the next.

use std::collections::BTreeMap;

use operon_object::{ApiKind, Object, Timestamp, Value};

use crate::{names, unpack_manifest};

/// An InstallPlan (`operators.coreos.com/v1alpha1`).
#[derive(Debug, Clone, Copy)]
pub struct InstallPlan<'o> {
    /// The object.
    pub object: &'o Object,
}

/// How far a plan has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanPhase {
    /// Its steps were not written yet.
    None,
    /// A person has to say yes.
    RequiresApproval,
    /// Its steps are being done.
    Installing,
    /// All steps are done.
    Complete,
    /// A step could not be done.
    Failed,
}

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepStatus {
    /// Nothing was done.
    Unknown,
    /// The object is not there.
    NotPresent,
    /// The object was there before.
    Present,
    /// The object was made.
    Created,
    /// The object is there, but its API is not served yet.
    WaitingForApi,
    /// The kind cannot be installed.
    UnsupportedResource,
}

/// One step of a plan.
#[derive(Debug, Clone, Copy)]
pub struct Step<'o> {
    /// The step as it is written.
    pub value: &'o Value,
}

impl PlanPhase {
    /// Returns the phase as it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::RequiresApproval => "RequiresApproval",
            Self::Installing => "Installing",
            Self::Complete => "Complete",
            Self::Failed => "Failed",
        }
    }
}

impl StepStatus {
    /// Returns the status as it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::Unknown => "Unknown",
            Self::NotPresent => "NotPresent",
            Self::Present => "Present",
            Self::Created => "Created",
            Self::WaitingForApi => "WaitingForApi",
            Self::UnsupportedResource => "UnsupportedResource",
        }
    }
}

impl<'o> InstallPlan<'o> {
    /// Reads an object as an InstallPlan.
    pub fn read(object: &'o Object) -> Self {
        Self { object }
    }

    /// Returns its name.
    pub fn name(self) -> &'o str {
        self.object.name()
    }

    /// Returns its phase.
    pub fn phase(self) -> PlanPhase {
        match self.object.status().get("phase").str() {
            "RequiresApproval" => PlanPhase::RequiresApproval,
            "Installing" => PlanPhase::Installing,
            "Complete" => PlanPhase::Complete,
            "Failed" => PlanPhase::Failed,
            "" => PlanPhase::None,
            // Somebody wrote a word that nobody knows: what was approved is looked at once more.
            _ if self.is_approved() => PlanPhase::Installing,
            _ => PlanPhase::RequiresApproval,
        }
    }

    /// Tells whether nothing more will happen to it.
    pub fn is_finished(self) -> bool {
        match self.phase() {
            PlanPhase::Complete | PlanPhase::Failed => true,
            PlanPhase::None | PlanPhase::RequiresApproval | PlanPhase::Installing => false,
        }
    }

    /// Returns its generation.
    pub fn generation(self) -> i64 {
        self.object.spec().get("generation").as_integer().unwrap_or(0)
    }

    /// Tells whether a person, or nobody, has to approve it, and it is approved.
    pub fn is_approved(self) -> bool {
        self.object.spec().get("approved").as_bool().unwrap_or(false)
    }

    /// Tells whether a person said no.
    pub fn is_rejected(self) -> bool {
        self.object.annotation(names::REJECTED_ANNOTATION) == Some("true")
    }

    /// Returns the hash of its content.
    pub fn content(self) -> &'o str {
        self.object.annotation(names::CONTENT_ANNOTATION).unwrap_or_default()
    }

    /// Returns which Subscription moves to which operator.
    pub fn targets(self) -> BTreeMap<String, String> {
        let text = self.object.annotation(names::TARGETS_ANNOTATION).unwrap_or_default();
        let targets = Value::parse_json(text).unwrap_or_default();
        targets.entries().map(|(name, csv)| (name.to_owned(), csv.str().to_owned())).collect()
    }

    /// Returns the operators it installs.
    pub fn operators(self) -> impl Iterator<Item = &'o str> {
        self.object.spec().get("clusterServiceVersionNames").iter_texts()
    }

    /// Returns its steps.
    pub fn steps(self) -> impl Iterator<Item = Step<'o>> {
        self.object.status().get("plan").elements().iter().map(|value| Step { value })
    }

    /// Returns when its steps were begun.
    pub fn started(self) -> Option<Timestamp> {
        Timestamp::parse(self.object.status().get("startTime").str())
    }

    /// Returns the sentence about its phase.
    pub fn message(self) -> &'o str {
        self.object.status().get("message").str()
    }
}

impl<'o> Step<'o> {
    /// Returns the operator it belongs to.
    pub fn resolving(self) -> &'o str {
        self.value.get("resolving").str()
    }

    /// Returns how far it has come.
    pub fn status(self) -> StepStatus {
        match self.value.get("status").str() {
            "NotPresent" => StepStatus::NotPresent,
            "Present" => StepStatus::Present,
            "Created" => StepStatus::Created,
            "WaitingForApi" => StepStatus::WaitingForApi,
            "UnsupportedResource" => StepStatus::UnsupportedResource,
            _ => StepStatus::Unknown,
        }
    }

    /// Returns the kind of the object it makes.
    pub fn api_kind(self) -> ApiKind {
        let resource = self.value.get("resource");
        let text = |name| resource.get(name).str().to_owned();
        ApiKind {
            kind: operon_object::Kind::new(text("group"), text("kind")),
            version: text("version"),
        }
    }

    /// Returns the name of the object it makes.
    pub fn name(self) -> &'o str {
        self.value.at(&["resource", "name"]).str()
    }

    /// Reads the object it makes; the error says what is wrong with its manifest.
    pub fn manifest(self) -> Result<Value, String> {
        let text = unpack_manifest(self.value.at(&["resource", "manifest"]).str())?;
        Value::parse_json(text.as_bytes()).map_err(|error| error.to_string())
    }
}
