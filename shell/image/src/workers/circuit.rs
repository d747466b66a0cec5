//! Circuit breakers: hosts that held a thread in vain several times are not asked for a while.
//!
//! Each namespace has breakers of its own. Otherwise one tenant could keep the others from a host that they
//! share. The caller says what time it is.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::FetchKey;

/// How many fetches in a row have to fail before a host is left alone: two may be an accident.
const FAILURES_TO_OPEN: u32 = 3;

/// How long a failed fetch must have taken to count. A refused connection holds a thread for milliseconds,
/// and the server of a catalog refuses connections while its pod starts.
const SLOW_FAILURE: Duration = Duration::from_secs(5);

/// How long a host is left alone at first; each further failure doubles it.
const FIRST_OPEN_TIME: Duration = Duration::from_secs(15);

/// The longest time that a host is left alone, so that one that was repaired is noticed within a minute.
const LONGEST_OPEN_TIME: Duration = Duration::from_secs(60);

/// How many hosts are remembered. When there are more, those whose time is over are forgotten.
const MAX_CIRCUITS: usize = 10_000;

/// How a fetch went, as far as its host is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostOutcome {
    /// The host answered, whatever it said.
    Answered,
    /// The host could not be reached, or took too long.
    Failed,
    /// No host was asked.
    NotAsked,
}

/// The breakers of all hosts that failed.
#[derive(Debug, Default)]
pub(crate) struct Circuits {
    circuits: BTreeMap<FetchKey, Circuit>,
}

#[derive(Debug, Default)]
struct Circuit {
    failures: u32,
    open_until: Option<Instant>,
}

impl Circuits {
    /// Returns `true` if the host may be asked. After the pause one fetch may try; the others are refused
    /// until it has ended.
    pub(crate) fn admits(&mut self, key: &FetchKey, now: Instant) -> bool {
        let Some(circuit) = self.circuits.get_mut(key) else { return true };
        match circuit.open_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                circuit.open_until = Some(now + LONGEST_OPEN_TIME);
                true
            }
        }
    }

    /// Records how a fetch went that took so long.
    pub(crate) fn record(
        &mut self,
        key: &FetchKey,
        outcome: HostOutcome,
        took: Duration,
        now: Instant,
    ) {
        match outcome {
            HostOutcome::Answered => {
                self.circuits.remove(key);
            }
            HostOutcome::Failed if took >= SLOW_FAILURE && !key.host.is_empty() => {
                self.make_room(now);
                let circuit = self.circuits.entry(key.clone()).or_default();
                circuit.failures = circuit.failures.saturating_add(1);
                if let Some(doublings) = circuit.failures.checked_sub(FAILURES_TO_OPEN) {
                    let pause = FIRST_OPEN_TIME.saturating_mul(1 << doublings.min(16));
                    circuit.open_until = Some(now + pause.min(LONGEST_OPEN_TIME));
                }
            }
            // A quick failure ends a trial as well, and the next fetch may try.
            HostOutcome::Failed | HostOutcome::NotAsked => {
                if let Some(circuit) = self.circuits.get_mut(key) {
                    circuit.open_until = circuit.open_until.map(|_| now);
                }
            }
        }
    }

    fn make_room(&mut self, now: Instant) {
        if self.circuits.len() >= MAX_CIRCUITS {
            self.circuits.retain(|_, circuit| circuit.open_until.is_some_and(|until| until > now));
        }
        if self.circuits.len() >= MAX_CIRCUITS {
            self.circuits.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circuits_open_after_slow_failures_and_close_after_an_answer() {
        let key = |namespace: &str| FetchKey {
            namespace: namespace.to_owned(),
            host: "silent.example.com".to_owned(),
        };
        let (bad, good) = (key("bad"), key("good"));
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let slow = Duration::from_secs(120);
        let mut circuits = Circuits::default();
        for _ in 0..10 {
            circuits.record(&bad, HostOutcome::Failed, Duration::from_millis(3), at(0));
        }
        for _ in 1..FAILURES_TO_OPEN {
            circuits.record(&bad, HostOutcome::Failed, slow, at(0));
            assert!(circuits.admits(&bad, at(0)));
        }
        circuits.record(&bad, HostOutcome::Failed, slow, at(0));
        assert!(!circuits.admits(&bad, at(14)));
        assert!(circuits.admits(&good, at(14)), "other namespaces are not concerned");
        assert!(circuits.admits(&bad, at(15)), "one may try");
        assert!(!circuits.admits(&bad, at(16)), "the others wait for it");
        circuits.record(&bad, HostOutcome::Failed, slow, at(17));
        assert!(!circuits.admits(&bad, at(46)));
        assert!(circuits.admits(&bad, at(47)));
        for second in 50..60 {
            circuits.record(&bad, HostOutcome::Failed, slow, at(second));
        }
        assert!(!circuits.admits(&bad, at(118)));
        assert!(circuits.admits(&bad, at(119)), "a repaired host is noticed within a minute");
        circuits.record(&bad, HostOutcome::NotAsked, slow, at(120));
        assert!(circuits.admits(&bad, at(120)), "an attempt that asked no host says nothing");
        circuits.record(&bad, HostOutcome::Answered, slow, at(121));
        assert!(circuits.admits(&bad, at(121)) && circuits.admits(&bad, at(121)));
    }
}
