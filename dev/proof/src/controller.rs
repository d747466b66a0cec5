//! The controller as a process of its own, which can be killed.
//!
//! It is the program that ships, found beside the test; nothing of it runs in this process.

use std::{
    env, fs,
    io::{self, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::Duration,
};

use operon_rig::Rig;

/// How long a controller may take to say how it is.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// A controller in the rig's network. It is killed when it is dropped.
#[derive(Debug)]
pub struct Controller {
    child: Child,
    port: u16,
    log: PathBuf,
}

/// Returns the program, if it was built beside this test.
pub fn operon_program() -> Option<PathBuf> {
    if let Some(program) = env::var_os("OPERON_BINARY") {
        return Some(program.into());
    }
    let test = env::current_exe().ok()?;
    let program = test.parent()?.parent()?.join("operon");
    program.is_file().then_some(program)
}

/// Returns the program that stands alone, if `cargo xtask image` built it below this target directory.
pub fn static_program() -> Option<PathBuf> {
    if let Some(program) = env::var_os("OPERON_STATIC_BINARY") {
        return Some(program.into());
    }
    let test = env::current_exe().ok()?;
    let program = test.parent()?.parent()?.parent()?.join("static/operon");
    program.is_file().then_some(program)
}

impl Controller {
    /// Starts a controller that tells how it is on a port of the rig's network.
    pub fn start(
        rig: &Rig,
        program: &Path,
        kubeconfig: &Path,
        port: u16,
        flags: &[String],
    ) -> io::Result<Self> {
        let log = rig.directory().join(format!("controller-{port}.log"));
        let file = fs::OpenOptions::new().create(true).append(true).open(&log)?;
        let child = rig
            .command(&program.display().to_string())
            .args(["controller", "--log", "text", "--insecure-registry", rig.registry()])
            // The rig's registry has a loopback address, which catalogs of a cluster must not use otherwise.
            .args(["--allow-address", rig.registry()])
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .arg("--cache-dir")
            .arg(rig.directory().join("cache"))
            .arg("--monitor-address")
            .arg(format!("127.0.0.1:{port}"))
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()?;
        Ok(Self { child, port, log })
    }

    /// Kills it without a warning.
    pub fn kill(&mut self) {
        // It may have ended by itself, which the test will notice.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Tells whether it leads, as far as it says so.
    pub fn is_leading(&self) -> bool {
        self.metric("operon_leader") == Some(1.0)
    }

    /// Counts what it wrote.
    pub fn written(&self) -> Option<f64> {
        self.metric("operon_writes_total")
    }

    /// Returns its whole log.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Returns the last lines of its log.
    pub fn last_words(&self, count: usize) -> String {
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n")
    }

    /// Returns a metric without labels.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let text = self.ask("/metrics").ok()?;
        let line = text.lines().find(|line| line.split(' ').next() == Some(name))?;
        line.split(' ').nth(1)?.parse().ok()
    }

    /// Returns the samples of a metric, each with its labels as they are written.
    pub fn samples(&self, name: &str) -> Option<Vec<(String, f64)>> {
        let text = self.ask("/metrics").ok()?;
        let sample = |line: &str| {
            let (labels, value) = line.strip_prefix(name)?.strip_prefix('{')?.rsplit_once("} ")?;
            Some((labels.to_owned(), value.trim().parse().ok()?))
        };
        Some(text.lines().filter_map(sample).collect())
    }

    /// Returns the most memory that it ever had, in bytes.
    pub fn peak_memory(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
        let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kibibytes * 1024)
    }

    fn ask(&self, path: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(ANSWER_PATIENCE))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.kill();
    }
}
