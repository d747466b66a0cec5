//! What resolving a reference case may take, and what upstream's resolver takes.
//!
//! Nothing fails when a goal is missed: it is shown, because a busy machine is not a broken build.

use std::time::Duration;

/// What a case may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Goal {
    /// Below this it is as wanted.
    pub(crate) wanted: Duration,
    /// What upstream's resolver takes, as far as it is known; not measured here.
    pub(crate) upstream: &'static str,
}

/// Returns the goal of a case by its name, such as `perf/fifty-subs`.
pub(crate) fn of(case: &str) -> Goal {
    let (microseconds, upstream) = match case {
        "perf/one-sub-nodeps" => (200, "72 ms"),
        "perf/fifty-subs" => (30_000, "22 s"),
        "perf/fifty-subs-nochannel" => (30_000, "unknown"),
        "perf/upgrade-200" => (20_000, "7.9 s"),
        "perf/one-sub-longest-channel" => (5_000, "unknown"),
        hard if hard.starts_with("hard/") => (200_000, "up to 119 s"),
        // All others are about dependencies.
        _ => (5_000, "0.45–13.9 s"),
    };
    Goal { wanted: Duration::from_micros(microseconds), upstream }
}
