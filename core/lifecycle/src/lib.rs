//! World to verdict: every phase, condition and next wake-up.
//!
//! [`decide`] is the one door of the core. It looks at a [`World`] that somebody else gathered and
//! says what is to be done next; it does nothing itself, remembers nothing, and never waits.

mod authority;
mod catalog_sources;
mod components;
mod covers;
mod decide;
mod dependencies;
mod effect;
mod fail_forward;
mod failure;
mod generations;
mod groups;
mod memory;
mod neighbours;
mod objects;
mod operator_conditions;
mod outlook;
mod ownership;
mod plans;
mod records;
mod rights;
mod scene;
mod service_versions;
mod subscriptions;
pub mod views;
mod watched;
mod world;

pub use self::{
    authority::Authority,
    decide::{Scope, decide, decide_within},
    effect::{
        Action, CertificateRequest, Effect, EffectParts, Event, Guard, ReplacedCertificate, Timing,
        Verdict,
    },
    failure::{EffectError, ErrorKind, FIRST_PAUSE, Failure, Failures, LONGEST_PAUSE},
    generations::{FAILED_LATER_ANNOTATION, GENERATION_LABEL},
    memory::Memory,
    objects::Objects,
    ownership::Claimant,
    watched::{WATCHED_BY_LABEL, WATCHED_WHOLE},
    world::{
        BundleKey, BundleState, CatalogState, DEFAULT_INSTALL_TIMEOUT, DEFAULT_KEPT_GENERATIONS,
        DEFAULT_KEPT_PLANS, DEFAULT_PLAN_RETRY_TIMEOUT, Settings, World,
    },
};
