//! Which kinds the server serves.
//!
//! Built-in kinds are always there; the others come and go with their CustomResourceDefinitions,
//! which `custom` reads. Objects are not looked at here.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use operon_object::{
    ApiKind, Kind, Object,
    known::{self, KnownKind},
};

use crate::{
    ApiError, ServedKind,
    custom::{self, CustomVersion},
    names::NameRule,
};

/// What the server knows of a kind.
#[derive(Debug)]
pub(crate) struct KindInfo {
    pub(crate) kind: Kind,
    pub(crate) plural: String,
    /// The plural with its group, such as `deployments.apps`, as messages have it.
    pub(crate) resource: String,
    pub(crate) is_namespaced: bool,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) name_rule: NameRule,
    /// Says whether `metadata.generation` counts the changes of what is wished.
    pub(crate) has_generation: bool,
    /// The definition that brought the kind; nothing for built-in ones.
    pub(crate) definition: Option<String>,
    /// Says whether the definition is being deleted.
    pub(crate) is_terminating: bool,
    pub(crate) versions: Vec<VersionInfo>,
}

/// What the server knows of one version of a kind.
#[derive(Debug)]
pub(crate) struct VersionInfo {
    pub(crate) name: String,
    pub(crate) is_served: bool,
    pub(crate) is_storage: bool,
    pub(crate) has_status: bool,
    /// The schema of a custom kind.
    pub(crate) custom: Option<CustomVersion>,
}

/// A kind in the version a caller speaks.
#[derive(Debug, Clone)]
pub(crate) struct Spoken {
    pub(crate) info: Arc<KindInfo>,
    version: usize,
}

/// All kinds that are served.
#[derive(Debug)]
pub(crate) struct Registry {
    kinds: BTreeMap<Kind, Arc<KindInfo>>,
    /// The kind that each established definition brought.
    definitions: BTreeMap<String, Kind>,
}

impl Spoken {
    pub(crate) fn version(&self) -> &VersionInfo {
        &self.info.versions[self.version]
    }

    /// Shows a stored object in this version.
    pub(crate) fn show(&self, mut object: Object) -> Object {
        let api_version = self.info.api_version(&self.version().name);
        if object.api_version() != api_version {
            object.set(&["apiVersion"], api_version);
        }
        object
    }
}

impl KindInfo {
    pub(crate) fn api_version(&self, version: &str) -> String {
        ApiKind { kind: self.kind.clone(), version: version.to_owned() }.api_version()
    }

    /// Returns the `apiVersion` that objects are stored with.
    pub(crate) fn storage_api_version(&self) -> String {
        let storage = self.versions.iter().find(|version| version.is_storage);
        self.api_version(storage.map_or("", |version| &version.name))
    }
}

impl Registry {
    /// Serves the built-in kinds.
    pub(crate) fn new() -> Self {
        let mut kinds: BTreeMap<Kind, KindInfo> = BTreeMap::new();
        for known in known::built_in_kinds() {
            let info = built_in_kind(known);
            match kinds.entry(known.kind.clone()) {
                Entry::Vacant(place) => drop(place.insert(info)),
                // Objects are stored in the version that comes first.
                Entry::Occupied(mut place) => {
                    let others = info.versions.into_iter();
                    let others = others.map(|version| VersionInfo { is_storage: false, ..version });
                    place.get_mut().versions.extend(others);
                }
            }
        }
        let kinds = kinds.into_iter().map(|(kind, info)| (kind, Arc::new(info)));
        Self { kinds: kinds.collect(), definitions: BTreeMap::new() }
    }

    /// Returns a kind in a version that is served.
    pub(crate) fn speak(&self, kind: &ApiKind) -> Result<Spoken, ApiError> {
        let refuse = || ApiError::no_kind(&kind.api_version(), kind.kind.name());
        let info = self.kinds.get(&kind.kind).ok_or_else(refuse)?;
        let is_asked = |version: &VersionInfo| version.is_served && version.name == kind.version;
        let version = info.versions.iter().position(is_asked).ok_or_else(refuse)?;
        Ok(Spoken { info: Arc::clone(info), version })
    }

    /// Returns a kind in the version its objects are stored in.
    pub(crate) fn stored(&self, kind: &Kind) -> Option<Spoken> {
        let info = self.kinds.get(kind)?;
        let version = info.versions.iter().position(|version| version.is_storage)?;
        Some(Spoken { info: Arc::clone(info), version })
    }

    pub(crate) fn kind(&self, kind: &Kind) -> Option<&KindInfo> {
        self.kinds.get(kind).map(|info| &**info)
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = &KindInfo> {
        self.kinds.values().map(|info| &**info)
    }

    /// Lists every kind in every version served.
    pub(crate) fn served(&self) -> Vec<ServedKind> {
        let of_kind = |info: &KindInfo| {
            let served = info.versions.iter().filter(|version| version.is_served);
            let show = |version: &VersionInfo| ServedKind {
                kind: ApiKind { kind: info.kind.clone(), version: version.name.clone() },
                plural: info.plural.clone(),
                is_namespaced: info.is_namespaced,
                short_names: info.short_names.clone(),
                categories: info.categories.clone(),
                has_status: version.has_status,
                is_storage: version.is_storage,
            };
            served.map(show).collect::<Vec<_>>()
        };
        self.kinds().flat_map(of_kind).collect()
    }

    /// Follows a change of a definition. Where only its labels and the like are others, its schemas are
    /// not read again: every operator notes itself there.
    pub(crate) fn follow(&mut self, name: &str, before: Option<&Object>, after: Option<&Object>) {
        if let (Some(before), Some(after)) = (before, after)
            && self.definitions.contains_key(name)
            && before.spec() == after.spec()
            && before.status() == after.status()
            && before.is_deleting() == after.is_deleting()
        {
            return;
        }
        if let Some(kind) = self.definitions.remove(name) {
            self.kinds.remove(&kind);
        }
        let Some(info) = after.and_then(custom::kind_of_definition) else {
            return;
        };
        // A definition whose names are taken never becomes established, so this is only for input
        // that some other server accepted.
        if self.kinds.contains_key(&info.kind) {
            return;
        }
        self.definitions.insert(name.to_owned(), info.kind.clone());
        self.kinds.insert(info.kind.clone(), Arc::new(info));
    }
}

/// Kinds of `kubectl get all`, among those that Operon neither reads nor writes.
const OTHERS_OF_ALL: [&str; 6] = [
    "ReplicationController",
    "DaemonSet",
    "ReplicaSet",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "CronJob",
];

/// Kinds among them that have a status of their own.
const OTHERS_WITH_STATUS: [&str; 16] = [
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ReplicationController",
    "ResourceQuota",
    "DaemonSet",
    "ReplicaSet",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "CronJob",
    "CertificateSigningRequest",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "Ingress",
    "ServiceCIDR",
    "ValidatingAdmissionPolicy",
];

/// Kinds among them whose `metadata.generation` counts.
const OTHERS_WITH_GENERATION: [&str; 11] = [
    "ReplicationController",
    "DaemonSet",
    "ReplicaSet",
    "StatefulSet",
    "CronJob",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "Ingress",
    "IngressClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
];

fn built_in_kind(known: &KnownKind) -> KindInfo {
    let with_status = [
        known::NAMESPACE,
        known::SERVICE,
        known::POD,
        known::DEPLOYMENT,
        known::JOB,
        known::CUSTOM_RESOURCE_DEFINITION,
        known::API_SERVICE,
        known::POD_DISRUPTION_BUDGET,
    ];
    let with_generation = [
        known::POD,
        known::DEPLOYMENT,
        known::JOB,
        known::CUSTOM_RESOURCE_DEFINITION,
        known::VALIDATING_WEBHOOK_CONFIGURATION,
        known::MUTATING_WEBHOOK_CONFIGURATION,
        known::NETWORK_POLICY,
        known::POD_DISRUPTION_BUDGET,
        known::PRIORITY_CLASS,
    ];
    let is_other = |names: &[&str]| {
        known::known_kind(&known.kind).is_none() && names.contains(&known.kind.name())
    };
    let all = [known::POD, known::SERVICE, known::DEPLOYMENT, known::JOB];
    let is_of_all = all.contains(&known.kind) || is_other(&OTHERS_OF_ALL);
    let is_rbac = known.kind.group() == known::ROLE.group();
    let name_rule = if known.kind == known::NAMESPACE {
        NameRule::Label
    } else if known.kind == known::SERVICE {
        NameRule::OldLabel
    } else if is_rbac || known.kind == known::API_SERVICE {
        NameRule::PathSegment
    } else {
        NameRule::Subdomain
    };
    KindInfo {
        kind: known.kind.clone(),
        plural: known.plural.to_owned(),
        resource: qualified_resource(known.plural, known.kind.group()),
        is_namespaced: known.is_namespaced,
        short_names: known.short_names.iter().map(|&name| name.to_owned()).collect(),
        categories: is_of_all.then(|| "all".to_owned()).into_iter().collect(),
        name_rule,
        has_generation: with_generation.contains(&known.kind) || is_other(&OTHERS_WITH_GENERATION),
        definition: None,
        is_terminating: false,
        versions: vec![VersionInfo {
            name: known.version.to_owned(),
            is_served: true,
            is_storage: true,
            has_status: with_status.contains(&known.kind) || is_other(&OTHERS_WITH_STATUS),
            custom: None,
        }],
    }
}

/// Joins a plural and a group as messages show them.
pub(crate) fn qualified_resource(plural: &str, group: &str) -> String {
    if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") }
}
