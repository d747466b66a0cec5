//! Which kinds an API server serves, in which versions, and what it calls them.
//!
//! The server is asked when something is not known, at most once a second: kinds come with their
//! definitions. What the kinds mean is not decided here.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use operon_constraint::GroupVersionKind;
use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;
use operon_object::{ApiKind, Kind, Value, known::known_kind};

use crate::{
    counters::Verb,
    request::{Ask, Channel},
    resource::Resource,
};

/// How long to wait before the server is asked again for its kinds.
pub const REFRESH_PAUSE: Duration = Duration::from_secs(1);

/// Asks for all groups, versions and resources at once.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// The kinds of a server, as they were last told.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    state: Mutex<State>,
    /// Held while the server is asked, so that it is asked once for all who wait.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    served: Option<Arc<Served>>,
    asked: Option<Instant>,
    is_doubtful: bool,
}

/// The kinds of a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Served {
    /// Each kind in its versions, the one to be spoken first.
    kinds: BTreeMap<Kind, Vec<Arc<Resource>>>,
}

impl Discovery {
    /// Finds a kind in the version that is spoken to those who name none.
    pub(crate) async fn find(
        &self,
        channel: &Channel,
        kind: &Kind,
    ) -> Result<Option<Arc<Resource>>, ClusterError> {
        self.look_up(channel, |served| served.find(kind)).await
    }

    /// Finds a kind in a version.
    pub(crate) async fn find_version(
        &self,
        channel: &Channel,
        kind: &ApiKind,
    ) -> Result<Option<Arc<Resource>>, ClusterError> {
        self.look_up(channel, |served| served.find_version(kind)).await
    }

    /// Returns all kinds, as the server tells them now.
    pub(crate) async fn all(&self, channel: &Channel) -> Result<Arc<Served>, ClusterError> {
        self.refresh(channel, Instant::now()).await
    }

    /// Notes that the kinds may be others now.
    pub(crate) fn doubt(&self) {
        self.lock().is_doubtful = true;
    }

    async fn look_up(
        &self,
        channel: &Channel,
        find: impl Fn(&Served) -> Option<Arc<Resource>>,
    ) -> Result<Option<Arc<Resource>>, ClusterError> {
        let (served, is_due) = {
            let state = self.lock();
            let is_due = state.asked.is_none_or(|asked| asked.elapsed() >= REFRESH_PAUSE);
            (state.served.clone().filter(|_| !(state.is_doubtful && is_due)), is_due)
        };
        if let Some(served) = served
            && let (found @ Some(_), _) | (found @ None, false) = (find(&served), is_due)
        {
            return Ok(found);
        }
        // Who came while somebody else asked need not ask again.
        let since = Instant::now().checked_sub(REFRESH_PAUSE).unwrap_or_else(Instant::now);
        Ok(find(&*self.refresh(channel, since).await?))
    }

    /// Asks the server, unless somebody has since a time.
    async fn refresh(
        &self,
        channel: &Channel,
        since: Instant,
    ) -> Result<Arc<Served>, ClusterError> {
        let _turn = self.asking.lock().await;
        {
            let state = self.lock();
            if let (Some(served), Some(asked)) = (&state.served, state.asked)
                && asked >= since
            {
                return Ok(Arc::clone(served));
            }
        }
        let begun = Instant::now();
        // What is doubted from here on is doubted again.
        self.lock().is_doubtful = false;
        let mut served = Served::default();
        for path in ["/api", "/apis"] {
            let mut ask = Ask::read(Verb::Get, path.to_owned());
            ask.accept = AGGREGATED;
            let body = channel.ask(&ask).await.and_then(|answer| answer.success());
            let body = body.inspect_err(|_| self.doubt())?;
            let value = Value::parse_json(&body).unwrap_or_default();
            if value.get("kind").str() != "APIGroupDiscoveryList" {
                return Err(too_old(&channel.server));
            }
            served.read(&value);
        }
        let served = Arc::new(served);
        let mut state = self.lock();
        state.served = Some(Arc::clone(&served));
        state.asked = Some(begun);
        Ok(served)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_old(server: &str) -> ClusterError {
    ClusterError {
        kind: ErrorKind::Other,
        message: format!(
            "the API server at {server} does not tell all its kinds at once: Operon needs \
             Kubernetes 1.27 or newer"
        ),
    }
}

impl Served {
    /// Reads an `APIGroupDiscoveryList`. The versions of a group come in the order of preference.
    fn read(&mut self, list: &Value) {
        for group in list.get("items").elements() {
            let group_name = group.at(&["metadata", "name"]).str();
            for version in group.get("versions").elements() {
                for resource in version.get("resources").elements() {
                    self.read_resource(group_name, version.get("version").str(), resource);
                }
            }
        }
    }

    fn read_resource(&mut self, group: &str, version: &str, resource: &Value) {
        let told = resource.get("responseKind");
        let or = |told: &Value, name: &str| match told.str() {
            "" => name.to_owned(),
            told => told.to_owned(),
        };
        let kind = Kind::new(or(told.get("group"), group), told.get("kind").str());
        // What cannot be listed is no kind of objects, such as a review of access.
        let is_listed = resource.get("verbs").iter_texts().any(|verb| verb == "list");
        if kind.name().is_empty() || !is_listed {
            return;
        }
        let version = or(told.get("version"), version);
        let known = self.kinds.entry(kind.clone()).or_default();
        let is_ours = known_kind(&kind).is_some_and(|known| known.version == version);
        let found = Arc::new(Resource {
            kind: ApiKind { kind, version },
            plural: resource.get("resource").str().to_owned(),
            is_namespaced: resource.get("scope").str() == "Namespaced",
        });
        // The version that Operon itself writes is best, then the one that the server prefers.
        if is_ours { known.insert(0, found) } else { known.push(found) }
    }

    fn find(&self, kind: &Kind) -> Option<Arc<Resource>> {
        self.kinds.get(kind)?.first().cloned()
    }

    fn find_version(&self, kind: &ApiKind) -> Option<Arc<Resource>> {
        let mut versions = self.kinds.get(&kind.kind)?.iter();
        versions.find(|resource| resource.kind.version == kind.version).cloned()
    }

    /// Returns every kind in every version.
    pub(crate) fn apis(&self) -> BTreeSet<GroupVersionKind> {
        let all = self.kinds.values().flatten().map(|resource| {
            let ApiKind { kind, version } = &resource.kind;
            GroupVersionKind {
                group: kind.group().to_owned(),
                version: version.clone(),
                kind: kind.name().to_owned(),
            }
        });
        all.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_written_comes_first_and_then_the_preferred_one() {
        let list = Value::parse_json(
            r#"{"kind":"APIGroupDiscoveryList","items":[
            {"metadata":{"name":"operators.coreos.com"},"versions":[
                {"version":"v2","resources":[{"resource":"operatorconditions","scope":"Namespaced",
                    "responseKind":{"kind":"OperatorCondition"},"verbs":["list","get"]}]},
                {"version":"v1","resources":[
                    {"resource":"operatorconditions","scope":"Namespaced",
                        "responseKind":{"group":"","version":"","kind":"OperatorCondition"},"verbs":["list"]},
                    {"resource":"operators","scope":"Cluster","verbs":["list"],
                        "responseKind":{"group":"operators.coreos.com","version":"v1","kind":"Operator"}}]},
                {"version":"v1alpha1"}]},
            {"metadata":{"name":"lamps.example.com"},"versions":[
                {"version":"v3","resources":[{"resource":"lamps","responseKind":{"kind":"Lamp"},"verbs":["list"]},
                    {"resource":"reviews","responseKind":{"kind":"Review"},"verbs":["create"]}, 3]},
                {"version":"v9","resources":[{"resource":"lamps","responseKind":{"kind":"Lamp"},"verbs":["list"]}]}]},
            7, {}]}"#,
        )
        .unwrap();
        let mut served = Served::default();
        served.read(&list);
        let version = |group: &str, kind: &str| {
            served.find(&Kind::new(group, kind)).map(|found| found.kind.version.clone())
        };
        let group = "operators.coreos.com";
        assert_eq!(version(group, "OperatorCondition").as_deref(), Some("v2"));
        assert_eq!(version("lamps.example.com", "Lamp").as_deref(), Some("v3"));
        assert_eq!(version("lamps.example.com", "Review"), None);
        assert!(
            served
                .find_version(&ApiKind::from_api_version("lamps.example.com/v9", "Lamp"))
                .is_some()
        );
        assert!(
            served
                .find_version(&ApiKind::from_api_version("lamps.example.com/v1", "Lamp"))
                .is_none()
        );
        assert!(!served.find(&Kind::new(group, "Operator")).unwrap().is_namespaced);
        assert_eq!(served.apis().len(), 5);
    }
}
