//! When contents that are not here yet are asked for again.
//!
//! Most come within milliseconds, and somebody waits for the operator: at first it is asked often, then less
//! so. What is asked for, and by whom, is not known here.

use std::{collections::BTreeMap, time::Duration};

use operon_lifecycle::{BundleKey, BundleState, FIRST_PAUSE, LONGEST_PAUSE};
use operon_object::Timestamp;

/// How soon contents that are on their way are asked for again at first. From there it is half as long again
/// as they were waited for.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);

/// The contents that are asked for again.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    waiting: BTreeMap<BundleKey, Ask>,
}

#[derive(Debug)]
struct Ask {
    /// Since when they are on their way.
    since: Timestamp,
    next: Timestamp,
}

impl Asks {
    /// Takes note of what was answered.
    pub(crate) fn note(&mut self, key: &BundleKey, state: &BundleState, now: Timestamp) {
        let pause = match state {
            BundleState::Ready(_) => {
                self.waiting.remove(key);
                return;
            }
            BundleState::Pending { .. } => {
                let waited =
                    self.waiting.get(key).map_or(Duration::ZERO, |ask| now.since(ask.since));
                (waited / 2).clamp(SHORTEST_PAUSE, FIRST_PAUSE)
            }
            BundleState::Failed { is_retried: true, .. } => FIRST_PAUSE,
            BundleState::Failed { is_retried: false, .. } => LONGEST_PAUSE,
        };
        let next = now.after(pause);
        self.waiting.entry(key.clone()).or_insert(Ask { since: now, next }).next = next;
    }

    /// Returns what is to be asked for now.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<BundleKey> {
        let due = self.waiting.iter().filter(|(_, ask)| ask.next <= now);
        due.map(|(key, _)| key.clone()).collect()
    }

    /// Returns when something is to be asked for.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.waiting.values().map(|ask| ask.next).min()
    }

    /// Forgets what nobody needs any more.
    pub(crate) fn retain(&mut self, is_needed: impl Fn(&BundleKey) -> bool) {
        self.waiting.retain(|key, _| is_needed(key));
    }
}

#[cfg(test)]
mod tests {
    use operon_resolve::SourceName;

    use super::*;

    #[test]
    fn what_comes_soon_is_seen_soon_and_what_takes_long_costs_little() {
        let key = BundleKey {
            source: SourceName { namespace: "olm".to_owned(), name: "hub".to_owned() },
            name: "beacon.v1.0.0".to_owned(),
            image: "example.com/beacon:v1".to_owned(),
            digest: String::new(),
        };
        let pending = BundleState::Pending { message: String::new() };
        let begin = Timestamp::default().after(Duration::from_secs(1000));
        let mut asks = Asks::default();
        asks.note(&key, &pending, begin);
        let mut asked = Vec::new();
        while let Some(next) = asks.next().filter(|next| next.since(begin).as_secs() < 60) {
            assert_eq!(asks.due(next).as_slice(), std::slice::from_ref(&key));
            assert!(asks.due(begin).is_empty());
            asked.push(next.since(begin).as_millis());
            asks.note(&key, &pending, next);
        }
        assert_eq!(asked[..10], [5, 10, 15, 22, 33, 49, 73, 109, 163, 244]);
        assert!(asked.len() < 260, "{} times in a minute", asked.len());
        let failed = BundleState::Failed {
            reason: String::new(),
            message: String::new(),
            is_retried: false,
        };
        asks.note(&key, &failed, begin);
        assert_eq!(asks.next(), Some(begin.after(LONGEST_PAUSE)));
        asks.retain(|_| false);
        assert_eq!(asks.next(), None);
    }
}
