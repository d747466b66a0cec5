//! A survey on all cores, with a progress bar when it takes longer than a moment.
//!
//! Each thread has a worker of its own; nothing is shared but the next number.

use std::{
    panic,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use operon_resolve::survey::{PackageSurvey, Survey, Surveyor};

use crate::output::{Bar, stderr_is_terminal};

/// The most threads that work: each holds the problem of the whole catalog.
const MAX_WORKERS: usize = 16;

/// A progress bar is shown only when the survey takes longer than this.
const PATIENCE: Duration = Duration::from_millis(300);

/// How often the progress bar is drawn.
const FRAME: Duration = Duration::from_millis(50);

/// Surveys the packages of these numbers.
pub(super) fn survey(surveyor: &Surveyor<'_>, numbers: &[usize]) -> Survey {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.min(MAX_WORKERS).min(numbers.len()).max(1);
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let finished = AtomicBool::new(false);
    let work = || {
        let mut worker = surveyor.worker();
        let mut surveyed: Vec<PackageSurvey> = Vec::new();
        while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            surveyed.push(worker.survey(number));
            done.fetch_add(1, Ordering::Relaxed);
        }
        surveyed
    };
    let packages = thread::scope(|scope| {
        let drawing =
            stderr_is_terminal().then(|| scope.spawn(|| draw(&done, numbers.len(), &finished)));
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut packages = work();
        for other in others {
            // A worker that panics has a bug; it ends the program as it would without threads.
            packages.extend(other.join().unwrap_or_else(|bug| panic::resume_unwind(bug)));
        }
        finished.store(true, Ordering::Relaxed);
        if let Some(drawing) = drawing {
            drawing.thread().unpark();
        }
        packages
    });
    Survey::new(packages)
}

fn draw(done: &AtomicUsize, total: usize, finished: &AtomicBool) {
    thread::park_timeout(PATIENCE);
    if finished.load(Ordering::Relaxed) {
        return;
    }
    let template = "{spinner} checking {pos}/{len} packages {wide_bar}";
    let Some(bar) = Bar::new(template, total as u64) else { return };
    while !finished.load(Ordering::Relaxed) {
        bar.set_position(done.load(Ordering::Relaxed) as u64);
        thread::park_timeout(FRAME);
    }
    bar.finish();
}
