//! How much of the disk and of the memory the images and catalogs of each namespace may take.
//!
//! Everything that a namespace uses is charged to it: layers while they are pulled, trees as long as a
//! catalog is read from them, and the memory of catalogs in use. What lies unused in the cache is charged to no
//! namespace; pruning limits that.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    CacheDirectory, OpenError, PullError,
    limits::MAX_TENANT_KEPT_BYTES,
    slots::{FairSlot, FairSlots},
};

/// The most bytes of one image of a tenant as it travels: more than twice the largest catalog layer known.
pub const MAX_TENANT_IMAGE_BYTES: u64 = 1 << 30;

/// The most bytes that the images of one namespace may take at once: the largest image that it may pull, unpacked.
/// That is six catalogs of the largest size known.
pub const MAX_NAMESPACE_BYTES: u64 = MAX_TENANT_IMAGE_BYTES + MAX_TENANT_KEPT_BYTES;

/// The most bytes that the cache of a controller may take for all namespaces: those that use up their share must not
/// have its pod evicted. The manifest gives the cache a gigabyte more, for directories, snapshots and notes, which
/// are not counted.
pub const MAX_TENANTS_BYTES: u64 = 3 << 30;

/// What the manifests, the configuration and the signatures of one image may take in the cache.
const IMAGE_DOCUMENTS_BYTES: u64 = 16 << 20;

/// How many catalogs of tenants are unpacked or read at the same time. Each takes a quarter of the controller's memory
/// at most; see `MAX_TENANT_DECLARED_BYTES`.
const MAX_CATALOG_READS: usize = 2;

/// How many CatalogSources of one namespace are read: each keeps its catalog in memory. The largest vendor has
/// four.
pub const MAX_NAMESPACE_CATALOGS: usize = 50;

/// The most bytes of memory that the catalogs in use of one namespace may take: sixteen times the largest catalog
/// known, which takes 6 MB. One that is read again counts twice for a moment.
pub const MAX_NAMESPACE_CATALOG_MEMORY: u64 = 96 << 20;

/// The most bytes of memory that the catalogs in use of all namespaces may take. With what reading two catalogs
/// takes, it is less than half of what the controller's manifest allows; the rest is for the engine.
pub const MAX_CATALOG_MEMORY: u64 = 192 << 20;

/// The allowances of all namespaces that use something.
#[derive(Debug)]
pub(crate) struct Quotas {
    namespaces: Mutex<BTreeMap<String, Weak<NamespaceUse>>>,
    totals: Arc<Totals>,
}

/// What the images of a fetch may take.
#[derive(Debug, Clone, Default)]
pub struct Allowance {
    /// Without it, there is no limit beyond those of the cache.
    namespace: Option<Arc<NamespaceUse>>,
}

/// What all namespaces use together.
#[derive(Debug)]
struct Totals {
    memory: Meter,
    disk: Mutex<DiskUse>,
    cache: CacheDirectory,
    reads: FairSlots,
}

/// What the cache takes of the disk.
#[derive(Debug, Default)]
struct DiskUse {
    /// The bytes that are charged to namespaces.
    charged: u64,
    /// At most so many bytes are in the cache and charged to no namespace. Counting them takes time, so this grows
    /// until it matters.
    unused: u64,
}

#[derive(Debug)]
struct NamespaceUse {
    name: String,
    disk: Meter,
    memory: Meter,
    totals: Arc<Totals>,
}

/// Bytes in use.
#[derive(Debug, Default)]
struct Meter(AtomicU64);

impl Meter {
    fn used(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds bytes if no more than `limit` are used then.
    fn add(&self, bytes: u64, limit: u64) -> bool {
        let added = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|used| *used <= limit)
        });
        added.is_ok()
    }

    fn remove(&self, bytes: u64) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes on the disk that are charged to a namespace until this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    namespace: Option<Arc<NamespaceUse>>,
    bytes: u64,
    /// Whether the files are gone when this is dropped; others stay in the cache, unused.
    is_temporary: bool,
}

/// Bytes of memory that are charged to a namespace until this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryCharge {
    namespace: Arc<NamespaceUse>,
    bytes: u64,
}

impl Totals {
    fn disk(&self) -> MutexGuard<'_, DiskUse> {
        // Numbers are changed at the end, so they are right whatever happened to another holder of the lock.
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Charges bytes on the disk. What is unused makes room. Returns `false` if there is not enough.
    fn charge(&self, bytes: u64) -> bool {
        let mut disk = self.disk();
        let Some(room) =
            MAX_TENANTS_BYTES.checked_sub(disk.charged).and_then(|room| room.checked_sub(bytes))
        else {
            return false;
        };
        if disk.unused > room {
            let Ok(pruned) = self.cache.prune(room) else { return false };
            let in_use: u64 = pruned.in_use.iter().map(|entry| entry.size).sum();
            disk.unused = pruned.left_bytes.saturating_sub(in_use);
        }
        if disk.unused > room {
            return false;
        }
        disk.charged += bytes;
        true
    }

    fn release(&self, bytes: u64, is_temporary: bool) {
        let mut disk = self.disk();
        disk.charged -= bytes;
        disk.unused += if is_temporary { 0 } else { bytes };
    }
}

impl Quotas {
    /// Creates the quotas of all who share a cache.
    pub(crate) fn new(cache: CacheDirectory) -> Self {
        // What the cache holds already is counted when it is pruned for the first time.
        let disk = Mutex::new(DiskUse { charged: 0, unused: MAX_TENANTS_BYTES });
        let reads = FairSlots::new(MAX_CATALOG_READS);
        let totals = Arc::new(Totals { memory: Meter::default(), disk, cache, reads });
        Self { namespaces: Mutex::default(), totals }
    }

    /// Returns what a namespace may take.
    pub(crate) fn of(&self, namespace: &str) -> Allowance {
        let mut namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = namespaces.get(namespace).and_then(Weak::upgrade) {
            return Allowance { namespace: Some(known) };
        }
        namespaces.retain(|_, known| known.strong_count() > 0);
        let fresh = Arc::new(NamespaceUse {
            name: namespace.to_owned(),
            disk: Meter::default(),
            memory: Meter::default(),
            totals: Arc::clone(&self.totals),
        });
        namespaces.insert(namespace.to_owned(), Arc::downgrade(&fresh));
        Allowance { namespace: Some(fresh) }
    }
}

impl Allowance {
    /// Returns the allowance of a user who has the cache alone.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Returns how many bytes may still be charged.
    pub(crate) fn left(&self) -> u64 {
        self.namespace
            .as_ref()
            .map_or(u64::MAX, |namespace| MAX_NAMESPACE_BYTES.saturating_sub(namespace.disk.used()))
    }

    /// Waits until a catalog of the namespace may be unpacked or read; does nothing where there is no limit.
    pub(crate) fn reading_slot(&self) -> Option<FairSlot<'_>> {
        self.namespace.as_ref().map(|namespace| namespace.totals.reads.take(&namespace.name))
    }

    /// Charges the layers of an image as they travel.
    pub(crate) fn charge_image(&self, reference: &str, bytes: u64) -> Result<Charge, PullError> {
        if let Some(namespace) = &self.namespace
            && bytes > MAX_TENANT_IMAGE_BYTES
        {
            return Err(PullError::ImageQuota {
                reference: reference.to_owned(),
                namespace: namespace.name.clone(),
                bytes,
            });
        }
        let mut charge = self.charge(reference, bytes)?;
        charge.is_temporary = true;
        Ok(charge)
    }

    /// Makes room for the documents of an image that is pulled. They stay in the cache, charged to no namespace.
    pub(crate) fn make_room_for_documents(&self, reference: &str) -> Result<(), PullError> {
        self.charge(reference, IMAGE_DOCUMENTS_BYTES).map(drop)
    }

    /// Charges bytes on the disk.
    pub(crate) fn charge(&self, reference: &str, bytes: u64) -> Result<Charge, PullError> {
        let mut charge =
            Charge { namespace: self.namespace.clone(), bytes: 0, is_temporary: false };
        charge.grow(reference, bytes)?;
        Ok(charge)
    }

    /// Charges the memory of a catalog in use; nothing is charged where there is no limit.
    pub(crate) fn charge_memory(&self, bytes: u64) -> Result<Option<MemoryCharge>, OpenError> {
        let Some(namespace) = &self.namespace else { return Ok(None) };
        let refused = |whose, limit| Err(OpenError::Memory { bytes, whose, limit });
        if !namespace.memory.add(bytes, MAX_NAMESPACE_CATALOG_MEMORY) {
            let whose = format!("the catalogs of namespace `{}`", namespace.name);
            return refused(whose, MAX_NAMESPACE_CATALOG_MEMORY);
        }
        if !namespace.totals.memory.add(bytes, MAX_CATALOG_MEMORY) {
            namespace.memory.remove(bytes);
            return refused("the catalogs of all namespaces".to_owned(), MAX_CATALOG_MEMORY);
        }
        Ok(Some(MemoryCharge { namespace: Arc::clone(namespace), bytes }))
    }

    /// Returns the error for what does not fit into the namespace.
    pub(crate) fn exceeded(&self, reference: &str) -> PullError {
        let namespace = self.namespace.as_ref().map_or("", |namespace| &namespace.name);
        PullError::NamespaceQuota {
            reference: reference.to_owned(),
            namespace: namespace.to_owned(),
        }
    }
}

impl Charge {
    /// Charges more bytes.
    pub(crate) fn grow(&mut self, reference: &str, bytes: u64) -> Result<(), PullError> {
        let Some(namespace) = &self.namespace else { return Ok(()) };
        let reference = reference.to_owned();
        if !namespace.disk.add(bytes, MAX_NAMESPACE_BYTES) {
            return Err(PullError::NamespaceQuota { reference, namespace: namespace.name.clone() });
        }
        if !namespace.totals.charge(bytes) {
            namespace.disk.remove(bytes);
            return Err(PullError::CacheQuota { reference });
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(namespace) = &self.namespace {
            namespace.disk.remove(self.bytes);
            namespace.totals.release(self.bytes, self.is_temporary);
        }
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.namespace.memory.remove(self.bytes);
        self.namespace.totals.memory.remove(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotas() -> (Quotas, tempfile::TempDir) {
        let directory = tempfile::tempdir().expect("a directory");
        (Quotas::new(CacheDirectory::at(directory.path())), directory)
    }

    #[test]
    fn charges_count_for_their_namespace_until_dropped() {
        let (quotas, _directory) = quotas();
        let image = |namespace: &str, bytes| quotas.of(namespace).charge_image("image", bytes);
        let rest = MAX_NAMESPACE_BYTES - MAX_TENANT_IMAGE_BYTES;
        let held = [image("a", MAX_TENANT_IMAGE_BYTES), image("a", rest)];
        assert!(held.iter().all(Result::is_ok));
        let error = image("a", 1).expect_err("it is full").to_string();
        assert!(error.contains("namespace `a`") && error.contains("1610612736"), "{error}");
        assert!(image("b", MAX_TENANT_IMAGE_BYTES).is_ok(), "other namespaces are not concerned");
        let error = image("b", MAX_TENANT_IMAGE_BYTES + 1).expect_err("too large").to_string();
        assert!(error.contains("namespace `b`") && error.contains("1073741824"), "{error}");
        drop(held);
        assert!(image("a", 1).is_ok());
        assert!(quotas.of("a").charge("image", u64::MAX).is_err());
        assert!(Allowance::unlimited().charge_image("image", u64::MAX).is_ok());
    }

    #[test]
    fn charges_of_all_namespaces_have_a_limit() {
        let (quotas, _directory) = quotas();
        let charge = |namespace: &str, bytes| quotas.of(namespace).charge("image", bytes);
        let held: Vec<Charge> = ["a", "b"]
            .map(|namespace| charge(namespace, MAX_NAMESPACE_BYTES).expect("it fits"))
            .into();
        let error = charge("c", 1).expect_err("everything is full").to_string();
        assert!(error.contains("all namespaces") && error.contains("3221225472"), "{error}");
        drop(held);
        assert!(charge("c", MAX_NAMESPACE_BYTES).is_ok(), "what is unused makes room");
    }

    #[test]
    fn unused_files_make_room_before_charges_are_refused() {
        let (quotas, directory) = quotas();
        let documents = CacheDirectory::at(directory.path()).documents();
        std::fs::create_dir_all(&documents).expect("a directory");
        let large = |name: &str| {
            let path = documents.join(name);
            let file = std::fs::File::create(&path).expect("a file");
            file.set_len(MAX_TENANTS_BYTES - MAX_NAMESPACE_BYTES).expect("a sparse file");
            (path, file)
        };
        let (unused, _) = large("unused.json");
        let (used, lock) = large("used.json");
        lock.lock_shared().expect("a lock");
        let charge = |namespace: &str| quotas.of(namespace).charge("image", MAX_NAMESPACE_BYTES);
        let _used = charge("a").expect("the file in use, as its user would charge it");
        assert!(!unused.exists() && used.exists());
        assert!(charge("b").is_ok(), "what is in use is charged already");
        assert!(used.exists());
    }

    #[test]
    fn memory_is_limited_by_namespace_and_in_total() {
        let (quotas, _directory) = quotas();
        let take = |namespace: &str, bytes| quotas.of(namespace).charge_memory(bytes);
        let full = |namespace| take(namespace, MAX_NAMESPACE_CATALOG_MEMORY).expect("it fits");
        let first = full("a");
        let error = take("a", 1).expect_err("the namespace is full").to_string();
        assert!(error.contains("namespace `a`") && error.contains("100663296"), "{error}");
        let second = full("b");
        let error = take("c", 1).expect_err("everything is full").to_string();
        assert!(error.contains("all namespaces") && error.contains("201326592"), "{error}");
        drop(first);
        assert!(take("c", MAX_NAMESPACE_CATALOG_MEMORY).is_ok());
        drop(second);
        assert!(take("b", MAX_NAMESPACE_CATALOG_MEMORY + 1).is_err());
        assert!(matches!(Allowance::unlimited().charge_memory(u64::MAX), Ok(None)));
    }
}
