//! `cargo xtask bench --images`: a catalog as it is shipped. It is pulled from a registry on this machine, opened,
//! and served to clients.
//!
//! The registry and the tools that make the image are real ones; without them nothing is measured. What they
//! cost themselves is not told.

mod server;
mod stand;

use std::{fmt::Write, fs, path::Path, process::Command, time::Duration};

use anyhow::{Context, bail};

use self::{server::Server, stand::Stand};
use super::{
    catalogs::{BenchCatalog, Choice, prepare},
    machine,
    measure::{self, Finished, Measured},
    report::{mebibytes, milliseconds},
};
use crate::workspace::Workspace;

/// A figure, and what is wanted of it.
struct Row {
    title: &'static str,
    figure: String,
    wanted: &'static str,
}

/// Measures; returns the text, or nothing where a program is missing.
pub(crate) fn measure(
    workspace: &Workspace,
    choice: &Choice<'_>,
    runs: usize,
) -> anyhow::Result<Option<String>> {
    if let Some(program) = stand::missing_program() {
        eprintln!("left out: {program} is not installed");
        return Ok(None);
    }
    let target = workspace.target_directory()?;
    let scratch = target.join("bench/images");
    fs::create_dir_all(&scratch)?;
    let catalogs = prepare(workspace, &target.join("bench"), choice)?;
    eprintln!("building the release binaries");
    let build = ["build", "--release", "-p", "operon", "-p", "operon-registry"];
    let status = workspace.cargo(&build).args(["--bins", "--example", "stream"]).status()?;
    if !status.success() {
        bail!("the release binaries could not be built");
    }
    let mut text = machine::describe(runs);
    for catalog in &catalogs {
        eprintln!("making an image of {}", catalog.title);
        let stand = Stand::new(&scratch, &catalog.directory)?;
        let bench = Bench { release: &target.join("release"), scratch: &scratch, stand, runs };
        text.push_str(&table(catalog, &bench.stand, &bench.rows()?));
    }
    Ok(Some(text))
}

fn table(catalog: &BenchCatalog, stand: &Stand, rows: &[Row]) -> String {
    let BenchCatalog { title, bytes, files, .. } = catalog;
    let [catalog_size, image_size] = [*bytes, stand.bytes].map(|bytes| bytes as f64 / 1e6);
    let mut text = format!(
        "\n### On {title}: {files} files, {catalog_size:.1} MB, as an image {image_size:.1} MB\n\n\
         | scenario | figure | wanted |\n|---|---:|---:|\n"
    );
    for Row { title, figure, wanted } in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {title} | {figure} | {wanted} |");
    }
    text
}

/// What the cache has before a run.
#[derive(Clone, Copy)]
enum Known {
    /// Nothing.
    Nothing,
    /// The files of the image; they were never read.
    Image,
    /// Everything that an earlier run left.
    Everything,
}

struct Bench<'b> {
    release: &'b Path,
    scratch: &'b Path,
    stand: Stand,
    runs: usize,
}

impl Bench<'_> {
    fn rows(&self) -> anyhow::Result<Vec<Row>> {
        let mut rows = Vec::new();
        eprintln!("  pulling");
        let (cold, warm) = (self.pulls(Known::Nothing)?, self.pulls(Known::Everything)?);
        let peak =
            |measured: &Measured| measured.peak_kibibytes.map_or("unknown".to_owned(), mebibytes);
        rows.push(Row { title: "pull, verify, open: cold", figure: times(&cold), wanted: "< 3 s" });
        rows.push(Row { title: "… peak memory", figure: peak(&cold), wanted: "< 200 MB" });
        rows.push(Row { title: "poll and open: warm", figure: times(&warm), wanted: "< 20 ms" });
        rows.push(Row { title: "… peak memory", figure: peak(&warm), wanted: "" });
        eprintln!("  serving");
        for (title, known, wanted) in [
            ("serve: from start to the first answer, with the pull", Known::Nothing, ""),
            ("serve: from start to the first answer, cold", Known::Image, "< 1 s"),
            ("serve: from start to the first answer, warm", Known::Everything, "< 50 ms"),
        ] {
            rows.push(Row { title, figure: times(&self.first_answers(known)?), wanted });
        }
        self.streams(&mut rows)?;
        Ok(rows)
    }

    /// Opens the image with a new process each time.
    fn pulls(&self, known: Known) -> anyhow::Result<Measured> {
        let mut walls = Vec::new();
        for run in 0..=self.runs {
            self.prepare(known)?;
            let Finished { exit_code, wall, complaints, .. } = measure::run(&mut self.open())?;
            if exit_code != Some(0) {
                bail!("the image could not be opened: {complaints}");
            }
            if run > 0 {
                walls.push(wall);
            }
        }
        self.prepare(known)?;
        let peak = measure::peak_memory(&self.open(), self.scratch)?;
        Ok(Measured::new(walls, peak))
    }

    /// Starts a server each time and waits for its first answer.
    fn first_answers(&self, known: Known) -> anyhow::Result<Measured> {
        let mut walls = Vec::new();
        for run in 0..=self.runs {
            self.prepare(known)?;
            let server = Server::start(self.serve())?;
            let wall = server.first_answer(|address| self.ask(address))?;
            if run > 0 {
                walls.push(wall);
            }
        }
        Ok(Measured::new(walls, None))
    }

    /// Streams all bundles to two readers at once, from one server.
    fn streams(&self, rows: &mut Vec<Row>) -> anyhow::Result<()> {
        let server = Server::start(self.serve())?;
        server.first_answer(|address| self.ask(address))?;
        let start = server.memory()?;
        let alone = server.streams(&self.release.join("examples/stream"), 1)?;
        let both = server.streams(&self.release.join("examples/stream"), 2)?;
        let end = server.memory()?;
        let title = "serve: memory before the first bundle was asked for";
        rows.push(Row { title, figure: mebibytes(start.resident), wanted: "" });
        let title = "ListBundles, one reader";
        rows.push(Row { title, figure: alone.to_string(), wanted: "" });
        let title = "ListBundles, two readers at once, each";
        rows.push(Row { title, figure: both.to_string(), wanted: "" });
        let title = "serve: memory after that";
        rows.push(Row { title, figure: mebibytes(end.resident), wanted: "< 80 MB" });
        let title = "serve: most memory at any time";
        rows.push(Row { title, figure: mebibytes(end.peak), wanted: "" });
        Ok(())
    }

    /// Forgets what is not to be known.
    fn prepare(&self, known: Known) -> anyhow::Result<()> {
        let cache = self.scratch.join("cache");
        let forgotten = match known {
            Known::Nothing => vec![cache],
            Known::Image => vec![cache.join("snapshots"), cache.join("catalogs")],
            Known::Everything => Vec::new(),
        };
        for directory in forgotten.iter().filter(|directory| directory.exists()) {
            fs::remove_dir_all(directory)
                .with_context(|| format!("cannot remove `{}`", directory.display()))?;
        }
        Ok(())
    }

    fn program(&self) -> Command {
        let mut command = Command::new(self.release.join("operon"));
        command.env("OPERON_CACHE_DIR", self.scratch.join("cache"));
        command
    }

    fn open(&self) -> Command {
        let mut command = self.program();
        command.args(["catalog", "list", "packages", &self.stand.image]);
        command
    }

    fn serve(&self) -> Command {
        let mut command = self.program();
        command.args(["serve", &self.stand.image, "--address", "127.0.0.1:0"]);
        command
    }

    fn ask(&self, address: &str) -> Command {
        let mut command = self.program();
        command.args(["registry", "query", address, "packages"]);
        command
    }
}

/// Tells the median, and how far the others were.
fn times(measured: &Measured) -> String {
    let range: [Duration; 2] = [measured.shortest(), measured.longest()];
    let [shortest, longest] = range.map(milliseconds);
    format!("{} ({shortest} – {longest})", milliseconds(measured.median()))
}
