//! The client of the registry API: whatever a server or a proxy sends, every call ends with a value or an error that
//! names the address.
//!
//! The first byte selects who sends what. A server of HTTP/2 sends one answer for each kind of call; a raw server and
//! a proxy send the rest as it is.

#![no_main]

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::net::UnixListener as RawListener,
    path::PathBuf,
    sync::{LazyLock, Mutex, PoisonError},
    thread,
    time::Duration,
};

use bytes::Bytes;
use h2::{Reason, RecvStream, server::SendResponse};
use http::{HeaderMap, HeaderValue, Request, Response};
use libfuzzer_sys::fuzz_target;
use operon_registry::{
    Address, Client, ClientError, ClientOptions, ProxySettings,
    api::{GetBundleRequest, GetReplacementRequest},
};
use tokio::{
    net::UnixListener,
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

/// The frame with which a server of HTTP/2 begins.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

/// Bits of the first byte of an answer; the lowest four are its gRPC status.
const COMPRESSED: u8 = 16;
const TRAILERS_MISSING: u8 = 32;
const RESET: u8 = 64;
const HTTP_ERROR: u8 = 128;

/// One answer of the server of HTTP/2.
#[derive(Clone, Default)]
struct Answer {
    flags: u8,
    body: Bytes,
}

/// What the servers send: answers for `ListPackages`, `GetPackage`, `ListBundles` and all other calls, or raw bytes.
static ANSWERS: Mutex<[Option<Answer>; 4]> = Mutex::new([const { None }; 4]);
static RAW: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Fixture {
    client: Client,
    raw: Address,
    proxy: ProxySettings,
    _runtime: Runtime,
    _directory: tempfile::TempDir,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("registry.sock");
    let raw_socket = directory.path().join("raw.sock");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let listener = runtime.block_on(async { UnixListener::bind(&socket) }).expect("a socket");
    runtime.spawn(serve(listener));
    serve_raw(raw_socket.clone());
    let client = Client::new(&Address::Unix(socket), options()).expect("a client");
    Fixture {
        client,
        raw: Address::Unix(raw_socket),
        proxy: serve_proxy(),
        _runtime: runtime,
        _directory: directory,
    }
});

/// Installs a handler for `SIGPIPE`. The runtime of Rust, which fuzz targets lack, ignores the signal.
fn survive_broken_pipes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let _inside = runtime.as_ref().expect("a runtime").enter();
    // The handler stays when its receiver is dropped.
    drop(signal(SignalKind::pipe()).expect("a handler"));
}

fn options() -> ClientOptions {
    let second = Duration::from_secs(1);
    ClientOptions {
        connect_timeout: second,
        deadline: second,
        silence: second,
        stream_deadline: 2 * second,
        catalog_deadline: 3 * second,
        max_message_bytes: 1 << 20,
        max_bundles: 50,
        max_catalog_bytes: 4 << 20,
        ..ClientOptions::default()
    }
}

fuzz_target!(
    init: {
        survive_broken_pipes();
    },
    |data: &[u8]| {
        let Some((&mode, rest)) = data.split_first() else { return };
        let fixture = &*FIXTURE;
        match mode {
            0 | 1 => {
                let mut bytes = if mode == 1 { SETTINGS.to_vec() } else { Vec::new() };
                bytes.extend(rest);
                *RAW.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
                let client = Client::new(&fixture.raw, options()).expect("a client");
                check(client.health("").map(drop), "raw.sock");
            }
            2 => {
                *RAW.lock().unwrap_or_else(PoisonError::into_inner) = rest.to_vec();
                let address = Address::parse("registry.invalid:50051").expect("an address");
                let options = ClientOptions { proxy: fixture.proxy.clone(), ..options() };
                let client = Client::new(&address, options).expect("a client");
                check(client.make_ready(), "registry.invalid:50051");
            }
            _ => {
                *ANSWERS.lock().unwrap_or_else(PoisonError::into_inner) = read(rest);
                call_everything(&fixture.client);
            }
        }
    }
);

/// Makes calls of every shape: unary, streaming, and the whole catalog.
fn call_everything(client: &Client) {
    let name = "registry.sock";
    let mut written = Vec::new();
    match client.fetch_catalog(&mut written) {
        Ok(_) => assert!(std::str::from_utf8(&written).is_ok(), "documents are text"),
        error @ Err(_) => check(error.map(drop), name),
    }
    check(client.health("").map(drop), name);
    check(client.get_bundle(&GetBundleRequest::default()).map(drop), name);
    check(client.get_bundle_that_replaces(&GetReplacementRequest::default()).map(drop), name);
    match client.get_channel_entries_that_replace("a.v1") {
        Ok(entries) => entries.for_each(|entry| check(entry.map(drop), name)),
        error @ Err(_) => check(error.map(drop), name),
    }
    match client.list_custom_schemas("a", "b") {
        Ok(documents) => documents.for_each(|document| check(document.map(drop), name)),
        error @ Err(_) => check(error.map(drop), name),
    }
}

fn check(outcome: Result<(), ClientError>, name: &str) {
    if let Err(error) = outcome {
        assert!(error.to_string().contains(name), "{error}");
    }
}

/// Reads answers, each behind a byte of flags and two for its length.
fn read(mut data: &[u8]) -> [Option<Answer>; 4] {
    let mut answers = [const { None }; 4];
    for answer in &mut answers {
        let [flags, high, low, rest @ ..] = data else { break };
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        *answer = Some(Answer { flags: *flags, body: Bytes::copy_from_slice(&rest[..length]) });
        data = &rest[length..];
    }
    answers
}

async fn serve(listener: UnixListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let Ok(mut connection) = h2::server::handshake(stream).await else { return };
            while let Some(Ok((request, respond))) = connection.accept().await {
                answer(&request, respond);
            }
        });
    }
}

/// Answers a request as the input says.
fn answer(request: &Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let index = match request.uri().path() {
        "/api.Registry/ListPackages" => 0,
        "/api.Registry/GetPackage" => 1,
        "/api.Registry/ListBundles" => 2,
        _ => 3,
    };
    let answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let Answer { flags, body } = answers[index].clone().unwrap_or_default();
    drop(answers);
    let mut head = Response::builder()
        .status(if flags & HTTP_ERROR != 0 { 503 } else { 200 })
        .header("content-type", "application/grpc");
    if flags & COMPRESSED != 0 {
        head = head.header("grpc-encoding", "gzip");
    }
    // The client may have given the call up already.
    let Ok(mut sending) = respond.send_response(head.body(()).expect("a response"), false) else {
        return;
    };
    let is_end = flags & TRAILERS_MISSING != 0;
    let _ = sending.send_data(body, is_end);
    if is_end {
        return;
    }
    if flags & RESET != 0 {
        sending.send_reset(Reason::INTERNAL_ERROR);
        return;
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(u16::from(flags & 15)));
    let _ = sending.send_trailers(trailers);
}

/// Sends the raw bytes on each connection, and closes it.
fn serve_raw(socket: PathBuf) {
    let listener = RawListener::bind(socket).expect("a socket");
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let bytes = RAW.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let _ = stream.write_all(&bytes);
        }
    });
}

/// Answers each request for a connection with the raw bytes, and closes it.
fn serve_proxy() -> ProxySettings {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let bytes = RAW.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(&bytes);
        }
    });
    ProxySettings { proxy: format!("http://{address}"), exempt: String::new() }
}
