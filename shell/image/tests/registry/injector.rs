//! A server that does what it is told, however wrong: an injector of faults, not a registry.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path with the query.
    pub(crate) path: String,
    /// The lines of the head, in small letters.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&start))
    }
}

type Handler = dyn Fn(&Request, &mut TcpStream) + Send + Sync;

/// A server that ends with the test.
pub(crate) struct Injector {
    pub(crate) host: String,
    seen: Arc<Mutex<Vec<Request>>>,
    is_over: Arc<AtomicBool>,
}

impl Injector {
    /// Answers every request with what the handler writes; then the connection is closed.
    pub(crate) fn start(
        handler: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (seen, is_over) = (Arc::default(), Arc::default());
        let injector = Self { host, seen: Arc::clone(&seen), is_over: Arc::clone(&is_over) };
        let handler: Arc<Handler> = Arc::new(handler);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (handler, seen) = (Arc::clone(&handler), Arc::clone(&seen));
                thread::spawn(move || serve(stream, &*handler, &seen));
            }
        });
        injector
    }

    /// Returns the requests so far, without the question whether the server speaks TLS.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, part: &str) -> usize {
        self.seen().iter().filter(|request| request.path.contains(part)).count()
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(&self.host);
    }
}

fn serve(mut stream: TcpStream, handler: &Handler, seen: &Mutex<Vec<Request>>) {
    // Whoever never sends a request is not waited for.
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
        // The first byte of TLS.
        if head == [0x16] {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
            return;
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut words = text.split(' ');
    let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    let head = text.lines().map(|line| match line.split_once(": ") {
        Some((name, value)) => format!("{}: {value}\n", name.to_ascii_lowercase()),
        None => format!("{line}\n"),
    });
    let mut request = Request { method, path, head: head.collect(), body: Vec::new() };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    request.body = vec![0; length];
    if stream.read_exact(&mut request.body).is_err() {
        return;
    }
    seen.lock().unwrap().push(request.clone());
    handler(&request, &mut stream);
}

/// Writes an answer; a client that is gone is no fault.
pub(crate) fn answer(stream: &mut TcpStream, status: &str, headers: &[(&str, &str)], body: &[u8]) {
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Content-Length") {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "\r\n";
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
    let _ = stream.flush();
}
