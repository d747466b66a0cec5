//! How much of the disk the images of each namespace may take.
//!
//! Everything that a namespace uses is charged to it: layers while they are pulled, and trees as long as a
//! catalog is read from them. What lies unused in the cache is charged to no namespace; pruning limits that.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::PullError;

/// The most bytes of one image of a tenant as it travels: more than twice the largest catalog layer known.
pub const MAX_TENANT_IMAGE_BYTES: u64 = 1 << 30;

/// The most bytes that the images of one namespace may take at once: six catalogs of the largest size known
/// with room to pull the next version of one of them.
pub const MAX_NAMESPACE_BYTES: u64 = 3 << 30;

/// How many CatalogSources of one namespace are read: each keeps its catalog in memory. The largest vendor has
/// four.
pub const MAX_NAMESPACE_CATALOGS: usize = 50;

/// The allowances of all namespaces that use something.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    namespaces: Mutex<BTreeMap<String, Weak<NamespaceUse>>>,
}

/// What the images of a fetch may take.
#[derive(Debug, Clone, Default)]
pub struct Allowance {
    /// Without it, there is no limit beyond those of the cache.
    namespace: Option<Arc<NamespaceUse>>,
}

#[derive(Debug)]
struct NamespaceUse {
    name: String,
    used: AtomicU64,
}

/// Bytes that are charged to a namespace until this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    namespace: Option<Arc<NamespaceUse>>,
    bytes: u64,
}

impl Quotas {
    /// Returns what a namespace may take.
    pub(crate) fn of(&self, namespace: &str) -> Allowance {
        let mut namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = namespaces.get(namespace).and_then(Weak::upgrade) {
            return Allowance { namespace: Some(known) };
        }
        namespaces.retain(|_, known| known.strong_count() > 0);
        let name = namespace.to_owned();
        let fresh = Arc::new(NamespaceUse { name, used: AtomicU64::new(0) });
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
        let used = |namespace: &Arc<NamespaceUse>| namespace.used.load(Ordering::Relaxed);
        self.namespace
            .as_ref()
            .map_or(u64::MAX, |namespace| MAX_NAMESPACE_BYTES.saturating_sub(used(namespace)))
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
        self.charge(reference, bytes)
    }

    /// Charges bytes on the disk.
    pub(crate) fn charge(&self, reference: &str, bytes: u64) -> Result<Charge, PullError> {
        if let Some(namespace) = &self.namespace {
            let charged =
                namespace.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                    used.checked_add(bytes).filter(|used| *used <= MAX_NAMESPACE_BYTES)
                });
            if charged.is_err() {
                return Err(self.exceeded(reference));
            }
        }
        Ok(Charge { namespace: self.namespace.clone(), bytes })
    }

    /// Returns the error for what does not fit.
    pub(crate) fn exceeded(&self, reference: &str) -> PullError {
        let namespace = self.namespace.as_ref().map_or("", |namespace| &namespace.name);
        PullError::NamespaceQuota {
            reference: reference.to_owned(),
            namespace: namespace.to_owned(),
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(namespace) = &self.namespace {
            namespace.used.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_count_for_their_namespace_until_dropped() {
        let quotas = Quotas::default();
        let image = |namespace: &str, bytes| quotas.of(namespace).charge_image("image", bytes);
        let held: Vec<Charge> =
            (0..3).map(|_| image("a", MAX_TENANT_IMAGE_BYTES).expect("it fits")).collect();
        let error = image("a", 1).expect_err("it is full").to_string();
        assert!(error.contains("namespace `a`") && error.contains("3221225472"), "{error}");
        assert!(image("b", MAX_TENANT_IMAGE_BYTES).is_ok(), "other namespaces are not concerned");
        let error = image("b", MAX_TENANT_IMAGE_BYTES + 1).expect_err("too large").to_string();
        assert!(error.contains("namespace `b`") && error.contains("1073741824"), "{error}");
        drop(held);
        assert!(image("a", 1).is_ok());
        assert!(quotas.of("a").charge("image", u64::MAX).is_err());
        assert!(Allowance::unlimited().charge_image("image", u64::MAX).is_ok());
    }
}
