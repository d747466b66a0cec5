//! The contract of the port, kept by the embedded cluster and through its socket; and broken on
//! purpose, to see that every check can fail.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use crate::support::Home;
use operon_driver::{
    Change, Changes, Cluster, ClusterError, Cursor, Interest, Listing, Part,
    contract::{self, Check, Subject},
};
use operon_lifecycle::ErrorKind;
use operon_local::{Access, RemoteCluster, SOCKET_FILE, connect_or_open, serve};
use operon_object::{Object, ObjectKey};

fn check(check: &Check, cluster: &dyn Cluster, pause: &dyn Fn()) -> Result<(), String> {
    let subject = Subject { cluster, pause, name: "contract" };
    check.run(&subject).map_err(|failure| failure.to_string())
}

#[test]
fn the_embedded_cluster_keeps_the_contract() {
    let home = Home::new();
    let cluster = home.open();
    let pause = || {
        home.hands.turn(Duration::from_secs(1));
        cluster.advance(home.hands.now());
    };
    let failures: Vec<String> =
        contract::all().iter().filter_map(|one| check(one, &cluster, &pause).err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_cluster_behind_a_socket_keeps_the_contract() {
    let home = Home::new();
    let cluster = Arc::new(home.open());
    let service = serve(Arc::clone(&cluster), &home.directory.path().join(SOCKET_FILE)).unwrap();
    let access = connect_or_open(home.directory.path(), &home.options()).unwrap();
    assert!(matches!(access, Access::Remote(_)));
    let pause = || {
        home.hands.turn(Duration::from_secs(1));
        cluster.advance(home.hands.now());
    };
    let failures: Vec<String> =
        contract::all().iter().filter_map(|one| check(one, &access, &pause).err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    drop(service);
    let gone = RemoteCluster::connect(&home.directory.path().join(SOCKET_FILE), "tester");
    assert!(gone.is_err());
}

macro_rules! faults {
    ($($fault:ident),* $(,)?) => {
        /// A way to break the contract.
        #[derive(Debug, Clone, Copy, PartialEq)]
        enum Fault {
            $($fault),*
        }

        const FAULTS: &[Fault] = &[$(Fault::$fault),*];
    };
}

faults! {
    CreateOverwrites,
    CreateForgets,
    UpdateBlindly,
    UpdateWritesStatus,
    StatusWritesRest,
    ApplyReplaces,
    ApplyNeverTakesAway,
    ApplyAlwaysWrites,
    ApplyDoesNothing,
    DeleteWhatever,
    DeleteNothing,
    DeleteThroughFinalizers,
    GetInvents,
    GetFailsOnUnknown,
    ListLeavesOut,
    ListTooMuch,
    ListFailsOnUnknown,
    ChangesLeaveOut,
    ChangesBackwards,
    ChangesTwice,
    ChangesOfAll,
    AnyCursor,
    NamesUnchecked,
    SchemaUnchecked,
    OwnersForgotten,
    SharedCollected,
    UpdateMerges,
    ApplyOnlyChanges,
    ApplyAnything,
    PartsIgnored,
    ChangesOfWholeKindsOnly,
}

/// Forgets which objects of the kinds are meant.
fn whole(interests: &BTreeSet<Interest>) -> BTreeSet<Interest> {
    Interest::all_of(interests.iter().map(|interest| interest.kind.clone()))
}

struct Broken<'a> {
    cluster: &'a dyn Cluster,
    fault: Fault,
}

impl Broken<'_> {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// Writes without any condition.
    fn force(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut object = object.clone();
        if let Some(found) = self.cluster.get(&object.key())? {
            object.set(&["metadata", "uid"], found.uid());
            object.set(&["metadata", "resourceVersion"], found.resource_version());
        }
        self.cluster.update(&object)
    }
}

fn refusal(kind: ErrorKind) -> ClusterError {
    ClusterError { kind, message: "broken on purpose".to_owned() }
}

impl Cluster for Broken<'_> {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        let all = Interest::all_of([
            operon_object::known::CONFIG_MAP,
            operon_object::known::SERVICE_ACCOUNT,
        ]);
        let mut listing = match self.fault {
            Fault::ListTooMuch => self.cluster.list(&all)?,
            Fault::PartsIgnored => self.cluster.list(&whole(interests))?,
            _ => self.cluster.list(interests)?,
        };
        if self.is(Fault::ListLeavesOut) {
            listing.objects.retain(|object| !object.name().ends_with('b'));
        }
        let is_unknown = |interest: &Interest| interest.kind.group().ends_with("example.com");
        if self.is(Fault::ListFailsOnUnknown) && interests.iter().any(is_unknown) {
            return Err(refusal(ErrorKind::NotFound));
        }
        Ok(listing)
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        let since = match self.fault {
            Fault::AnyCursor if since.0.len() < 2 => self.cluster.list(interests)?.cursor,
            _ => since.clone(),
        };
        let all = Interest::all_of([
            operon_object::known::CONFIG_MAP,
            operon_object::known::SERVICE_ACCOUNT,
        ]);
        let interests = match self.fault {
            Fault::ChangesOfAll => all,
            Fault::PartsIgnored => whole(interests),
            Fault::ChangesOfWholeKindsOnly => {
                let is_whole = |interest: &&Interest| interest.part == Part::All;
                interests.iter().filter(is_whole).cloned().collect()
            }
            _ => interests.clone(),
        };
        let mut changes = self.cluster.changes(&interests, &since)?;
        match self.fault {
            Fault::ChangesLeaveOut => {
                changes.changes.retain(|change| matches!(change, Change::Is(_)));
            }
            Fault::ChangesBackwards => changes.changes.reverse(),
            Fault::ChangesTwice => changes.cursor = since,
            _ => {}
        }
        Ok(changes)
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        let found = self.cluster.get(key)?;
        match self.fault {
            Fault::GetInvents if found.is_none() => {
                Ok(Some(Object::new("v1", key.kind.name(), &key.namespace, &key.name)))
            }
            Fault::GetFailsOnUnknown if key.kind.group().ends_with("example.com") => {
                found.map(Some).ok_or_else(|| refusal(ErrorKind::NotFound))
            }
            _ => Ok(found),
        }
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut object = object.clone();
        match self.fault {
            Fault::CreateOverwrites if self.cluster.get(&object.key())?.is_some() => {
                return self.force(&object);
            }
            Fault::CreateForgets => {
                object.value_mut().remove(&["data"]);
            }
            Fault::OwnersForgotten => {
                object.metadata_mut().remove("ownerReferences");
            }
            Fault::SharedCollected => {
                let mut owners: Vec<_> = object.metadata("ownerReferences").elements().to_vec();
                owners.truncate(1);
                object.set(&["metadata", "ownerReferences"], owners);
            }
            Fault::NamesUnchecked => {
                let name = object.name().to_lowercase().replace([' ', '/'], "-");
                let name: String = name.trim_matches('-').chars().take(60).collect();
                object.set(&["metadata", "name"], name);
            }
            Fault::SchemaUnchecked => object.set(&["spec", "size"], 1),
            _ => {}
        }
        self.cluster.create(&object)
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        match self.fault {
            Fault::UpdateBlindly => self.force(object),
            Fault::UpdateMerges => {
                let mut merged = object.clone();
                if let Some(found) = self.cluster.get(&object.key())? {
                    for (name, value) in found.value().get("data").entries() {
                        merged.set(&["data", name], value.clone());
                    }
                }
                self.cluster.update(&merged)
            }
            Fault::UpdateWritesStatus => {
                let written = self.cluster.update(object)?;
                let mut status = written.clone();
                status.set(&["status"], object.status().clone());
                self.cluster.update_status(&status).or(Ok(written))
            }
            _ => self.cluster.update(object),
        }
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        let written = self.cluster.update_status(object)?;
        if self.is(Fault::StatusWritesRest) {
            let mut rest = object.clone();
            rest.set(&["metadata", "resourceVersion"], written.resource_version());
            return self.cluster.update(&rest);
        }
        Ok(written)
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        let found = self.cluster.get(&object.key())?;
        match (self.fault, found) {
            (Fault::ApplyReplaces, Some(_)) => self.force(object),
            (Fault::ApplyNeverTakesAway, Some(mut found)) => {
                for (name, value) in object.value().get("data").entries() {
                    found.set(&["data", name], value.clone());
                }
                self.cluster.update(&found)
            }
            (Fault::ApplyAlwaysWrites, Some(mut found)) => {
                let version = found.resource_version().to_owned();
                found.set_annotation("applied", &version);
                self.cluster.update(&found)?;
                self.cluster.apply(object)
            }
            (Fault::ApplyDoesNothing, Some(found)) => Ok(found),
            (Fault::ApplyOnlyChanges, None) => Err(refusal(ErrorKind::NotFound)),
            (Fault::ApplyAnything, None) => self.cluster.apply(object).or(Ok(object.clone())),
            _ => self.cluster.apply(object),
        }
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        match self.fault {
            Fault::DeleteWhatever => match self.cluster.get(key)? {
                Some(found) => self.cluster.delete(key, found.uid()),
                None => Ok(()),
            },
            Fault::DeleteNothing => Ok(()),
            Fault::DeleteThroughFinalizers => {
                if let Some(mut found) = self.cluster.get(key)? {
                    found.metadata_mut().remove("finalizers");
                    self.cluster.update(&found)?;
                }
                self.cluster.delete(key, uid)
            }
            _ => self.cluster.delete(key, uid),
        }
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        self.cluster.impersonating(account)
    }
}

#[test]
fn every_fault_is_noticed_and_every_check_notices_some() {
    let checks = contract::all();
    let mut noticing: BTreeSet<&str> = BTreeSet::new();
    for fault in FAULTS.iter().copied() {
        let home = Home::new();
        let cluster = home.open();
        let broken = Broken { cluster: &cluster, fault };
        let pause = || {
            cluster.advance(home.hands.now());
        };
        let noticed: Vec<&str> = checks
            .iter()
            .filter(|one| check(one, &broken, &pause).is_err())
            .map(|one| one.name)
            .collect();
        assert!(!noticed.is_empty(), "{fault:?}");
        noticing.extend(noticed);
    }
    let idle: Vec<&str> =
        checks.iter().map(|one| one.name).filter(|name| !noticing.contains(name)).collect();
    assert!(idle.is_empty(), "checks that nothing fails: {idle:#?}");
}
