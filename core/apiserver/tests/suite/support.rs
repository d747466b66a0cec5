//! A server with a clock that tests turn, and words to speak to it.

use std::convert::Infallible;

use operon_apiserver::{
    Answer, ApiError, Commit, DeleteOptions, ExecuteError, Part, Propagation, Request, Server,
    Settings, Target,
};
use operon_object::{ApiKind, Object, Timestamp, Value};

pub(crate) struct Bench {
    pub(crate) server: Server,
    pub(crate) now: Timestamp,
    pub(crate) commits: Vec<Commit>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    /// Begins with the namespace `shop`, empty but for its ServiceAccount.
    pub(crate) fn with(settings: Settings) -> Self {
        let server = Server::with_settings(settings);
        let now = Timestamp::parse("2026-11-16T06:00:00Z").unwrap();
        let mut bench = Self { server, now, commits: Vec::new() };
        bench.create(r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#);
        bench.settle();
        bench
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Result<Answer, ApiError> {
        let commits = &mut self.commits;
        let persist = |commit: &Commit| {
            commits.push(commit.clone());
            Ok::<(), Infallible>(())
        };
        self.server.execute(request, self.now, persist).map_err(|error| match error {
            ExecuteError::Refused(error) => error,
            ExecuteError::NotStored(never) => match never {},
        })
    }

    pub(crate) fn try_create(&mut self, text: &str) -> Result<Object, ApiError> {
        let request = Request::Create { object: object(text), manager: "tester".into() };
        self.ask(&request).map(|answer| answer.object)
    }

    pub(crate) fn create(&mut self, text: &str) -> Object {
        self.try_create(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    pub(crate) fn try_update(&mut self, object: Object, part: Part) -> Result<Answer, ApiError> {
        self.ask(&Request::Update { object, manager: "tester".into(), part })
    }

    pub(crate) fn update(&mut self, object: Object) -> Answer {
        self.try_update(object, Part::Whole).unwrap()
    }

    pub(crate) fn try_apply(
        &mut self,
        manager: &str,
        text: &str,
        force: bool,
    ) -> Result<Answer, ApiError> {
        let (object, manager) = (object(text), manager.to_owned());
        self.ask(&Request::Apply { object, manager, force, part: Part::Whole })
    }

    pub(crate) fn patch(&mut self, target: &Target, text: &str) -> Result<Answer, ApiError> {
        let patch = Value::parse_json(text).unwrap();
        let (target, manager) = (target.clone(), "tester".to_owned());
        self.ask(&Request::MergePatch { target, patch, manager, part: Part::Whole })
    }

    pub(crate) fn delete(
        &mut self,
        target: &Target,
        propagation: Propagation,
    ) -> Result<Answer, ApiError> {
        let options = DeleteOptions { propagation, ..DeleteOptions::default() };
        self.ask(&Request::Delete { target: target.clone(), options })
    }

    /// Lets the controllers finish what is due now, and returns the seconds until they want more.
    pub(crate) fn settle(&mut self) -> Option<f64> {
        loop {
            let commits = &mut self.commits;
            let persist = |commit: &Commit| {
                commits.push(commit.clone());
                Ok::<(), Infallible>(())
            };
            let wake = match self.server.tick(self.now, persist) {
                Ok(wake) => wake,
                Err(never) => match never {},
            };
            if wake != Some(self.now) {
                return wake.map(|wake| wake.since(self.now).as_secs_f64());
            }
        }
    }

    pub(crate) fn sleep(&mut self, seconds: u64) -> Option<f64> {
        self.now = self.now.after(std::time::Duration::from_secs(seconds));
        self.settle()
    }

    pub(crate) fn get(&self, target: &Target) -> Option<Object> {
        self.server.get(target).ok()
    }

    pub(crate) fn exists(&self, target: &Target) -> bool {
        self.get(target).is_some()
    }
}

pub(crate) fn object(text: &str) -> Object {
    let value = Value::parse_json(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    Object::from_value(value).unwrap()
}

/// Names an object such as `apps/v1 Deployment shop/web` or `v1 Namespace shop`.
pub(crate) fn target(text: &str) -> Target {
    let mut words = text.split(' ');
    let (api_version, kind, place) =
        (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    Target {
        kind: ApiKind::from_api_version(api_version, kind),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

pub(crate) fn config_map(name: &str, more: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"shop"{more}}},"data":{{"a":"1"}}}}"#
    )
}

/// A definition of `Etcd` in `etcd.io` with the versions `v1` (stored) and `v1beta1`.
pub(crate) fn definition() -> String {
    let schema = r#"{"openAPIV3Schema":{"type":"object","properties":{
        "spec":{"type":"object","properties":{
            "size":{"type":"integer","minimum":1,"default":3},
            "members":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],
                "items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"role":{"type":"string"}}}},
            "tags":{"type":"array","items":{"type":"string"}}}},
        "status":{"type":"object","properties":{"phase":{"type":"string"}}}}}}"#;
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
        "metadata":{{"name":"etcds.etcd.io"}},
        "spec":{{"group":"etcd.io","scope":"Namespaced",
            "names":{{"plural":"etcds","kind":"Etcd","shortNames":["ec"],"categories":["all"]}},
            "versions":[
                {{"name":"v1","served":true,"storage":true,"subresources":{{"status":{{}}}},"schema":{schema}}},
                {{"name":"v1beta1","served":true,"storage":false,"subresources":{{"status":{{}}}},"schema":{schema}}},
                {{"name":"v1alpha1","served":false,"storage":false,"schema":{schema}}}]}}}}"#
    )
}
