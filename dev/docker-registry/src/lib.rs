//! Debian's `docker-registry` for tests: the real thing, on a free port of this machine.
//!
//! It ends with the test that started it, and remembers what it was asked. Where it is not installed,
//! [`has`] says so, and the test passes; nothing here stands in for it.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use operon_parts::{Part, leave_out};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// The manifests that [`RegistryServer::get`] asks for.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json";

/// Tells whether programs are installed, and says so when one is not.
pub fn has(programs: &[&str]) -> bool {
    let is_there = |program: &&&str| {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
        found.is_ok_and(|output| output.status.success())
    };
    match programs.iter().find(|program| !is_there(program)) {
        None => true,
        Some(missing) => {
            leave_out(Part::Registry, &format!("{missing} is not installed"));
            false
        }
    }
}

/// A program that is built from a Go module, because no package has it.
#[derive(Debug, Clone, Copy)]
pub struct BuiltProgram {
    /// Its name.
    pub name: &'static str,
    /// The version of the module.
    pub version: &'static str,
}

/// cosign, which signs images.
pub const COSIGN: BuiltProgram = BuiltProgram { name: "cosign", version: "2.6.5" };

/// The verdicts of Podman's library on signed images. Debian's Skopeo has the support for cosign removed.
pub const VERDICT: BuiltProgram = BuiltProgram { name: "verdict", version: "5.42.0" };

/// The source of [`VERDICT`].
pub const VERDICT_SOURCE: &str = include_str!("verdict.go");

impl BuiltProgram {
    /// Returns the directory that `cargo xtask test` builds it in, below the user's cache.
    pub fn directory(self) -> Option<PathBuf> {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let caches = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))?;
        Some(caches.join("operon").join(self.name).join(self.version))
    }

    /// Returns the program, and prints that a test is left out if it was not built.
    pub fn find(self) -> Option<PathBuf> {
        let found = self.directory().map(|directory| directory.join(self.name));
        let found = found.filter(|program| program.is_file());
        if found.is_none() {
            let reason = format!("{} was not built; `cargo xtask test` builds it", self.name);
            leave_out(Part::Signing, &reason);
        }
        found
    }
}

/// How a registry is to be reached.
#[derive(Debug, Clone, Copy, Default)]
pub struct Setup {
    /// Whether it speaks TLS, with a certificate of its own authority in `ca.crt` of the directory.
    pub tls: bool,
    /// The user and the password it wants.
    pub login: Option<(&'static str, &'static str)>,
}

/// A registry that ends with the test.
#[derive(Debug)]
pub struct RegistryServer {
    process: Child,
    /// Its address with its port.
    pub host: String,
    /// How it is reached.
    pub setup: Setup,
    /// Its configuration, but for where it listens, and the file for it.
    config: String,
    file: PathBuf,
    log: Log,
}

/// What a registry wrote.
type Log = Arc<Mutex<Vec<String>>>;

impl RegistryServer {
    /// Starts a registry whose files lie in `name` below a directory, and waits until it listens.
    pub fn start(directory: &Path, name: &str, setup: &Setup) -> Self {
        let shown = |name: &str| directory.join(name).display().to_string();
        let mut config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {}}}, delete: {{enabled: true}}}}\n",
            shown(name)
        );
        if let Some((user, password)) = setup.login {
            let file = shown("htpasswd");
            let made = Command::new("htpasswd").args(["-Bbc", &file, user, password]).output();
            assert!(made.unwrap().status.success(), "htpasswd failed");
            config += &format!("auth: {{htpasswd: {{realm: test, path: {file}}}}}\n");
        }
        config += "http:\n";
        if setup.tls {
            certificates(directory);
            let (certificate, key) = (shown("server.crt"), shown("server.key"));
            config += &format!("  tls: {{certificate: {certificate}, key: {key}}}\n");
        }
        let file = directory.join(format!("{name}.yml"));
        let log = Log::default();
        let (process, host) = listen(&config, &file, "127.0.0.1:0", &log);
        Self { process, host, setup: *setup, config, file, log }
    }

    /// Ends it; what it has stays.
    pub fn stop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again where it was, with what it had.
    pub fn start_again(&mut self) {
        (self.process, self.host) = listen(&self.config, &self.file, &self.host, &self.log);
    }

    /// Returns what was asked so far and answered: the method and the path, such as
    /// `PUT /v2/me/catalog/manifests/v1`.
    pub fn requests(&self) -> Vec<String> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = log.iter().filter(|line| line.contains("response completed"));
        let word = |line: &str, name: &str| {
            let (_, rest) = line.split_once(&format!("{name}="))?;
            Some(rest.split([' ', '?']).next()?.trim_matches('"').to_owned())
        };
        let request = |line: &String| {
            Some(format!(
                "{} {}",
                word(line, "http.request.method")?,
                word(line, "http.request.uri")?
            ))
        };
        answered.filter_map(request).collect()
    }

    /// Returns the body of an answer.
    pub fn get(&self, path: &str) -> Vec<u8> {
        let head = format!("GET {path} HTTP/1.0\r\nAccept: {MANIFESTS}\r\n\r\n");
        let answer = self.exchange(head.as_bytes());
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        answer[end + 4..].to_vec()
    }

    /// Sends a body, which must be taken.
    pub fn put(&self, path: &str, media_type: &str, body: &[u8]) {
        let length = body.len();
        let head = format!(
            "PUT {path} HTTP/1.0\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        let answer = self.exchange(&[head.as_bytes(), body].concat());
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.lines().next().unwrap().contains(" 201 "), "{answer}");
    }

    /// Pushes a blob to a repository.
    pub fn put_blob(&self, repository: &str, digest: &str, blob: &[u8]) {
        let host = &self.host;
        let head = format!(
            "POST /v2/{repository}/blobs/uploads/ HTTP/1.0\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n"
        );
        let answer = self.exchange(head.as_bytes());
        let answer = String::from_utf8_lossy(&answer);
        let location = answer.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap();
        let path = location.trim().strip_prefix(&format!("http://{host}")).unwrap();
        self.put(&format!("{path}&digest={digest}"), "application/octet-stream", blob);
    }

    fn exchange(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }
}

impl Drop for RegistryServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the program, and waits until it listens; returns where that is.
fn listen(config: &str, file: &Path, address: &str, log: &Log) -> (Child, String) {
    fs::write(file, format!("{config}  addr: {address}\n")).unwrap();
    let mut process = Command::new("docker-registry")
        .arg("serve")
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let port = loop {
        let line = lines.next().expect("the registry ended").unwrap();
        if let Some((_, rest)) = line.split_once("listening on 127.0.0.1:") {
            break rest.chars().take_while(char::is_ascii_digit).collect::<String>();
        }
    };
    let seen = Arc::clone(log);
    // Somebody has to read on, or the registry would wait for room to write.
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    });
    (process, format!("127.0.0.1:{port}"))
}

/// Makes an authority, and a certificate for this machine that it signed.
fn certificates(directory: &Path) {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let server = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    fs::write(directory.join("ca.crt"), authority.pem()).unwrap();
    fs::write(directory.join("server.crt"), server.pem()).unwrap();
    fs::write(directory.join("server.key"), key.serialize_pem()).unwrap();
}
