//! A proxy of connections that can be cut, refused and stopped: what networks do.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

/// What becomes of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Everything passes.
    Pass,
    /// New ones are closed at once.
    Refuse,
    /// Nothing passes, and nobody is told.
    Block,
}

/// A proxy before a server.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    mode: Mode,
    open: Vec<TcpStream>,
}

impl Proxy {
    /// Stands before a server, on a free port of this machine.
    pub(crate) fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Mutex::new(State { mode: Mode::Pass, open: Vec::new() });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                serving.take(client, server);
            }
        });
        Self { address, shared }
    }

    /// Lets everything pass again.
    pub(crate) fn pass(&self) {
        self.set(Mode::Pass);
    }

    /// Stops everything without telling anybody. What is sent meanwhile dies with its connection.
    pub(crate) fn block(&self) {
        self.set(Mode::Block);
    }

    /// Closes all connections, and every new one.
    pub(crate) fn refuse(&self) {
        self.set(Mode::Refuse);
        self.cut();
    }

    /// Closes all connections.
    pub(crate) fn cut(&self) {
        for stream in self.shared.lock().open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn set(&self, mode: Mode) {
        self.shared.lock().mode = mode;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    fn take(self: &Arc<Self>, client: TcpStream, server: SocketAddr) {
        if self.lock().mode == Mode::Refuse {
            return;
        }
        let Ok(upstream) = TcpStream::connect(server) else { return };
        let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor");
        self.lock().open.extend([copy(&client), copy(&upstream)]);
        for (from, to) in [(copy(&client), copy(&upstream)), (upstream, client)] {
            let shared = Arc::clone(self);
            thread::spawn(move || shared.pump(from, to));
        }
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let mut was_blocked = false;
            let mut state = self.lock();
            while state.mode == Mode::Block {
                was_blocked = true;
                state = self.changed.wait(state).expect("no panic");
            }
            drop(state);
            if (was_blocked && is_closed(&from)) || to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}

/// Tells whether the other end has gone: what it sent before is lost then, as in a partition that
/// outlasts the patience of its system.
fn is_closed(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a socket");
    let peeked = stream.peek(&mut [0; 64 << 10]);
    stream.set_nonblocking(false).expect("a socket");
    // A farewell is all that a client sends after a request that is not answered.
    peeked.map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |_| true)
}
