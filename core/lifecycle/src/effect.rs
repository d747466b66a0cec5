//! What is to be done, on whose authority, and when to look again.
//!
//! Every effect can be repeated: a second execution changes nothing. Writing a status is an effect
//! like any other.

use std::{collections::BTreeSet, sync::Arc};

use operon_install::{certificate_secret_name, service_name};
use operon_object::{Kind, Object, ObjectKey, Timestamp, Value, known};

use crate::{Authority, BundleKey, ownership::Claimant};

/// What a decision says.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// What is to be done, in order.
    effects: Vec<Effect>,
    /// When to look again although nothing changed.
    pub wake: Option<Timestamp>,
    /// Whether operators, Subscriptions or plans of other namespaces were looked at, so that their
    /// changes matter.
    pub looks_elsewhere: bool,
    /// The steps that resolving took, of those that [`Limits`](operon_resolve::Limits) allow.
    pub steps: u64,
    /// Whether resolving left out work for lack of steps or bytes, so that larger limits may give another
    /// verdict.
    pub was_cut: bool,
    /// The bundles whose contents are waited for.
    pub wanted: BTreeSet<BundleKey>,
    /// The bundles whose contents it rests on, those that are wanted among them.
    pub used: BTreeSet<BundleKey>,
}

/// One thing to be done. Its authority is given when it is created and cannot be changed.
#[derive(Debug, Clone)]
pub struct Effect {
    parts: EffectParts,
    timing: Timing,
}

/// What it takes to execute an effect.
#[derive(Debug, Clone)]
pub struct EffectParts {
    /// What is done.
    pub action: Action,
    /// The object whose work it is. When an effect fails, later ones of the same work are left out.
    pub work: ObjectKey,
    /// What has to hold still, asked of the cluster itself: a view that is behind must not do harm.
    pub guards: Vec<Guard>,
    /// Whose permissions count; never [`Authority::Unknown`].
    pub authority: Authority,
}

impl Effect {
    /// Creates an effect. There is none whose authority is unknown: nothing is written then.
    fn new(
        authority: &Authority,
        timing: Timing,
        work: &ObjectKey,
        action: Action,
        guards: Vec<Guard>,
    ) -> Option<Self> {
        if matches!(authority, Authority::Unknown(_)) {
            return None;
        }
        let (work, authority) = (work.clone(), authority.clone());
        Some(Self { parts: EffectParts { action, work, guards, authority }, timing })
    }

    /// Returns what is done.
    pub fn action(&self) -> &Action {
        &self.parts.action
    }

    /// Returns the object whose work it is.
    pub fn work(&self) -> &ObjectKey {
        &self.parts.work
    }

    /// Returns whose permissions count.
    pub fn authority(&self) -> &Authority {
        &self.parts.authority
    }

    /// Returns when it is done.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// Takes the effect apart to execute it.
    pub fn into_parts(self) -> EffectParts {
        self.parts
    }
}

/// When an effect is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// In its turn.
    InOrder,
    /// Only if nothing else is to be done: it sums up what is still moving, or no operator waits for it.
    AtRest,
}

/// Something that was seen and has to hold still.
#[derive(Debug, Clone)]
pub enum Guard {
    /// There is no object of this key.
    Absent(ObjectKey),
    /// The object is exactly as it was seen.
    Unchanged(Object),
    /// The object still exists and is not being deleted.
    Alive(Object),
    /// An object of this key, which the engine does not see, does not exist or belongs to the claimant.
    NotForeign(ObjectKey, Arc<Claimant>),
}

/// What can be done.
#[derive(Debug, Clone)]
pub enum Action {
    /// Makes an object, unless one of the same name exists.
    Create(Object),
    /// Changes everything but the status of an object that is still as it was seen.
    Update(Object),
    /// Changes the status of an object that is still as it was seen.
    UpdateStatus(Object),
    /// Makes an object have the given fields, whatever else it has.
    Apply(Object),
    /// Removes an object that is still the one that was seen.
    Delete {
        /// The object.
        key: ObjectKey,
        /// Its identity.
        uid: String,
    },
    /// Removes an object that is still exactly as it was seen.
    DeleteUnchanged(Object),
    /// Tells people what happened.
    Emit(Event),
    /// Asks for the contents of a bundle.
    Unpack(BundleKey),
    /// Makes a certificate.
    Certify(CertificateRequest),
    /// Asks to see all objects of a kind from now on.
    Watch(Kind),
}

/// A certificate that is wanted.
#[derive(Debug, Clone)]
pub struct CertificateRequest {
    /// The operator it is for.
    pub operator: Object,
    /// The Deployment that shows it.
    pub deployment: String,
    /// The names that it is for.
    pub hosts: Vec<String>,
    /// The certificate that it takes the place of.
    pub replaces: Option<ReplacedCertificate>,
}

/// A certificate that is still shown until the programs that show it have read the new one.
#[derive(Debug, Clone)]
pub struct ReplacedCertificate {
    /// The authorities that are trusted, the newest first: PEM texts in base64.
    pub ca_bundle: String,
    /// What pods were told of the authority. As long as they are told the same, they are not restarted.
    pub ca_hash: String,
}

/// What people are told about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The object.
    pub about: ObjectKey,
    /// The object's `apiVersion`.
    pub api_version: String,
    /// The object's identity.
    pub uid: String,
    /// Whether something is wrong.
    pub is_warning: bool,
    /// One word for programs.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

impl Event {
    /// Tells something about an object.
    pub fn about(object: &Object, is_warning: bool, reason: &str, message: &str) -> Self {
        Self {
            about: object.key(),
            api_version: object.api_version().to_owned(),
            uid: object.uid().to_owned(),
            is_warning,
            reason: reason.to_owned(),
            message: message.to_owned(),
        }
    }
}

impl Action {
    /// Says in one word for people what is done.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Update(_) => "update",
            Self::UpdateStatus(_) => "update-status",
            Self::Apply(_) => "apply",
            Self::Delete { .. } | Self::DeleteUnchanged(_) => "delete",
            Self::Emit(_) => "emit",
            Self::Unpack(_) => "unpack",
            Self::Certify(_) => "certify",
            Self::Watch(_) => "watch",
        }
    }

    /// Returns the object that it is done to; the contents of a bundle are no object. A certificate is kept
    /// in a Secret; a kind that is to be seen stands for all its objects, as one without a name.
    pub fn target(&self) -> Option<ObjectKey> {
        match self {
            Self::Create(object)
            | Self::Update(object)
            | Self::UpdateStatus(object)
            | Self::Apply(object)
            | Self::DeleteUnchanged(object) => Some(object.key()),
            Self::Delete { key, .. } => Some(key.clone()),
            Self::Certify(CertificateRequest { operator, deployment, hosts: _, replaces: _ }) => {
                let name = certificate_secret_name(&service_name(deployment));
                Some(known::SECRET.key(operator.namespace(), &name))
            }
            Self::Watch(kind) => Some(kind.key("", "")),
            Self::Emit(_) | Self::Unpack(_) => None,
        }
    }
}

impl Verdict {
    /// Returns what is to be done, in order.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Takes out what is to be done, in order.
    pub fn into_effects(self) -> Vec<Effect> {
        self.effects
    }

    /// Adds an effect, unless its authority is unknown.
    pub(crate) fn add(
        &mut self,
        authority: &Authority,
        work: &ObjectKey,
        action: Action,
        guards: Vec<Guard>,
        timing: Timing,
    ) {
        self.effects.extend(Effect::new(authority, timing, work, action, guards));
    }

    /// Adds the effects of another verdict behind its own.
    pub(crate) fn append(&mut self, other: Self) {
        self.effects.extend(other.effects);
    }

    /// Adds a write.
    pub(crate) fn act(&mut self, authority: &Authority, work: &ObjectKey, action: Action) {
        self.add(authority, work, action, Vec::new(), Timing::InOrder);
    }

    /// Adds a write that happens only while `guards` hold.
    pub(crate) fn act_guarded(
        &mut self,
        authority: &Authority,
        work: &ObjectKey,
        action: Action,
        guards: Vec<Guard>,
    ) {
        self.add(authority, work, action, guards, Timing::InOrder);
    }

    /// Adds a write that no operator waits for.
    pub(crate) fn act_at_rest(&mut self, authority: &Authority, work: &ObjectKey, action: Action) {
        self.add(authority, work, action, Vec::new(), Timing::AtRest);
    }

    /// Records an event. The controller may always report.
    pub(crate) fn emit(&mut self, work: &ObjectKey, event: Event, timing: Timing) {
        self.add(&Authority::Controller, work, Action::Emit(event), Vec::new(), timing);
    }

    /// Requests the contents of a bundle, which writes nothing to the cluster.
    pub(crate) fn unpack(&mut self, work: &ObjectKey, bundle: BundleKey) {
        self.act(&Authority::Controller, work, Action::Unpack(bundle));
    }

    /// Requests a watch, which writes nothing to the cluster.
    pub(crate) fn watch(&mut self, work: &ObjectKey, kind: Kind) {
        self.act(&Authority::Controller, work, Action::Watch(kind));
    }

    /// Writes a status that sums up others, if it differs, once those are at rest.
    pub(crate) fn write_summary(&mut self, object: &Object, status: Value) {
        self.write_status_when(object, status, Vec::new(), Timing::AtRest);
    }

    /// Writes a status if it differs from the object's; returns `true` if it does.
    pub(crate) fn write_status(&mut self, object: &Object, status: Value) -> bool {
        self.write_status_when(object, status, Vec::new(), Timing::InOrder)
    }

    /// Writes a status while `guards` hold; returns `true` if it differs from the object's.
    ///
    /// The controller alone writes the status of its own kinds, whoever installs.
    pub(crate) fn write_status_when(
        &mut self,
        object: &Object,
        status: Value,
        guards: Vec<Guard>,
        timing: Timing,
    ) -> bool {
        if *object.status() == status {
            return false;
        }
        let mut changed = object.clone();
        changed.set(&["status"], status);
        let action = Action::UpdateStatus(changed);
        self.add(&Authority::Controller, &object.key(), action, guards, timing);
        true
    }

    /// Looks again at a time, or earlier.
    pub(crate) fn wake_at(&mut self, time: Timestamp) {
        self.wake = Some(self.wake.map_or(time, |wake| wake.min(time)));
    }
}
