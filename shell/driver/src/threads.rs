//! Threads that run tasks beside the loop.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{Catalogs, Cluster, Finished, Lane, Task};

/// Threads for quick decisions and writes. They mostly wait for the API server, which allows fewer
/// requests at a time.
pub(crate) const QUICK_THREADS: usize = 32;

/// Threads for expensive decisions. One of them takes a processor for up to two seconds.
pub(crate) const EXPENSIVE_THREADS: usize = 1;

/// Threads for the writes of namespaces that are slow, such as those with an admission webhook that
/// does not answer.
const SLOW_THREADS: usize = 4;

/// How long the effects of one verdict may take. The effects that are left are decided again, on the
/// slow lane. An installation takes less than a second.
const EXECUTION_DEADLINE: Duration = Duration::from_secs(5);

/// How long a dropped pool waits for its threads. They share the cluster, which gives its lease back
/// when the last of them lets go of it.
const FAREWELL_PATIENCE: Duration = Duration::from_secs(1);

/// Runs the tasks of a driver.
pub trait Workers: fmt::Debug {
    /// Accepts a task.
    fn submit(&mut self, task: Task);

    /// Returns a finished task, waiting no longer than `patience` for one.
    fn next(&mut self, patience: Duration) -> Option<Finished>;
}

/// Threads that run tasks.
///
/// Dropping them stops each task before its next effect, and waits for that no longer than
/// `FAREWELL_PATIENCE`.
pub struct Threads {
    lanes: Vec<(Lane, Sender<Task>)>,
    finished: Receiver<Finished>,
    is_dropped: Arc<AtomicBool>,
    handles: Vec<JoinHandle<()>>,
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
        let (sender, finished) = mpsc::channel();
        let is_dropped = Arc::new(AtomicBool::new(false));
        let mut handles = Vec::new();
        let mut start_lane = |lane: Lane, count: usize| -> std::io::Result<(Lane, Sender<Task>)> {
            let (tasks, queue) = mpsc::channel();
            let queue = Arc::new(Mutex::new(queue));
            for _ in 0..count {
                let worker = Worker {
                    cluster: Arc::clone(cluster),
                    catalogs: Arc::clone(catalogs),
                    queue: Arc::clone(&queue),
                    finished: Sender::clone(&sender),
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
        Ok(Self { lanes, finished, is_dropped, handles })
    }
}

impl Workers for Threads {
    fn submit(&mut self, task: Task) {
        if let Some((_, tasks)) = self.lanes.iter().find(|(lane, _)| *lane == task.lane()) {
            // The threads of a lane live as long as its sender.
            let _ = tasks.send(task);
        }
    }

    fn next(&mut self, patience: Duration) -> Option<Finished> {
        self.finished.recv_timeout(patience).ok()
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
    queue: Arc<Mutex<Receiver<Task>>>,
    finished: Sender<Finished>,
    is_dropped: Arc<AtomicBool>,
}

impl<C: Cluster, S: Catalogs> Worker<C, S> {
    /// Runs tasks until the other end of the queue is dropped.
    fn run(&self) {
        loop {
            let task = self.queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(task) = task else { return };
            let begun = Instant::now();
            let is_stopped =
                || self.is_dropped.load(Ordering::Relaxed) || begun.elapsed() > EXECUTION_DEADLINE;
            let finished = task.run_caught(&self.cluster, &self.catalogs, &is_stopped);
            if self.finished.send(finished).is_err() {
                return;
            }
        }
    }
}
