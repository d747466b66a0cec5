//! Peers that hold connections and calls: others are served all the same.

use std::{
    io::Write as _,
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    thread,
    time::Duration,
};

use operon_registry::{
    Address, Client, ClientError, ClientOptions, Health, Listening, Server, Stopped,
    limits::ServerLimits,
};
use tokio::{net::TcpSocket, runtime::Builder};

use crate::{
    content::{MemoryContent, any_port, connect},
    endurance::{HANG_GUARD, Stalled, send_stalled_call, stall, stall_on, wait_for_end},
};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const EMPTY_SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

/// A limit of time that a test waits for.
const SHORT: Duration = Duration::from_millis(100);

fn serve(limits: ServerLimits) -> (Server, Listening) {
    let server = Server::with_limits(limits);
    server.set_content(MemoryContent::example());
    let listening = server.listen(&any_port()).unwrap();
    (server, listening)
}

/// Connects and sends the beginning of a conversation, or nothing.
fn say(address: &Address, words: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address.to_string()).unwrap();
    // A server that has no place for it may close it at any moment.
    let _ = stream.write_all(words);
    stream
}

/// The ways to hold a connection without a call.
fn silences() -> [Vec<u8>; 3] {
    [Vec::new(), PREFACE[..11].to_vec(), [PREFACE, EMPTY_SETTINGS].concat()]
}

fn assert_served(listening: &Listening) {
    let client = connect(listening);
    assert_eq!(client.health("").unwrap(), Health::Serving);
    assert_eq!(client.get_package("anchor").unwrap().name, "anchor");
}

#[test]
fn silent_connections_do_not_block_clients() {
    for words in silences() {
        // No limit of time passes here: new connections take the places of silent ones.
        let limits =
            ServerLimits { connections: 20, connections_per_peer: 10, ..ServerLimits::default() };
        let (_server, listening) = serve(limits);
        let held: Vec<TcpStream> = (0..60).map(|_| say(listening.address(), &words)).collect();
        assert_served(&listening);
        drop(held);
    }
}

#[test]
fn silent_connections_are_closed_in_time() {
    let limits = ServerLimits { handshake: SHORT, idle: SHORT, ..ServerLimits::default() };
    let (_server, listening) = serve(limits);
    let mut held = silences().map(|words| say(listening.address(), &words));
    held.iter_mut().for_each(wait_for_end);
}

#[test]
fn stalled_calls_are_cut_off() {
    let limits = ServerLimits { stalled_call: SHORT, ..ServerLimits::default() };
    let (_server, listening) = serve(limits);
    let mut stream = TcpStream::connect(listening.address().to_string()).unwrap();
    send_stalled_call(&mut stream);
    wait_for_end(&mut stream);
}

#[test]
fn calls_are_refused_when_there_are_too_many() {
    let limits = ServerLimits { calls: 3, ..ServerLimits::default() };
    let (_server, listening) = serve(limits);
    let mut stalled: Vec<Stalled> = (0..3).map(|_| stall(listening.address())).collect();
    let client = connect(&listening);
    assert_eq!(client.health("").unwrap(), Health::Serving, "probes are answered");
    let refused = client.get_package("anchor").unwrap_err();
    let ClientError::Refused { code, message, .. } = &refused else { panic!("{refused}") };
    assert_eq!(code, "ResourceExhausted");
    assert!(message.contains("too many calls"), "{message}");
    stalled.iter_mut().for_each(Stalled::finish);
    // The server notices the end of a call a moment later than its peer.
    let answered = (0..600).any(|_| {
        thread::sleep(Duration::from_millis(100));
        client.get_package("anchor").is_ok()
    });
    assert!(answered);
}

#[test]
fn floods_from_one_address_do_not_block_others() {
    let limits =
        ServerLimits { connections: 8, connections_per_peer: 8, ..ServerLimits::default() };
    let (_server, listening) = serve(limits);
    let address: SocketAddr = listening.address().to_string().parse().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let from_elsewhere = || {
        let stream = runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
            socket.connect(address).await.unwrap()
        });
        let stream = stream.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    };
    // Every place is taken, and every connection has a call.
    let stalled: Vec<Stalled> = (0..8).map(|_| stall_on(from_elsewhere())).collect();
    assert_served(&listening);
    drop(stalled);
}

#[test]
fn stopping_does_not_wait_for_silent_connections() {
    let limits = ServerLimits { stop_grace: SHORT, ..ServerLimits::default() };
    let (_server, listening) = serve(limits);
    let held = silences().map(|words| say(listening.address(), &words));
    let idle = Client::connect(listening.address(), ClientOptions::default()).unwrap();
    assert!(idle.get_package("anchor").is_ok());
    let (sender, receiver) = mpsc::channel();
    // Calls would be waited for all that time.
    thread::spawn(move || sender.send(listening.stop(HANG_GUARD * 10).unwrap()));
    assert_eq!(receiver.recv_timeout(HANG_GUARD).expect("it still waits"), Stopped::Drained);
    drop(held);
}
