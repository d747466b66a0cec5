//! Refusals of the API server in the words of the port.
//!
//! The sentence stays as it is; only its class is told.

use operon_apiserver::{ApiError, Reason};
use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;

/// Says a refusal in the words of the port.
pub fn refused(error: ApiError) -> ClusterError {
    let kind = match error.reason {
        Reason::Forbidden => ErrorKind::Forbidden,
        Reason::NotFound => ErrorKind::NotFound,
        Reason::AlreadyExists => ErrorKind::AlreadyExists,
        // What is forgotten must be read again, as what was changed meanwhile.
        Reason::Conflict | Reason::Gone => ErrorKind::Conflict,
        Reason::BadRequest | Reason::RequestEntityTooLarge | Reason::Invalid => ErrorKind::Invalid,
        Reason::MethodNotAllowed => ErrorKind::Other,
    };
    ClusterError { kind, message: error.message }
}
