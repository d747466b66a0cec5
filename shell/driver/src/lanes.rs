//! Which lane the decisions and writes of each namespace take.
//!
//! Namespaces that are cheap and fast share the quick lane. A namespace that is not leaves it, so that it
//! delays only namespaces like itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use operon_resolve::{DEFAULT_BYTES, Limits};

use crate::{Lane, claims::Claims};

/// The share of a decision's steps that the quick lane allows: some tens of milliseconds. Fifty
/// Subscriptions on the community catalog take a tenth of it. A decision that needs more starts again
/// elsewhere, where it delays expensive decisions only.
const QUICK_STEPS_SHARE: u64 = 20;

/// The share of a decision's bytes that the quick lane allows, because many of its threads may decide at the
/// same time: 8 MiB each. Fifty Subscriptions on the community catalog take half of it.
const QUICK_BYTES_SHARE: u64 = 24;

/// Limits the bytes of all decisions at the same time: half of the memory limit in the controller's
/// Deployment (1 GiB). Catalogs, objects and their indexes need the other half. Overdue decisions do not
/// count: their steps, and so what bytes are charged for, ended long before their deadline.
const DECISIONS_BYTES: u64 = 512 * 1024 * 1024;

const _: () = assert!(
    QUICK_DECISIONS_AT_ONCE as u64 * (DEFAULT_BYTES / QUICK_BYTES_SHARE)
        + EXPENSIVE_AT_ONCE as u64 * DEFAULT_BYTES
        <= DECISIONS_BYTES
);

/// A namespace returns to the quick lane when its decision takes at most this share of the lane's steps. One
/// request, one search and one explanation are allowed only a part of what is left, a seventh at least; so
/// none of them would be cut there.
const RETURN_SHARE: u64 = 10;

/// Namespaces that are in progress on the quick lane at the same time. Most of that time is spent waiting for
/// the API server, whose flow control is stricter.
pub(crate) const QUICK_AT_ONCE: usize = 32;

/// Namespaces that are decided on the quick lane at the same time. Decisions need processors and memory, of
/// which there is less than of places for writes.
const QUICK_DECISIONS_AT_ONCE: usize = 16;

/// Namespaces that are decided on the lane of expensive decisions at the same time: as many as half of the
/// memory limit allows. A namespace waits at most one turn of each other one.
pub(crate) const EXPENSIVE_AT_ONCE: usize = 2;

/// The namespaces that left the quick lane.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// The namespaces whose decisions need more steps or more time than the quick lane allows, each with the
    /// turn in which it was last decided.
    expensive: BTreeMap<String, u64>,
    turn: u64,
    /// The namespaces whose writes did not finish in time.
    slow: BTreeSet<String>,
}

/// Returns the limits of a decision on the quick lane.
pub(crate) fn quick_limits(limits: &Limits) -> Limits {
    Limits {
        steps: limits.steps / QUICK_STEPS_SHARE,
        bytes: limits.bytes / QUICK_BYTES_SHARE,
        ..*limits
    }
}

impl Lanes {
    /// Returns the lane on which a namespace is decided.
    pub(crate) fn of_decision(&self, namespace: &str) -> Lane {
        if self.expensive.contains_key(namespace) { Lane::ExpensiveDecisions } else { Lane::Quick }
    }

    /// Returns the lane on which a namespace is written.
    pub(crate) fn of_writes(&self, namespace: &str) -> Lane {
        if self.slow.contains(namespace) { Lane::SlowWrites } else { Lane::Quick }
    }

    /// Takes the next namespace that may be decided now out of a queue. Namespaces whose lane has no room keep
    /// their place. Of expensive ones, the one that was not decided for the longest time is next: a namespace
    /// that changes all the time must not keep the others from being decided.
    pub(crate) fn next(&mut self, queue: &mut VecDeque<String>, claims: &Claims) -> Option<String> {
        let has_room = |lane: Lane| {
            claims.active(lane)
                < match lane {
                    Lane::Quick => QUICK_AT_ONCE,
                    Lane::ExpensiveDecisions => EXPENSIVE_AT_ONCE,
                    Lane::SlowWrites => usize::MAX,
                }
        };
        let may_decide = claims.deciding(Lane::Quick) < QUICK_DECISIONS_AT_ONCE;
        let quick = (may_decide && has_room(Lane::Quick))
            .then(|| queue.iter().position(|name| !self.expensive.contains_key(name)))
            .flatten();
        let next = quick.or_else(|| {
            let waiting = has_room(Lane::ExpensiveDecisions)
                .then(|| queue.iter().enumerate())
                .into_iter()
                .flatten();
            let turns =
                waiting.filter_map(|(place, name)| Some((self.expensive.get(name)?, place)));
            turns.min().map(|(_, place)| place)
        })?;
        let namespace = queue.remove(next)?;
        if let Some(turn) = self.expensive.get_mut(&namespace) {
            self.turn += 1;
            *turn = self.turn;
        }
        Some(namespace)
    }

    /// Notes that a decision on the quick lane was cut, or exceeded its deadline.
    pub(crate) fn leave_quick(&mut self, namespace: &str) {
        self.expensive.entry(namespace.to_owned()).or_insert(self.turn);
    }

    /// Notes the steps of a decision with full limits that met its deadline.
    pub(crate) fn note_steps(&mut self, namespace: &str, steps: u64, quick: &Limits) {
        if steps < quick.steps / RETURN_SHARE {
            self.expensive.remove(namespace);
        }
    }

    /// Notes whether writes took too long.
    pub(crate) fn note_writes(&mut self, namespace: &str, is_late: bool) {
        if is_late {
            self.slow.insert(namespace.to_owned());
        } else {
            self.slow.remove(namespace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> VecDeque<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Begins whatever has room, and returns it in order.
    fn begin(lanes: &mut Lanes, claims: &mut Claims, queue: &mut VecDeque<String>) -> Vec<String> {
        let mut begun = Vec::new();
        while let Some(namespace) = lanes.next(queue, claims) {
            claims.begin(&namespace, lanes.of_decision(&namespace));
            begun.push(namespace);
        }
        begun
    }

    #[test]
    fn expensive_namespaces_leave_room_for_quick_ones() {
        let (mut lanes, mut claims) = (Lanes::default(), Claims::default());
        let many: Vec<String> = (0..2 * QUICK_AT_ONCE).map(|number| format!("a{number}")).collect();
        many.iter().for_each(|name| lanes.leave_quick(name));
        let mut queue: VecDeque<String> = many.into_iter().chain(["shop".to_owned()]).collect();
        let begun = begin(&mut lanes, &mut claims, &mut queue);
        assert_eq!(begun, ["shop", "a0", "a1"]);
        assert_eq!(queue.len(), 2 * QUICK_AT_ONCE - EXPENSIVE_AT_ONCE);
    }

    #[test]
    fn overdue_tasks_give_up_their_places() {
        let (mut lanes, mut claims) = (Lanes::default(), Claims::default());
        ["slow-0", "slow-1", "slow-2"].iter().for_each(|name| lanes.leave_quick(name));
        let many = (0..QUICK_DECISIONS_AT_ONCE).map(|number| format!("a{number}"));
        let slow = (0..3).map(|number| format!("slow-{number}"));
        let mut queue: VecDeque<String> =
            many.chain(slow).chain(["shop".to_owned(), "shop-2".to_owned()]).collect();
        let begun = begin(&mut lanes, &mut claims, &mut queue);
        assert_eq!(queue, ["slow-2", "shop", "shop-2"], "{begun:?}");
        for name in ["a3", "slow-1"] {
            assert!(claims.mark_overdue(name).was_deciding);
        }
        assert_eq!(begin(&mut lanes, &mut claims, &mut queue), ["shop", "slow-2"]);
        // Its next task takes a place again.
        claims.execute_on("a3", Lane::Quick);
        assert_eq!(claims.active(Lane::Quick), QUICK_DECISIONS_AT_ONCE + 1);
        assert_eq!(queue, ["shop-2"]);
    }

    #[test]
    fn expensive_namespaces_take_turns() {
        let (mut lanes, mut claims) = (Lanes::default(), Claims::default());
        ["a", "b", "c"].iter().for_each(|name| lanes.leave_quick(name));
        let mut order = Vec::new();
        for _ in 0..4 {
            // All of them changed, and names decide nothing.
            let mut queue = names(&["a", "b", "c"]);
            let begun = begin(&mut lanes, &mut claims, &mut queue);
            begun.iter().for_each(|name| drop(claims.end(name)));
            order.extend(begun);
        }
        assert_eq!(order, ["a", "b", "c", "a", "b", "c", "a", "b"]);
        // One that became expensive now waits no more than one turn of each of the others.
        lanes.leave_quick("d");
        let begun = [(); 2].map(|()| {
            let begun = begin(&mut lanes, &mut claims, &mut names(&["a", "b", "c", "d"]));
            begun.iter().for_each(|name| drop(claims.end(name)));
            begun
        });
        assert_eq!(begun.concat(), ["c", "a", "b", "d"]);
    }

    #[test]
    fn cheap_decisions_return_to_the_quick_lane() {
        let mut lanes = Lanes::default();
        let quick = quick_limits(&Limits::default());
        lanes.leave_quick("a");
        lanes.note_steps("a", quick.steps / 2, &quick);
        assert_eq!(lanes.of_decision("a"), Lane::ExpensiveDecisions);
        lanes.note_steps("a", quick.steps / 20, &quick);
        assert_eq!(lanes.of_decision("a"), Lane::Quick);
    }
}
