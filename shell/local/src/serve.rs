//! Sharing an embedded cluster with other processes.
//!
//! Each peer gets a thread that answers its calls one after the other. Peers cannot hurt the server:
//! there are so many of them at most, they have so long at most, and what they send is so large at
//! most. Who may connect is decided by the permissions of the socket alone.

use std::{
    collections::BTreeMap,
    io,
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use operon_apiserver::Part;
use operon_driver::{Cluster as _, ClusterError};
use operon_lifecycle::ErrorKind;

use crate::{
    LocalCluster, ServeError,
    call::{Call, PROTOCOL, Reply, write_reply},
    frame::{FrameError, Message, Patience, receive, send},
    socket::{Bound, bind, connect},
};

/// How many peers are served at the same time: far more than the terminals somebody has open, and
/// few enough that their threads and frames fit in any memory.
pub const PEERS_LIMIT: usize = 32;

/// How long a peer may say nothing before its place is given to others.
pub const IDLE_LIMIT: Duration = Duration::from_mins(5);

/// How long a frame may take from its first byte to its last, both ways.
pub const FRAME_PATIENCE: Duration = Duration::from_secs(10);

/// The longest time that a peer may wait for a change in one call; it can ask again.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(10);

/// How often somebody who waits looks whether the service ends.
const WAIT_SLICE: Duration = Duration::from_millis(200);

/// The pause after a connection could not be taken, as when too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Shares a cluster until it is dropped.
#[derive(Debug)]
pub struct Service {
    shared: Arc<Shared>,
    bound: Bound,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    cluster: Arc<LocalCluster>,
    is_ending: AtomicBool,
    peers: Mutex<Peers>,
}

#[derive(Debug, Default)]
struct Peers {
    next: u64,
    /// The connections, to end them.
    connections: BTreeMap<u64, UnixStream>,
    threads: Vec<JoinHandle<()>>,
}

/// Shares a cluster through a socket that only the same user can open.
pub fn serve(cluster: Arc<LocalCluster>, socket: &Path) -> Result<Service, ServeError> {
    let (listener, bound) = bind(socket)?;
    let peers = Mutex::default();
    let shared = Arc::new(Shared { cluster, is_ending: AtomicBool::new(false), peers });
    let accepting = Arc::clone(&shared);
    let thread = thread::Builder::new()
        .name("operon-socket".to_owned())
        .spawn(move || accepting.accept(&listener))
        .map_err(|source| ServeError::Io { path: socket.to_owned(), source })?;
    Ok(Service { shared, bound, accepting: Some(thread) })
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Ordering::SeqCst);
        // Somebody must knock, or the listener sleeps on. Where the name is gone it cannot be
        // reached and is left alone: it serves nobody any more.
        let is_awake = connect(self.bound.path()).is_ok();
        if let Some(thread) = self.accepting.take().filter(|_| is_awake) {
            let _ = thread.join();
        }
        let threads = {
            let mut peers = self.shared.peers();
            for stream in peers.connections.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
            std::mem::take(&mut peers.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::SeqCst)
    }

    fn accept(self: &Arc<Self>, listener: &UnixListener) {
        loop {
            let stream = listener.accept();
            if self.is_ending() {
                return;
            }
            match stream.and_then(|(stream, _)| self.welcome(stream)) {
                Ok(()) => {}
                Err(_) => thread::sleep(ACCEPT_PAUSE),
            }
        }
    }

    fn welcome(self: &Arc<Self>, stream: UnixStream) -> io::Result<()> {
        let mut peers = self.peers();
        peers.threads.retain(|thread| !thread.is_finished());
        if peers.connections.len() >= PEERS_LIMIT {
            drop(peers);
            let reply = Err(ClusterError {
                kind: ErrorKind::Unavailable,
                message: format!("{PEERS_LIMIT} programs use the cluster already: try again later"),
            });
            // A new connection has room for so little; nobody is waited for.
            let _ = send(&stream, &write_reply(reply), ACCEPT_PAUSE);
            return Ok(());
        }
        let number = peers.next;
        peers.next += 1;
        peers.connections.insert(number, stream.try_clone()?);
        let shared = Arc::clone(self);
        let thread = thread::Builder::new().name("operon-peer".to_owned()).spawn(move || {
            let guest = Guest { shared, number };
            guest.shared.attend(&stream);
        });
        match thread {
            Ok(thread) => {
                peers.threads.push(thread);
                Ok(())
            }
            Err(error) => {
                peers.connections.remove(&number);
                Err(error)
            }
        }
    }

    /// Answers a peer until it goes, or says something that is not understood.
    fn attend(&self, stream: &UnixStream) {
        let patience = Patience { begin: IDLE_LIMIT, frame: FRAME_PATIENCE };
        while !self.is_ending() {
            // A call comes with one object at most.
            let call = match receive(stream, patience, 1) {
                Ok(message) => Call::read(message),
                Err(FrameError::Malformed(detail)) => Err(detail),
                Err(FrameError::Closed | FrameError::Io(_)) => return,
            };
            let (reply, is_over) = match call {
                Ok(call) => (self.answer(call), false),
                Err(detail) => (Err(misunderstood(&detail)), true),
            };
            if send_reply(stream, reply).is_err() || is_over {
                return;
            }
        }
    }

    fn answer(&self, call: Call) -> Result<Reply, ClusterError> {
        let cluster = &self.cluster;
        let found = |object| Reply::Object(Some(object));
        match call {
            Call::Hello => Ok(Reply::Hello(PROTOCOL)),
            Call::List(interests) => cluster.list(&interests).map(Reply::Listing),
            Call::Changes(interests, since) => {
                cluster.changes(&interests, &since).map(Reply::Changes)
            }
            Call::Get(key) => cluster.get(&key).map(Reply::Object),
            Call::Create(object, manager) => cluster.create_as(&object, &manager).map(found),
            Call::Update(object, manager) => {
                cluster.update_as(&object, &manager, Part::Whole).map(found)
            }
            Call::UpdateStatus(object, manager) => {
                cluster.update_as(&object, &manager, Part::Status).map(found)
            }
            Call::Apply(object, manager) => cluster.apply_as(&object, &manager).map(found),
            Call::Delete(key, uid) => cluster.delete(&key, &uid).map(|()| Reply::Done),
            Call::Wait(since, at_most) => {
                let at_most = at_most.min(WAIT_LIMIT);
                let begun = Instant::now();
                loop {
                    let remaining = at_most.saturating_sub(begun.elapsed());
                    let is_news = cluster.wait_for_change(&since, remaining.min(WAIT_SLICE));
                    if is_news || remaining.is_zero() || self.is_ending() {
                        return Ok(Reply::News(is_news));
                    }
                }
            }
        }
    }
}

/// Gives the place of a peer back, however its thread ends.
struct Guest {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.shared.peers().connections.remove(&self.number);
    }
}

fn send_reply(stream: &UnixStream, reply: Result<Reply, ClusterError>) -> Result<(), FrameError> {
    let message: Message = write_reply(reply);
    match send(stream, &message, FRAME_PATIENCE) {
        // The head goes out first, so this only happens where nothing was sent, or the peer is told
        // by the end of the connection.
        Err(FrameError::Malformed(detail)) => {
            let too_large = ClusterError { kind: ErrorKind::Other, message: detail };
            send(stream, &write_reply(Err(too_large)), FRAME_PATIENCE)
        }
        other => other,
    }
}

fn misunderstood(detail: &str) -> ClusterError {
    ClusterError {
        kind: ErrorKind::Invalid,
        message: format!("the call was not understood: {detail}"),
    }
}
