//! What an API server says about itself.

use std::{collections::BTreeSet, sync::Arc};

use operon_constraint::GroupVersionKind;
use operon_driver::{ClusterError, Interest};
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, Value, exact_json, known, map};
use tokio::task::JoinSet;

use crate::{
    KubeCluster,
    counters::Verb,
    follow::{Listed, list},
    request::{Ask, JSON},
    shared::Shared,
};

/// Where somebody asks who he is.
const OWN_NAME: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Where somebody asks what he may do.
const OWN_RIGHTS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

impl KubeCluster {
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

    /// Returns the name by which the API server knows this user.
    pub fn user_name(&self) -> Result<String, ClusterError> {
        let review = map! {
            "apiVersion" => "authentication.k8s.io/v1",
            "kind" => "SelfSubjectReview",
        };
        let answer = self.wait_for(review_self(&self.shared, OWN_NAME, &review))?;
        Ok(answer.at(&["status", "userInfo", "username"]).str().to_owned())
    }

    /// Tells whether the API server has a kind.
    pub fn serves(&self, kind: &Kind) -> Result<bool, ClusterError> {
        let Shared { channel, discovery, .. } = &*self.shared;
        Ok(self.wait_for(discovery.find(channel, kind))?.is_some())
    }

    /// Asks whether this user may do something, such as `create`, with objects of a kind in a namespace,
    /// or in all of them where none is named. What the server does not know nobody may do.
    pub fn may(&self, verb: &str, kind: &Kind, namespace: &str) -> Result<bool, ClusterError> {
        self.wait_for(async {
            let Shared { channel, discovery, .. } = &*self.shared;
            let Some(resource) = discovery.find(channel, kind).await? else { return Ok(false) };
            let asked = map! {
                "verb" => verb,
                "group" => kind.group(),
                "resource" => resource.plural.as_str(),
                "namespace" => namespace,
            };
            let review = map! {
                "apiVersion" => "authorization.k8s.io/v1",
                "kind" => "SelfSubjectAccessReview",
                "spec" => map! { "resourceAttributes" => asked },
            };
            let answer = review_self(&self.shared, OWN_RIGHTS, &review).await?;
            Ok(answer.at(&["status", "allowed"]).as_bool() == Some(true))
        })
    }

    /// Lists all objects of some kinds without following them.
    pub fn list_once(&self, kinds: &[Kind]) -> Result<Vec<Object>, ClusterError> {
        let mut objects = Vec::new();
        for kind in kinds {
            let interest = Interest::all(kind.clone());
            objects.append(&mut self.wait_for(list_alone(&self.shared, &interest))?);
        }
        Ok(objects)
    }

    /// Lists what is of interest without following it, and says of each interest what came of it.
    pub fn look(
        &self,
        interests: &BTreeSet<Interest>,
    ) -> Vec<(Interest, Result<Vec<Object>, ClusterError>)> {
        self.wait_for(async {
            let mut looks = JoinSet::new();
            for interest in interests.clone() {
                let shared = Arc::clone(&self.shared);
                looks.spawn(async move {
                    let found = list_alone(&shared, &interest).await;
                    (interest, found)
                });
            }
            looks.join_all().await
        })
    }
}

/// Lists what is of interest, for nobody to follow.
async fn list_alone(shared: &Shared, interest: &Interest) -> Result<Vec<Object>, ClusterError> {
    let mut found = Vec::new();
    let take = |listed| match listed {
        Listed::Anew => found = Vec::new(),
        Listed::Page(mut page) => found.append(&mut page.objects),
    };
    list(shared, interest, take).await?;
    Ok(found)
}

/// Asks the API server something about oneself.
async fn review_self(shared: &Shared, path: &str, review: &Value) -> Result<Value, ClusterError> {
    let mut ask = Ask::write(Verb::Create, path.to_owned(), JSON, exact_json(review));
    // Nothing is kept of a review.
    ask.is_repeatable = true;
    let body = shared.channel.ask(&ask).await?.success()?;
    Ok(Value::parse_json(&body).unwrap_or_default())
}
