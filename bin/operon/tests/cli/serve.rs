//! `operon serve` as a process: how it ends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStderr, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::plan::repository;

/// How long a rollout waits at most for the server to end.
const LONGEST_STOP: Duration = Duration::from_secs(2);

/// How often the server may try to end in time: a busy machine delays a process without its fault.
const TRIES: usize = 4;

/// A server process, which is killed when a test fails.
struct Serving {
    process: Child,
    lines: std::io::Lines<BufReader<ChildStderr>>,
    _cache: TempDir,
}

impl Serving {
    fn start(catalog: &str) -> Self {
        let cache = TempDir::new().expect("a temporary directory");
        let mut command = Command::new(env!("CARGO_BIN_EXE_operon"));
        command.args(["serve", catalog, "--address", "127.0.0.1:0"]).stderr(Stdio::piped());
        command.env("OPERON_CACHE_DIR", cache.path()).env("HOME", "/nonexistent");
        let mut process = command.spawn().expect("the program starts");
        let stderr = process.stderr.take().expect("standard error is a pipe");
        Self { process, lines: BufReader::new(stderr).lines(), _cache: cache }
    }

    /// Waits for a line, and returns what follows its beginning.
    fn wait_for(&mut self, begin: &str) -> String {
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        lines.find_map(|line| Some(line.strip_prefix(begin)?.to_owned())).expect("a line")
    }

    /// Sends SIGTERM; returns how long the process took to end.
    fn terminate(&mut self) -> Duration {
        let kill = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        let begun = Instant::now();
        let status = self.process.wait().expect("the process ends");
        assert_eq!(status.code(), Some(0));
        begun.elapsed()
    }
}

/// Asserts that a server ends in time, in one of several tries.
fn assert_ends_in_time(run: impl Fn() -> Duration) {
    let mut took = Vec::new();
    while took.last().is_none_or(|last| *last >= LONGEST_STOP) {
        assert!(took.len() < TRIES, "{took:?}");
        took.push(run());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has ended already unless the test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Begins a call that lists all bundles and takes no answer: the window for what it receives is empty.
fn stalled_call(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let mut frame = vec![0, 0, u8::try_from(payload.len()).expect("small"), kind, flags];
        frame.extend([0, 0, 0, stream]);
        frame.extend(payload);
        frame
    };
    let headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/api.Registry/ListBundles"),
        (":authority", address),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).expect("small"));
            block.extend(text.bytes());
        }
    }
    let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // SETTINGS: INITIAL_WINDOW_SIZE (4) is 0.
    sent.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
    // HEADERS, which end here.
    sent.extend(frame(1, 4, 1, &block));
    // DATA: a message without content, which ends the request.
    sent.extend(frame(0, 1, 1, &[0; 5]));
    stream.write_all(&sent).expect("the server reads");
    // The call is in progress once its answer begins.
    let mut header = [0; 9];
    loop {
        stream.read_exact(&mut header).expect("the server answers");
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).expect("the server answers");
        if header[3] == 1 {
            return stream;
        }
    }
}

#[test]
fn termination_ends_the_server_while_a_call_stalls() {
    let catalog = repository().join("examples/quickstart/catalog");
    assert_ends_in_time(|| {
        let mut serving = Serving::start(&catalog.to_string_lossy());
        let address = serving.wait_for("listening at ");
        serving.wait_for("serving ");
        let stalled = stalled_call(&address);
        let took = serving.terminate();
        drop(stalled);
        took
    });
}

#[test]
fn termination_ends_the_server_despite_silent_connections() {
    let catalog = repository().join("examples/quickstart/catalog");
    let preface: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    // Nothing, half a preface, a preface, and a connection that never has a call.
    let said = [vec![], preface[..12].to_vec(), preface.to_vec(), [preface, settings].concat()];
    assert_ends_in_time(|| {
        let mut serving = Serving::start(&catalog.to_string_lossy());
        let address = serving.wait_for("listening at ");
        serving.wait_for("serving ");
        let open: Vec<TcpStream> = said
            .iter()
            .flat_map(|words| [words; 8])
            .map(|words| {
                let mut stream = TcpStream::connect(&address).expect("the server listens");
                stream.write_all(words).expect("the server reads");
                stream
            })
            .collect();
        // The server has accepted all of them once it answers the one that came last.
        let stalled = stalled_call(&address);
        drop(stalled);
        let took = serving.terminate();
        drop(open);
        took
    });
}

#[test]
fn termination_ends_the_server_while_its_catalog_opens() {
    // A registry that accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = silent.local_addr().expect("an address").port();
    assert_ends_in_time(|| {
        let mut serving = Serving::start(&format!("localhost:{port}/catalog:latest"));
        serving.wait_for("listening at ");
        serving.terminate()
    });
}
