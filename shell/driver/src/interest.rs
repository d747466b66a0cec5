//! Which objects of a cluster somebody wants to see.
//!
//! A cluster has far more Secrets, ConfigMaps and Deployments than operators are made of: memory has
//! to follow what is installed. Nothing is fetched here.

use std::collections::BTreeSet;

use operon_object::{Kind, Object, ObjectKey};

/// Some objects of a kind that somebody wants to see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interest {
    /// The kind.
    pub kind: Kind,
    /// Which of its objects.
    pub part: Part,
    /// How much of each.
    pub depth: Depth,
}

/// How much of an object somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// All of it.
    Whole,
    /// Its metadata at least: a cluster may leave out the rest, or give it all the same.
    Metadata,
}

/// Some of the objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of them, such as every ClusterServiceVersion.
    All,
    /// Those with a label of a value, such as the Deployments that are marked as managed.
    Labelled {
        /// The namespace; empty for all of them.
        namespace: String,
        /// The label.
        label: String,
        /// Its value.
        value: String,
    },
    /// Those of a namespace, such as the Subscriptions that somebody may see who may see no others.
    Within {
        /// The namespace.
        namespace: String,
    },
    /// The one of a name, such as the pull secret of a CatalogSource.
    Named {
        /// The namespace; empty for what lies in none.
        namespace: String,
        /// The name.
        name: String,
    },
}

impl Interest {
    /// Wants to see all objects of a kind.
    pub fn all(kind: Kind) -> Self {
        Self { kind, part: Part::All, depth: Depth::Whole }
    }

    /// Wants to see all objects of some kinds.
    pub fn all_of(kinds: impl IntoIterator<Item = Kind>) -> BTreeSet<Self> {
        kinds.into_iter().map(Self::all).collect()
    }

    /// Wants to see the metadata of all objects of a kind.
    pub fn metadata_of(kind: Kind) -> Self {
        Self { depth: Depth::Metadata, ..Self::all(kind) }
    }

    /// Wants to see the objects of a kind that carry a label of a value.
    pub fn labelled(kind: Kind, label: &str, value: &str) -> Self {
        Self::labelled_within(kind, "", label, value)
    }

    /// Selects the objects of a kind in a namespace that carry a label with a value.
    pub fn labelled_within(kind: Kind, namespace: &str, label: &str, value: &str) -> Self {
        let [namespace, label, value] = [namespace, label, value].map(str::to_owned);
        Self { kind, part: Part::Labelled { namespace, label, value }, depth: Depth::Whole }
    }

    /// Wants to see the objects of a kind that lie in a namespace.
    pub fn within(kind: Kind, namespace: &str) -> Self {
        let part = Part::Within { namespace: namespace.to_owned() };
        Self { kind, part, depth: Depth::Whole }
    }

    /// Wants to see one object.
    pub fn named(key: ObjectKey) -> Self {
        let ObjectKey { kind, namespace, name } = key;
        Self { kind, part: Part::Named { namespace, name }, depth: Depth::Whole }
    }

    /// Tells whether an object is wanted.
    pub fn covers(&self, object: &Object) -> bool {
        object.kind() == self.kind && self.part.has(object)
    }
}

impl Part {
    /// Tells whether an object of the kind is one of them.
    pub fn has(&self, object: &Object) -> bool {
        match self {
            Self::All => true,
            Self::Labelled { namespace, label, value } => {
                (namespace.is_empty() || object.namespace() == namespace)
                    && object.metadata("labels").get(label).as_text() == Some(value)
            }
            Self::Within { namespace } => object.namespace() == namespace,
            Self::Named { namespace, name } => {
                object.namespace() == namespace && object.name() == name
            }
        }
    }
}

/// Tells whether one of some interests covers an object.
pub(crate) fn is_covered(interests: &BTreeSet<Interest>, object: &Object) -> bool {
    let key = object.key();
    let first = Interest::all(key.kind.clone());
    let exact = Interest::named(key);
    if interests.contains(&exact) {
        return true;
    }
    // All, the labelled ones and those of namespaces stand before every named one.
    let least = Interest::named(exact.kind.key("", ""));
    interests.range(first..least).any(|interest| interest.part.has(object))
}

#[cfg(test)]
mod tests {
    use operon_object::known;

    use super::*;

    #[test]
    fn interests_cover_what_they_name() {
        let mut secret = Object::new("v1", "Secret", "shop", "pull");
        let all = Interest::all(known::SECRET);
        let labelled = Interest::labelled(known::SECRET, "olm.managed", "true");
        let within = Interest::within(known::SECRET, "shop");
        let named = Interest::named(secret.key());
        let others = [
            Interest::all(known::CONFIG_MAP),
            Interest::labelled(known::CONFIG_MAP, "olm.managed", "true"),
            Interest::labelled(known::SECRET, "olm.managed", "false"),
            Interest::labelled(known::SECRET, "other", ""),
            Interest::labelled_within(known::SECRET, "shop-2", "olm.managed", "true"),
            Interest::within(known::SECRET, "shop-2"),
            Interest::within(known::CONFIG_MAP, "shop"),
            Interest::named(known::SECRET.key("shop", "other")),
            Interest::named(known::SECRET.key("", "pull")),
            Interest::named(known::CONFIG_MAP.key("shop", "pull")),
        ];
        let metadata = Interest::metadata_of(known::SECRET);
        let here = Interest::labelled_within(known::SECRET, "shop", "olm.managed", "true");
        let claims = |secret: &Object| {
            [&all, &labelled, &here, &within, &named, &metadata].map(|interest| {
                let mut many: BTreeSet<Interest> = others.clone().into();
                assert!(!is_covered(&many, secret));
                many.insert(interest.clone());
                assert_eq!(is_covered(&many, secret), interest.covers(secret), "{interest:?}");
                interest.covers(secret)
            })
        };
        assert_eq!(claims(&secret), [true, false, false, true, true, true]);
        secret.set_label("olm.managed", "true");
        assert_eq!(claims(&secret), [true, true, true, true, true, true]);
        assert!(others.iter().all(|other| !other.covers(&secret)));
    }
}
