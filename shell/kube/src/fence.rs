//! Whether this process may write: only while it holds the lease for certain.
//!
//! Nothing is asked here: whoever renews the lease says so, whoever writes asks.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;

/// How much of a lease has to be left for a write to begin, as a part of the whole: a third, five
/// seconds of fifteen. Renewing fails for ten seconds before anything is refused.
pub const LEAST_PART_LEFT: u32 = 3;

/// How long before the end of a lease a write is given up, as a part of the whole.
pub const WRITE_MARGIN_PART: u32 = 15;

/// Holds writes back while the lease is not held.
#[derive(Debug)]
pub(crate) struct Fence {
    /// How long others wait after a renewal before they take the lease.
    duration: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Clone)]
enum State {
    /// It was renewed by a request that left at this time.
    Held { monotonic: Instant, wall: SystemTime },
    /// It is not held, for this reason.
    Lost { reason: String },
}

impl Fence {
    pub(crate) fn new(duration: Duration) -> Self {
        let reason = "it was not acquired yet".to_owned();
        Self { duration, state: Mutex::new(State::Lost { reason }) }
    }

    /// Notes that the lease is held since a request left.
    pub(crate) fn renew(&self, monotonic: Instant, wall: SystemTime) {
        self.set(State::Held { monotonic, wall });
    }

    /// Notes that the lease is not held any more.
    pub(crate) fn lose(&self, reason: &str) {
        self.set(State::Lost { reason: reason.to_owned() });
    }

    /// Tells whether writes pass.
    pub(crate) fn is_open(&self, now: Instant) -> bool {
        self.pass(now).is_ok()
    }

    /// Returns how long a write may take that begins now.
    pub(crate) fn pass(&self, now: Instant) -> Result<Duration, ClusterError> {
        self.pass_at(now, SystemTime::now())
    }

    fn pass_at(&self, now: Instant, wall_now: SystemTime) -> Result<Duration, ClusterError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let reason = match state {
            State::Lost { reason } => reason,
            State::Held { monotonic, wall } => {
                // A machine that slept has not counted the time; its clock was set right since.
                let slept = wall_now.duration_since(wall).unwrap_or_default();
                let passed = now.saturating_duration_since(monotonic).max(slept);
                let left = self.duration.saturating_sub(passed);
                if left >= self.duration / LEAST_PART_LEFT {
                    return Ok(left - self.duration / WRITE_MARGIN_PART);
                }
                format!("it was last renewed {:.1} s ago", passed.as_secs_f64())
            }
        };
        Err(ClusterError {
            kind: ErrorKind::Unavailable,
            message: format!(
                "nothing is written because this process does not hold the lease of the leader: \
                 {reason}; the leader does the work"
            ),
        })
    }

    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_pass_only_while_enough_of_the_lease_is_left() {
        let fence = Fence::new(Duration::from_secs(15));
        let (start, wall) = (Instant::now(), SystemTime::now());
        let after = |seconds: u64, slept: u64| {
            let elapsed = Duration::from_secs(seconds);
            fence.pass_at(start + elapsed, wall + elapsed + Duration::from_secs(slept))
        };
        assert!(after(0, 0).unwrap_err().message.contains("not acquired yet"));
        fence.renew(start, wall);
        assert_eq!(after(0, 0).unwrap(), Duration::from_secs(14));
        assert_eq!(after(9, 0).unwrap(), Duration::from_secs(5));
        assert_eq!(after(10, 0).unwrap(), Duration::from_secs(4));
        let refusal = after(11, 0).unwrap_err();
        assert_eq!(refusal.kind, ErrorKind::Unavailable);
        assert!(refusal.message.contains("last renewed 11.0 s ago"), "{refusal}");
        assert!(after(1, 20).is_err(), "the machine slept for 20 s");
        fence.lose("`b` holds it");
        assert!(after(0, 0).unwrap_err().message.contains("`b` holds it"));
    }
}
