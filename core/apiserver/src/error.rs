//! Why a request was refused.
//!
//! The texts are those of Kubernetes, because people and programs match on them. Nothing here
//! decides to refuse.

use std::fmt;

use operon_object::{Kind, quote};

/// Says why a request was refused, as an API server's `Status` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status, such as 404.
    pub code: u16,
    /// The class of the refusal, for programs.
    pub reason: Reason,
    /// The sentence for people.
    pub message: String,
}

/// Names a class of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The request makes no sense: `namespace` is missing.
    BadRequest,
    /// The namespace is being deleted.
    Forbidden,
    /// There is no such object, or no such kind.
    NotFound,
    /// Kind whose definition is being deleted takes no new objects.
    MethodNotAllowed,
    /// A name is taken.
    AlreadyExists,
    /// The object is not what the writer believed, or another manager owns a field.
    Conflict,
    /// The asked-for past is forgotten.
    Gone,
    /// The object is larger than the limit.
    RequestEntityTooLarge,
    /// The object breaks a rule of its kind.
    Invalid,
}

impl Reason {
    /// Returns the HTTP status of the class.
    pub fn code(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::AlreadyExists | Self::Conflict => 409,
            Self::Gone => 410,
            Self::RequestEntityTooLarge => 413,
            Self::Invalid => 422,
        }
    }

    /// Returns the name that a `Status` carries.
    pub fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "BadRequest",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Gone => "Expired",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::Invalid => "Invalid",
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl ApiError {
    /// Refuses for a reason, in these words.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { code: reason.code(), reason, message: message.into() }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Reason::BadRequest, message)
    }

    pub(crate) fn no_kind(api_version: &str, kind: &str) -> Self {
        let message =
            format!("no matches for kind {} in version {}", quote(kind), quote(api_version));
        Self::new(Reason::NotFound, message)
    }

    pub(crate) fn not_found(resource: &str, name: &str) -> Self {
        Self::new(Reason::NotFound, format!("{resource} {} not found", quote(name)))
    }

    pub(crate) fn already_exists(resource: &str, name: &str) -> Self {
        Self::new(Reason::AlreadyExists, format!("{resource} {} already exists", quote(name)))
    }

    pub(crate) fn forbidden(resource: &str, name: &str, why: &str) -> Self {
        Self::new(Reason::Forbidden, format!("{resource} {} is forbidden: {why}", quote(name)))
    }

    pub(crate) fn conflict(resource: &str, name: &str, why: &str) -> Self {
        let name = quote(name);
        let message = format!("Operation cannot be fulfilled on {resource} {name}: {why}");
        Self::new(Reason::Conflict, message)
    }

    pub(crate) fn modified(resource: &str, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version \
                   and try again";
        Self::conflict(resource, name, why)
    }

    /// Refuses an object for what its fields say; several faults are listed in brackets.
    pub(crate) fn invalid(kind: &Kind, name: &str, faults: &[String]) -> Self {
        let faults = match faults {
            [fault] => fault.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        Self::new(Reason::Invalid, format!("{kind} {} is invalid: {faults}", quote(name)))
    }
}
