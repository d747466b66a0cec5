//! The server of the registry API: any request gets a well-formed answer, and any bytes leave the server running.
//!
//! The first byte selects a call and how its body is sent; the rest is the body with its gRPC frames. With the
//! highest bit set, the rest is sent on a connection of its own, without HTTP/2 around it.

#![no_main]

use std::{
    io::{Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream as RawStream,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use h2::{Reason, client::SendRequest};
use http::{HeaderMap, Request};
use libfuzzer_sys::fuzz_target;
use operon_catalog::{Catalog, Place};
use operon_document::{
    json::{Tape, canonical},
    yaml::{YamlOptions, to_json},
};
use operon_fbc::{MemoryFile, read_catalog};
use operon_registry::{Address, Content, Listening, Server};
use tokio::{
    net::UnixStream,
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

/// The input is sent as it is, without HTTP/2 around it.
const RAW: u8 = 128;
/// The body is announced as compressed with gzip.
const COMPRESSED: u8 = 64;
/// The body is sent in two pieces.
const IN_PIECES: u8 = 32;

/// How long a raw connection may stay silent; a call may wait for more than the input holds.
const SILENCE: Duration = Duration::from_millis(200);

const CALLS: [&str; 14] = [
    "/api.Registry/ListPackages",
    "/api.Registry/GetPackage",
    "/api.Registry/GetBundle",
    "/api.Registry/GetBundleForChannel",
    "/api.Registry/GetChannelEntriesThatReplace",
    "/api.Registry/GetBundleThatReplaces",
    "/api.Registry/GetChannelEntriesThatProvide",
    "/api.Registry/GetLatestChannelEntriesThatProvide",
    "/api.Registry/GetDefaultBundleThatProvides",
    "/api.Registry/ListBundles",
    "/api.ExperimentalRegistry/ExperimentalListPackageCustomSchemas",
    "/grpc.health.v1.Health/Check",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/api.Registry/NoSuchCall",
];

const CATALOG: &str = "
{schema: olm.package, name: a, defaultChannel: c}
---
{schema: olm.channel, package: a, name: c, entries: [{name: a.v2, replaces: a.v1, skips: [a.v0]}, {name: a.v1}]}
---
schema: olm.bundle
package: a
name: a.v1
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
- {type: olm.gvk, value: {group: a.io, version: v1, kind: A}}
- {type: olm.bundle.object, value: {data: eyJraW5kIjoiQ29uZmlnTWFwIn0=}}
---
schema: olm.bundle
package: a
name: a.v2
image: a.io/a:v2
properties:
- {type: olm.package, value: {packageName: a, version: 2.0.0}}
- {type: olm.gvk, value: {group: a.io, version: v1, kind: A}}
---
{schema: b, package: a, list: [{c: 1.5}, null]}
";

struct MemoryContent {
    catalog: Catalog,
    file: MemoryFile,
}

impl Content for MemoryContent {
    fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn document(&self, place: Place) -> Result<String, String> {
        let text = &self.file.content[place.range()];
        let json = to_json(text, &YamlOptions::default()).map_err(|error| error.to_string())?;
        Tape::new().read(&json.json).map(canonical).map_err(|error| error.to_string())
    }
}

struct Fixture {
    runtime: Runtime,
    requests: Mutex<SendRequest<Bytes>>,
    socket: PathBuf,
    _listening: Listening,
    _directory: tempfile::TempDir,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("registry.sock");
    let file = MemoryFile { path: "catalog.yaml".to_owned(), content: CATALOG.into() };
    let catalog = read_catalog(std::slice::from_ref(&file));
    let server = Server::new();
    assert_eq!(server.set_content(Arc::new(MemoryContent { catalog, file })), []);
    let listening = server.listen(&Address::Unix(socket.clone())).expect("a server");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let requests = Mutex::new(runtime.block_on(connect(&socket)));
    Fixture { runtime, requests, socket, _listening: listening, _directory: directory }
});

/// Installs a handler for `SIGPIPE`. The runtime of Rust, which fuzz targets lack, ignores the signal.
fn survive_broken_pipes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let _inside = runtime.as_ref().expect("a runtime").enter();
    signal(SignalKind::pipe()).expect("a handler");
}

async fn connect(socket: &Path) -> SendRequest<Bytes> {
    let stream = UnixStream::connect(socket).await.expect("the server listens");
    let (requests, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
    tokio::spawn(connection);
    requests
}

fuzz_target!(
    init: {
        survive_broken_pipes();
    },
    |data: &[u8]| {
        let Some((&mode, body)) = data.split_first() else { return };
        if mode & RAW != 0 {
            send_raw(body);
            return;
        }
        let fixture = &*FIXTURE;
        let (status, messages) =
            fixture.runtime.block_on(call(fixture, mode, Bytes::copy_from_slice(body)));
        // The server refuses what it cannot read, and never answers with a broken message.
        assert!(status <= 16, "{status}");
        let mut rest = messages.as_slice();
        while let [_, first, second, third, fourth, behind @ ..] = rest {
            let length = u32::from_be_bytes([*first, *second, *third, *fourth]);
            rest = behind.get(length as usize..).expect("a whole message");
        }
        assert_eq!(rest, b"", "half a frame");
    }
);

/// Returns the connection, or a new one: the server may end one whose requests it takes for an attack.
async fn ready(fixture: &Fixture) -> SendRequest<Bytes> {
    let kept = fixture.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Ok(requests) = kept.ready().await {
        return requests;
    }
    let new = connect(&fixture.socket).await;
    *fixture.requests.lock().unwrap_or_else(PoisonError::into_inner) = new.clone();
    new.ready().await.expect("the server is running")
}

/// Makes a call; returns its status and the bytes of its answer.
async fn call(fixture: &Fixture, mode: u8, body: Bytes) -> (u32, Vec<u8>) {
    let path = CALLS[usize::from(mode & 31) % CALLS.len()];
    let mut request = Request::post(format!("http://registry{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("x-acknowledge-experimental", "true");
    if mode & COMPRESSED != 0 {
        request = request.header("grpc-encoding", "gzip");
    }
    let request = request.body(()).expect("a request");
    let mut requests = ready(fixture).await;
    let (answer, mut sending) =
        requests.send_request(request, false).expect("the server is running");
    let middle = if mode & IN_PIECES != 0 { body.len() / 2 } else { 0 };
    // The server may answer and stop listening before the whole body is sent.
    if middle > 0 {
        let _ = sending.send_data(body.slice(..middle), false);
    }
    let _ = sending.send_data(body.slice(middle..), true);
    let (head, mut answer) = answer.await.expect("an answer").into_parts();
    assert_eq!(head.status, 200);
    let mut messages = Vec::new();
    while let Some(piece) = answer.data().await {
        let piece = piece.expect("the server ends its answers itself");
        let _ = answer.flow_control().release_capacity(piece.len());
        messages.extend(piece);
    }
    let trailers = match answer.trailers().await {
        Ok(trailers) => trailers,
        Err(error) if error.reason() == Some(Reason::NO_ERROR) => None,
        Err(error) => panic!("no trailers: {error}"),
    };
    let code = |headers: &HeaderMap| headers.get("grpc-status")?.to_str().ok()?.parse().ok();
    let status = trailers.as_ref().and_then(code).or_else(|| code(&head.headers));
    (status.expect("every answer has a status"), messages)
}

/// Sends an input on a new connection, and reads what the server sends until it closes or falls silent.
fn send_raw(input: &[u8]) {
    let mut stream = RawStream::connect(&FIXTURE.socket).expect("the server listens");
    stream.set_read_timeout(Some(SILENCE)).expect("a timeout");
    let _ = stream.write_all(input);
    let _ = stream.shutdown(Shutdown::Write);
    let mut buffer = [0; 4096];
    while matches!(stream.read(&mut buffer), Ok(read) if read > 0) {}
}
