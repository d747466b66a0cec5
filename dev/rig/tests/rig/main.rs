//! Rigs as tests use them: real, disturbed at will, and gone afterwards without a trace.
//!
//! Where no rig can run, or its programs are not built, the tests say so and pass.

mod control_plane;
mod node;
mod traces;

use std::{
    thread,
    time::{Duration, Instant},
};

/// How long something may take that happens by itself, on a machine that is busy with other things.
const EVENTUALLY: Duration = Duration::from_secs(60);

/// Tries until there is an answer.
fn eventually<T>(what: &str, attempt: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = attempt() {
            return answer;
        }
        assert!(begun.elapsed() < EVENTUALLY, "{what}: not within {EVENTUALLY:?}");
        thread::sleep(Duration::from_millis(200));
    }
}
