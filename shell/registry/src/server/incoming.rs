//! Listening: connections as they come; those without a place are refused at once.
//!
//! That accepting fails, for example for want of file descriptors, never ends the server.

use std::{
    fs, io,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{
    net::{TcpListener, UnixListener, UnixStream},
    sync::mpsc,
    time::sleep,
};
use tokio_stream::Stream;

use super::connections::{Admitted, Connections, Peer};
use crate::{
    Address, ServerError,
    limits::ACCEPT_AGAIN_AFTER,
    socket::{Socket, Wire},
};

/// A bound address.
#[derive(Debug)]
pub(crate) struct Listener {
    bound: Bound,
    address: Address,
}

#[derive(Debug)]
enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The file of a socket, which goes when the server does.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The file may have been removed by somebody else; there is nobody left to tell.
        let _ = fs::remove_file(&self.0);
    }
}

impl Listener {
    /// Begins to listen; connections wait until they are accepted.
    pub(crate) async fn bind(address: &Address) -> Result<Self, ServerError> {
        let refuse = |source| ServerError::Bind { address: address.to_string(), source };
        match address {
            Address::Tcp { host, port } => {
                let bound = TcpListener::bind((host.as_str(), *port)).await.map_err(refuse)?;
                let port = bound.local_addr().map_err(refuse)?.port();
                let address = Address::Tcp { host: host.clone(), port };
                Ok(Self { bound: Bound::Tcp(bound), address })
            }
            Address::Unix(path) => {
                remove_abandoned(path).await.map_err(refuse)?;
                let bound = UnixListener::bind(path).map_err(refuse)?;
                Ok(Self { bound: Bound::Unix(bound), address: address.clone() })
            }
        }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the file that has to be removed in the end.
    pub(crate) fn socket(&self) -> Option<SocketFile> {
        match &self.address {
            Address::Tcp { .. } => None,
            Address::Unix(path) => Some(SocketFile(path.clone())),
        }
    }

    async fn accept(&self) -> io::Result<(Wire, Peer)> {
        match &self.bound {
            Bound::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Answers are small and awaited; waiting to fill a packet would delay each. A peer
                // that is gone already must not delay others.
                let _ = stream.set_nodelay(true);
                Ok((Wire::Tcp(stream), Peer::Address(peer.ip().to_canonical())))
            }
            Bound::Unix(listener) => Ok((Wire::Unix(listener.accept().await?.0), Peer::Local)),
        }
    }
}

/// Removes a socket that nobody listens on, and nothing else.
async fn remove_abandoned(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    if !is_socket {
        return Ok(());
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The connections of a listener, each with a place that it holds while it lives.
pub(crate) struct Incoming {
    accepted: mpsc::Receiver<Socket<Admitted>>,
}

impl Incoming {
    /// Begins to accept; must be called within a runtime.
    pub(crate) fn start(listener: Listener, connections: Arc<Connections>) -> Self {
        let (sender, accepted) = mpsc::channel(1);
        tokio::spawn(accept_all(listener, connections, sender));
        Self { accepted }
    }
}

async fn accept_all(
    listener: Listener,
    connections: Arc<Connections>,
    accepted: mpsc::Sender<Socket<Admitted>>,
) {
    loop {
        // The receiver is dropped when the server stops, and the listener with this function.
        let arrived = tokio::select! {
            arrived = listener.accept() => arrived,
            () = accepted.closed() => return,
        };
        let Ok((wire, peer)) = arrived else {
            sleep(ACCEPT_AGAIN_AFTER).await;
            continue;
        };
        // A connection without a place is closed here: its client knows at once, and can go elsewhere.
        let Some(companion) = connections.admit(peer) else { continue };
        if accepted.send(Socket { wire, companion }).await.is_err() {
            return;
        }
    }
}

impl Stream for Incoming {
    type Item = io::Result<Socket<Admitted>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.accepted.poll_recv(context).map(|socket| socket.map(Ok))
    }
}
