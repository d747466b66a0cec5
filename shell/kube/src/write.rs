//! Writing objects: each write says what it rests on.
//!
//! What may be sent twice is decided with the request, and who may write at all by the lease.

use std::sync::Arc;

use operon_driver::{Cluster as _, ClusterError};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey, Value, known, map};

use crate::{
    KubeCluster,
    answer::{read_object, sent},
    counters::Verb,
    request::{APPLY, Actor, Ask, JSON, MERGE},
    resource::{Resource, encode},
    shared::Shared,
};

impl KubeCluster {
    /// Finds where an object is written.
    pub(crate) async fn resource_of(&self, object: &Object) -> Result<Arc<Resource>, ClusterError> {
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
    pub(crate) async fn write(&self, ask: &Ask) -> Result<Object, ClusterError> {
        let answer = self.shared.channel.ask(ask).await?;
        if answer.code == 404 {
            // It may be the kind that is not there any more.
            self.shared.discovery.doubt();
        }
        let object = read_object(&answer.success()?)?;
        self.shared.notice_kinds(&object);
        Ok(object)
    }

    pub(crate) fn replace(
        &self,
        object: &Object,
        part: &str,
        actor: Option<&Actor>,
    ) -> Result<Object, ClusterError> {
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
            self.write(&Ask::write(Verb::Update, path, JSON, sent(object)).by(actor)).await
        })
    }

    pub(crate) fn remove(
        &self,
        key: &ObjectKey,
        preconditions: Value,
        actor: Option<&Actor>,
    ) -> Result<(), ClusterError> {
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
            let ask = Ask::write(Verb::Delete, path, JSON, options).by(actor);
            channel.ask(&ask).await?.success()?;
            if key.kind == known::CUSTOM_RESOURCE_DEFINITION {
                discovery.doubt();
            }
            Ok(())
        })
    }

    pub(crate) fn manager(&self) -> &str {
        &self.shared.options.manager
    }

    /// Does what [`operon_driver::Cluster::apply`] does in the name of somebody else, whose fields stay apart from
    /// those of Operon.
    pub fn apply_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        self.apply_by(object, manager, None)
    }

    /// Lets the server say what [`KubeCluster::apply_as`] would do: rights and everything that looks at
    /// objects are asked, and nothing is changed.
    pub fn rehearse(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        self.wait_for(async {
            let path = self.resource_of(object).await?.object(&object.key())?;
            let path = format!("{path}?fieldManager={}&force=true&dryRun=All", encode(manager));
            let ask = Ask::write(Verb::Patch, path, APPLY, sent(object));
            read_object(&self.shared.channel.ask(&ask).await?.success()?)
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

    pub(crate) fn create_by(
        &self,
        object: &Object,
        actor: Option<&Actor>,
    ) -> Result<Object, ClusterError> {
        self.wait_for(async {
            let resource = self.resource_of(object).await?;
            resource.check_scope(object.namespace())?;
            let path = resource.collection(object.namespace());
            let path = format!("{path}?fieldManager={}", encode(self.manager()));
            self.write(&Ask::write(Verb::Create, path, JSON, sent(object)).by(actor)).await
        })
    }

    pub(crate) fn apply_by(
        &self,
        object: &Object,
        manager: &str,
        actor: Option<&Actor>,
    ) -> Result<Object, ClusterError> {
        self.wait_for(async {
            let path = self.resource_of(object).await?.object(&object.key())?;
            let path = format!("{path}?fieldManager={}&force=true", encode(manager));
            self.write(&Ask::write(Verb::Patch, path, APPLY, sent(object)).by(actor)).await
        })
    }
}

fn not_there(key: &ObjectKey) -> ClusterError {
    ClusterError { kind: ErrorKind::NotFound, message: format!("{key} is not there") }
}
