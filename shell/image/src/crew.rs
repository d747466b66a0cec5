//! Work that takes long, done while others go on.
//!
//! Nobody is told when it is done: whoever wants to know asks again. What the work is, is not known here.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

/// How much is fetched at once. A registry that drips holds its thread for minutes, so there are many more
/// than the cores would need; those that wait cost next to nothing.
pub const MAX_FETCHES: usize = 32;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads that do one piece of work after another; they end when there is none.
#[derive(Clone, Default)]
pub(crate) struct Crew {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    waiting: VecDeque<Job>,
    workers: usize,
}

/// A piece of work, and what came of it.
#[derive(Debug)]
pub(crate) struct Task<T> {
    result: Arc<Mutex<Option<T>>>,
}

impl fmt::Debug for Crew {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Crew").field("workers", &self.lock().workers).finish()
    }
}

impl Crew {
    /// Begins a piece of work.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Task<T> {
        let result = Arc::new(Mutex::new(None));
        let place = Arc::clone(&result);
        let job = move || {
            let done = work();
            *lock(&place) = Some(done);
        };
        let mut inner = self.lock();
        inner.waiting.push_back(Box::new(job));
        if inner.workers < MAX_FETCHES {
            inner.workers += 1;
            let crew = self.clone();
            thread::spawn(move || crew.work());
        }
        Task { result }
    }

    fn work(&self) {
        let mut guard = Worker { crew: self, has_left: false };
        loop {
            let mut inner = self.lock();
            let Some(job) = inner.waiting.pop_front() else {
                inner.workers -= 1;
                guard.has_left = true;
                return;
            };
            drop(inner);
            job();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

/// Makes room for another worker when one panics, so that the rest of the work is done nevertheless.
struct Worker<'c> {
    crew: &'c Crew,
    has_left: bool,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if !self.has_left {
            self.crew.lock().workers -= 1;
        }
    }
}

impl<T> Task<T> {
    /// Returns what came of it: nothing while it is under way; `None` inside when it broke down.
    pub(crate) fn take(&self) -> Option<Option<T>> {
        let taken = lock(&self.result).take();
        // Nobody is left who could bring a result.
        let is_over = taken.is_some() || Arc::strong_count(&self.result) == 1;
        is_over.then_some(taken)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded is replaced as a whole, so whoever panicked left nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    fn wait<T>(task: &Task<T>) -> Option<T> {
        loop {
            match task.take() {
                Some(result) => return result,
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    #[test]
    fn work_is_done_beside_and_never_too_much_at_once() {
        let crew = Crew::default();
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let blocked: Vec<Task<usize>> = (0..MAX_FETCHES)
            .map(|number| {
                let gate = Arc::clone(&gate);
                crew.begin(move || lock(&gate).recv().map_or(usize::MAX, |()| number))
            })
            .collect();
        let late = crew.begin(|| 100);
        assert_eq!(crew.lock().workers, MAX_FETCHES);
        assert!(late.take().is_none(), "everybody is busy");
        for _ in 0..MAX_FETCHES {
            open.send(()).expect("they wait");
        }
        let done: Vec<Option<usize>> = blocked.iter().map(wait).collect();
        assert_eq!(done, (0..MAX_FETCHES).map(Some).collect::<Vec<_>>());
        assert_eq!(wait(&late), Some(100));
    }

    #[test]
    fn work_that_breaks_down_is_noticed_and_does_not_stop_others() {
        let crew = Crew::default();
        for _ in 0..2 * MAX_FETCHES {
            let broken: Task<()> = crew.begin(|| std::panic::resume_unwind(Box::new("broken")));
            assert_eq!(wait(&broken), None);
        }
        assert_eq!(wait(&crew.begin(|| 7)), Some(7));
    }
}
