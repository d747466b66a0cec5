//! Several pieces of work at once, with the answers in the order of the work.
//!
//! The work waits for networks, so how many do it has nothing to do with the number of cores.

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Those who do the work.
pub(super) struct Crew {
    /// How many pieces are done at once.
    pub(super) workers: usize,
}

impl Crew {
    /// Does all the work, tells of each piece when it is done, and returns the answers in order.
    pub(super) fn work<Item: Sync, Answer: Send>(
        &self,
        items: &[Item],
        work: impl Fn(&Item) -> Answer + Sync,
        tell: impl Fn(&Item, &Answer) + Sync,
    ) -> Vec<Answer> {
        let next = AtomicUsize::new(0);
        let take = || {
            let mut answers = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(number) else { return answers };
                let answer = work(item);
                tell(item, &answer);
                answers.push((number, answer));
            }
        };
        let mut answers: Vec<(usize, Answer)> = thread::scope(|scope| {
            let count = self.workers.min(items.len());
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(take)).collect();
            let joined = threads.into_iter().flat_map(|thread| {
                // A worker that panics has a bug; it ends the program as it would without threads.
                thread.join().unwrap_or_else(|bug| panic::resume_unwind(bug))
            });
            joined.collect()
        });
        answers.sort_by_key(|(number, _)| *number);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Crew;

    #[test]
    fn all_is_done_in_order_and_told_once() {
        for workers in [1, 3, 100] {
            let told = AtomicUsize::new(0);
            let items: Vec<usize> = (0..50).collect();
            let crew = Crew { workers };
            let answers = crew.work(
                &items,
                |item| item * 2,
                |_, _| {
                    told.fetch_add(1, Ordering::Relaxed);
                },
            );
            assert_eq!(answers, items.iter().map(|item| item * 2).collect::<Vec<_>>());
            assert_eq!(told.into_inner(), 50);
        }
    }
}
