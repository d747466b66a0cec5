//! What statuses say about failed fetches.
//!
//! Tenants read statuses, so a status must not turn this program into a scanner of networks that tenants
//! cannot reach. All failures of connections have one text, and the words of a server are not repeated.
//! Administrators see the whole reason in the log or on their terminal.

use std::fmt;

use crate::{FetchError, PullError, workers::HostOutcome};

/// Why a fetch failed, for both audiences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FetchFailure {
    /// The whole reason, for administrators.
    pub(crate) detail: String,
    /// What a status says.
    pub(crate) summary: String,
}

impl FetchFailure {
    /// Creates a failure whose reason may be read by tenants, too.
    pub(crate) fn open(reason: &impl fmt::Display) -> Self {
        let detail = reason.to_string();
        Self { summary: detail.clone(), detail }
    }

    /// Creates the failure of a fetch that was not tried, because its host failed too often lately.
    pub(crate) fn left_alone(host: &str) -> Self {
        Self {
            detail: format!(
                "`{host}` did not answer the last fetches, so it is left alone for a while"
            ),
            summary: connection_failed(host),
        }
    }
}

impl From<&FetchError> for FetchFailure {
    fn from(error: &FetchError) -> Self {
        Self { detail: error.to_string(), summary: error.summary() }
    }
}

/// Returns the one text for connections that cannot be made, are too slow, or break.
pub(crate) fn connection_failed(host: &str) -> String {
    format!("cannot reach `{host}`: connection failed; the log of the controller has the details")
}

impl FetchError {
    /// Returns what a status may say.
    pub fn summary(&self) -> String {
        match self {
            Self::Pull(error) => error.summary(),
            Self::Server(error) => error.summary.clone(),
            Self::Location(_)
            | Self::Open(_)
            | Self::NoConfigMap
            | Self::ConfigMap(_)
            | Self::Keep(_) => self.to_string(),
        }
    }

    /// Returns how the host did, as far as the error tells.
    pub(crate) fn host_outcome(&self) -> HostOutcome {
        let is_failed = match self {
            Self::Pull(error) => error.is_connection_failure(),
            Self::Server(error) => error.is_unreachable,
            Self::Location(_)
            | Self::Open(_)
            | Self::NoConfigMap
            | Self::ConfigMap(_)
            | Self::Keep(_) => return HostOutcome::NotAsked,
        };
        if is_failed { HostOutcome::Failed } else { HostOutcome::Answered }
    }
}

impl PullError {
    /// Returns `true` if a host could not be reached, was too slow, or broke the connection.
    pub fn is_connection_failure(&self) -> bool {
        matches!(
            self,
            Self::Timeout { .. }
                | Self::NameResolution { .. }
                | Self::Proxy { .. }
                | Self::Unreachable { .. }
                | Self::Broken { .. }
                | Self::Tls { .. }
        )
    }

    /// Returns what a status may say.
    pub fn summary(&self) -> String {
        match self {
            Self::Timeout { registry, .. }
            | Self::NameResolution { registry, .. }
            | Self::Proxy { registry, .. }
            | Self::Unreachable { registry, .. }
            | Self::Broken { registry, .. }
            | Self::Tls { registry, .. } => connection_failed(registry),
            Self::Unauthorised { registry, reference, .. } => format!(
                "`{registry}` refuses access to `{reference}`; check the pull secrets of the CatalogSource"
            ),
            Self::NotFound { registry, reference, .. } => {
                format!("`{registry}` has no `{reference}`")
            }
            Self::RateLimited { registry, .. } => {
                format!("`{registry}` limits the rate of requests; use a pull secret or a mirror")
            }
            Self::Answer { registry, reference, status, .. } => {
                format!("`{registry}`, asked for `{reference}`, answered {status}")
            }
            Self::Redirected { registry, reference, .. } => {
                format!(
                    "`{registry}`, asked for `{reference}`, sent a redirect that is not followed"
                )
            }
            Self::Token { registry, .. } => {
                format!("`{registry}` requires a token, and its token server gave none")
            }
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn summaries_reveal_neither_connections_nor_answers() {
        let text = str::to_owned;
        let (registry, reference) = (text("10.0.0.1:22"), text("10.0.0.1:22/x"));
        let connections = [
            PullError::Unreachable { registry: registry.clone(), problem: text("refused") },
            PullError::NameResolution { registry: registry.clone(), problem: text("no name") },
            PullError::Tls { registry: registry.clone(), problem: text("valid for db.internal") },
            PullError::Timeout {
                registry: registry.clone(),
                reference: reference.clone(),
                what: text("connecting"),
                after: Duration::from_secs(10),
            },
            PullError::Broken {
                registry: registry.clone(),
                reference: reference.clone(),
                problem: text("SSH-2.0-OpenSSH"),
            },
        ];
        for error in &connections {
            assert_eq!(error.summary(), connection_failed(&registry), "{error}");
        }
        let secret = "s3cret-answer";
        let answers = [
            PullError::Answer {
                registry: registry.clone(),
                reference: reference.clone(),
                status: 418,
                answer: text(secret),
            },
            PullError::NotFound {
                registry: registry.clone(),
                reference: reference.clone(),
                answer: text(secret),
                nearest: vec![text(secret)],
            },
            PullError::Unauthorised {
                registry: registry.clone(),
                reference: reference.clone(),
                answer: text(secret),
                tried: text(secret),
            },
            PullError::RateLimited {
                registry: registry.clone(),
                answer: text(secret),
                retry_after: None,
            },
            PullError::Redirected { registry: registry.clone(), reference, problem: text(secret) },
            PullError::Token { registry, realm: text(secret), problem: text(secret) },
        ];
        for error in &answers {
            let summary = error.summary();
            assert!(error.to_string().contains(secret), "{error}");
            assert!(summary.contains("10.0.0.1:22") && !summary.contains(secret), "{summary}");
        }
    }
}
