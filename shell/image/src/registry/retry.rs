//! Trying again: with growing pauses, and only where the next attempt may go better.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    time::Duration,
};

use tokio::time::sleep;

use super::{Failure, Repository, failure::Retry};
use crate::{Limits, PullError};

impl Repository {
    /// Runs a request until it succeeds, cannot succeed, or was tried often enough.
    pub(super) async fn retrying<T>(
        &self,
        mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
    ) -> Result<T, PullError> {
        let mut tried = 0;
        loop {
            tried += 1;
            let failure = match attempt().await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match pause(self.limits(), tried, failure.retry) {
                Some(pause) => sleep(pause).await,
                None => return Err(failure.error),
            }
        }
    }
}

/// Returns how long to wait before the next attempt; `None` when there is to be none.
pub(super) fn pause(limits: &Limits, tried: u32, retry: Retry) -> Option<Duration> {
    if tried >= limits.attempts {
        return None;
    }
    match retry {
        Retry::Never => None,
        Retry::After(pause) => Some(pause),
        Retry::Soon => {
            let doubled = limits.first_pause.saturating_mul(1 << (tried - 1).min(16));
            Some(jittered(doubled.min(limits.longest_pause)))
        }
    }
}

/// Returns between half and the whole of a pause, so that clients that failed together do not come
/// back together.
fn jittered(pause: Duration) -> Duration {
    // The standard library seeds its hash maps randomly; nothing but the moment depends on it.
    let random = RandomState::new().build_hasher().finish() % 1024;
    pause.mul_f64(0.5 + f64::from(u32::try_from(random).unwrap_or(0)) / 2048.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let limits = Limits { attempts: 20, ..Limits::default() };
        for tried in 1..20 {
            let nominal = limits.first_pause.saturating_mul(1 << (tried - 1).min(16));
            let nominal = nominal.min(limits.longest_pause);
            let found = pause(&limits, tried, Retry::Soon).unwrap();
            assert!(found >= nominal / 2 && found <= nominal, "{tried}: {found:?} of {nominal:?}");
        }
        assert_eq!(pause(&limits, 20, Retry::Soon), None);
        assert_eq!(pause(&limits, 1, Retry::Never), None);
        let asked = Duration::from_secs(7);
        assert_eq!(pause(&limits, 1, Retry::After(asked)), Some(asked));
    }
}
