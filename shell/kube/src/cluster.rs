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

use operon_constraint::GroupVersionKind;
use operon_driver::{Changes, Cluster, ClusterError, Cursor, Interest, Listing};
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, ObjectKey, Value, known, map};
use tokio::{
    runtime::{Builder, Runtime},
    task::{AbortHandle, JoinSet},
};

use crate::{
    Counters, Leadership, Options,
    answer::{read_object, sent},
    board::{Board, Relist, Start},
    connect::{ConnectError, Place, client, configuration},
    counters::{Tally, Verb},
    fence::Fence,
    flow::Flow,
    follow::{follow, list},
    identity::process_identity,
    lease::Election,
    request::{APPLY, Ask, Channel, JSON, MERGE},
    resource::{Resource, encode},
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
    shared: Arc<Shared>,
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

    /// Returns the version of the API server, such as `v1.36.3`.
    pub fn server_version(&self) -> Result<String, ClusterError> {
        let ask = Ask::read(Verb::Get, "/version".to_owned());
        let body = self.wait_for(self.shared.channel.ask(&ask))?.success()?;
        match Value::parse_json(&body).unwrap_or_default().get("gitVersion").str() {
            "" => Err(ClusterError {
                kind: ErrorKind::Other,
                message: format!("the API server at {} does not say its version", self.server()),
            }),
            version => Ok(version.to_owned()),
        }
    }

    /// Returns the APIs that the cluster provides by itself: those that neither a
    /// CustomResourceDefinition nor another API server brings.
    pub fn native_apis(&self) -> Result<BTreeSet<GroupVersionKind>, ClusterError> {
        let brought = self.list_once(&[known::CUSTOM_RESOURCE_DEFINITION, known::API_SERVICE])?;
        let served = self.wait_for(self.shared.discovery.all(&self.shared.channel))?;
        let mut apis = served.apis();
        for object in &brought {
            let spec = object.spec();
            let group = spec.get("group").str();
            if object.kind() == known::CUSTOM_RESOURCE_DEFINITION {
                let kind = spec.at(&["names", "kind"]).str();
                apis.retain(|api| api.group != group || api.kind != kind);
            } else if !spec.get("service").is_null() {
                let version = spec.get("version").str();
                apis.retain(|api| api.group != group || api.version != version);
            }
        }
        Ok(apis)
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
        let board = self.shared.board();
        (counters.queued, counters.watches) = board.counts();
        counters.overflows = board.overflows;
        counters
    }

    /// Lists all objects of some kinds without following them.
    pub fn list_once(&self, kinds: &[Kind]) -> Result<Vec<Object>, ClusterError> {
        let mut objects = Vec::new();
        for kind in kinds {
            let interest = Interest::all(kind.clone());
            let take = |mut page: crate::answer::Page| objects.append(&mut page.objects);
            self.wait_for(list(&self.shared, &interest, take))?;
        }
        Ok(objects)
    }

    fn wait_for<F: Future>(&self, future: F) -> F::Output {
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

    /// Finds where an object is written.
    async fn resource_of(&self, object: &Object) -> Result<Arc<Resource>, ClusterError> {
        let kind = object.api_kind();
        let Shared { channel, discovery, .. } = &*self.shared;
        let found = discovery.find_version(channel, &kind).await?;
        found.ok_or_else(|| ClusterError {
            kind: ErrorKind::NotFound,
            message: format!(
                "the API server has no kind {} in version {}",
                kind.kind,
                kind.api_version()
            ),
        })
    }

    /// Writes an object, and returns it as it is then.
    async fn write(&self, ask: &Ask) -> Result<Object, ClusterError> {
        let answer = self.shared.channel.ask(ask).await?;
        if answer.code == 404 {
            // It may be the kind that is not there any more.
            self.shared.discovery.doubt();
        }
        let object = read_object(&answer.success()?)?;
        self.shared.notice_kinds(&object);
        Ok(object)
    }

    fn replace(&self, object: &Object, part: &str) -> Result<Object, ClusterError> {
        let key = object.key();
        if object.resource_version().is_empty() {
            // Without a version the server would overwrite whatever is there.
            return Err(match self.get(&key)? {
                None => not_there(&key),
                Some(_) => ClusterError {
                    kind: ErrorKind::Conflict,
                    message: format!("{key} cannot be changed: the version it rests on is missing"),
                },
            });
        }
        self.wait_for(async {
            let path = self.resource_of(object).await?.object(&key)?;
            let path = format!("{path}{part}?fieldManager={}", encode(self.manager()));
            self.write(&Ask::write(Verb::Update, path, JSON, sent(object))).await
        })
    }

    fn remove(&self, key: &ObjectKey, preconditions: Value) -> Result<(), ClusterError> {
        self.wait_for(async {
            let Shared { channel, discovery, .. } = &*self.shared;
            let found = discovery.find(channel, &key.kind).await?;
            let path = found.ok_or_else(|| not_there(key))?.object(key)?;
            let options = map! {
                "apiVersion" => "v1",
                "kind" => "DeleteOptions",
                "preconditions" => preconditions,
                "propagationPolicy" => "Background",
            };
            let options = operon_object::exact_json(&options);
            let ask = Ask::write(Verb::Delete, path, JSON, options);
            channel.ask(&ask).await?.success()?;
            if key.kind == known::CUSTOM_RESOURCE_DEFINITION {
                discovery.doubt();
            }
            Ok(())
        })
    }

    fn manager(&self) -> &str {
        &self.shared.options.manager
    }

    /// Does what [`Cluster::apply`] does in the name of somebody else, whose fields stay apart from
    /// those of Operon.
    pub fn apply_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        self.wait_for(async {
            let path = self.resource_of(object).await?.object(&object.key())?;
            let path = format!("{path}?fieldManager={}&force=true", encode(manager));
            self.write(&Ask::write(Verb::Patch, path, APPLY, sent(object))).await
        })
    }

    /// Changes an object, or its status alone, by a merge patch, as people's tools do.
    pub fn merge(
        &self,
        key: &ObjectKey,
        patch: &Value,
        is_status: bool,
    ) -> Result<Object, ClusterError> {
        self.wait_for(async {
            let Shared { channel, discovery, .. } = &*self.shared;
            let found = discovery.find(channel, &key.kind).await?;
            let path = found.ok_or_else(|| not_there(key))?.object(key)?;
            let part = if is_status { "/status" } else { "" };
            let path = format!("{path}{part}?fieldManager={}", encode(self.manager()));
            let patch = operon_object::exact_json(patch);
            self.write(&Ask::write(Verb::Patch, path, MERGE, patch)).await
        })
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
            let mut found: BTreeMap<ObjectKey, Object> = BTreeMap::new();
            while let Some(listed) = listings.join_next().await {
                let listed = listed.map_err(|error| ClusterError {
                    kind: ErrorKind::Other,
                    message: format!("a listing ended before its time: {error}"),
                })?;
                found.extend(listed?.into_iter().map(|object| (object.key(), object)));
            }
            Ok(found)
        });
        let (cursor, starts) = {
            let mut board = self.shared.board();
            (board.cursor(interests), board.restart(interests))
        };
        self.begin(starts, None);
        found
            .map(|found: BTreeMap<_, _>| Listing { objects: found.into_values().collect(), cursor })
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        let (changes, starts) = {
            let mut board = self.shared.board();
            let changes = board.tell(interests, since)?;
            (changes, board.follow(interests)?)
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
        self.wait_for(async {
            let resource = self.resource_of(object).await?;
            resource.check_scope(object.namespace())?;
            let path = resource.collection(object.namespace());
            let path = format!("{path}?fieldManager={}", encode(self.manager()));
            self.write(&Ask::write(Verb::Create, path, JSON, sent(object))).await
        })
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.replace(object, "")
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.replace(object, "/status")
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.apply_as(object, operon_kinds::names::FIELD_MANAGER)
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        self.remove(key, map! { "uid" => uid })
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        let version = object.resource_version();
        self.remove(&object.key(), map! { "uid" => object.uid(), "resourceVersion" => version })
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
    let version = list(shared, interest, |mut page| {
        shared.board().take_page(interest, &page.objects, page.bytes, &mut relist);
        objects.append(&mut page.objects);
    })
    .await?;
    let mut board = shared.board();
    board.end_listing(interest, &version, &relist);
    board.supersede(interest);
    drop(board);
    Ok(objects)
}

fn not_there(key: &ObjectKey) -> ClusterError {
    ClusterError { kind: ErrorKind::NotFound, message: format!("{key} is not there") }
}
