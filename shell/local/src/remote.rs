//! A cluster that another process keeps, reached through its socket.
//!
//! A call that got no answer is never repeated by itself: it may have been done. The caller sees that
//! the cluster was not available, looks again and decides.

use std::{
    collections::BTreeSet,
    error::Error,
    fmt, fs,
    io::{self, Read as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use operon_driver::{Changes, Cluster, ClusterError, Cursor, Impersonated, Interest, Listing};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey};

use crate::{
    APPLY_MANAGER,
    call::{Call, PROTOCOL, Reply, read_reply},
    frame::{Patience, receive, send},
    serve::{FRAME_PATIENCE, WAIT_LIMIT},
    socket::connect,
};

/// How long an answer may let wait for itself: longer than a disk takes to store anything.
pub const ANSWER_PATIENCE: Duration = Duration::from_mins(1);

/// A cluster in another process.
#[derive(Debug)]
pub struct RemoteCluster {
    socket: PathBuf,
    manager: String,
    /// Connections that nobody uses at the moment.
    idle: Mutex<Vec<UnixStream>>,
}

/// Says why a cluster could not be reached.
#[derive(Debug)]
pub enum ConnectError {
    /// Nobody listens on the socket.
    Nobody {
        /// The socket.
        socket: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The socket is a symbolic link, which could lead to another program.
    Link {
        /// The socket.
        socket: PathBuf,
    },
    /// The program that listens speaks another version of the protocol.
    OtherVersion {
        /// The socket.
        socket: PathBuf,
        /// The version that is spoken there.
        found: i64,
        /// The version that is spoken here.
        known: i64,
    },
    /// Somebody listens, but does not answer, or only that there is no place.
    NoAnswer {
        /// The socket.
        socket: PathBuf,
        /// What came of it.
        detail: String,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody { socket, source } => write!(
                formatter,
                "nobody shares a cluster through `{}`: {source}; start `operon up` in its directory",
                socket.display()
            ),
            Self::Link { socket } => write!(
                formatter,
                "the socket `{}` is a symbolic link: Operon does not follow it; delete it",
                socket.display()
            ),
            Self::OtherVersion { socket, found, known } => write!(
                formatter,
                "the program that shares its cluster through `{}` speaks version {found} of the \
                 protocol, and this Operon version {known}: use the same version for both",
                socket.display()
            ),
            Self::NoAnswer { socket, detail } => write!(
                formatter,
                "the program that shares its cluster through `{}` does not serve: {detail}",
                socket.display()
            ),
        }
    }
}

impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Nobody { source, .. } => Some(source),
            Self::Link { .. } | Self::OtherVersion { .. } | Self::NoAnswer { .. } => None,
        }
    }
}

impl RemoteCluster {
    /// Connects to the cluster behind a socket. `manager` is the name that changes of fields are
    /// recorded under, except by apply.
    pub fn connect(socket: &Path, manager: &str) -> Result<Self, ConnectError> {
        if fs::symlink_metadata(socket).is_ok_and(|found| found.is_symlink()) {
            return Err(ConnectError::Link { socket: socket.to_owned() });
        }
        let fail = |source| ConnectError::Nobody { socket: socket.to_owned(), source };
        let stream = connect(socket).map_err(fail)?;
        let cluster = Self {
            socket: socket.to_owned(),
            manager: manager.to_owned(),
            idle: Mutex::new(vec![stream]),
        };
        let socket = socket.to_owned();
        match cluster.call(&Call::Hello, FRAME_PATIENCE) {
            Ok(Reply::Hello(PROTOCOL)) => Ok(cluster),
            Ok(Reply::Hello(found)) => {
                Err(ConnectError::OtherVersion { socket, found, known: PROTOCOL })
            }
            Ok(other) => Err(ConnectError::NoAnswer { socket, detail: format!("{other:?}") }),
            Err(error) => Err(ConnectError::NoAnswer { socket, detail: error.message }),
        }
    }

    /// Waits until something has changed since a point, for so long at most; tells whether to look.
    /// When the cluster cannot be reached there is something to see as well: the reason.
    pub fn wait_for_change(&self, since: &Cursor, at_most: Duration) -> bool {
        let begun = Instant::now();
        loop {
            let slice = at_most.saturating_sub(begun.elapsed()).min(WAIT_LIMIT);
            let call = Call::Wait(since.clone(), slice);
            match self.call(&call, slice + ANSWER_PATIENCE) {
                Ok(Reply::News(false)) if begun.elapsed() < at_most => {}
                Ok(Reply::News(is_news)) => return is_news,
                Ok(_) | Err(_) => return true,
            }
        }
    }

    /// Does what [`Cluster::apply`] does in the name of somebody else, whose fields stay apart from
    /// those of Operon.
    pub fn apply_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        self.call_for_object(&Call::Apply(object.clone(), manager.to_owned()))
    }

    fn call_for_object(&self, call: &Call) -> Result<Object, ClusterError> {
        match self.call(call, ANSWER_PATIENCE)? {
            Reply::Object(Some(object)) => Ok(object),
            other => Err(self.strange(&other)),
        }
    }

    fn call(&self, call: &Call, patience: Duration) -> Result<Reply, ClusterError> {
        let unreachable = |error: &dyn fmt::Display| ClusterError {
            kind: ErrorKind::Unavailable,
            message: format!(
                "the program that keeps the cluster does not answer on `{}`: {error}",
                self.socket.display()
            ),
        };
        let stream = self.stream().map_err(|error| unreachable(&error))?;
        let patience = Patience { begin: patience, frame: FRAME_PATIENCE };
        let sent = send(&stream, &call.write(), FRAME_PATIENCE);
        // A server that ends the conversation says why, even if it did not listen any more.
        let answer = match (receive(&stream, patience, usize::MAX), sent) {
            (Ok(answer), _) => answer,
            (Err(_), Err(error)) | (Err(error), Ok(())) => return Err(unreachable(&error)),
        };
        let reply = read_reply(call, answer);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        reply
    }

    /// Takes a connection that is not used, or makes a new one.
    fn stream(&self) -> io::Result<UnixStream> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(stream) if is_alive(&stream) => return Ok(stream),
                Some(_) => {}
                None => return connect(&self.socket),
            }
        }
    }

    fn strange(&self, reply: &Reply) -> ClusterError {
        let message =
            format!("the answer on `{}` was not expected: {reply:?}", self.socket.display());
        ClusterError { kind: ErrorKind::Unavailable, message }
    }
}

impl Cluster for RemoteCluster {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        match self.call(&Call::List(interests.clone()), ANSWER_PATIENCE)? {
            Reply::Listing(listing) => Ok(listing),
            other => Err(self.strange(&other)),
        }
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        match self.call(&Call::Changes(interests.clone(), since.clone()), ANSWER_PATIENCE)? {
            Reply::Changes(changes) => Ok(changes),
            other => Err(self.strange(&other)),
        }
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        match self.call(&Call::Get(key.clone()), ANSWER_PATIENCE)? {
            Reply::Object(object) => Ok(object),
            other => Err(self.strange(&other)),
        }
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.call_for_object(&Call::Create(object.clone(), self.manager.clone()))
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.call_for_object(&Call::Update(object.clone(), self.manager.clone()))
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.call_for_object(&Call::UpdateStatus(object.clone(), self.manager.clone()))
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.apply_as(object, APPLY_MANAGER)
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        match self.call(&Call::Delete(key.clone(), uid.to_owned()), ANSWER_PATIENCE)? {
            Reply::Done => Ok(()),
            other => Err(self.strange(&other)),
        }
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        Ok(Box::new(Impersonated::new(self, account)))
    }
}

/// Tells whether the other end still holds a connection on which nothing was asked.
fn is_alive(mut stream: &UnixStream) -> bool {
    let silent = stream.set_nonblocking(true).and_then(|()| stream.read(&mut [0]));
    let is_silent = matches!(silent, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
    is_silent && stream.set_nonblocking(false).is_ok()
}
