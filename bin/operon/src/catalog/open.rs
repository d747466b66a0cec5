//! Opening the catalog a command is about, with a progress bar when it takes longer than a moment.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use anyhow::{Context, bail};
use clap::Args;
use operon_catalog::Severity;
use operon_image::{CacheDirectory, Location, OpenOptions, OpenedCatalog, Progress, open_catalog};

use crate::{
    fetching::FetchOptions,
    output::{Bar, stderr_is_terminal, stderr_line},
};

/// A progress bar is shown only when opening takes longer than this.
const PATIENCE: Duration = Duration::from_millis(300);

/// How often the progress bar is drawn.
const FRAME: Duration = Duration::from_millis(50);

/// The catalog a command is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct CatalogPath {
    /// The catalog: a directory of JSON and YAML files, a file, an image (`quay.io/me/catalog:v1`,
    /// `oci:DIR[:TAG]`, `oci-archive:FILE`), a server (`grpc://HOST:PORT`) or `configmap:FILE`
    #[arg(value_name = "CATALOG")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) fetching: FetchOptions,
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
            stderr_line!(
                "warning: this catalog has {errors} error{plural}; what is sound is shown"
            );
            stderr_line!("hint: operon catalog validate {path}");
        }
        Ok(opened)
    }

    /// Opens the catalog as [`Self::open`] does, and refuses one without packages: nothing can be
    /// listed from it.
    pub(crate) fn open_filled(&self) -> anyhow::Result<OpenedCatalog> {
        let opened = self.open()?;
        match opened.emptiness(&self.path.to_string_lossy()) {
            Some(problem) => bail!(
                "{problem}\nhint: give the directory that holds the catalog's JSON or YAML files, in images often `/configs`"
            ),
            None => Ok(opened),
        }
    }

    /// Opens the catalog; its findings are the caller's business.
    pub(crate) fn open_quietly(&self) -> anyhow::Result<OpenedCatalog> {
        open_location(&self.path, &self.fetching)
    }
}

/// Opens the catalog at a location, wherever that is.
pub(crate) fn open_location(
    place: &Path,
    fetching: &FetchOptions,
) -> anyhow::Result<OpenedCatalog> {
    let text = place.to_str().with_context(|| {
        format!("`{}` is not written in UTF-8\nhint: rename it", place.display())
    })?;
    let location = Location::parse(text)?;
    if let Location::Path(path) = &location {
        return open_path(path, fetching.cache().as_ref());
    }
    let fetcher = fetching.fetcher()?;
    let fetched = with_progress(fetcher.progress(), || fetcher.catalog(&location, &[]))?;
    if !fetched.staleness.is_empty() {
        stderr_line!("warning: {}", fetched.staleness);
    }
    Ok(fetched.opened)
}

/// Opens the catalog in a directory or a file.
pub(crate) fn open_path(
    path: &Path,
    cache: Option<&CacheDirectory>,
) -> anyhow::Result<OpenedCatalog> {
    let progress = Progress::default();
    let options =
        OpenOptions { cache, progress: &progress, now: SystemTime::now(), is_immutable: false };
    Ok(with_progress(&progress, || open_catalog(path, &options))?)
}

/// Does something that takes long, with a progress bar where somebody can see it.
fn with_progress<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    if !stderr_is_terminal() {
        return work();
    }
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let drawing = scope.spawn(|| draw_progress(progress, &finished));
        let done = work();
        finished.store(true, Ordering::Relaxed);
        drawing.thread().unpark();
        done
    })
}

fn draw_progress(progress: &Progress, finished: &AtomicBool) {
    thread::park_timeout(PATIENCE);
    if finished.load(Ordering::Relaxed) {
        return;
    }
    let template = "{spinner} reading {bytes}/{total_bytes} {wide_bar}";
    let Some(bar) = Bar::new(template, 0) else { return };
    while !finished.load(Ordering::Relaxed) {
        bar.set_total(progress.total.load(Ordering::Relaxed));
        bar.set_position(progress.done.load(Ordering::Relaxed));
        thread::park_timeout(FRAME);
    }
    bar.finish();
}
