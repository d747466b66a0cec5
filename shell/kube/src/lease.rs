//! The lease of the leader: several processes want to write, one does.
//!
//! # Flow
//!
//! The lease is an object that names its holder and says when he renewed it. Whoever sees it unchanged
//! for its duration, by his own clock, takes it with a write that fails if anybody else was faster. The
//! holder renews it every few seconds, and gives it back when he goes.
//!
//! # Guarantees
//!
//! A holder that cannot renew it stops writing while the others still wait: see [`Fence`]. Clocks need
//! not agree; they need only run at about the same speed.
//!
//! # Assumptions
//!
//! The server keeps one order of all writes to an object. What a process sent before it stopped may
//! still arrive: such writes carry the version they rest on.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;
use operon_object::{Object, Timestamp, Value};

use crate::{
    answer::{read_object, sent},
    backoff::spread,
    counters::Verb,
    fence::Fence,
    flow::Flow,
    request::{Ask, Channel, JSON},
    resource::encode,
};

/// How long others wait after the last renewal that they saw.
pub const LEASE_DURATION: Duration = Duration::from_secs(15);
/// How often the holder renews the lease, and how often others look at it.
pub const LEASE_RETRY: Duration = Duration::from_secs(2);
/// How long one request for the lease may take: several fit before the holder has to stop writing.
pub const LEASE_REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
/// How many requests for the lease leave in a second at most; one every two seconds is normal.
const LEASE_REQUESTS: u32 = 5;
/// The name of the lease.
pub const LEASE_NAME: &str = "operon-leader";

/// Which lease is wanted, and by whom.
#[derive(Debug, Clone)]
pub struct LeaseOptions {
    /// The namespace of the lease.
    pub namespace: String,
    /// The name of the lease, such as [`LEASE_NAME`].
    pub name: String,
    /// The name of this process, which no other has; see [`crate::process_identity`].
    pub identity: String,
    /// How long others wait after the last renewal, such as [`LEASE_DURATION`]; whole seconds.
    pub duration: Duration,
    /// How often it is renewed and looked at, such as [`LEASE_RETRY`].
    pub retry: Duration,
}

impl LeaseOptions {
    /// Wants the lease of Operon in a namespace.
    pub fn new(namespace: &str, identity: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: LEASE_NAME.to_owned(),
            identity: identity.to_owned(),
            duration: LEASE_DURATION,
            retry: LEASE_RETRY,
        }
    }

    fn collection(&self) -> String {
        format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", encode(&self.namespace))
    }

    fn path(&self) -> String {
        format!("{}/{}", self.collection(), encode(&self.name))
    }
}

/// How the lease stands, as far as this process knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leadership {
    /// Whether this process holds it for certain.
    pub is_held: bool,
    /// Who was last seen to hold it; empty if nobody was.
    pub holder: String,
    /// Why it could not be looked at or renewed the last time; empty if it could.
    pub problem: String,
}

/// Takes part in the election of the leader.
pub(crate) struct Election {
    options: LeaseOptions,
    channel: Channel,
    fence: Arc<Fence>,
    seen: Mutex<Leadership>,
    rounds: tokio::sync::Mutex<Rounds>,
}

/// What is remembered from round to round.
#[derive(Debug, Default)]
struct Rounds {
    /// The lease as it was last seen, and when it was first seen so.
    seen: Option<(Object, Instant)>,
    is_over: bool,
}

impl Election {
    pub(crate) fn new(options: LeaseOptions, channel: Channel, fence: Arc<Fence>) -> Self {
        // However much else is asked, the lease is renewed in its time.
        let flow = Arc::new(Flow::new(LEASE_REQUESTS, LEASE_REQUESTS, 1));
        let channel = Channel { fence: None, timeout: LEASE_REQUEST_TIMEOUT, flow, ..channel };
        Self { options, channel, fence, seen: Mutex::default(), rounds: Default::default() }
    }

    /// Takes part until the process goes.
    pub(crate) async fn run(&self) {
        loop {
            {
                let mut rounds = self.rounds.lock().await;
                if rounds.is_over {
                    return;
                }
                let outcome = self.round(&mut rounds).await;
                self.note(&rounds, outcome.err());
            }
            tokio::time::sleep(spread(self.options.retry * 4 / 5, self.options.retry)).await;
        }
    }

    /// Returns how the lease stands.
    pub(crate) fn leadership(&self) -> Leadership {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        seen.is_held = self.fence.is_open(Instant::now());
        seen
    }

    /// Gives the lease back, if it is held, and takes part no more.
    pub(crate) async fn resign(&self) {
        let mut rounds = self.rounds.lock().await;
        rounds.is_over = true;
        self.fence.lose("it was given back");
        let Some((lease, _)) = rounds.seen.take().filter(|(lease, _)| self.is_mine(lease)) else {
            return;
        };
        let mut free = lease;
        free.set(&["spec", "holderIdentity"], "");
        free.set(&["spec", "leaseDurationSeconds"], 1);
        free.set(&["spec", "renewTime"], micro_time(SystemTime::now()));
        // Whoever waits does so a little longer if this fails.
        let _ = self.write(&free).await;
    }

    /// Looks at the lease once, and renews or takes it where that is right.
    async fn round(&self, rounds: &mut Rounds) -> Result<(), ClusterError> {
        let Some((lease, since)) = rounds.seen.clone().filter(|(lease, _)| self.is_mine(lease))
        else {
            return self.look(rounds).await;
        };
        match self.take(&lease, false).await {
            Ok(lease) => {
                rounds.seen = Some((lease, Instant::now()));
                Ok(())
            }
            // Somebody has written to it: whose it is now has to be seen.
            Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => {
                self.look(rounds).await
            }
            Err(error) => {
                rounds.seen = Some((lease, since));
                Err(error)
            }
        }
    }

    async fn look(&self, rounds: &mut Rounds) -> Result<(), ClusterError> {
        let answer = self.channel.ask(&Ask::read(Verb::Get, self.options.path())).await?;
        if answer.code == 404 {
            self.fence.lose("there is none");
            rounds.seen = Some((self.create().await?, Instant::now()));
            return Ok(());
        }
        let lease = read_object(&answer.success()?)?;
        if !self.is_mine(&lease) {
            self.fence.lose(&format!("`{}` holds it", holder(&lease)));
        }
        let since = match &rounds.seen {
            Some((known, since)) if known.resource_version() == lease.resource_version() => *since,
            _ => Instant::now(),
        };
        rounds.seen = Some((lease.clone(), since));
        let is_free = holder(&lease).is_empty() || since.elapsed() > self.lasts(&lease);
        if is_free || self.is_mine(&lease) {
            match self.take(&lease, !self.is_mine(&lease)).await {
                Ok(lease) => rounds.seen = Some((lease, Instant::now())),
                // Somebody else was faster.
                Err(error) if error.kind == ErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn create(&self) -> Result<Object, ClusterError> {
        let LeaseOptions { namespace, name, .. } = &self.options;
        let mut lease = Object::new("coordination.k8s.io/v1", "Lease", namespace, name);
        let (monotonic, wall) = (Instant::now(), SystemTime::now());
        self.fill(&mut lease, wall);
        lease.set(&["spec", "acquireTime"], micro_time(wall));
        lease.set(&["spec", "leaseTransitions"], 0);
        let path = self.options.collection();
        let ask = Ask::write(Verb::Create, path, JSON, sent(&lease));
        let made = read_object(&self.channel.ask(&ask).await?.success()?)?;
        self.fence.renew(monotonic, wall);
        Ok(made)
    }

    /// Writes the lease in this process's name, as it was seen.
    async fn take(&self, lease: &Object, is_new: bool) -> Result<Object, ClusterError> {
        let mut mine = lease.clone();
        let (monotonic, wall) = (Instant::now(), SystemTime::now());
        self.fill(&mut mine, wall);
        if is_new {
            let transitions = lease.spec().get("leaseTransitions").as_integer().unwrap_or(0);
            mine.set(&["spec", "acquireTime"], micro_time(wall));
            mine.set(&["spec", "leaseTransitions"], transitions.saturating_add(1));
        }
        let written = self.write(&mine).await?;
        // It counts from before the request left: nobody can have seen it earlier.
        self.fence.renew(monotonic, wall);
        Ok(written)
    }

    async fn write(&self, lease: &Object) -> Result<Object, ClusterError> {
        let mut ask = Ask::write(Verb::Update, self.options.path(), JSON, sent(lease));
        // A second answer would say that the first one was faster.
        ask.is_repeatable = false;
        read_object(&self.channel.ask(&ask).await?.success()?)
    }

    fn fill(&self, lease: &mut Object, wall: SystemTime) {
        let seconds = i64::try_from(self.options.duration.as_secs()).unwrap_or(i64::MAX).max(1);
        lease.set(&["spec", "holderIdentity"], self.options.identity.as_str());
        lease.set(&["spec", "leaseDurationSeconds"], seconds);
        lease.set(&["spec", "renewTime"], micro_time(wall));
    }

    fn is_mine(&self, lease: &Object) -> bool {
        holder(lease) == self.options.identity
    }

    /// Says how long a lease lasts: as long as its holder says, and no less than he may have meant.
    fn lasts(&self, lease: &Object) -> Duration {
        let said = lease.spec().get("leaseDurationSeconds").as_integer().unwrap_or(0);
        let said = Duration::from_secs(u64::try_from(said).unwrap_or(0));
        if said.is_zero() { self.options.duration } else { said }
    }

    fn note(&self, rounds: &Rounds, error: Option<ClusterError>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((lease, _)) = &rounds.seen {
            holder(lease).clone_into(&mut seen.holder);
        }
        seen.problem = error.map(|error| error.message).unwrap_or_default();
    }
}

fn holder(lease: &Object) -> &str {
    lease.spec().get("holderIdentity").str()
}

/// Writes a time with microseconds, as leases have it.
fn micro_time(time: SystemTime) -> Value {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    let text = Timestamp::from_milliseconds(milliseconds).to_string();
    let seconds = text.split(['.', 'Z']).next().unwrap_or_default();
    Value::text(format!("{seconds}.{:06}Z", since.subsec_micros()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_six_digits() {
        let at = |microseconds| micro_time(UNIX_EPOCH + Duration::from_micros(microseconds));
        assert_eq!(at(0).str(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(at(1_794_844_800_000_007).str(), "2026-11-16T16:00:00.000007Z");
        assert_eq!(at(1_794_844_800_999_999).str(), "2026-11-16T16:00:00.999999Z");
    }
}
