//! The line to a registry: made when it is needed, made again when it was lost, never in a hurry.
//!
//! Flow: a call asks for the line; if there is none, it is made; an attempt that fails makes the
//! next one wait longer. Guarantees: one attempt at a time, however many calls wait for it; a
//! server that comes back to many clients is not met by all of them at once. No call is repeated here.

use std::{
    hash::{BuildHasher, RandomState},
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper_util::rt::TokioIo;
use operon_driver::{AddressPolicy, ForbiddenAddress};
use tokio::{
    net::{TcpStream, UnixStream, lookup_host},
    sync::{Mutex, watch},
    time::{Instant, sleep_until, timeout},
};
use tonic::{
    codegen::Service,
    transport::{Channel, Endpoint, Uri},
};

use super::{
    options::ClientOptions,
    proxy::ProxySettings,
    witness::{ConnectionState, Sight, Witness},
};
use crate::{
    Address, ClientError,
    limits::KEEP_ALIVE_TIMEOUT,
    socket::{Socket, Wire},
};

/// How long the second attempt to connect waits.
pub const FIRST_BACKOFF: Duration = Duration::from_millis(100);

/// How long an attempt to connect waits at most: upstream's clients go up to two minutes, but a
/// catalog that is back should be seen soon.
pub const MAX_BACKOFF: Duration = Duration::from_secs(20);

/// The line to one registry.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) address: Address,
    pub(crate) options: ClientOptions,
    pub(crate) sight: watch::Sender<Sight>,
    link: Mutex<Link>,
}

#[derive(Debug, Default)]
struct Link {
    channel: Option<Channel>,
    attempts: u64,
    failures: u32,
    next_attempt: Option<Instant>,
    last_failure: ConnectFailure,
}

/// Why a connection could not be made.
#[derive(Debug, Default)]
struct ConnectFailure {
    reason: String,
    /// Whether the address must not be connected to.
    is_forbidden: bool,
}

impl Line {
    pub(crate) fn new(address: Address, options: ClientOptions) -> Self {
        let (sight, _) = watch::channel(Sight { attempt: 0, state: ConnectionState::Idle });
        Self { address, options, sight, link: Mutex::default() }
    }

    pub(crate) fn state(&self) -> ConnectionState {
        self.sight.borrow().state
    }

    /// Ends the line for good.
    pub(crate) fn shut_down(&self) {
        self.sight.send_modify(|sight| sight.state = ConnectionState::Shutdown);
        // Whoever holds the lock is connecting, and finds out by itself.
        if let Ok(mut link) = self.link.try_lock() {
            link.channel = None;
        }
    }

    /// Returns a channel to a server that has spoken.
    pub(crate) async fn channel(&self) -> Result<Channel, ClientError> {
        let give_up = Instant::now() + self.options.patience;
        let mut link = self.link.lock().await;
        loop {
            match (self.state(), &link.channel) {
                (ConnectionState::Ready, Some(channel)) => return Ok(channel.clone()),
                (ConnectionState::Shutdown, _) => {
                    return Err(ClientError::ShutDown { address: self.address.to_string() });
                }
                (_, _) => link.channel = None,
            }
            if let Some(next) = link.next_attempt.filter(|next| *next > Instant::now()) {
                if next > give_up {
                    return Err(self.unreachable(&link));
                }
                sleep_until(next).await;
            }
            if self.attempt(&mut link).await.is_err() && self.options.patience.is_zero() {
                return Err(self.unreachable(&link));
            }
        }
    }

    fn unreachable(&self, link: &Link) -> ClientError {
        let ConnectFailure { reason, is_forbidden } = &link.last_failure;
        let reason = reason.clone();
        if *is_forbidden {
            return ClientError::Forbidden { reason };
        }
        ClientError::Unreachable { address: self.address.to_string(), reason }
    }

    /// Tries once to connect, and remembers how it went.
    async fn attempt(&self, link: &mut Link) -> Result<(), ()> {
        link.attempts += 1;
        let attempt = link.attempts;
        self.see(attempt, ConnectionState::Connecting);
        let connecting = timeout(self.options.connect_timeout, self.connect(attempt)).await;
        let failure = match connecting {
            Ok(Ok(channel)) => {
                link.channel = Some(channel);
                (link.failures, link.next_attempt) = (0, None);
                return Ok(());
            }
            Ok(Err(failure)) => failure,
            Err(_) => {
                let seconds = self.options.connect_timeout.as_secs_f32();
                let reason = format!("it did not speak within {seconds} seconds");
                ConnectFailure { reason, is_forbidden: false }
            }
        };
        link.last_failure = failure;
        link.next_attempt = Some(Instant::now() + backoff(link.failures, random()));
        link.failures = link.failures.saturating_add(1);
        self.see(attempt, ConnectionState::TransientFailure);
        Err(())
    }

    fn see(&self, attempt: u64, state: ConnectionState) {
        self.sight.send_modify(|sight| {
            if sight.state != ConnectionState::Shutdown {
                *sight = Sight { attempt, state };
            }
        });
    }

    /// Makes a connection and waits until the server has spoken on it.
    async fn connect(&self, attempt: u64) -> Result<Channel, ConnectFailure> {
        let witness = Witness::new(attempt, self.sight.clone());
        let dialer = Dialer {
            address: self.address.clone(),
            proxy: self.options.proxy.clone(),
            addresses: self.options.addresses.clone(),
            witness: Some(witness),
        };
        // Registries do not look at the name they are called by, and sockets have none.
        let channel = Endpoint::from_static("http://registry")
            .http2_keep_alive_interval(self.options.keep_alive)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .keep_alive_while_idle(true)
            .connect_with_connector(dialer)
            .await
            .map_err(|error| reason(&error))?;
        let mut sights = self.sight.subscribe();
        let is_decided = |sight: &Sight| sight.state != ConnectionState::Connecting;
        let sight = sights.wait_for(is_decided).await.map(|sight| *sight);
        match sight {
            Ok(Sight { state: ConnectionState::Ready, .. }) => Ok(channel),
            Ok(_) | Err(_) => {
                let reason = "what listens there does not speak gRPC".to_owned();
                Err(ConnectFailure { reason, is_forbidden: false })
            }
        }
    }
}

/// Returns the innermost cause, which is the sentence of the system.
fn reason(error: &tonic::transport::Error) -> ConnectFailure {
    let mut inner: &(dyn std::error::Error + 'static) = error;
    let mut is_forbidden = false;
    loop {
        // An `io::Error` does not give what it wraps as its source, but the source of that.
        let wrapped = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        is_forbidden |= wrapped.is_some_and(|wrapped| wrapped.is::<ForbiddenAddress>());
        match inner.source() {
            Some(source) => inner = source,
            None => return ConnectFailure { reason: inner.to_string(), is_forbidden },
        }
    }
}

/// Returns how long to wait after so many failures: between half of it and all of it by chance.
fn backoff(failures: u32, random: u64) -> Duration {
    let whole = FIRST_BACKOFF.saturating_mul(1 << failures.min(16)).min(MAX_BACKOFF);
    whole / 2 + (whole / 2).mul_f64(random as f64 / u64::MAX as f64)
}

/// Returns a number that differs from call to call and from process to process.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// Makes the one connection of a channel; a channel that lost it is not used again.
struct Dialer {
    address: Address,
    proxy: ProxySettings,
    addresses: AddressPolicy,
    witness: Option<Witness>,
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<Socket<Witness>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let (address, witness) = (self.address.clone(), self.witness.take());
        let (proxy, addresses) = (self.proxy.clone(), self.addresses.clone());
        Box::pin(async move {
            let lost = || io::Error::other("the connection was lost");
            let companion = witness.ok_or_else(lost)?;
            let target = address.to_string();
            let wire = match address {
                Address::Tcp { host, port } => {
                    let stream = match proxy.for_host(&host, port)? {
                        // The proxy resolves names itself, and an administrator answers for it.
                        Some(proxy) => {
                            addresses.check_literal(&host, port).map_err(io::Error::other)?;
                            proxy.connect(&target).await?
                        }
                        None => connect_permitted(&addresses, &host, port).await?,
                    };
                    stream.set_nodelay(true)?;
                    Wire::Tcp(stream)
                }
                Address::Unix(path) => {
                    addresses.check_socket(&target).map_err(io::Error::other)?;
                    Wire::Unix(UnixStream::connect(path).await?)
                }
            };
            Ok(TokioIo::new(Socket { wire, companion }))
        })
    }
}

/// Connects to an address of a host that may be connected to. The host is resolved once, and the connection
/// is made to an address that was checked.
async fn connect_permitted(policy: &AddressPolicy, host: &str, port: u16) -> io::Result<TcpStream> {
    let found: Vec<SocketAddr> = lookup_host((host, port)).await?.collect();
    let mut failed = None;
    for address in policy.permitted(host, found).map_err(io::Error::other)? {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| io::Error::other("the name has no address")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_grows_to_a_limit_and_is_spread_by_chance() {
        assert_eq!(backoff(0, 0), FIRST_BACKOFF / 2);
        assert_eq!(backoff(0, u64::MAX), FIRST_BACKOFF);
        assert_eq!(backoff(3, u64::MAX), FIRST_BACKOFF * 8);
        assert_eq!(backoff(u32::MAX, u64::MAX), MAX_BACKOFF);
    }
}
