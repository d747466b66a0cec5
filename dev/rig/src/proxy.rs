//! A proxy of connections that can be cut, refused and stopped: what networks do.
//!
//! It knows nothing of what passes. It is made and used inside a rig's network.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
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

/// A proxy before a server. Its threads end with the process.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    mode: Mode,
    open: Vec<TcpStream>,
}

impl Proxy {
    /// Stands before a server, on a free port of this machine.
    pub fn before(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let state = Mutex::new(State { mode: Mode::Pass, open: Vec::new() });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                serving.take(client, server);
            }
        });
        Ok(Self { address, shared })
    }

    /// Returns where it stands.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets everything pass again.
    pub fn pass(&self) {
        self.set(Mode::Pass);
    }

    /// Stops everything without telling anybody. What is sent meanwhile dies with its connection.
    pub fn block(&self) {
        self.set(Mode::Block);
    }

    /// Closes all connections, and every new one.
    pub fn refuse(&self) {
        self.set(Mode::Refuse);
        self.cut();
    }

    /// Closes all connections.
    pub fn cut(&self) {
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, client: TcpStream, server: SocketAddr) {
        if self.lock().mode == Mode::Refuse {
            return;
        }
        // Where no connection can be made, the client sees its own close.
        let _ = self.connect(client, server);
    }

    fn connect(self: &Arc<Self>, client: TcpStream, server: SocketAddr) -> io::Result<()> {
        let upstream = TcpStream::connect(server)?;
        self.lock().open.extend([client.try_clone()?, upstream.try_clone()?]);
        for (from, to) in [(client.try_clone()?, upstream.try_clone()?), (upstream, client)] {
            let shared = Arc::clone(self);
            thread::spawn(move || shared.pump(from, to));
        }
        Ok(())
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let mut was_blocked = false;
            let mut state = self.lock();
            while state.mode == Mode::Block {
                was_blocked = true;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            drop(state);
            let read = buffer.get(..count).unwrap_or_default();
            if (was_blocked && is_closed(&from)) || to.write_all(read).is_err() {
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
    let peek = || {
        stream.set_nonblocking(true)?;
        let peeked = stream.peek(&mut [0; 64 << 10]);
        stream.set_nonblocking(false)?;
        peeked
    };
    // A farewell is all that a client sends after a request that is not answered.
    peek().map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |_| true)
}
