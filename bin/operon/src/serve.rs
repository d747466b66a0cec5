//! `operon serve`: a catalog behind the registry API, for every tool that speaks it.
//!
//! What is answered is decided in `shell/registry`. The command line of upstream's server is understood,
//! so that a catalog image can change its server and nothing else.

use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use anyhow::anyhow;
use clap::Args;
use operon_catalog::{Catalog, Place};
use operon_image::OpenedCatalog;
use operon_registry::{Address, Content, Listening, Server, Stopped};

use crate::{
    catalog::open::CatalogPath,
    cluster::{is_stopping, stop_wish},
    exit::Outcome,
    output::stderr_line,
};

/// Where Kubernetes looks for the last words of a container.
const TERMINATION_LOG: &str = "/dev/termination-log";

/// How long calls in progress may take when the server is asked to end. A stalled client must not delay
/// a rollout; the largest call takes a tenth of this.
const DRAIN: Duration = Duration::from_millis(1500);

/// How often the command checks whether the catalog is open: a small one is open a moment later.
const OPENING_POLL: Duration = Duration::from_millis(5);

/// How often a catalog that is followed is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Serves a catalog over the registry API, as `opm serve` does
///
/// It listens at once and answers when the catalog is open; until then health is NOT_SERVING. A package
/// that has errors is left out, and said; the rest is served.
#[derive(Debug, Args)]
#[command(after_help = "\
Flags of `opm serve` are understood; those for its own cache and profiler have no effect.
Exit codes: 0 it was asked to end, 1 the catalog cannot be read or the address is taken

Examples:
  operon serve ./catalog
  operon serve quay.io/operatorhubio/catalog:latest --address 127.0.0.1:50051
  operon serve /configs --cache-dir=/tmp/cache --termination-log=/dev/termination-log
  operon registry query localhost:50051 packages")]
pub(crate) struct Serve {
    #[command(flatten)]
    catalog: CatalogPath,
    /// Where to listen: HOST:PORT, or unix:///PATH; port 0 takes any free one
    #[arg(long, default_value = "0.0.0.0:50051", conflicts_with = "port")]
    address: Address,
    /// The port to listen on, on all addresses of this machine
    #[arg(short, long)]
    port: Option<u16>,
    /// Looks for changes of the catalog and serves them as soon as they are sound
    #[arg(long)]
    follow: bool,
    /// Where the reason is written when it ends with an error
    #[arg(short, long, value_name = "FILE", default_value = TERMINATION_LOG)]
    termination_log: PathBuf,
    /// Reads the catalog, keeps it in the cache, and ends
    #[arg(long)]
    cache_only: bool,
    #[command(flatten)]
    upstream: UpstreamFlags,
}

/// Flags of upstream's server that mean nothing here.
#[derive(Debug, Args)]
struct UpstreamFlags {
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "true")]
    cache_enforce_integrity: Option<bool>,
    #[arg(long, hide = true)]
    debug: bool,
    #[arg(long, hide = true)]
    pprof_addr: Option<String>,
    #[arg(long, hide = true)]
    pprof_capture_profiles: bool,
}

pub(crate) fn run(command: &Serve) -> anyhow::Result<Outcome> {
    serve(command).inspect_err(|error| {
        leave_word(&command.termination_log, &format!("{error:#}"));
    })
}

fn serve(command: &Serve) -> anyhow::Result<Outcome> {
    if command.cache_only {
        command.catalog.open()?;
        return Ok(Outcome::Done);
    }
    // Before anything that takes time: the first process of a container has no default for signals, so one
    // that is not handled yet would be lost.
    let stop = stop_wish()?;
    let server = Server::new();
    let listening = server.listen(&address(command)?)?;
    stderr_line!("listening at {}", listening.address());
    let catalog = command.catalog.clone();
    let opening = thread::spawn(move || catalog.open());
    while !opening.is_finished() {
        if is_stopping(&stop) {
            return end(listening, &stop);
        }
        thread::sleep(OPENING_POLL);
    }
    let opened =
        opening.join().map_err(|_| anyhow!("cannot open the catalog: internal error"))??;
    let mut digest = opened.digest().to_owned();
    show(&server, opened);
    if command.follow {
        let catalog = command.catalog.clone();
        thread::spawn(move || follow(&catalog, &server, &mut digest));
    }
    end(listening, &stop)
}

fn address(command: &Serve) -> anyhow::Result<Address> {
    match command.port {
        Some(port) => Ok(format!("0.0.0.0:{port}").parse()?),
        None => Ok(command.address.clone()),
    }
}

/// Serves a catalog from now on, and says what of it is not served.
fn show(server: &Server, opened: OpenedCatalog) {
    let counts = opened.catalog().counts();
    let left_out = server.set_content(Arc::new(Served(opened)));
    for package in &left_out {
        stderr_line!("warning: package {} is left out: {}", package.package, package.reason);
    }
    let packages = counts.packages as usize - left_out.len();
    stderr_line!("serving {packages} packages, {} bundles", counts.bundles);
}

/// Serves what changed. A catalog that cannot be read changes nothing.
fn follow(catalog: &CatalogPath, server: &Server, digest: &mut String) {
    let mut told = String::new();
    loop {
        thread::sleep(LOOK_EVERY);
        match catalog.open_quietly() {
            Ok(opened) if opened.digest() == digest => told.clear(),
            Ok(opened) if !opened.catalog().is_valid() => {
                tell(&mut told, "the catalog has errors; the one before is served");
            }
            Ok(opened) => {
                told.clear();
                opened.digest().clone_into(digest);
                show(server, opened);
            }
            Err(error) => tell(&mut told, &format!("{error}; the one before is served")),
        }
    }
}

/// Says something once, however often it is seen.
fn tell(told: &mut String, text: &str) {
    if told != text {
        stderr_line!("warning: {text}");
        text.clone_into(told);
    }
}

/// Serves until the process is asked to end.
fn end(listening: Listening, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    if listening.serve_until(|| is_stopping(stop), DRAIN)? == Stopped::CutOff {
        stderr_line!("warning: calls that took longer than {} s were cut off", DRAIN.as_secs_f32());
    }
    Ok(Outcome::Done)
}

/// Leaves the last words where somebody may look for them; a file that cannot be written is no reason
/// to say nothing of the error itself.
fn leave_word(path: &Path, text: &str) {
    // The default exists in containers only, and is not made elsewhere.
    let is_wanted = path != Path::new(TERMINATION_LOG);
    let opened = OpenOptions::new().write(true).truncate(true).create(is_wanted).open(path);
    if let Err(error) = opened.and_then(|mut file| file.write_all(text.as_bytes()))
        && is_wanted
    {
        stderr_line!("warning: `{}` cannot be written: {error}", path.display());
    }
}

/// A catalog that is open is all that a server needs.
struct Served(OpenedCatalog);

impl Content for Served {
    fn catalog(&self) -> &Catalog {
        self.0.catalog()
    }

    fn document(&self, place: Place) -> Result<String, String> {
        self.0.document(place).map_err(|error| error.to_string())
    }
}
