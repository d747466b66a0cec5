//! The picture of a cluster that decisions rest on.
//!
//! It holds what is of interest and nothing else, whichever cluster it comes from: memory follows what
//! is installed, not what a cluster has.

use std::{collections::BTreeSet, sync::Arc};

use operon_kinds::{CatalogSource, names::MANAGED_LABEL};
use operon_lifecycle::{ErrorKind, GENERATION_LABEL, Objects, WATCHED_BY_LABEL, WATCHED_WHOLE};
use operon_object::{Kind, Object, known};

use crate::{
    Change, Cluster, ClusterError, Cursor, Interest, interest::is_covered, touched::Touched,
};

/// How many Secrets of a CatalogSource are looked at. Each costs the cluster a watch; nobody has more
/// than a few registries behind one catalog.
pub const NAMED_SECRETS_LIMIT: usize = 32;

/// The kind of which every decision looks at all objects, and at nothing but their metadata.
const DESCRIBED: Kind = known::NAMESPACE;

/// The objects of a cluster as they were last seen.
#[derive(Debug)]
pub(crate) struct Picture {
    /// The objects.
    pub(crate) objects: Arc<Objects>,
    /// The kinds of custom resources that are watched besides the others.
    pub(crate) seen: Arc<BTreeSet<Kind>>,
    /// The namespaces in which Secrets may be read; nothing if everywhere.
    pub(crate) secret_namespaces: Option<BTreeSet<String>>,
    /// What was listed, and is followed since.
    followed: BTreeSet<Interest>,
    cursor: Option<Cursor>,
    /// What was deleted while writes were in progress. Their answers may come later, and must not bring
    /// an object back that no watch will ever mention again.
    deleted: Deleted,
}

/// Identities of deleted objects.
#[derive(Debug, Default)]
struct Deleted {
    uids: BTreeSet<String>,
    /// Everything was listed again, so other objects may have been deleted unseen.
    is_relisted: bool,
}

impl Picture {
    pub(crate) fn new() -> Self {
        Self {
            objects: Arc::default(),
            seen: Arc::default(),
            secret_namespaces: None,
            followed: BTreeSet::new(),
            cursor: None,
            deleted: Deleted::default(),
        }
    }

    /// Looks at another kind from now on. Whoever asks for it waits for it, whether there are objects of
    /// it or not; a kind that cannot be listed holds up nobody else.
    pub(crate) fn watch(
        &mut self,
        cluster: &impl Cluster,
        kind: Kind,
        touched: &mut Touched,
    ) -> Result<(), ClusterError> {
        if !self.seen.contains(&kind) {
            self.join(cluster, &[Interest::all(kind.clone())].into(), touched)?;
            Arc::make_mut(&mut self.seen).insert(kind);
            touched.touch_everything();
        }
        Ok(())
    }

    /// Tells whether an object would be seen if it were there.
    pub(crate) fn covers(&self, object: &Object) -> bool {
        is_covered(&self.followed, object)
    }

    /// Brings the picture up to date, and notes what changed.
    pub(crate) fn refresh(
        &mut self,
        cluster: &impl Cluster,
        touched: &mut Touched,
    ) -> Result<(), ClusterError> {
        if !self.follow(cluster, touched)? {
            self.list_all(cluster, touched)?;
        }
        self.adjust(cluster, touched)
    }

    /// Takes in what happened since the last look; tells whether that is known.
    fn follow(
        &mut self,
        cluster: &impl Cluster,
        touched: &mut Touched,
    ) -> Result<bool, ClusterError> {
        let Some(cursor) = &self.cursor else { return Ok(false) };
        match cluster.changes(&self.followed, cursor) {
            Ok(changes) => {
                for change in changes.changes {
                    self.take(change, touched);
                }
                self.cursor = Some(changes.cursor);
                Ok(true)
            }
            Err(error) if error.kind == ErrorKind::Conflict => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn list_all(
        &mut self,
        cluster: &impl Cluster,
        touched: &mut Touched,
    ) -> Result<(), ClusterError> {
        let kinds = std::mem::take(&mut self.seen);
        let wanted = self.wanted();
        let listing = cluster.list(&wanted)?;
        let mut objects = Objects::default();
        for object in listing.objects.into_iter().filter(|object| is_covered(&wanted, object)) {
            objects.insert(object);
        }
        self.objects = Arc::new(objects);
        self.deleted.is_relisted = true;
        self.cursor = Some(listing.cursor);
        self.followed = wanted;
        touched.touch_everything();
        for kind in kinds.iter().cloned() {
            // Whoever needs a kind that cannot be listed now will ask for it again, and be told.
            let _ = self.watch(cluster, kind, touched);
        }
        Ok(())
    }

    /// Lists what is newly of interest, and forgets what is not any more.
    fn adjust(
        &mut self,
        cluster: &impl Cluster,
        touched: &mut Touched,
    ) -> Result<(), ClusterError> {
        let wanted = self.wanted();
        if wanted == self.followed {
            return Ok(());
        }
        let new: BTreeSet<Interest> = wanted.difference(&self.followed).cloned().collect();
        let over: Vec<Interest> = self.followed.difference(&wanted).cloned().collect();
        self.join(cluster, &new, touched)?;
        self.followed = wanted;
        over.iter().for_each(|interest| self.forget(interest));
        Ok(())
    }

    /// Lists what is newly of interest, and follows it together with the rest.
    fn join(
        &mut self,
        cluster: &impl Cluster,
        new: &BTreeSet<Interest>,
        touched: &mut Touched,
    ) -> Result<(), ClusterError> {
        if new.is_empty() {
            return Ok(());
        }
        let listing = cluster.list(new)?;
        self.followed.extend(new.iter().cloned());
        self.cursor.get_or_insert_default().join(listing.cursor);
        for object in listing.objects {
            self.take(Change::Is(object), touched);
        }
        Ok(())
    }

    /// Says what is of interest as far as the picture goes.
    fn wanted(&self) -> BTreeSet<Interest> {
        let mut wanted = Interest::all_of(WATCHED_WHOLE.iter().chain(&*self.seen).cloned());
        wanted.insert(Interest::metadata_of(DESCRIBED));
        let managed = |kind: &Kind| Interest::labelled(kind.clone(), MANAGED_LABEL, "true");
        let by_label = WATCHED_BY_LABEL.iter().filter(|kind| **kind != known::SECRET);
        wanted.extend(by_label.map(managed));
        match &self.secret_namespaces {
            None => {
                wanted.insert(managed(&known::SECRET));
            }
            Some(namespaces) => wanted.extend(namespaces.iter().map(|namespace| {
                Interest::labelled_within(known::SECRET, namespace, MANAGED_LABEL, "true")
            })),
        }
        wanted.insert(Interest::labelled(known::CONTROLLER_REVISION, GENERATION_LABEL, "true"));
        for object in self.objects.all(&known::CATALOG_SOURCE) {
            let source = CatalogSource::read(object);
            let secrets = source.pull_secrets().take(NAMED_SECRETS_LIMIT);
            let secrets = secrets.filter(|_| self.may_read_secrets(object.namespace()));
            let secrets = secrets.map(|name| known::SECRET.key(object.namespace(), name));
            let config_map = known::CONFIG_MAP.key(object.namespace(), source.config_map());
            let named = secrets.chain([config_map]).filter(|key| !key.name.is_empty());
            wanted.extend(named.map(Interest::named));
        }
        wanted
    }

    fn may_read_secrets(&self, namespace: &str) -> bool {
        let limit = self.secret_namespaces.as_ref();
        limit.is_none_or(|namespaces| namespaces.contains(namespace))
    }

    /// Drops the objects that only one interest covered, which is none any more.
    fn forget(&mut self, interest: &Interest) {
        let known = self.objects.all(&interest.kind);
        let gone = known.filter(|object| interest.part.has(object) && !self.covers(object));
        let gone: Vec<_> = gone.map(Object::key).collect();
        let objects = Arc::make_mut(&mut self.objects);
        for key in gone {
            objects.remove(&key);
        }
    }

    /// Takes in what the cluster answered to a write, so that the next decision knows of it. The watch
    /// may have said already that the object was deleted after that.
    pub(crate) fn take_answer(&mut self, object: Object, touched: &mut Touched) {
        let is_unknown = self.objects.find(&object.key()).is_none();
        let Deleted { uids, is_relisted } = &self.deleted;
        if uids.contains(object.uid()) || (*is_relisted && is_unknown) {
            return;
        }
        self.take(Change::Is(object), touched);
    }

    /// Forgets what was deleted. Called while no write is in progress.
    pub(crate) fn forget_deleted(&mut self) {
        self.deleted = Deleted::default();
    }

    fn take(&mut self, change: Change, touched: &mut Touched) {
        if let Change::Gone(object) = &change {
            self.deleted.uids.insert(object.uid().to_owned());
        }
        match change {
            Change::Is(object) if self.covers(&object) => {
                let known = self.objects.find(&object.key());
                if known.is_some_and(|known| is_known(known, &object)) {
                    return;
                }
                touched.touch(&object, known);
                Arc::make_mut(&mut self.objects).insert(object);
            }
            // What is covered no longer is as good as gone.
            Change::Is(object) | Change::Gone(object) => {
                let key = object.key();
                // The name may have been taken by another object meanwhile, or the same one may be of
                // interest again.
                let is_it =
                    |known: &Object| known.uid() == object.uid() && !is_newer(known, &object);
                if self.objects.find(&key).is_some_and(is_it)
                    && let Some(known) = Arc::make_mut(&mut self.objects).remove(&key)
                {
                    touched.touch(&known, None);
                }
            }
        }
    }
}

/// Tells whether what was heard of an object is known already, or something newer.
fn is_known(known: &Object, heard: &Object) -> bool {
    known.uid() == heard.uid()
        && (is_newer(known, heard) || known.resource_version() == heard.resource_version())
}

/// Tells whether what is known of an object is newer than what was heard. Versions are numbers wherever
/// the same object is compared with itself.
fn is_newer(known: &Object, heard: &Object) -> bool {
    let version = |object: &Object| object.resource_version().parse::<u64>().ok();
    match (version(known), version(heard)) {
        (Some(known), Some(heard)) => known > heard,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use operon_object::{list, map};

    use super::*;
    use crate::Part;

    #[test]
    fn secrets_are_listed_in_tenants_only() {
        let mut picture = Picture::new();
        for namespace in ["shop", "elsewhere"] {
            let api_version = "operators.coreos.com/v1alpha1";
            let mut source = Object::new(api_version, "CatalogSource", namespace, "catalog");
            source.set(&["spec"], map! { "sourceType" => "grpc", "secrets" => list!["pull"] });
            Arc::make_mut(&mut picture.objects).insert(source);
        }
        let places = |picture: &Picture| -> Vec<String> {
            let wanted = picture.wanted();
            let secrets = wanted.iter().filter(|interest| interest.kind == known::SECRET);
            let place = |interest: &Interest| match &interest.part {
                Part::All => "everywhere".to_owned(),
                Part::Labelled { namespace, .. } => format!("labelled in `{namespace}`"),
                Part::Within { namespace } => format!("all of `{namespace}`"),
                Part::Named { namespace, name } => format!("{namespace}/{name}"),
            };
            secrets.map(place).collect()
        };
        assert_eq!(places(&picture), ["labelled in ``", "elsewhere/pull", "shop/pull"]);
        picture.secret_namespaces = Some(["shop".to_owned(), "olm".to_owned()].into());
        assert_eq!(places(&picture), ["labelled in `olm`", "labelled in `shop`", "shop/pull"]);
    }
}
