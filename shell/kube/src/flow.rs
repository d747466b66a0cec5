//! How fast requests leave: so many in a second, so many at a time.
//!
//! An API server that is asked too much slows down everybody. Watches are not counted: they last.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{Semaphore, SemaphorePermit};

/// How many requests leave in a second when the burst is over. An installation takes about fifty, a settled
/// cluster none. At fifty a second, fifty installations at once did little but wait for their turn. A server that
/// has too much to do says so, and is heard.
pub const REQUESTS_PER_SECOND: u32 = 200;

/// How many requests may leave at once after a time of rest.
pub const REQUESTS_BURST: u32 = 400;

/// How many requests are under way at a time: enough to list every kind at the start in parallel,
/// and fewer than the seats that API priority and fairness gives to one client.
pub const PARALLEL_REQUESTS: usize = 16;

/// Lets requests leave one after the other.
#[derive(Debug)]
pub(crate) struct Flow {
    bucket: Mutex<Bucket>,
    seats: Semaphore,
}

/// Counts what may leave. A token is borrowed from the future where there is none, so that everybody
/// waits for his turn.
#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled: Instant,
    per_second: f64,
    burst: f64,
}

impl Flow {
    pub(crate) fn new(per_second: u32, burst: u32, parallel: usize) -> Self {
        let bucket = Bucket {
            tokens: f64::from(burst.max(1)),
            filled: Instant::now(),
            per_second: f64::from(per_second.max(1)),
            burst: f64::from(burst.max(1)),
        };
        Self { bucket: Mutex::new(bucket), seats: Semaphore::new(parallel.max(1)) }
    }

    /// Waits until a request may leave; the seat is kept until it was answered.
    pub(crate) async fn enter(&self) -> SemaphorePermit<'_> {
        let pause = {
            let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
            bucket.take(Instant::now())
        };
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        self.seats.acquire().await.expect("bug: the seats are never closed")
    }
}

impl Bucket {
    /// Takes a token, and returns how long to wait for it.
    fn take(&mut self, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst);
        self.filled = now;
        self.tokens -= 1.0;
        if self.tokens >= 0.0 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64(-self.tokens / self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_in_turn() {
        let start = Instant::now();
        let mut bucket = Bucket { tokens: 3.0, filled: start, per_second: 10.0, burst: 3.0 };
        let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
        let pauses: Vec<u128> = (0..5).map(|_| bucket.take(start).as_millis()).collect();
        assert_eq!(pauses, [0, 0, 0, 100, 200]);
        // After a quarter of a second two and a half were given back, of which two were owed.
        assert_eq!(bucket.take(at(250)).as_millis(), 50);
        // A rest fills the bucket, and no more than that.
        let pauses: Vec<u128> = (0..4).map(|_| bucket.take(at(60_000)).as_millis()).collect();
        assert_eq!(pauses, [0, 0, 0, 100]);
    }
}
