//! When nothing more is going to happen by itself.
//!
//! Time is an argument; nothing here looks at a cluster.

use std::time::Duration;

use operon_object::Timestamp;

use crate::cluster::FETCH_LOOK;

/// Something that is going to happen by itself within this time is waited for: a Deployment becomes
/// ready, a write is tried again.
pub(super) const WORTH_WAITING: Duration = Duration::from_secs(10);

/// Nothing is waited for when nothing has changed for so long: what is tried again and again without
/// a change is not going to succeed soon.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// Notices when a cluster has come to rest.
#[derive(Debug)]
pub(super) struct Calm {
    last_change: Timestamp,
    /// Since when catalogs are waited for whose servers cannot be asked.
    waiting: Option<Timestamp>,
}

/// What a turn of the loop looked like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// When it was.
    pub(super) now: Timestamp,
    /// Whether there was nothing to do.
    pub(super) is_idle: bool,
    /// Whether anything in the cluster changed.
    pub(super) has_changed: bool,
    /// When something is going to happen by itself.
    pub(super) wake: Option<Timestamp>,
    /// Whether a catalog or a bundle is on its way.
    pub(super) is_fetching: bool,
    /// When a server that could not be asked for its catalog is asked again.
    pub(super) next_attempt: Option<Timestamp>,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Turn again at once.
    Turn,
    /// Something is going to happen at a time.
    Wait(Timestamp),
    /// Nothing is going to happen by itself for a long time.
    Rest(Option<Timestamp>),
}

impl Calm {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { last_change: now, waiting: None }
    }

    /// Says what is to be done after a turn.
    pub(super) fn judge(&mut self, turn: Turn) -> Next {
        let Turn { now, is_idle, has_changed, wake, is_fetching, next_attempt } = turn;
        match next_attempt {
            Some(_) => _ = self.waiting.get_or_insert(now),
            // While it is asked, nothing is decided.
            None if is_fetching => {}
            None => self.waiting = None,
        }
        if has_changed {
            self.last_change = now;
            return Next::Turn;
        }
        if is_fetching {
            self.last_change = now;
            return Next::Wait(now.after(FETCH_LOOK));
        }
        let is_patient = now.since(self.last_change) < PATIENCE;
        let is_waiting = self.waiting.is_some_and(|since| now.since(since) < PATIENCE);
        if let Some(next) = next_attempt.filter(|_| is_waiting) {
            return Next::Wait(next);
        }
        match wake {
            _ if !is_idle && is_patient => Next::Turn,
            Some(wake) if is_patient && wake <= now.after(WORTH_WAITING) => Next::Wait(wake),
            wake => Next::Rest(wake),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_milliseconds(seconds * 1000)
    }

    #[test]
    fn it_rests_when_nothing_happens_soon() {
        let turn = |now: i64, is_idle: bool, has_changed: bool, wake: Option<i64>| Turn {
            now: at(now),
            is_idle,
            has_changed,
            wake: wake.map(at),
            is_fetching: false,
            next_attempt: None,
        };
        let mut calm = Calm::new(at(100));
        let claims = [
            (turn(100, false, true, None), Next::Turn),
            (turn(100, true, true, None), Next::Turn),
            (turn(100, true, false, None), Next::Rest(None)),
            // A Deployment that becomes ready in three seconds is waited for, one that is given up
            // after ten minutes is not.
            (turn(101, true, false, Some(104)), Next::Wait(at(104))),
            (turn(101, true, false, Some(701)), Next::Rest(Some(at(701)))),
            // What fails is tried again, and not for ever.
            (turn(101, false, false, Some(102)), Next::Turn),
            (turn(114, true, false, Some(116)), Next::Wait(at(116))),
            (turn(115, true, false, Some(116)), Next::Rest(Some(at(116)))),
            (turn(116, false, false, Some(117)), Next::Rest(Some(at(117)))),
            (turn(117, false, true, Some(118)), Next::Turn),
            (turn(118, true, false, Some(119)), Next::Wait(at(119))),
        ];
        for (turn, expected) in claims {
            assert_eq!(calm.judge(turn), expected, "{turn:?}");
        }
        // What is being fetched is waited for, however long that takes.
        for now in [200, 300, 400] {
            let turn = Turn { is_fetching: true, ..turn(now, true, false, None) };
            assert_eq!(calm.judge(turn), Next::Wait(at(now).after(FETCH_LOOK)));
        }
        assert_eq!(calm.judge(turn(401, true, false, None)), Next::Rest(None));
        // A server that does not answer is asked again, and not for ever; its own silence does not count
        // twice.
        for (now, is_fetching, next, expected) in [
            (500, true, None, Next::Wait(at(500).after(FETCH_LOOK))),
            (501, false, Some(502), Next::Wait(at(502))),
            (502, true, None, Next::Wait(at(502).after(FETCH_LOOK))),
            (512, false, Some(514), Next::Wait(at(514))),
            (515, true, None, Next::Wait(at(515).after(FETCH_LOOK))),
            (516, false, Some(524), Next::Rest(None)),
            (540, false, None, Next::Rest(None)),
            (541, false, Some(542), Next::Wait(at(542))),
        ] {
            let turn =
                Turn { is_fetching, next_attempt: next.map(at), ..turn(now, true, false, None) };
            assert_eq!(calm.judge(turn), expected, "{turn:?}");
        }
    }
}
