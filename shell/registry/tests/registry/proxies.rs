//! Registries behind a proxy: a small real one that knows the way to a name nobody else can look up.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use operon_registry::{Address, Client, ClientError, ClientOptions, ProxySettings};

use crate::content::{MemoryContent, serve};

/// A name of the domain that is kept for names that do not exist.
const BEHIND: &str = "catalog.invalid:50051";

/// A proxy that lets through to one registry whoever names it, and remembers what it was asked.
struct Proxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Begins one that connects to `registry` whoever asks for [`BEHIND`], if its answer is a good one.
    fn start(registry: SocketAddr, answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let seen = Arc::clone(&seen);
                thread::spawn(move || lead(client, registry, answer, &seen));
            }
        });
        Self { address, asked }
    }

    fn settings(&self, exempt: &str) -> ClientOptions {
        let proxy = format!("http://me:secret@{}", self.address);
        let proxy = ProxySettings { proxy, exempt: exempt.to_owned() };
        ClientOptions { proxy, ..ClientOptions::default() }
    }
}

fn lead(mut client: TcpStream, registry: SocketAddr, answer: &str, asked: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(client.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(lines.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let is_known = head.starts_with(&format!("CONNECT {BEHIND} HTTP/1.1\r\n"));
    asked.lock().unwrap().push(head);
    assert!(is_known, "the proxy is asked for something else");
    client.write_all(answer.as_bytes()).unwrap();
    if !answer.contains(" 200 ") {
        return;
    }
    let mut server = TcpStream::connect(registry).unwrap();
    let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client);
    let back = thread::spawn(move || std::io::copy(&mut from_server, &mut to_client));
    // Either side may end it.
    let _ = std::io::copy(&mut lines, &mut server);
    let _ = server.shutdown(std::net::Shutdown::Both);
    let _ = back.join();
}

fn socket_address(address: &Address) -> SocketAddr {
    address.to_string().parse().unwrap()
}

#[test]
fn a_registry_is_reached_through_the_proxy_and_not_where_it_is_exempt() {
    let (_server, listening) = serve(MemoryContent::example());
    let registry = socket_address(listening.address());
    let proxy = Proxy::start(registry, "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
    let behind: Address = BEHIND.parse().unwrap();

    let client = Client::connect(&behind, proxy.settings("elsewhere.invalid")).unwrap();
    let mut documents = Vec::new();
    let fetched = client.fetch_catalog(&mut documents).unwrap();
    let direct = Client::connect(listening.address(), proxy.settings("")).unwrap();
    assert_eq!(direct.fetch_catalog(&mut Vec::new()).unwrap().digest, fetched.digest);
    let asked = proxy.asked.lock().unwrap().clone();
    // The second client talks to this machine, which is never done through a proxy.
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].contains("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n"), "{asked:?}");

    let exempt = Client::connect(&behind, proxy.settings("a.invalid,catalog.invalid")).unwrap_err();
    assert!(matches!(exempt, ClientError::Unreachable { .. }), "{exempt}");
    assert_eq!(proxy.asked.lock().unwrap().len(), 1);
}

#[test]
fn a_proxy_that_refuses_is_named_with_its_answer_and_without_its_password() {
    let nowhere: SocketAddr = "127.0.0.1:1".parse().unwrap();
    let endless: &'static str = "HTTP/1.1 200 OK\r\nA: ".to_owned().leak();
    let long: &'static str = format!("{endless}{}", "a".repeat(20_000)).leak();
    for (answer, expected) in [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "answers `HTTP/1.1 403 Forbidden` when asked for"),
        ("SSH-2.0-OpenSSH_9\r\n\r\n", "answers `SSH-2.0-OpenSSH_9` when asked for"),
        ("HTTP/1.1 502 Bad\x1b[31m\r\n\r\n", "answers `HTTP/1.1 502 Bad[31m`"),
        (long, "it says more than 16384 bytes"),
        ("HTTP/1.1", "does not answer as proxies do"),
    ] {
        let proxy = Proxy::start(nowhere, answer);
        let error = Client::connect(&BEHIND.parse().unwrap(), proxy.settings("")).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains(&proxy.address.to_string()), "{error}");
        assert!(error.contains(BEHIND) && !error.contains("secret"), "{error}");
    }
    let proxy = "http://127.0.0.1:1".to_owned();
    let proxy = ProxySettings { proxy, exempt: String::new() };
    let options = ClientOptions { proxy, ..ClientOptions::default() };
    let error = Client::connect(&BEHIND.parse().unwrap(), options).unwrap_err().to_string();
    assert!(error.contains("the proxy `127.0.0.1:1` cannot be reached"), "{error}");
}
