//! The connections of a server: who may connect, and who has to go.
//!
//! A peer that says nothing costs a place, so places are limited by time and by peer. When all are
//! taken, the peer with the most connections gives one up: a flood from one address does not keep
//! others out. What calls answer is not known here.

use std::{
    collections::BTreeMap,
    io,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Waker},
    time::{Duration, Instant},
};

use tonic::transport::server::Connected;

use crate::{
    limits::ServerLimits,
    socket::{Companion, Socket},
};

/// The bytes of a client that has spoken HTTP/2: its preface and the head of its first frame.
const SPOKEN_BYTES: usize = 24 + 9;

/// How often connections are looked through, as a part of the shortest limit of time.
const SWEEPS_PER_LIMIT: u32 = 4;

/// Bounds the pause between two sweeps.
const SWEEP_PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    /// An address of the network.
    Address(IpAddr),
    /// A process of this machine, through a socket in the file system.
    Local,
}

/// All connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: ServerLimits,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// By the order in which they came.
    connections: BTreeMap<u64, Arc<Connection>>,
    next: u64,
    /// How many calls there are on all of them.
    calls: usize,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    peer: Peer,
    opened: Instant,
    state: Mutex<ConnectionState>,
}

#[derive(Debug)]
struct ConnectionState {
    /// How many bytes came, up to [`SPOKEN_BYTES`].
    spoken: usize,
    /// When the last call ended.
    idle_since: Instant,
    calls: BTreeMap<u64, Turn>,
    next_call: u64,
    is_closed: bool,
    /// The task that serves the connection.
    waker: Option<Waker>,
}

/// Who has to do something for a call to go on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn {
    /// The server.
    Ours,
    /// The peer, since then: it has to send its request, or to take a part of the answer.
    Peers(Instant),
}

/// A connection that holds a place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    number: u64,
    connection: Arc<Connection>,
    connections: Arc<Connections>,
}

/// A call that is counted, until it is dropped.
#[derive(Debug)]
pub(crate) struct Call {
    number: u64,
    connection: Arc<Connection>,
    connections: Arc<Connections>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connections {
    pub(crate) fn new(limits: ServerLimits) -> Self {
        Self { limits, table: Mutex::new(Table::default()) }
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    /// Gives a new connection a place, at the cost of another where none is free. Returns nothing if
    /// the connection has to be refused.
    pub(crate) fn admit(self: &Arc<Self>, peer: Peer) -> Option<Admitted> {
        let now = Instant::now();
        let mut table = lock(&self.table);
        if let Some(number) = table.victim(peer, &self.limits)? {
            let victim = table.connections.remove(&number)?;
            victim.close();
        }
        let connection = Arc::new(Connection::new(peer, now));
        let number = table.next;
        table.next += 1;
        table.connections.insert(number, Arc::clone(&connection));
        Some(Admitted { number, connection, connections: Arc::clone(self) })
    }

    /// Counts a call. Returns nothing if there are too many, unless the call is exempt.
    pub(crate) fn begin_call(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        is_exempt: bool,
    ) -> Option<Call> {
        let mut table = lock(&self.table);
        if table.calls >= self.limits.calls && !is_exempt {
            return None;
        }
        table.calls += 1;
        drop(table);
        let mut state = lock(&connection.state);
        let number = state.next_call;
        state.next_call += 1;
        state.calls.insert(number, Turn::Peers(Instant::now()));
        drop(state);
        let (connection, connections) = (Arc::clone(connection), Arc::clone(self));
        Some(Call { number, connection, connections })
    }

    /// Closes the connections whose time is over. `stopping` is when the server began to stop; from then on
    /// it waits for no connection that has not spoken HTTP/2.
    pub(crate) fn sweep(&self, now: Instant, stopping: Option<Instant>) {
        let is_over =
            stopping.is_some_and(|since| now.duration_since(since) >= self.limits.stop_grace);
        let table = lock(&self.table);
        for connection in table.connections.values() {
            if connection.is_overdue(now, &self.limits)
                || (is_over && connection.is_idle())
                || (stopping.is_some() && connection.is_silent())
            {
                connection.close();
            }
        }
    }

    /// Returns the pause between two sweeps.
    pub(crate) fn sweep_pause(&self) -> Duration {
        let ServerLimits { handshake, idle, stalled_call, stop_grace, .. } = self.limits;
        let shortest = handshake.min(idle).min(stalled_call).min(stop_grace);
        (shortest / SWEEPS_PER_LIMIT).clamp(SWEEP_PAUSES.0, SWEEP_PAUSES.1)
    }
}

impl Table {
    /// Chooses the connection that gives up its place for one of a peer: `Some(None)` if a place is
    /// free, `None` if no connection has to give way.
    fn victim(&self, peer: Peer, limits: &ServerLimits) -> Option<Option<u64>> {
        let mut counts: BTreeMap<Peer, usize> = BTreeMap::new();
        for connection in self.connections.values() {
            *counts.entry(connection.peer).or_default() += 1;
        }
        let own = counts.get(&peer).copied().unwrap_or(0);
        let idle_of = |peer: Peer| self.oldest(|found| found.peer == peer && found.is_idle());
        if own >= limits.connections_per_peer {
            return idle_of(peer).map(Some);
        }
        if self.connections.len() < limits.connections {
            return Some(None);
        }
        let (heaviest, most) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        let idle = idle_of(heaviest).or_else(|| self.oldest(Connection::is_idle));
        // Without an idle one, a busy one of the peer that has more than its share goes.
        let busy = || self.oldest(|found| found.peer == heaviest).filter(|_| most > own + 1);
        idle.or_else(busy).map(Some)
    }

    fn oldest(&self, is_wanted: impl Fn(&Connection) -> bool) -> Option<u64> {
        let mut found = self.connections.iter().filter(|(_, connection)| is_wanted(connection));
        found.next().map(|(number, _)| *number)
    }
}

impl Connection {
    fn new(peer: Peer, now: Instant) -> Self {
        let state = ConnectionState {
            spoken: 0,
            idle_since: now,
            calls: BTreeMap::new(),
            next_call: 0,
            is_closed: false,
            waker: None,
        };
        Self { peer, opened: now, state: Mutex::new(state) }
    }

    /// Ends the connection: whatever its task does with it next fails.
    fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn is_idle(&self) -> bool {
        lock(&self.state).calls.is_empty()
    }

    /// Returns `true` if the peer has not spoken HTTP/2.
    fn is_silent(&self) -> bool {
        lock(&self.state).spoken < SPOKEN_BYTES
    }

    fn is_overdue(&self, now: Instant, limits: &ServerLimits) -> bool {
        let state = lock(&self.state);
        let is_over =
            |since: Instant, limit: Duration| now.saturating_duration_since(since) >= limit;
        let is_stalled = |turn: &Turn| match turn {
            Turn::Ours => false,
            Turn::Peers(since) => is_over(*since, limits.stalled_call),
        };
        (state.spoken < SPOKEN_BYTES && is_over(self.opened, limits.handshake))
            || (state.calls.is_empty() && is_over(state.idle_since, limits.idle))
            || state.calls.values().any(is_stalled)
    }
}

impl Admitted {
    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        lock(&self.connections.table).connections.remove(&self.number);
    }
}

impl Companion for Admitted {
    fn arrived(&mut self, bytes: &[u8]) {
        let mut state = lock(&self.connection.state);
        state.spoken = state.spoken.saturating_add(bytes.len()).min(SPOKEN_BYTES);
    }

    fn check(&mut self, context: &Context<'_>) -> io::Result<()> {
        let mut state = lock(&self.connection.state);
        if state.is_closed {
            return Err(io::Error::from(io::ErrorKind::ConnectionAborted));
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            None => state.waker = Some(context.waker().clone()),
        }
        Ok(())
    }
}

impl Connected for Socket<Admitted> {
    type ConnectInfo = Arc<Connection>;

    fn connect_info(&self) -> Self::ConnectInfo {
        Arc::clone(self.companion.connection())
    }
}

impl Call {
    /// Notes who has to do something for the call to go on.
    pub(crate) fn set_turn(&self, turn: Turn) {
        if let Some(found) = lock(&self.connection.state).calls.get_mut(&self.number) {
            *found = turn;
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut state = lock(&self.connection.state);
        state.calls.remove(&self.number);
        state.idle_since = Instant::now();
        drop(state);
        lock(&self.connections.table).calls -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn peer(number: u8) -> Peer {
        Peer::Address(Ipv4Addr::new(10, 0, 0, number).into())
    }

    fn connections(total: usize, per_peer: usize) -> Arc<Connections> {
        let limits = ServerLimits {
            connections: total,
            connections_per_peer: per_peer,
            ..ServerLimits::default()
        };
        Arc::new(Connections::new(limits))
    }

    fn is_closed(admitted: &Admitted) -> bool {
        lock(&admitted.connection.state).is_closed
    }

    #[test]
    fn full_peers_give_up_idle_connections_only() {
        let all = connections(10, 2);
        let first = all.admit(peer(1)).expect("a place");
        let second = all.admit(peer(1)).expect("a place");
        let _busy = all.begin_call(&first.connection, false).expect("a call");
        let third = all.admit(peer(1)).expect("the idle one goes");
        assert!(!is_closed(&first) && is_closed(&second) && !is_closed(&third));
        let _busy = all.begin_call(&third.connection, false).expect("a call");
        assert!(all.admit(peer(1)).is_none(), "all are busy");
        assert!(all.admit(peer(2)).is_some(), "others have places of their own");
        drop(first);
        assert!(all.admit(peer(1)).is_some(), "a place is free again");
    }

    #[test]
    fn full_servers_make_room_at_the_cost_of_the_heaviest_peer() {
        let all = connections(4, 3);
        let flood: Vec<Admitted> = (0..3).filter_map(|_| all.admit(peer(1))).collect();
        let other = all.admit(peer(2)).expect("a place");
        let calls: Vec<Call> =
            flood.iter().filter_map(|one| all.begin_call(&one.connection, false)).collect();
        assert_eq!(calls.len(), 3);
        // Idle connections go first, of any peer.
        let prober = all.admit(peer(3)).expect("room is made");
        assert!(is_closed(&other) && !flood.iter().any(is_closed));
        let _probe = all.begin_call(&prober.connection, false).expect("a call");
        // Then the oldest of the peer with the most.
        let second = all.admit(Peer::Local).expect("room is made");
        assert!(is_closed(&flood[0]) && !is_closed(&prober));
        let _call = all.begin_call(&second.connection, false).expect("a call");
        // Peers that have their share already are refused.
        assert!(all.admit(peer(3)).is_none());
        assert!(all.admit(peer(4)).is_some(), "a new peer has less than its share");
    }

    #[test]
    fn calls_are_limited_over_all_connections() {
        let limits = ServerLimits { calls: 2, ..ServerLimits::default() };
        let all = Arc::new(Connections::new(limits));
        let [first, second] = [1, 2].map(|number| all.admit(peer(number)).expect("a place"));
        let one = all.begin_call(&first.connection, false).expect("a call");
        let _two = all.begin_call(&second.connection, false).expect("a call");
        assert!(all.begin_call(&second.connection, false).is_none());
        let exempt = all.begin_call(&second.connection, true);
        assert!(exempt.is_some(), "health checks get through");
        drop((one, exempt));
        assert!(all.begin_call(&first.connection, false).is_some());
    }

    #[test]
    fn connections_end_when_their_time_is_over() {
        let limits = ServerLimits {
            handshake: Duration::from_secs(10),
            idle: Duration::from_secs(100),
            stalled_call: Duration::from_secs(50),
            stop_grace: Duration::from_secs(1),
            ..ServerLimits::default()
        };
        let all = Arc::new(Connections::new(limits));
        let [mut idle, mut stalled, mut working] =
            [(); 3].map(|()| all.admit(peer(1)).expect("a place"));
        for spoken in [&mut idle, &mut stalled, &mut working] {
            spoken.arrived(&[0; SPOKEN_BYTES]);
        }
        let waiting = all.begin_call(&stalled.connection, false).expect("a call");
        let ours = all.begin_call(&working.connection, false).expect("a call");
        ours.set_turn(Turn::Ours);
        let begun = Instant::now();
        let late = all.admit(peer(2)).expect("a place");
        all.sweep(begun, Some(begun));
        assert!(is_closed(&late), "nothing is expected of it");
        assert!(![&idle, &stalled, &working].into_iter().any(is_closed));
        let silent = all.admit(peer(1)).expect("a place");
        let closed_after = |seconds: u64, stopping: Option<Instant>| {
            all.sweep(begun + Duration::from_secs(seconds), stopping);
            [&silent, &idle, &stalled, &working].map(is_closed)
        };
        assert_eq!(closed_after(9, None), [false, false, false, false]);
        assert_eq!(closed_after(11, None), [true, false, false, false]);
        assert_eq!(closed_after(51, None), [true, false, true, false]);
        assert_eq!(closed_after(51, Some(begun)), [true, true, true, false], "it stops");
        drop(waiting);
        assert_eq!(closed_after(1000, None), [true, true, true, false]);
        drop(ours);
        assert_eq!(closed_after(1000, None), [true; 4]);
    }
}
