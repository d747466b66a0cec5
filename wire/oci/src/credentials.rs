//! Credentials, and the protocol of the programs that keep them.
//!
//! No secret is ever shown: neither `Debug` nor an error contains one. The programs are run elsewhere.

use std::fmt;

use operon_document::encode_base64;
use operon_object::Value;

use crate::printable::excerpt;

/// Limits the answer of a credential helper: a secret has some kilobytes.
pub const MAX_HELPER_REPLY_BYTES: usize = 64 * 1024;

/// The name with which a helper says that its secret is an identity token.
const TOKEN_USER: &str = "<token>";

/// Says who asks.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Nobody in particular.
    Anonymous,
    /// Somebody with a password.
    Basic {
        /// The name.
        user: String,
        /// The secret.
        password: String,
    },
    /// Somebody whom the token server knows by a token.
    IdentityToken {
        /// The secret.
        token: String,
    },
}

impl Credentials {
    /// Returns the value of the header `Authorization` for name and password.
    pub fn basic_header(&self) -> Option<String> {
        match self {
            Self::Basic { user, password } => {
                Some(format!("Basic {}", encode_base64(format!("{user}:{password}").as_bytes())))
            }
            Self::Anonymous | Self::IdentityToken { .. } => None,
        }
    }

    /// Tells whether there is nothing to send.
    pub fn is_anonymous(&self) -> bool {
        matches!(self, Self::Anonymous)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => formatter.write_str("Anonymous"),
            Self::Basic { user, .. } => {
                formatter.debug_struct("Basic").field("user", user).finish_non_exhaustive()
            }
            Self::IdentityToken { .. } => {
                formatter.debug_struct("IdentityToken").finish_non_exhaustive()
            }
        }
    }
}

/// Says why a credential helper is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HelperError {
    /// The name could lead to another program.
    #[error(
        "`{name}` is no name of a credential helper; letters, digits, `-`, `_` and `.` are allowed"
    )]
    BadName {
        /// The name, shortened.
        name: String,
    },
    /// The helper failed.
    #[error("the credential helper failed: {message}")]
    Failed {
        /// What it printed, shortened.
        message: String,
    },
    /// The helper printed too much.
    #[error("the credential helper printed {bytes} bytes, more than {MAX_HELPER_REPLY_BYTES}")]
    TooLarge {
        /// How many bytes there are.
        bytes: usize,
    },
    /// The helper printed something else than credentials.
    #[error("the credential helper printed no JSON with `Username` and `Secret`")]
    NotCredentials,
}

/// Returns the program behind a helper's name: `docker-credential-` and the name. It is run with the
/// argument `get` and reads the server from its standard input.
pub fn helper_program(name: &str) -> Result<String, HelperError> {
    let is_plain =
        |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_' | b'.');
    if name.is_empty() || !name.bytes().all(is_plain) {
        return Err(HelperError::BadName { name: excerpt(name, 60) });
    }
    Ok(format!("docker-credential-{name}"))
}

/// Reads what a helper printed. A helper that has nothing for the server fails with a certain message,
/// which means that nobody in particular asks.
pub fn helper_reply(is_success: bool, printed: &[u8]) -> Result<Credentials, HelperError> {
    if printed.len() > MAX_HELPER_REPLY_BYTES {
        return Err(HelperError::TooLarge { bytes: printed.len() });
    }
    if !is_success {
        let message = String::from_utf8_lossy(printed);
        if message.contains("credentials not found") {
            return Ok(Credentials::Anonymous);
        }
        return Err(HelperError::Failed { message: excerpt(&message, 200) });
    }
    let reply = Value::parse_json(printed).map_err(|_| HelperError::NotCredentials)?;
    let (Some(user), Some(secret)) =
        (reply.get("Username").as_text(), reply.get("Secret").as_text())
    else {
        return Err(HelperError::NotCredentials);
    };
    Ok(match (user, secret) {
        (TOKEN_USER, token) => Credentials::IdentityToken { token: token.to_owned() },
        ("", "") => Credentials::Anonymous,
        (user, password) => {
            Credentials::Basic { user: user.to_owned(), password: password.to_owned() }
        }
    })
}
