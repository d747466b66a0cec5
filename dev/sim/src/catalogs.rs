//! Catalogs in memory, which scenarios and simulations publish and break.

use std::{collections::BTreeMap, sync::Arc};

use operon_catalog::Catalog;
use operon_document::encode_base64;
use operon_driver::{CatalogRequest, Catalogs, ClusterError};
use operon_fbc::{MemoryFile, read_catalog};
use operon_install::ServingCertificate;
use operon_kinds::CatalogSource;
use operon_lifecycle::{BundleKey, BundleState, CatalogState, CertificateRequest};
use operon_object::{Timestamp, Value, sha256_hex};
use operon_plan::BundleContents;
use operon_resolve::SourceName;

use crate::Bundle;

/// A channel: its entries as documents of a catalog have them.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The package.
    pub package: String,
    /// The name.
    pub name: String,
    /// The entries: `name`, `replaces`, `skips`, `skipRange`.
    pub entries: Vec<Value>,
}

/// What a catalog publishes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Publication {
    /// The default channels, by package.
    pub defaults: BTreeMap<String, String>,
    /// The channels.
    pub channels: Vec<Channel>,
    /// The bundles.
    pub bundles: Vec<Bundle>,
    /// Other documents, such as deprecations.
    pub documents: Vec<Value>,
}

/// The catalogs of a simulated world.
#[derive(Debug, Clone, Default)]
pub struct SimCatalogs {
    inner: Arc<std::sync::Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    published: BTreeMap<SourceName, Published>,
    /// Why the contents of bundles cannot be had.
    hindered: BTreeMap<(SourceName, String), String>,
}

#[derive(Debug, Clone)]
struct Published {
    catalog: Arc<Catalog>,
    digest: String,
    publication: Publication,
    problem: String,
}

impl Publication {
    /// Returns the documents of the catalog, one to a line.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for (package, channel) in &self.defaults {
            lines.push(operon_object::map! {
                "schema" => "olm.package", "name" => package.as_str(), "defaultChannel" => channel.as_str(),
            });
        }
        for channel in &self.channels {
            lines.push(operon_object::map! {
                "schema" => "olm.channel",
                "package" => channel.package.as_str(),
                "name" => channel.name.as_str(),
                "entries" => channel.entries.clone(),
            });
        }
        let encode = |text: &str| encode_base64(text.as_bytes());
        lines.extend(self.bundles.iter().map(|bundle| bundle.document(encode)));
        lines.extend(self.documents.iter().cloned());
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

impl SimCatalogs {
    /// Publishes a catalog, in place of what was published under the same name.
    pub fn publish(&self, name: &SourceName, publication: Publication) {
        let text = publication.text();
        let digest = sha256_hex(&text);
        let file = MemoryFile { path: "catalog.json".to_owned(), content: text.into_bytes() };
        let catalog = Arc::new(read_catalog(&[file]));
        let published = Published { catalog, digest, publication, problem: String::new() };
        self.lock().published.insert(name.clone(), published);
    }

    /// Returns what is published under a name.
    pub fn publication(&self, name: &SourceName) -> Option<Publication> {
        self.lock().published.get(name).map(|published| published.publication.clone())
    }

    /// Makes a catalog unreadable for a reason, or readable again with an empty one.
    pub fn hinder(&self, name: &SourceName, problem: &str) {
        if let Some(published) = self.lock().published.get_mut(name) {
            problem.clone_into(&mut published.problem);
        }
    }

    /// Makes the contents of a bundle unavailable for a reason, or available again with an empty one.
    pub fn hinder_bundle(&self, catalog: &SourceName, bundle: &str, problem: &str) {
        let key = (catalog.clone(), bundle.to_owned());
        match problem {
            "" => self.lock().hindered.remove(&key),
            problem => self.lock().hindered.insert(key, problem.to_owned()),
        };
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Catalogs for SimCatalogs {
    fn read(
        &self,
        requests: &[CatalogRequest<'_>],
        now: Timestamp,
    ) -> BTreeMap<SourceName, CatalogState> {
        let inner = self.lock();
        let mut states = BTreeMap::new();
        for request in requests {
            let name = CatalogSource::read(request.source).source_name();
            let state = match inner.published.get(&name) {
                Some(published) => CatalogState {
                    catalog: Some(Arc::clone(&published.catalog)),
                    digest: published.digest.clone(),
                    image: format!("example.com/{}@sha256:{}", name.name, published.digest),
                    read: now,
                    address: format!("{}.{}.svc:50051", name.name, name.namespace),
                    problem: published.problem.clone(),
                    ..CatalogState::default()
                },
                None => CatalogState {
                    problem: format!("nothing is published as {name}"),
                    ..CatalogState::default()
                },
            };
            states.insert(name, state);
        }
        states
    }

    fn bundle(&self, key: &BundleKey) -> BundleState {
        let inner = self.lock();
        let published = inner.published.get(&key.source);
        let bundles = published.map_or(&[][..], |published| &published.publication.bundles);
        let failed = |message: String| BundleState::Failed {
            reason: "BundleNotUnpacked".to_owned(),
            message,
            is_retried: false,
        };
        if let Some(problem) = inner.hindered.get(&(key.source.clone(), key.name.clone())) {
            return failed(problem.clone());
        }
        let Some(bundle) = bundles.iter().find(|bundle| bundle.name() == key.name) else {
            return failed(format!("{} is not published", key.name));
        };
        match BundleContents::new(&key.name, bundle.objects()) {
            Ok(contents) => BundleState::Ready(Arc::new(contents)),
            Err(error) => failed(error.to_string()),
        }
    }

    fn certify(
        &self,
        request: &CertificateRequest,
        now: Timestamp,
    ) -> Result<(ServingCertificate, Timestamp), ClusterError> {
        // Nobody in a simulation looks into a certificate: only its hash and its times matter.
        let certificate = format!("certificate of {} made at {now}", request.deployment);
        let encoded = encode_base64(certificate.as_bytes());
        let replaced = request.replaces.as_ref();
        let serving = ServingCertificate {
            certificate: encoded.clone(),
            key: encode_base64(b"key"),
            ca_hash: replaced
                .map_or_else(|| sha256_hex(&certificate), |replaced| replaced.ca_hash.clone()),
            ca: encoded,
        };
        let year = std::time::Duration::from_secs(365 * 24 * 3600);
        Ok((serving, now.after(year)))
    }
}
