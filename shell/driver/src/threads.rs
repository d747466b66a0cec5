//! Threads that run tasks beside the loop.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{
    Catalogs, Cluster, Finished, Lane, Task,
    lanes::{EXPENSIVE_AT_ONCE, QUICK_AT_ONCE},
};

/// Threads for quick decisions and writes: one for each place, and as many for tasks that gave up their
/// places because they are overdue. A thread that has nothing to do costs a few kilobytes.
const QUICK_THREADS: usize = 2 * QUICK_AT_ONCE;

/// Threads for expensive decisions: one for each place, and more for overdue ones. One decision takes a
/// processor for up to two seconds.
const EXPENSIVE_THREADS: usize = EXPENSIVE_AT_ONCE + 8;

/// Threads for the writes of namespaces that are slow, such as those with an admission webhook that
/// does not answer.
const SLOW_THREADS: usize = 4;

/// How long the effects of one verdict may take, waiting for a thread included. The effects that are left
/// are decided again, on the slow lane. An installation takes less than a second.
const EXECUTION_DEADLINE: Duration = Duration::from_secs(5);

/// How long a quick decision may take. Its steps take some tens of milliseconds. What is not counted in
/// steps, such as drafting plans, checking stored objects and reading bundles, takes less than that.
const QUICK_DECISION_DEADLINE: Duration = Duration::from_secs(5);

/// How long an expensive decision may take: its steps take two seconds of a processor, of which a busy
/// machine gives it a part.
const EXPENSIVE_DECISION_DEADLINE: Duration = Duration::from_secs(30);

/// How long a dropped pool waits for its threads. They share the cluster, which gives its lease back
/// when the last of them lets go of it.
const FAREWELL_PATIENCE: Duration = Duration::from_secs(1);

/// Runs the tasks of a driver.
pub trait Workers: fmt::Debug {
    /// Accepts a task.
    fn submit(&mut self, task: Task);

    /// Returns a finished task, waiting no longer than `patience` for one.
    fn next(&mut self, patience: Duration) -> Option<Finished>;

    /// Returns the namespaces whose tasks exceeded their deadline, each task once. Such a task goes on, and
    /// other tasks must not wait for it.
    fn overdue(&mut self) -> Vec<String>;
}

/// Threads that run tasks.
///
/// Dropping them stops each task before its next effect, and waits for that no longer than
/// `FAREWELL_PATIENCE`.
pub struct Threads {
    lanes: Vec<(Lane, Sender<Submitted>)>,
    finished: Receiver<Finished>,
    running: Running,
    deadlines: Deadlines,
    is_dropped: Arc<AtomicBool>,
    handles: Vec<JoinHandle<()>>,
}

/// How long tasks may take, which tests make short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// A decision on the quick lane: 5 s.
    pub quick_decision: Duration,
    /// A decision on the lane of expensive decisions: 30 s.
    pub expensive_decision: Duration,
    /// The effects of a verdict: 5 s.
    pub execution: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            quick_decision: QUICK_DECISION_DEADLINE,
            expensive_decision: EXPENSIVE_DECISION_DEADLINE,
            execution: EXECUTION_DEADLINE,
        }
    }
}

/// A task, and when it was submitted.
type Submitted = (Task, Instant);

/// The tasks whose time is running, by namespace: decisions that began, and writes that were submitted. A
/// write that waits for a thread holds claims.
#[derive(Clone, Default)]
struct Running(Arc<Mutex<BTreeMap<String, RunningTask>>>);

struct RunningTask {
    lane: Lane,
    is_decision: bool,
    begun: Instant,
    /// Whether the driver knows that the task is overdue.
    is_reported: bool,
}

impl Running {
    fn begin(&self, task: &Task, begun: Instant) {
        let (lane, is_decision) = (task.lane(), task.is_decision());
        let running = RunningTask { lane, is_decision, begun, is_reported: false };
        self.lock().insert(task.namespace().to_owned(), running);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, RunningTask>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Threads").finish_non_exhaustive()
    }
}

impl Threads {
    /// Starts threads that write to a cluster.
    pub fn start<C, S>(cluster: &Arc<C>, catalogs: &Arc<S>) -> std::io::Result<Self>
    where
        C: Cluster + Send + Sync + 'static,
        S: Catalogs + Send + Sync + 'static,
    {
        Self::start_within(Deadlines::default(), cluster, catalogs)
    }

    /// Starts threads whose tasks have other deadlines than usual.
    pub fn start_within<C, S>(
        deadlines: Deadlines,
        cluster: &Arc<C>,
        catalogs: &Arc<S>,
    ) -> std::io::Result<Self>
    where
        C: Cluster + Send + Sync + 'static,
        S: Catalogs + Send + Sync + 'static,
    {
        let (sender, finished) = mpsc::channel();
        let is_dropped = Arc::new(AtomicBool::new(false));
        let running = Running::default();
        let mut handles = Vec::new();
        let mut start_lane = |lane: Lane, count: usize| -> std::io::Result<_> {
            let (tasks, queue) = mpsc::channel();
            let queue = Arc::new(Mutex::new(queue));
            for _ in 0..count {
                let worker = Worker {
                    cluster: Arc::clone(cluster),
                    catalogs: Arc::clone(catalogs),
                    queue: Arc::clone(&queue),
                    finished: Sender::clone(&sender),
                    running: running.clone(),
                    execution_deadline: deadlines.execution,
                    is_dropped: Arc::clone(&is_dropped),
                };
                let builder = thread::Builder::new().name("operon-namespace".to_owned());
                handles.push(builder.spawn(move || worker.run())?);
            }
            Ok((lane, tasks))
        };
        let lanes = vec![
            start_lane(Lane::Quick, QUICK_THREADS)?,
            start_lane(Lane::ExpensiveDecisions, EXPENSIVE_THREADS)?,
            start_lane(Lane::SlowWrites, SLOW_THREADS)?,
        ];
        Ok(Self { lanes, finished, running, deadlines, is_dropped, handles })
    }
}

impl Deadlines {
    fn of(&self, task: &RunningTask) -> Duration {
        match (task.is_decision, task.lane) {
            (false, _) => self.execution,
            (true, Lane::ExpensiveDecisions) => self.expensive_decision,
            (true, Lane::Quick | Lane::SlowWrites) => self.quick_decision,
        }
    }
}

impl Workers for Threads {
    fn submit(&mut self, task: Task) {
        if let Some((_, tasks)) = self.lanes.iter().find(|(lane, _)| *lane == task.lane()) {
            let now = Instant::now();
            if !task.is_decision() {
                self.running.begin(&task, now);
            }
            // The threads of a lane live as long as its sender.
            let _ = tasks.send((task, now));
        }
    }

    fn next(&mut self, patience: Duration) -> Option<Finished> {
        self.finished.recv_timeout(patience).ok()
    }

    fn overdue(&mut self) -> Vec<String> {
        let mut running = self.running.lock();
        let overdue = running.iter_mut().filter(|(_, task)| {
            !task.is_reported && task.begun.elapsed() > self.deadlines.of(task)
        });
        overdue
            .map(|(namespace, task)| {
                task.is_reported = true;
                namespace.clone()
            })
            .collect()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.is_dropped.store(true, Ordering::Relaxed);
        self.lanes.clear();
        let begun = Instant::now();
        while !self.handles.iter().all(JoinHandle::is_finished)
            && begun.elapsed() < FAREWELL_PATIENCE
        {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

struct Worker<C, S> {
    cluster: Arc<C>,
    catalogs: Arc<S>,
    queue: Arc<Mutex<Receiver<Submitted>>>,
    finished: Sender<Finished>,
    running: Running,
    execution_deadline: Duration,
    is_dropped: Arc<AtomicBool>,
}

impl<C: Cluster, S: Catalogs> Worker<C, S> {
    /// Runs tasks until the other end of the queue is dropped.
    fn run(&self) {
        loop {
            let task = self.queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((task, submitted)) = task else { return };
            let namespace = task.namespace().to_owned();
            if task.is_decision() {
                self.running.begin(&task, Instant::now());
            }
            let is_stopped = || {
                self.is_dropped.load(Ordering::Relaxed)
                    || submitted.elapsed() > self.execution_deadline
            };
            let finished = task.run_caught(&self.cluster, &self.catalogs, &is_stopped);
            // Removed first: the driver may start the next task of the namespace at once.
            self.running.lock().remove(&namespace);
            if self.finished.send(finished).is_err() {
                return;
            }
        }
    }
}
