//! Independent pieces of work at the same time, with the answers in the order of the work.
//!
//! Work that can wait for other work does not belong here: nothing is shared but the next number.

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The most threads that work: beyond this, memory bandwidth and the disk are the limit.
const MAX_WORKERS: usize = 16;

/// Does the work of each number below `count` on all cores, and returns the answers in order.
pub(crate) fn on_all_cores<Answer: Send>(
    count: usize,
    work: impl Fn(usize) -> Answer + Sync,
) -> Vec<Answer> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    on_threads(workers.min(MAX_WORKERS), count, work)
}

/// Does the same on so many threads; work that waits for networks wants other numbers than that of cores.
pub(crate) fn on_threads<Answer: Send>(
    workers: usize,
    count: usize,
    work: impl Fn(usize) -> Answer + Sync,
) -> Vec<Answer> {
    let workers = workers.min(count);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut answers = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return answers;
            }
            answers.push((number, work(number)));
        }
    };
    let mut answers = thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(take)).collect();
        let mut answers = take();
        for other in others {
            // A worker that panics has a bug; it ends the program as it would without threads.
            let joined = other.join().unwrap_or_else(|bug| panic::resume_unwind(bug));
            answers.extend(joined);
        }
        answers
    });
    answers.sort_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::{on_all_cores, on_threads};

    #[test]
    fn answers_keep_the_order_of_the_work() {
        for count in [0, 1, 1000] {
            let expected: Vec<usize> = (0..count).map(|number| number * 2).collect();
            assert_eq!(on_all_cores(count, |number| number * 2), expected);
            for workers in [0, 1, 3, 100] {
                assert_eq!(on_threads(workers, count, |number| number * 2), expected);
            }
        }
    }
}
