//! The port on a real API server.
//!
//! Calls block; what they wait for is done by one thread of the connection's own. Nothing is decided
//! here: what the server refuses is told in its own words.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use operon_driver::{Changes, Cluster, ClusterError, Cursor, Interest, Listing};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey, map};
use tokio::{
    runtime::{Builder, Runtime},
    task::{AbortHandle, JoinSet},
};

use crate::{
    Counters, Leadership, Options,
    answer::read_object,
    behalf::OnBehalf,
    board::{Board, Relist, Start, newest},
    connect::{ConnectError, Place, client, configuration},
    counters::{Tally, Verb},
    fence::Fence,
    flow::Flow,
    follow::{Listed, follow, list},
    identity::process_identity,
    lease::Election,
    request::{Actor, Ask, Channel},
    shared::Shared,
};

/// How long going away may take: giving the lease back is worth a moment.
pub const FAREWELL_PATIENCE: Duration = Duration::from_secs(3);

/// A cluster behind an API server.
///
/// # Guarantees
///
/// What [`Cluster::changes`] tells leaves nothing out, however often connections break, the server
/// restarts or its past is forgotten. A write that rests on a version fails when the object has
/// another; nothing that could be done twice is sent twice. With a lease, nothing is written unless it
/// is held for certain. One driver at a time asks for changes; others are told to list again.
pub struct KubeCluster {
    pub(crate) shared: Arc<Shared>,
    election: Option<Arc<Election>>,
    watches: Mutex<BTreeMap<Interest, AbortHandle>>,
    /// Taken when the cluster is left.
    runtime: Option<Runtime>,
}

impl fmt::Debug for KubeCluster {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KubeCluster").field("server", &self.server()).finish()
    }
}

impl KubeCluster {
    /// Reads how a cluster is reached. Nothing is asked of it yet, except that a lease is applied for.
    pub fn connect(place: &Place, options: Options) -> Result<Self, ConnectError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("operon-kube")
            .enable_all()
            .build()
            .map_err(ConnectError::Thread)?;
        let config = runtime.block_on(configuration(place))?;
        let server: Arc<str> = config.cluster_url.to_string().trim_end_matches('/').into();
        let client = {
            let _inside = runtime.enter();
            client(config)?
        };
        let Options { requests_per_second, requests_burst, parallel_requests, .. } = options;
        let fence = options.lease.as_ref().map(|lease| Arc::new(Fence::new(lease.duration)));
        let channel = Channel {
            client,
            flow: Arc::new(Flow::new(requests_per_second, requests_burst, parallel_requests)),
            tally: Arc::new(Tally::default()),
            fence: fence.clone(),
            timeout: options.request_timeout,
            server,
        };
        let election = options.lease.clone().zip(fence).map(|(lease, fence)| {
            let election = Arc::new(Election::new(lease, channel.clone(), fence));
            let running = Arc::clone(&election);
            runtime.spawn(async move { running.run().await });
            election
        });
        let shared = Shared::new(channel, options, Board::new(process_identity()));
        let shared = Arc::new(shared);
        Ok(Self { shared, election, watches: Mutex::default(), runtime: Some(runtime) })
    }

    /// Returns the address of the API server.
    pub fn server(&self) -> &str {
        &self.shared.channel.server
    }

    /// Waits until something happened that was not told yet, for so long at most; tells whether there is
    /// something to ask for.
    pub fn wait(&self, at_most: Duration) -> bool {
        let begun = Instant::now();
        let mut board = self.shared.board();
        loop {
            let left = at_most.saturating_sub(begun.elapsed());
            if board.has_news() || left.is_zero() {
                return board.has_news();
            }
            let waited = self.shared.news.wait_timeout(board, left);
            board = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Tells whether everything that was asked for is being followed at the moment.
    pub fn is_synced(&self) -> bool {
        self.shared.board().is_synced()
    }

    /// Returns what is not being followed at the moment, and why.
    pub fn broken_watches(&self) -> Vec<(Interest, String)> {
        self.shared.board().broken()
    }

    /// Returns how the lease of the leader stands; nothing where none is wanted.
    pub fn leadership(&self) -> Option<Leadership> {
        self.election.as_ref().map(|election| election.leadership())
    }

    /// Returns what was counted so far.
    pub fn counters(&self) -> Counters {
        let mut counters = self.shared.channel.tally.read();
        (counters.queued, counters.watches, counters.overflows) = self.shared.board().counts();
        counters
    }

    pub(crate) fn wait_for<F: Future>(&self, future: F) -> F::Output {
        self.runtime().block_on(future)
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("bug: the runtime is taken only when the cluster is dropped")
    }

    /// Begins watches, in place of those that spoke for the same interests, and ends those of interests
    /// that are none any more.
    fn begin(&self, starts: Vec<Start>, interests: Option<&BTreeSet<Interest>>) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interests) = interests {
            watches.retain(|interest, watch| {
                let is_wanted = interests.contains(interest);
                if !is_wanted {
                    watch.abort();
                }
                is_wanted
            });
        }
        for start in starts {
            let interest = start.interest.clone();
            let task = self.runtime().spawn(follow(Arc::clone(&self.shared), start));
            if let Some(before) = watches.insert(interest, task.abort_handle()) {
                before.abort();
            }
        }
    }
}

impl Cluster for KubeCluster {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        let found = self.wait_for(async {
            let mut listings = JoinSet::new();
            for interest in interests.clone() {
                let shared = Arc::clone(&self.shared);
                listings.spawn(async move { list_interest(&shared, &interest).await });
            }
            let mut found = Vec::new();
            while let Some(listed) = listings.join_next().await {
                let listed = listed.map_err(|error| ClusterError {
                    kind: ErrorKind::Other,
                    message: format!("a listing ended before its time: {error}"),
                })?;
                found.append(&mut listed?);
            }
            Ok(found)
        });
        let (cursor, starts) = {
            let mut board = self.shared.board();
            (board.cursor(interests), board.restart(interests))
        };
        self.begin(starts, None);
        found.map(|found| Listing { objects: newest(found), cursor })
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        let (changes, starts) = {
            let mut board = self.shared.board();
            (board.tell(interests, since)?, board.follow(interests)?)
        };
        self.begin(starts, Some(interests));
        Ok(changes)
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.wait_for(async {
            let Shared { channel, discovery, .. } = &*self.shared;
            let Some(resource) = discovery.find(channel, &key.kind).await? else { return Ok(None) };
            // What cannot exist does not.
            let Ok(path) = resource.object(key) else { return Ok(None) };
            let answer = channel.ask(&Ask::read(Verb::Get, path)).await?;
            if answer.code == 404 {
                return Ok(None);
            }
            read_object(&answer.success()?).map(Some)
        })
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.create_by(object, None)
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.replace(object, "", None)
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.replace(object, "/status", None)
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.apply_as(object, operon_kinds::names::FIELD_MANAGER)
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        self.remove(key, map! { "uid" => uid }, None)
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        let ObjectKey { namespace, name, .. } = account.clone();
        Ok(Box::new(OnBehalf { cluster: self, actor: Actor { namespace, name } }))
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        let version = object.resource_version();
        let preconditions = map! { "uid" => object.uid(), "resourceVersion" => version };
        self.remove(&object.key(), preconditions, None)
    }
}

impl Drop for KubeCluster {
    /// Gives the lease back, so that others need not wait for its end.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(election) = &self.election {
            let _ = runtime.block_on(async {
                tokio::time::timeout(FAREWELL_PATIENCE, election.resign()).await
            });
        }
        runtime.shutdown_background();
    }
}

/// Lists what is of interest, and notes what was seen.
async fn list_interest(shared: &Shared, interest: &Interest) -> Result<Vec<Object>, ClusterError> {
    let mut relist = Relist::default();
    let mut objects = Vec::new();
    let version = list(shared, interest, |listed| match listed {
        Listed::Anew => {
            relist = Relist::default();
            objects = Vec::new();
        }
        Listed::Page(mut page) => {
            shared.board().take_page(interest, &page.objects, page.bytes, &mut relist);
            objects.append(&mut page.objects);
        }
    })
    .await?;
    let mut board = shared.board();
    board.end_listing(interest, &version, &relist);
    board.supersede(interest);
    drop(board);
    Ok(objects)
}
