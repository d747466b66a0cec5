//! Many callers, slow ones, and ones that go away.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use operon_registry::{
    Address, Stopped,
    api::{self, registry_client::RegistryClient},
};
use tokio::{runtime::Builder, task::JoinSet};
use tonic::transport::Endpoint;

use crate::content::{MemoryContent, connect, serve};

const LONG: Duration = Duration::from_secs(20);

/// How long to wait before a test is called hanging.
pub(crate) const HANG_GUARD: Duration = Duration::from_secs(120);

/// The number of a frame of headers in HTTP/2.
const HEADERS: u8 = 1;

/// A client that asked for all bundles and lets the server send nothing.
pub(crate) struct Stalled(TcpStream);

impl Stalled {
    /// Goes away.
    pub(crate) fn finish(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

/// Waits until the server closes a connection.
pub(crate) fn wait_for_end(stream: &mut TcpStream) {
    stream.set_read_timeout(Some(HANG_GUARD)).unwrap();
    loop {
        match stream.read(&mut [0; 1024]) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionReset, "it is still open: {error}");
                return;
            }
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags, 0, 0, 0, stream]);
    frame.extend(payload);
    frame
}

/// Asks for all bundles in bytes of HTTP/2, with a window of zero: nothing may be sent.
pub(crate) fn stall(address: &Address) -> Stalled {
    stall_on(TcpStream::connect(address.to_string()).unwrap())
}

/// Sends a call whose answer may not be sent.
pub(crate) fn send_stalled_call(stream: &mut TcpStream) {
    const SETTINGS: u8 = 4;
    const DATA: u8 = 0;
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let window_of_zero = [0, 4, 0, 0, 0, 0];
    bytes.extend(frame(SETTINGS, 0, 0, &window_of_zero));
    let mut headers = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/api.Registry/ListBundles"),
        (":authority", "registry"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ] {
        headers.push(0);
        for text in [name, value] {
            headers.push(u8::try_from(text.len()).unwrap());
            headers.extend(text.as_bytes());
        }
    }
    let (end_of_headers, end_of_stream) = (4, 1);
    bytes.extend(frame(HEADERS, end_of_headers, 1, &headers));
    bytes.extend(frame(DATA, end_of_stream, 1, &[0; 5]));
    stream.write_all(&bytes).unwrap();
}

/// Does what [`stall`] does on a connection.
pub(crate) fn stall_on(mut stream: TcpStream) -> Stalled {
    send_stalled_call(&mut stream);
    // The answer has begun when a frame of headers has come.
    let mut seen = Vec::new();
    while !frames(&seen).any(|kind| kind == HEADERS) {
        let mut buffer = [0; 1024];
        let read = stream.read(&mut buffer).unwrap();
        assert_ne!(read, 0, "the server closed the connection");
        seen.extend(&buffer[..read]);
    }
    Stalled(stream)
}

/// Returns the kinds of the frames that have come whole.
fn frames(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let head = rest.get(..9)?;
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let kind = head[3];
        rest = rest.get(9 + length..)?;
        Some(kind)
    })
}

#[test]
fn a_thousand_calls_at_once_over_one_connection_are_all_answered() {
    let (_server, listening) = serve(MemoryContent::example());
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let address = format!("http://{}", listening.address());
    let answered = runtime.block_on(async {
        let channel = Endpoint::from_shared(address).unwrap().connect().await.unwrap();
        let mut calls = JoinSet::new();
        for number in 0..1000 {
            let mut registry = RegistryClient::new(channel.clone());
            calls.spawn(async move {
                if number % 2 == 0 {
                    let name = "anchor".to_owned();
                    let request = api::GetPackageRequest { name };
                    return registry.get_package(request).await.unwrap().into_inner().name;
                }
                let [pkg_name, channel_name] = ["tide", "stable"].map(str::to_owned);
                let request = api::GetReplacementRequest {
                    csv_name: "tide.v1.4.0".to_owned(),
                    pkg_name,
                    channel_name,
                };
                let bundle = registry.get_bundle_that_replaces(request).await;
                bundle.unwrap().into_inner().package_name
            });
        }
        calls.join_all().await
    });
    let anchors = answered.iter().filter(|name| *name == "anchor").count();
    assert_eq!((anchors, answered.len()), (500, 1000));
    runtime.shutdown_background();
    assert_eq!(listening.stop(LONG).unwrap(), Stopped::Drained);
}

#[test]
fn slow_and_vanishing_readers_disturb_nobody() {
    let (_server, listening) = serve(MemoryContent::example());
    let mut slow: Vec<Stalled> = (0..20).map(|_| stall(listening.address())).collect();
    let clients = [connect(&listening), connect(&listening)];
    std::thread::scope(|scope| {
        let all = clients.each_ref().map(|client| {
            scope.spawn(|| {
                let bundles: Result<Vec<_>, _> = client.list_bundles().unwrap().collect();
                bundles.unwrap()
            })
        });
        let [left, right] = all.map(|reader| reader.join().unwrap());
        assert_eq!(left, right);
        assert!(left.len() > 5);
    });
    drop(clients);
    slow.iter_mut().for_each(Stalled::finish);
    assert_eq!(listening.stop(LONG).unwrap(), Stopped::Drained);
}
