//! Opening the catalog a command is about, with a progress bar when it takes longer than a moment.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use anstream::eprintln;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use operon_catalog::Severity;
use operon_image::{CacheDirectory, OpenOptions, OpenedCatalog, Progress, open_catalog};

/// A progress bar is shown only when opening takes longer than this.
const PATIENCE: Duration = Duration::from_millis(300);

/// How often the progress bar is drawn.
const FRAME: Duration = Duration::from_millis(50);

/// The catalog a command is about.
#[derive(Debug, Args)]
pub(crate) struct CatalogPath {
    /// The catalog: a directory of JSON and YAML files, or one file
    #[arg(value_name = "CATALOG")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) cache: CacheOptions,
}

/// Whether snapshots are used.
#[derive(Debug, Args)]
pub(crate) struct CacheOptions {
    /// Reads every file again and keeps nothing
    #[arg(long, global = true)]
    pub(crate) no_cache: bool,
}

impl CatalogPath {
    /// Opens the catalog and says on standard error if it has errors.
    pub(crate) fn open(&self) -> anyhow::Result<OpenedCatalog> {
        let opened = self.open_quietly()?;
        let errors = opened
            .catalog()
            .diagnostics()
            .filter(|finding| finding.severity() == Severity::Error)
            .count();
        if errors > 0 {
            let path = self.path.display();
            let plural = if errors == 1 { "" } else { "s" };
            eprintln!("warning: this catalog has {errors} error{plural}; what is sound is shown");
            eprintln!("hint: operon catalog validate {path}");
        }
        Ok(opened)
    }

    /// Opens the catalog; its findings are the caller's business.
    pub(crate) fn open_quietly(&self) -> anyhow::Result<OpenedCatalog> {
        open_path(&self.path, self.cache.no_cache)
    }
}

/// Opens the catalog at a path.
pub(crate) fn open_path(path: &Path, no_cache: bool) -> anyhow::Result<OpenedCatalog> {
    let cache = if no_cache { None } else { CacheDirectory::of_user() };
    let progress = Progress::default();
    let options =
        OpenOptions { cache: cache.as_ref(), progress: &progress, now: SystemTime::now() };
    if !std::io::stderr().is_terminal() {
        return Ok(open_catalog(path, &options)?);
    }
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let drawing = scope.spawn(|| draw_progress(&progress, &finished));
        let opened = open_catalog(path, &options);
        finished.store(true, Ordering::Relaxed);
        drawing.thread().unpark();
        Ok(opened?)
    })
}

fn draw_progress(progress: &Progress, finished: &AtomicBool) {
    thread::park_timeout(PATIENCE);
    let style = ProgressStyle::with_template("{spinner} reading {bytes}/{total_bytes} {wide_bar}");
    let Ok(style) = style else { return };
    if finished.load(Ordering::Relaxed) {
        return;
    }
    let bar = ProgressBar::new(0).with_style(style);
    while !finished.load(Ordering::Relaxed) {
        bar.set_length(progress.total.load(Ordering::Relaxed));
        bar.set_position(progress.done.load(Ordering::Relaxed));
        thread::park_timeout(FRAME);
    }
    bar.finish_and_clear();
}
