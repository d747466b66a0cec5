//! How far a mirror has come: a bar on a terminal, a line for each image elsewhere.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use indicatif::HumanBytes;
use operon_image::{Copied, Progress};

use crate::output::{Bar, stderr_is_terminal, stderr_line};

/// How often the bar is drawn.
const FRAME: Duration = Duration::from_millis(100);

/// Tells how far a mirror has come, on standard error.
pub(super) struct ProgressLines<'p> {
    total: usize,
    done: AtomicUsize,
    transferred: &'p Progress,
    is_terminal: bool,
}

impl<'p> ProgressLines<'p> {
    pub(super) fn new(total: usize, transferred: &'p Progress) -> Self {
        let is_terminal = stderr_is_terminal();
        Self { total, done: AtomicUsize::new(0), transferred, is_terminal }
    }

    /// Tells of an image that is done.
    pub(super) fn tell(&self, image: &str, result: &Result<Copied, String>) {
        let number = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_terminal {
            return;
        }
        let total = self.total;
        match result {
            Ok(copied) if !copied.is_new => stderr_line!("[{number}/{total}] there   {image}"),
            Ok(copied) => {
                stderr_line!(
                    "[{number}/{total}] copied  {image}  {}",
                    HumanBytes(copied.sent_bytes)
                );
            }
            Err(_) => stderr_line!("[{number}/{total}] failed  {image}"),
        }
    }

    /// Does the work, with a bar where somebody can see it.
    pub(super) fn while_drawing<T>(&self, work: impl FnOnce() -> T) -> T {
        if !self.is_terminal {
            return work();
        }
        let finished = AtomicBool::new(false);
        thread::scope(|scope| {
            let drawing = scope.spawn(|| self.draw(&finished));
            let done = work();
            finished.store(true, Ordering::Relaxed);
            drawing.thread().unpark();
            done
        })
    }

    fn draw(&self, finished: &AtomicBool) {
        let style = "{spinner} {pos}/{len} images  {msg} {wide_bar} {elapsed}";
        let Some(bar) = Bar::new(style, self.total as u64) else { return };
        while !finished.load(Ordering::Relaxed) {
            bar.set_position(self.done.load(Ordering::Relaxed) as u64);
            let bytes = self.transferred.done.load(Ordering::Relaxed);
            bar.set_message(&format!("{} fetched", HumanBytes(bytes)));
            thread::park_timeout(FRAME);
        }
        bar.finish();
    }
}
