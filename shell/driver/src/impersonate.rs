//! Impersonation for clusters that do not authorize requests themselves.
//!
//! A real API server checks the permissions of an impersonated ServiceAccount. The embedded cluster
//! and the simulator have no users, so the roles and bindings that they hold are evaluated here before
//! each write, with the same rules against escalation.

use std::collections::BTreeSet;

use operon_install::{Action, Authorizer, PolicyRule, RuleScope, user_name};
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, ObjectKey, known};

use crate::{Changes, Cluster, ClusterError, Cursor, Interest, Listing};

/// The kinds that permissions consist of.
const RBAC_KINDS: [Kind; 4] =
    [known::ROLE, known::ROLE_BINDING, known::CLUSTER_ROLE, known::CLUSTER_ROLE_BINDING];

/// A cluster as a ServiceAccount may use it. Reading is not restricted.
#[derive(Debug)]
pub struct Impersonated<C> {
    cluster: C,
    account: ObjectKey,
}

impl<C: Cluster> Impersonated<C> {
    /// Returns `cluster` with the permissions of `account`.
    pub fn new(cluster: C, account: &ObjectKey) -> Self {
        Self { cluster, account: account.clone() }
    }

    fn check(&self, verb: &str, key: &ObjectKey) -> Result<(), ClusterError> {
        check_permission(&self.cluster, &self.account, verb, key)
    }

    fn check_grant(&self, object: &Object) -> Result<(), ClusterError> {
        check_grant(&self.cluster, &self.account, object)
    }
}

impl<C: Cluster> Cluster for Impersonated<C> {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        self.cluster.list(interests)
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        self.cluster.changes(interests, since)
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.cluster.get(key)
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.check("create", &object.key())?;
        self.check_grant(object)?;
        self.cluster.create(object)
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.check("update", &object.key())?;
        self.check_grant(object)?;
        self.cluster.update(object)
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.check("update", &object.key())?;
        self.cluster.update_status(object)
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        let key = object.key();
        self.check("patch", &key)?;
        if self.cluster.get(&key)?.is_none() {
            self.check("create", &key)?;
        }
        self.check_grant(object)?;
        self.cluster.apply(object)
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        self.check("delete", key)?;
        self.cluster.delete(key, uid)
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        self.check("delete", &object.key())?;
        self.cluster.delete_unchanged(object)
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        Err(ClusterError {
            kind: ErrorKind::Forbidden,
            message: format!("{} cannot impersonate {account}", self.account),
        })
    }
}

fn authorizer(cluster: &dyn Cluster) -> Result<Authorizer, ClusterError> {
    let listing = cluster.list(&Interest::all_of(RBAC_KINDS))?;
    Ok(Authorizer::new(&listing.objects))
}

/// Checks that a ServiceAccount may do something to an object.
fn check_permission(
    cluster: &dyn Cluster,
    account: &ObjectKey,
    verb: &str,
    key: &ObjectKey,
) -> Result<(), ClusterError> {
    let resource = resource_of(cluster, &key.kind)?;
    let action = Action {
        verb,
        group: key.kind.group(),
        resource: &resource,
        namespace: &key.namespace,
        name: &key.name,
    };
    if authorizer(cluster)?.allows(&account.namespace, &account.name, action) {
        return Ok(());
    }
    let scope = match key.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace \"{namespace}\""),
    };
    Err(ClusterError {
        kind: ErrorKind::Forbidden,
        message: format!(
            "{} is forbidden: User \"{}\" cannot {verb} resource \"{resource}\" in API group \"{}\" {scope}",
            named(&resource, key),
            user_name(&account.namespace, &account.name),
            key.kind.group()
        ),
    })
}

fn named(resource: &str, key: &ObjectKey) -> String {
    match key.kind.group() {
        "" => format!("{resource} \"{}\"", key.name),
        group => format!("{resource}.{group} \"{}\"", key.name),
    }
}

/// Returns the name of a kind in role rules.
fn resource_of(cluster: &dyn Cluster, kind: &Kind) -> Result<String, ClusterError> {
    if let Some(known) = known::known_kind(kind) {
        return Ok(known.plural.to_owned());
    }
    let definitions = cluster.list(&Interest::all_of([known::CUSTOM_RESOURCE_DEFINITION]))?;
    let found = definitions.objects.iter().find(|definition| {
        let spec = definition.spec();
        spec.get("group").str() == kind.group() && spec.at(&["names", "kind"]).str() == kind.name()
    });
    found.map(|definition| definition.spec().at(&["names", "plural"]).str().to_owned()).ok_or_else(
        || ClusterError {
            kind: ErrorKind::NotFound,
            message: format!("the cluster has no kind {kind}"),
        },
    )
}

/// Checks that a ServiceAccount grants nothing that it may not do itself.
fn check_grant(
    cluster: &dyn Cluster,
    account: &ObjectKey,
    object: &Object,
) -> Result<(), ClusterError> {
    let kind = object.kind();
    let (verb, role) = if kind == known::ROLE || kind == known::CLUSTER_ROLE {
        ("escalate", Some(object.clone()))
    } else if kind == known::ROLE_BINDING || kind == known::CLUSTER_ROLE_BINDING {
        let reference = object.at(&["roleRef"]);
        let name = reference.get("name").str();
        let key = match reference.get("kind").str() {
            "Role" => known::ROLE.key(object.namespace(), name),
            _ => known::CLUSTER_ROLE.key("", name),
        };
        ("bind", cluster.get(&key)?)
    } else {
        return Ok(());
    };
    let Some(role) = role else {
        return Err(ClusterError {
            kind: ErrorKind::NotFound,
            message: format!("{} refers to a role that does not exist", object.key()),
        });
    };
    let authorizer = authorizer(cluster)?;
    let scope = match object.namespace() {
        "" => RuleScope::Cluster,
        namespace => RuleScope::Namespace(namespace),
    };
    let is_covered = |rule: &PolicyRule| {
        authorizer.covers(&account.namespace, &account.name, scope, rule).unwrap_or(false)
    };
    let rules = role.at(&["rules"]).elements().iter().map(PolicyRule::read);
    if rules.into_iter().all(|rule| is_covered(&rule)) {
        return Ok(());
    }
    check_permission(cluster, account, verb, &role.key()).map_err(|_| ClusterError {
        kind: ErrorKind::Forbidden,
        message: format!(
            "{} is forbidden: user \"{}\" is attempting to grant RBAC permissions not currently held",
            object.key(),
            user_name(&account.namespace, &account.name)
        ),
    })
}
