//! A proxy of requests that answers some of them itself, wrongly: what overloaded servers do.
//!
//! It speaks plain HTTP and stands before `kubectl proxy`; what it does not answer goes to the API
//! server, with the rights of who may do everything.

use std::{
    fmt,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use crate::Rig;

/// What becomes of a request.
#[derive(Clone)]
pub enum Fault {
    /// It is answered here: with a code, headers and a body.
    Answer(u16, &'static str, String),
    /// Something else happens before, and then it is answered here: with a code and a body.
    After(Arc<dyn Fn() + Send + Sync>, u16, String),
    /// The server does it, and the answer is lost.
    LoseAnswer,
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(code, ..) => write!(formatter, "answered with {code}"),
            Self::After(_, code, _) => write!(formatter, "overtaken, then answered with {code}"),
            Self::LoseAnswer => formatter.write_str("done, and the answer lost"),
        }
    }
}

/// Which requests are met, and how many of them.
#[derive(Debug)]
struct Rule {
    method: &'static str,
    path: &'static str,
    left: usize,
    fault: Fault,
}

/// A proxy before the API server. It is made and used inside the rig's network.
#[derive(Debug)]
pub struct Injector {
    address: SocketAddr,
    shared: Arc<Mutex<State>>,
    proxy: Child,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    seen: Vec<String>,
}

impl Injector {
    /// Stands before the API server of a rig, on a free port.
    pub fn before(rig: &Rig) -> io::Result<Self> {
        let mut command = rig.kubectl_command(&["proxy", "--port=0", "--reject-methods=^$"]);
        let mut proxy = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = proxy.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let upstream = line.trim().rsplit(' ').next().and_then(|text| text.parse().ok());
        let no_address = || io::Error::other(format!("kubectl proxy said no address: `{line}`"));
        let upstream: SocketAddr = upstream.ok_or_else(no_address)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Mutex::new(State::default()));
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                let state = Arc::clone(&serving);
                thread::spawn(move || serve(client, upstream, &state));
            }
        });
        Ok(Self { address, shared, proxy })
    }

    /// Returns where it stands.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Meets the next requests of a method whose path contains a text.
    pub fn meet(&self, method: &'static str, path: &'static str, left: usize, fault: Fault) {
        self.lock().rules.push(Rule { method, path, left, fault });
    }

    /// Lets everything pass again, and forgets what was seen.
    pub fn clear(&self) {
        *self.lock() = State::default();
    }

    /// Counts the requests of a method whose path contains a text.
    pub fn count(&self, method: &str, path: &str) -> usize {
        let state = self.lock();
        let is_meant = |line: &&String| line.starts_with(method) && line.contains(path);
        state.seen.iter().filter(is_meant).count()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

/// Serves one request of a connection.
fn serve(client: TcpStream, upstream: SocketAddr, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let (mut head, mut length) = (first.clone(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
        if !name.eq_ignore_ascii_case("connection") {
            head += &line;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut client = client;
    let fault = meet(state, first.trim());
    let answer = match &fault {
        Some(Fault::Answer(code, headers, text)) => Some((code, *headers, text)),
        Some(Fault::After(happen, code, text)) => {
            happen();
            Some((code, "", text))
        }
        Some(Fault::LoseAnswer) | None => None,
    };
    if let Some((code, headers, text)) = answer {
        let length = text.len();
        let answer = format!(
            "HTTP/1.1 {code} Injected\r\nContent-Type: application/json\r\n{headers}\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{text}"
        );
        return client.write_all(answer.as_bytes()).ok();
    }
    let mut server = TcpStream::connect(upstream).ok()?;
    server.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).ok()?;
    server.write_all(&body).ok()?;
    if fault.is_some() {
        // Only when it is answered it is done for certain.
        server.read_exact(&mut [0; 12]).ok()?;
        return None;
    }
    io::copy(&mut server, &mut client).ok().map(|_| ())
}

fn meet(state: &Mutex<State>, line: &str) -> Option<Fault> {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.seen.push(line.to_owned());
    let is_met = |rule: &&mut Rule| {
        rule.left > 0 && line.starts_with(rule.method) && line.contains(rule.path)
    };
    let rule = state.rules.iter_mut().find(is_met)?;
    rule.left -= 1;
    Some(rule.fault.clone())
}
