//! Fetches that run while others go on, on threads of their own.
//!
//! The caller asks again later for the result. Which fetch begins next is decided in `queue`, and which hosts
//! are left alone for a while in `circuit`; here are the threads around them.

mod circuit;
mod queue;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use self::circuit::Circuits;
pub use self::queue::{
    MAX_FETCHES, MAX_HOST_FETCHES, MAX_NAMESPACE_FETCHES, MAX_SHARED_HOST_FETCHES,
};
pub(crate) use self::{
    circuit::HostOutcome,
    queue::{FetchKey, FetchLimits, FetchQueue},
};

/// Runs a fetch, or refuses it; reports how its host did.
type Job = Box<dyn FnOnce(Admission) -> HostOutcome + Send>;

/// Whether a fetch may ask its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Admission {
    Admitted,
    /// The host failed too often lately.
    Refused,
}

/// Runs fetches, a limited number at once.
#[derive(Clone)]
pub(crate) struct FetchWorkers {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    queue: FetchQueue<Job>,
    /// Without them, every fetch may ask its host.
    circuits: Option<Circuits>,
}

/// A fetch, and its result once it has ended.
#[derive(Debug)]
pub(crate) struct Task<T> {
    result: Arc<Mutex<Option<T>>>,
}

impl fmt::Debug for FetchWorkers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FetchWorkers").finish_non_exhaustive()
    }
}

impl FetchWorkers {
    /// Creates workers for catalogs of several tenants: shares are fair, and hosts that hang are left alone.
    pub(crate) fn of_tenants() -> Self {
        Self::new(FetchLimits::of_tenants(), Some(Circuits::default()))
    }

    /// Creates workers for one user, who waits for every result.
    pub(crate) fn of_one_user() -> Self {
        Self::new(FetchLimits::of_one_user(), None)
    }

    fn new(limits: FetchLimits, circuits: Option<Circuits>) -> Self {
        let inner = Inner { queue: FetchQueue::new(limits), circuits };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Begins a fetch as soon as it may run. If its host is left alone, the result is that of `refused`.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        key: FetchKey,
        work: impl FnOnce() -> (T, HostOutcome) + Send + 'static,
        refused: impl FnOnce() -> T + Send + 'static,
    ) -> Task<T> {
        let result = Arc::new(Mutex::new(None));
        let place = Arc::clone(&result);
        let job = move |admission| {
            let (done, outcome) = match admission {
                Admission::Admitted => work(),
                Admission::Refused => (refused(), HostOutcome::NotAsked),
            };
            *lock(&place) = Some(done);
            outcome
        };
        self.lock().queue.push(key, Box::new(job));
        self.dispatch();
        Task { result }
    }

    /// Starts a thread for every fetch that may begin.
    fn dispatch(&self) {
        loop {
            let Some((key, job)) = self.lock().queue.next() else { return };
            let running = Running { workers: self.clone(), key, outcome: None };
            // Without a thread the job is dropped, which its task notices, and its place is free again.
            let _ = thread::Builder::new()
                .name("operon-fetch".to_owned())
                .spawn(move || running.run(job));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

/// A fetch that runs. However it ends, its place becomes free.
struct Running {
    workers: FetchWorkers,
    key: FetchKey,
    outcome: Option<(HostOutcome, Duration)>,
}

impl Running {
    fn run(mut self, job: Job) {
        let begun = Instant::now();
        let is_admitted = match &mut self.workers.lock().circuits {
            Some(circuits) => circuits.admits(&self.key, begun),
            None => true,
        };
        if is_admitted {
            let outcome = job(Admission::Admitted);
            self.outcome = Some((outcome, begun.elapsed()));
        } else {
            job(Admission::Refused);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut inner = self.workers.lock();
        inner.queue.finish(&self.key);
        if let (Some(circuits), Some((outcome, took))) = (&mut inner.circuits, self.outcome) {
            circuits.record(&self.key, outcome, took, Instant::now());
        }
        drop(inner);
        self.workers.dispatch();
    }
}

impl<T> Task<T> {
    /// Returns the result: `None` while the fetch runs, `Some(None)` if it panicked.
    pub(crate) fn take(&self) -> Option<Option<T>> {
        let taken = lock(&self.result).take();
        // Without the job's share, no result can come any more.
        let is_over = taken.is_some() || Arc::strong_count(&self.result) == 1;
        is_over.then_some(taken)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded is replaced as a whole, so a thread that panicked left nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn wait<T>(task: &Task<T>) -> Option<T> {
        loop {
            match task.take() {
                Some(result) => return result,
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn key(namespace: &str, host: &str) -> FetchKey {
        FetchKey { namespace: namespace.to_owned(), host: host.to_owned() }
    }

    fn begin<T: Send + 'static>(
        workers: &FetchWorkers,
        key: FetchKey,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Task<Option<T>> {
        workers.begin(key, || (Some(work()), HostOutcome::Answered), || None)
    }

    #[test]
    fn workers_run_other_namespaces_while_one_is_stuck() {
        let workers = FetchWorkers::of_tenants();
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let stuck: Vec<_> = (0..40)
            .map(|number| {
                let gate = Arc::clone(&gate);
                let work = move || lock(&gate).recv().map_or(usize::MAX, |()| number);
                begin(&workers, key("bad", "silent.example.com"), work)
            })
            .collect();
        let neighbour = begin(&workers, key("good", "registry.example.com"), || 100);
        assert_eq!(wait(&neighbour), Some(Some(100)));
        assert!(stuck.iter().all(|task| task.take().is_none()));
        for _ in 0..40 {
            open.send(()).expect("they wait");
        }
        let done: Vec<_> = stuck.iter().map(wait).collect();
        assert_eq!(done, (0..40).map(|number| Some(Some(number))).collect::<Vec<_>>());
    }

    #[test]
    fn workers_go_on_when_a_fetch_panics() {
        for workers in [FetchWorkers::of_tenants(), FetchWorkers::of_one_user()] {
            for _ in 0..2 * MAX_FETCHES {
                let work = || std::panic::resume_unwind(Box::new("broken"));
                let broken: Task<Option<()>> = begin(&workers, key("a", "x"), work);
                assert_eq!(wait(&broken), None);
            }
            assert_eq!(wait(&begin(&workers, key("a", "x"), || 7)), Some(Some(7)));
        }
    }

    #[test]
    fn workers_refuse_hosts_whose_circuit_is_open() {
        let workers = FetchWorkers::of_tenants();
        let (slow, now) = (Duration::from_secs(120), Instant::now());
        for _ in 0..3 {
            let mut inner = workers.lock();
            let circuits = inner.circuits.as_mut().expect("tenants have circuits");
            circuits.record(&key("bad", "silent"), HostOutcome::Failed, slow, now);
        }
        assert_eq!(wait(&begin(&workers, key("bad", "silent"), || 1)), Some(None));
        assert_eq!(wait(&begin(&workers, key("bad", "other"), || 2)), Some(Some(2)));
        assert_eq!(wait(&begin(&workers, key("good", "silent"), || 3)), Some(Some(3)));
    }
}
