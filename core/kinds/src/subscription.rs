//! Subscription: what is asked for, and how far it has come.

use operon_object::{Object, Value};
use operon_resolve::SourceName;

use crate::{Pin, PinError, names};

/// A Subscription (`operators.coreos.com/v1alpha1`).
#[derive(Debug, Clone, Copy)]
pub struct Subscription<'o> {
    /// The object.
    pub object: &'o Object,
}

/// How far a Subscription has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionState {
    /// Nothing was decided for it.
    None,
    /// An InstallPlan is under way.
    UpgradePending,
    /// Its InstallPlan failed, and it may move on.
    UpgradeFailed,
    /// It has what it was told to become.
    AtLatestKnown,
}

impl SubscriptionState {
    /// Returns the state as it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::UpgradePending => "UpgradePending",
            Self::UpgradeFailed => "UpgradeFailed",
            Self::AtLatestKnown => "AtLatestKnown",
        }
    }
}

impl<'o> Subscription<'o> {
    /// Reads an object as a Subscription.
    pub fn read(object: &'o Object) -> Self {
        Self { object }
    }

    /// Returns its name.
    pub fn name(self) -> &'o str {
        self.object.name()
    }

    /// Returns the package.
    pub fn package(self) -> &'o str {
        self.object.spec().get("name").str()
    }

    /// Returns the channel; empty for any.
    pub fn channel(self) -> &'o str {
        self.object.spec().get("channel").str()
    }

    /// Returns the catalog it names.
    pub fn source(self) -> Option<SourceName> {
        let spec = self.object.spec();
        let (name, namespace) = (spec.get("source").str(), spec.get("sourceNamespace").str());
        let is_named = !name.is_empty() || !namespace.is_empty();
        is_named.then(|| SourceName { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Returns the bundle that a fresh installation starts with.
    pub fn starting_csv(self) -> &'o str {
        self.object.spec().get("startingCSV").str()
    }

    /// Tells whether a person approves what is done for it.
    pub fn is_manual(self) -> bool {
        self.object.spec().get("installPlanApproval").str() == "Manual"
    }

    /// Returns the settings for its operator's Deployments.
    pub fn config(self) -> &'o Value {
        self.object.spec().get("config")
    }

    /// Returns the operator that belongs to it.
    pub fn installed_csv(self) -> &'o str {
        self.object.status().get("installedCSV").str()
    }

    /// Returns the operator that it was last told to become.
    pub fn current_csv(self) -> &'o str {
        self.object.status().get("currentCSV").str()
    }

    /// Returns its state.
    pub fn state(self) -> SubscriptionState {
        match self.object.status().get("state").str() {
            "UpgradePending" => SubscriptionState::UpgradePending,
            "UpgradeFailed" => SubscriptionState::UpgradeFailed,
            "AtLatestKnown" => SubscriptionState::AtLatestKnown,
            _ => SubscriptionState::None,
        }
    }

    /// Returns the name of the InstallPlan that it refers to.
    pub fn plan(self) -> &'o str {
        self.object.status().at(&["installPlanRef", "name"]).str()
    }

    /// Returns the generation of that InstallPlan.
    pub fn plan_generation(self) -> i64 {
        self.object.status().get("installPlanGeneration").as_integer().unwrap_or(0)
    }

    /// Tells whether nothing may change for it.
    pub fn is_paused(self) -> bool {
        self.object.annotation(names::PAUSE_ANNOTATION) == Some("true")
    }

    /// Tells whether it may move together with Subscriptions of other namespaces.
    pub fn wants_to_join(self) -> bool {
        self.object.annotation(names::JOINT_ANNOTATION) == Some("true")
    }

    /// Returns the versions it may move to, where it is pinned.
    pub fn pin(self) -> Option<Result<Pin, PinError>> {
        self.object.annotation(names::PIN_ANNOTATION).map(Pin::parse)
    }

    /// Returns what it says itself about failing forward.
    pub fn fail_forward(self) -> Option<bool> {
        match self.object.annotation(names::FAIL_FORWARD_ANNOTATION)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns the names of the findings about CRDs that are accepted for it.
    pub fn waived(self) -> impl Iterator<Item = &'o str> {
        let list = self.object.annotation(names::WAIVE_ANNOTATION).unwrap_or_default();
        list.split(',').map(str::trim).filter(|name| !name.is_empty())
    }
}
