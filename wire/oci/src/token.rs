//! The answer of a server that gives tokens.
//!
//! A token is a secret: nothing here shows one. When it ends is computed by those who have a clock.

use std::{fmt, time::Duration};

use operon_object::{Timestamp, Value};

/// Limits the answer of a token server: tokens have some kilobytes.
pub const MAX_TOKEN_BYTES: usize = 1024 * 1024;
/// How long a token lives whose server does not say, or says less, as the specification has it.
pub const DEFAULT_TOKEN_LIFETIME: Duration = Duration::from_secs(60);
/// How long a token is believed at most, so that a wrong answer heals by itself.
pub const MAX_TOKEN_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Lets in whoever sends it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    secret: String,
    /// How long it lives, between [`DEFAULT_TOKEN_LIFETIME`] and [`MAX_TOKEN_LIFETIME`].
    pub lifetime: Duration,
    /// When it began, by the clock of its server.
    pub issued_at: Option<Timestamp>,
}

/// Says why the answer of a token server is of no use.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TokenError {
    /// The answer is too long.
    #[error("the token server's answer has {bytes} bytes, more than {MAX_TOKEN_BYTES}")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// The answer is not JSON.
    #[error("the token server's answer is not JSON; is the address that of a token server?")]
    NotJson,
    /// The answer holds no token.
    #[error("the token server's answer has neither `token` nor `access_token`")]
    NoToken,
    /// The token cannot be sent.
    #[error("the token server's token has characters that no header may have")]
    Unprintable,
}

impl Token {
    /// Reads an answer.
    pub fn parse(bytes: &[u8]) -> Result<Self, TokenError> {
        if bytes.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLarge { bytes: bytes.len() });
        }
        let value = Value::parse_json(bytes).map_err(|_| TokenError::NotJson)?;
        let secret = ["token", "access_token"]
            .iter()
            .map(|name| value.get(name).str())
            .find(|secret| !secret.is_empty())
            .ok_or(TokenError::NoToken)?;
        if !secret.bytes().all(|letter| letter.is_ascii_graphic()) {
            return Err(TokenError::Unprintable);
        }
        let seconds = value.get("expires_in").as_integer().unwrap_or_default();
        let lifetime = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        Ok(Self {
            secret: secret.to_owned(),
            lifetime: lifetime.clamp(DEFAULT_TOKEN_LIFETIME, MAX_TOKEN_LIFETIME),
            issued_at: Timestamp::parse(value.get("issued_at").str()),
        })
    }

    /// Returns the token itself, for the header that it is sent in.
    pub fn secret(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Token").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}
