//! What a cluster calls its kinds: those that Operon knows, and those that CRDs define.

use std::collections::BTreeSet;

use anyhow::anyhow;
use operon_api::kind_by_word;
use operon_catalog::nearest;
use operon_driver::{Cluster, ClusterError, Interest};
use operon_lifecycle::ErrorKind;
use operon_object::{
    Kind, Object,
    known::{self, KNOWN_KINDS, OTHER_KINDS, known_kind},
};

/// The kinds of a cluster that are none of Operon's.
#[derive(Debug)]
pub(crate) struct Kinds {
    definitions: Vec<Object>,
    /// Whether somebody may not read what is defined.
    is_blind: bool,
}

/// A kind that somebody named.
#[derive(Debug, Clone)]
pub(crate) struct FoundKind {
    pub(crate) kind: Kind,
    /// Its CustomResourceDefinition, for a kind that Operon does not know.
    pub(crate) definition: Option<Object>,
}

impl Kinds {
    /// Asks a cluster for its kinds.
    pub(crate) fn of(cluster: &impl Cluster) -> Result<Self, ClusterError> {
        let interests = Interest::all_of([known::CUSTOM_RESOURCE_DEFINITION]);
        match cluster.list(&interests) {
            Ok(listing) => Ok(Self { definitions: listing.objects, is_blind: false }),
            // Operon's own kinds, and those of Kubernetes, need no definition.
            Err(error) if error.kind == ErrorKind::Forbidden => {
                Ok(Self { definitions: Vec::new(), is_blind: true })
            }
            Err(error) => Err(error),
        }
    }

    /// Finds a kind by a word such as `csv`, `deployments.apps` or `Lamp`.
    pub(crate) fn find(&self, word: &str) -> anyhow::Result<FoundKind> {
        if let Some(kind) = kind_by_word(word) {
            return Ok(FoundKind { kind, definition: None });
        }
        let word = word.to_lowercase();
        let (name, group) = word.split_once('.').unwrap_or((&word, ""));
        let is_meant = |definition: &&Object| {
            let spec = definition.spec();
            let is_group = group.is_empty() || group == spec.get("group").str();
            is_group && names(definition).iter().any(|other| other == name)
        };
        if let Some(definition) = self.definitions.iter().find(is_meant) {
            let kind = defined_kind(definition);
            return Ok(FoundKind { kind, definition: Some(definition.clone()) });
        }
        Err(self.unknown(&word))
    }

    /// Tells whether the objects of a kind lie in namespaces; nothing where the kind is not known.
    pub(crate) fn is_namespaced(&self, kind: &Kind) -> Option<bool> {
        let mut others = OTHER_KINDS.iter();
        let other = || others.find(|other| other.kind == *kind);
        if let Some(known) = known_kind(kind).or_else(other) {
            return Some(known.is_namespaced);
        }
        let definition =
            self.definitions.iter().find(|definition| defined_kind(definition) == *kind)?;
        Some(definition.spec().get("scope").str() == "Namespaced")
    }

    /// Returns every kind there is.
    pub(crate) fn all(&self) -> BTreeSet<Kind> {
        let known = KNOWN_KINDS.iter().map(|known| known.kind.clone());
        known.chain(self.definitions.iter().map(defined_kind)).collect()
    }

    fn unknown(&self, word: &str) -> anyhow::Error {
        let mut words: Vec<String> = self.definitions.iter().flat_map(names).collect();
        for known in KNOWN_KINDS.iter().chain(OTHER_KINDS) {
            words.push(known.plural.to_owned());
            words.push(known.kind.name().to_lowercase());
            words.extend(known.short_names.iter().map(|&name| name.to_owned()));
        }
        let hint = match nearest(word, words.iter().map(String::as_str)) {
            _ if self.is_blind => {
                "you may not read customresourcedefinitions.apiextensions.k8s.io, so only \
                                   the kinds that Operon knows are found"
                    .to_owned()
            }
            Some(near) => format!("did you mean `{near}`?"),
            None => "operon get crd lists the kinds that were defined here".to_owned(),
        };
        anyhow!("the cluster has no kind `{word}`\nhint: {hint}")
    }
}

fn defined_kind(definition: &Object) -> Kind {
    let spec = definition.spec();
    Kind::new(spec.get("group").str(), spec.at(&["names", "kind"]).str())
}

fn names(definition: &Object) -> Vec<String> {
    let names = definition.spec().get("names");
    let single = ["plural", "singular", "kind"].map(|name| names.get(name).str());
    let all = single.into_iter().chain(names.get("shortNames").iter_texts());
    all.filter(|name| !name.is_empty()).map(str::to_lowercase).collect()
}
