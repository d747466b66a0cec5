//! What the pods of a scenario are like, asked by the kubelet.
//!
//! A pod whose template says `ready-after=8m` has a readiness probe that asks here, in the rig's
//! network, and is answered by the scenario's clock. So a real pod becomes ready for real, when the
//! scenario's time has come.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use operon_object::Timestamp;

use crate::Clock;

/// The longest request that is looked at; a kubelet's has about 200 bytes.
const REQUEST_LIMIT: usize = 4096;

/// How long a kubelet may take to say what it wants.
const REQUEST_PATIENCE: Duration = Duration::from_secs(5);

/// Answers readiness probes.
#[derive(Debug, Clone)]
pub struct Probes {
    port: u16,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    clock: Clock,
    /// When each set of pods was first asked after: by namespace, set and what it does.
    asked: BTreeMap<(String, String, String), Timestamp>,
}

impl Probes {
    /// Listens on a free port of the network that this thread is in.
    pub fn listen() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let inner = Inner { clock: Clock::new(), asked: BTreeMap::new() };
        let probes = Self { port, inner: Arc::new(Mutex::new(inner)) };
        let answering = probes.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A kubelet that goes away in the middle asks again.
                let _ = answering.answer(stream);
            }
        });
        Ok(probes)
    }

    /// Returns the port that kubelets ask on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Begins anew with another clock.
    pub fn begin(&self, clock: &Clock) {
        let mut inner = self.lock();
        inner.clock = clock.clone();
        inner.asked.clear();
    }

    /// Returns when a pod becomes ready, or ceases to be.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let inner = self.lock();
        let now = inner.clock.now();
        let wakes = inner.asked.iter().filter_map(|((_, _, words), since)| {
            let (_, delay) = parse(words);
            Some(since.after(delay?))
        });
        wakes.filter(|wake| *wake > now).min()
    }

    /// Tells whether the pods of a Deployment, which does what the words say, should be ready now;
    /// nothing if they were not asked after yet.
    pub fn should_be_ready(&self, namespace: &str, deployment: &str, words: &str) -> Option<bool> {
        let inner = self.lock();
        let stem = format!("{deployment}-");
        let mut asked = inner.asked.iter().filter(|((asked, set, said), _)| {
            asked == namespace && set.starts_with(&stem) && said == words
        });
        asked.next().map(|((_, _, words), since)| is_ready(words, *since, inner.clock.now()))
    }

    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(REQUEST_PATIENCE))?;
        let mut request = Vec::new();
        let mut part = [0; 512];
        while !request.ends_with(b"\r\n\r\n") && request.len() < REQUEST_LIMIT {
            let count = stream.read(&mut part)?;
            if count == 0 {
                break;
            }
            request.extend_from_slice(part.get(..count).unwrap_or_default());
        }
        let text = String::from_utf8_lossy(&request);
        let path = text.split_whitespace().nth(1).unwrap_or_default();
        let mut names = path.trim_start_matches('/').splitn(3, '/').map(str::to_owned);
        let (Some(namespace), Some(set), Some(words)) = (names.next(), names.next(), names.next())
        else {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        };
        let is_ready = {
            let mut inner = self.lock();
            let now = inner.clock.now();
            let since = *inner.asked.entry((namespace, set, words.clone())).or_insert(now);
            is_ready(&words, since, now)
        };
        let status = if is_ready { "200 OK" } else { "503 Service Unavailable" };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_ready(words: &str, since: Timestamp, now: Timestamp) -> bool {
    let (word, delay) = parse(words);
    let is_over = delay.is_some_and(|delay| now >= since.after(delay));
    match word {
        "ready-after" => is_over,
        "crash-after" => !is_over,
        "never" | "crash" => false,
        _ => true,
    }
}

/// Reads `ready-after=8m`.
fn parse(words: &str) -> (&str, Option<Duration>) {
    let (word, delay) = words.split_once('=').unwrap_or((words, ""));
    let digits = delay.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit = delay.strip_prefix(digits).and_then(|unit| match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    });
    let number: Option<u64> = digits.parse().ok();
    (word, number.zip(unit).map(|(number, unit)| Duration::from_millis(number * unit)))
}
