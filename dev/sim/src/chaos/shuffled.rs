//! Workers that finish tasks in an order that chance decides, on one thread.
//!
//! A driver with threads sees its tasks end in any order, late, or cut off by their deadline. These
//! workers do the same, and the same again for the same seed.

use std::{collections::BTreeSet, fmt, time::Duration};

use operon_driver::{Finished, Task, Workers};

use super::{faults::FaultyCluster, faulty_catalogs::FaultyCatalogs, random::Random};
use crate::SimCluster;

/// How often, of a thousand times, the driver waits in vain for a task that is still running.
const PATIENCE_ENDS: u32 = 300;

/// How often, of a thousand times, another task ends before the driver hears of one.
const RUNS_BEFORE_NEXT: u32 = 600;

/// How often, of a thousand times, a task meets its deadline before an effect.
const DEADLINE_ENDS: u32 = 20;

/// How often, of a thousand times, a task that has not begun to end is reported as overdue.
const OVERDUE: u32 = 50;

pub(super) struct Shuffled {
    cluster: FaultyCluster<SimCluster>,
    catalogs: FaultyCatalogs,
    tasks: Vec<Task>,
    /// Tasks that have ended, of which the driver does not know yet.
    ended: Vec<Finished>,
    /// The namespaces whose tasks were reported as overdue.
    overdue: BTreeSet<String>,
    random: Random,
}

impl Shuffled {
    pub(super) fn new(
        cluster: FaultyCluster<SimCluster>,
        catalogs: FaultyCatalogs,
        random: Random,
    ) -> Self {
        let (tasks, ended) = (Vec::new(), Vec::new());
        Self { cluster, catalogs, tasks, ended, overdue: BTreeSet::new(), random }
    }
}

impl fmt::Debug for Shuffled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shuffled").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}

impl Workers for Shuffled {
    fn submit(&mut self, task: Task) {
        self.tasks.push(task);
    }

    fn next(&mut self, _patience: Duration) -> Option<Finished> {
        if !self.tasks.is_empty() && self.random.happens(RUNS_BEFORE_NEXT) {
            let ended = self.run_one();
            self.ended.push(ended);
        }
        if self.random.happens(PATIENCE_ENDS) {
            return None;
        }
        if !self.ended.is_empty() {
            return Some(self.ended.swap_remove(self.random.below(self.ended.len())));
        }
        if self.tasks.is_empty() { None } else { Some(self.run_one()) }
    }

    fn overdue(&mut self) -> Vec<String> {
        let mut reported = Vec::new();
        for task in &self.tasks {
            let is_new = !self.overdue.contains(task.namespace());
            if is_new && self.random.happens(OVERDUE) {
                self.overdue.insert(task.namespace().to_owned());
                reported.push(task.namespace().to_owned());
            }
        }
        reported
    }
}

impl Shuffled {
    fn run_one(&mut self) -> Finished {
        let task = self.tasks.swap_remove(self.random.below(self.tasks.len()));
        let deadline = match self.overdue.remove(task.namespace()) {
            // The effect that hangs is the last one.
            true => 1,
            false => (0..).find(|_| self.random.happens(DEADLINE_ENDS)).unwrap_or(u32::MAX),
        };
        let effects = std::cell::Cell::new(0);
        let is_stopped = || effects.replace(effects.get() + 1) >= deadline;
        task.run(&self.cluster, &self.catalogs, &is_stopped)
    }
}
