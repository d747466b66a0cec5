//! The one door through which catalogs and bundles come in, wherever they are.
//!
//! A directory is taken as it is. An image is pulled, compared with its digest, unpacked and kept; what is
//! kept is not fetched again. When a registry cannot be asked, what was last seen is given, and said to be
//! old. The calls block; the network runs on threads of its own. What is in a catalog is not looked at.

mod admission;
mod archive;
mod copy;
mod gather;
mod layout;
mod origin;
mod platforms;
mod purpose;
mod push;
mod unpack;
mod written;

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use operon_driver::AddressPolicy;
use operon_oci::{Digest, Document, Platform, Reference};
use tokio::{runtime::Runtime, time::timeout_at};

use self::purpose::Purpose;
pub use self::{
    copy::{Copied, Copier, CopyTarget, MAX_COPIED_MANIFESTS, Prospect},
    platforms::MAX_LOOKED_AT_MANIFESTS,
    push::{write_layout, write_layout_archive},
};
use crate::{
    Allowance, CacheDirectory, CertificateAuthorities, CredentialSources, Limits, Location,
    Progress, PullError, Registries, SignaturePolicy,
    pull_error::seconds,
    quota::Charge,
    registry::{Registry, Repository},
    store::{CacheScope, KeptTree, MAX_CACHE_BYTES, Store, TreeKey, cache_limit},
};

/// How deep indexes may point to indexes; the specification allows one in another.
const MAX_INDEX_DEPTH: usize = 3;

/// How images are fetched.
#[derive(Debug, Clone)]
pub struct ImagesOptions {
    /// Where they are kept.
    pub cache: CacheDirectory,
    /// How many bytes may be kept.
    pub cache_limit: u64,
    /// Where credentials are looked for.
    pub credentials: CredentialSources,
    /// Where mirrors are looked up.
    pub registries: Registries,
    /// Which authorities are trusted beyond those of the system.
    pub authorities: CertificateAuthorities,
    /// Which signatures images must have.
    pub signatures: SignaturePolicy,
    /// Hosts, with their ports, that may show any certificate or speak plain HTTP.
    pub insecure: Vec<String>,
    /// Which addresses may be connected to.
    pub addresses: AddressPolicy,
    /// The platform whose images are taken.
    pub platform: Platform,
    /// Whether nothing may be fetched.
    pub offline: bool,
    /// How long and how much registries may keep us busy.
    pub limits: Limits,
    /// Is told how many bytes are transferred.
    pub progress: Arc<Progress>,
}

impl ImagesOptions {
    /// Returns the options as this user has configured podman, skopeo and Docker.
    pub fn of_user(cache: CacheDirectory) -> Result<Self, PullError> {
        Ok(Self {
            cache_limit: cache_limit()?,
            credentials: CredentialSources::of_user(),
            registries: Registries::of_user(),
            authorities: CertificateAuthorities::of_user(),
            ..Self::bare(cache)
        })
    }

    /// Returns options that read neither the environment nor any configuration of the machine.
    pub fn bare(cache: CacheDirectory) -> Self {
        Self {
            cache,
            cache_limit: MAX_CACHE_BYTES,
            credentials: CredentialSources::default(),
            registries: Registries::default(),
            authorities: CertificateAuthorities::default(),
            signatures: SignaturePolicy::default(),
            insecure: Vec::new(),
            addresses: AddressPolicy::unrestricted(),
            platform: Platform::linux(std::env::consts::ARCH).normalised(),
            offline: false,
            limits: Limits::default(),
            progress: Arc::default(),
        }
    }
}

/// The files of a catalog or a bundle. As long as it lives, the cache keeps them.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The directory, or for a catalog on the disk perhaps a file.
    pub directory: PathBuf,
    /// The digest of the image's manifest, or of the archive; nothing for a directory.
    pub digest: Option<Digest>,
    /// The image in a registry, with the digest that was fetched.
    pub reference: Option<Reference>,
    /// The labels of the image.
    pub labels: BTreeMap<String, String>,
    /// What was left out of it, such as links that lead nowhere.
    pub notes: Vec<String>,
    /// When the registry last said that this is what the reference stands for.
    pub seen: SystemTime,
    /// Why this may not be the latest, if the registry could not be asked.
    pub stale: Option<Stale>,
    /// Guards the files against being pruned.
    _lock: Option<Arc<File>>,
    /// Charges the files to the namespace that uses them.
    _charge: Option<Arc<Charge>>,
}

/// What a fetch is for, and on whose account.
pub(crate) struct FetchContext<'a> {
    purpose: Purpose,
    scope: CacheScope,
    allowance: &'a Allowance,
}

/// Why content may not be the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// What kept us from asking.
    pub reason: String,
    /// The same as a status may say it; see [`PullError::summary`].
    pub summary: String,
    /// How long ago the registry was last asked.
    pub age: Duration,
}

impl fmt::Display for Stale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "as of {} ago: {}", seconds(self.age), self.reason)
    }
}

/// Fetches and pushes images.
#[derive(Debug)]
pub struct Images {
    options: ImagesOptions,
    store: Store,
    registry: Arc<Registry>,
    runtime: Runtime,
}

impl Images {
    /// Prepares to fetch; nothing is asked or written yet.
    pub fn new(options: ImagesOptions) -> Result<Self, PullError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("operon-images")
            .enable_all()
            .build()
            .map_err(PullError::disk("start threads of", "the network"))?;
        let registry = Arc::new(Registry::new(
            options.limits.clone(),
            options.authorities.clone(),
            options.credentials.clone(),
            options.registries.clone(),
            options.insecure.clone(),
            options.addresses.clone(),
        ));
        Ok(Self { store: Store::new(&options.cache), registry, runtime, options })
    }

    /// Fetches a catalog.
    ///
    /// Flow: by digest, what is kept for these credentials is given without a request; by tag, the registry is asked what
    /// the tag stands for, and only what is not kept is fetched. Guarantees: the files are those that
    /// the digest names, and only those in the directory that the image's label names. Assumptions: the
    /// caller is not itself a task of an asynchronous runtime.
    pub fn fetch_catalog(&self, location: &Location) -> Result<Tree, PullError> {
        self.fetch(location, Purpose::Catalog, &Allowance::unlimited())
    }

    /// Fetches a catalog like [`Self::fetch_catalog`], on the account of a namespace.
    pub fn fetch_catalog_for(
        &self,
        location: &Location,
        allowance: &Allowance,
    ) -> Result<Tree, PullError> {
        self.fetch(location, Purpose::Catalog, allowance)
    }

    /// Fetches a bundle: the directories `manifests` and `metadata`, whatever the image calls them.
    pub fn fetch_bundle(&self, location: &Location) -> Result<Tree, PullError> {
        self.fetch(location, Purpose::Bundle, &Allowance::unlimited())
    }

    /// Fetches a bundle like [`Self::fetch_bundle`], on the account of a namespace.
    pub fn fetch_bundle_for(
        &self,
        location: &Location,
        allowance: &Allowance,
    ) -> Result<Tree, PullError> {
        self.fetch(location, Purpose::Bundle, allowance)
    }

    /// Asks the registry which digest a reference stands for: one request.
    pub fn poll(&self, image: &Reference) -> Result<Digest, PullError> {
        if self.options.offline {
            return Err(PullError::Offline { reference: image.to_string() });
        }
        let name = image.manifest_name();
        let deadline = self.deadline();
        self.with_places(deadline, image, async |place: &Repository| {
            place.in_time(place.digest_of(&name)).await
        })
    }

    fn fetch(
        &self,
        location: &Location,
        purpose: Purpose,
        allowance: &Allowance,
    ) -> Result<Tree, PullError> {
        let elsewhere = |what| Err(PullError::Elsewhere { location: location.to_string(), what });
        match location {
            Location::Path(path) => local(path),
            Location::Image(image) => {
                let scope = self.scope(image)?;
                self.fetch_image(image, &FetchContext { purpose, scope, allowance })
            }
            Location::Layout { .. }
            | Location::LayoutArchive { .. }
            | Location::DockerArchive { .. }
            | Location::Archive(_) => {
                self.admit_local(location)?;
                let scope = CacheScope::Shared;
                self.fetch_local(location, &FetchContext { purpose, scope, allowance })
            }
            Location::Address(_) => elsewhere("the address of a registry that serves catalogs"),
            Location::ConfigMap(_) => elsewhere("a ConfigMap with a catalog of the older form"),
        }
    }

    fn fetch_image(
        &self,
        image: &Reference,
        context: &FetchContext<'_>,
    ) -> Result<Tree, PullError> {
        let now = SystemTime::now();
        let (digest, found) = match image.digest() {
            Some(digest) => (digest.clone(), self.kept(digest, context)),
            None => match self.poll_and_look(image, context) {
                Ok(answer) => answer,
                Err(error) => return self.last_good(image, context, error, now),
            },
        };
        // What was fetched of an image stays in the cache, also when the rest is refused.
        if found.is_none() {
            context.allowance.make_room_for_documents(&image.to_string())?;
        }
        self.admit(image, &digest, &context.scope)?;
        let kept = match found {
            Some(kept) => kept,
            None if self.options.offline => {
                return Err(PullError::Offline { reference: image.to_string() });
            }
            None => match self.pull(image, &digest, context) {
                Ok(kept) => kept,
                Err(error) if image.digest().is_none() => {
                    return self.last_good(image, context, error, now);
                }
                Err(error) => return Err(error),
            },
        };
        // Without the note, only a later fetch without the registry would miss it.
        let _ = self.store.remember(image, &context.scope, &digest, now);
        image_tree(image, digest, kept, now, None, context.allowance)
    }

    /// Asks what a tag stands for, and looks meanwhile whether what it stood for last is whole: that is
    /// what most answers say.
    fn poll_and_look(
        &self,
        image: &Reference,
        context: &FetchContext<'_>,
    ) -> Result<(Digest, Option<KeptTree>), PullError> {
        thread::scope(|scope| {
            let looked = scope.spawn(|| {
                let (last, _) = self.store.recall(image, &context.scope)?;
                self.kept(&last, context).map(|kept| (last, kept))
            });
            let polled = self.poll(image);
            let looked = looked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let digest = polled?;
            let kept = match looked {
                Some((last, kept)) if last == digest => Some(kept),
                _ => self.kept(&digest, context),
            };
            Ok((digest, kept))
        })
    }

    /// Returns what a reference stood for when it was last seen, if the error says nothing against it.
    fn last_good(
        &self,
        image: &Reference,
        context: &FetchContext<'_>,
        error: PullError,
        now: SystemTime,
    ) -> Result<Tree, PullError> {
        if !error.is_transient() && !matches!(error, PullError::Offline { .. }) {
            return Err(error);
        }
        let Some((digest, seen)) = self.store.recall(image, &context.scope) else {
            return Err(error);
        };
        let Some(kept) = self.kept(&digest, context) else { return Err(error) };
        self.admit(image, &digest, &context.scope)?;
        let (reason, summary) = match &error {
            PullError::Offline { .. } => {
                ("nothing may be fetched".to_owned(), "nothing may be fetched".to_owned())
            }
            error => (error.to_string(), error.summary()),
        };
        let age = now.duration_since(seen).unwrap_or_default();
        let stale = Some(Stale { reason, summary, age });
        image_tree(image, digest, kept, seen, stale, context.allowance)
    }

    /// Returns the scope of the cache for an image: its own if a pull secret has credentials for it.
    fn scope(&self, image: &Reference) -> Result<CacheScope, PullError> {
        self.store.scope(&self.registry.identity(image)?)
    }

    /// Returns the tree behind the digest of an image or an index, if everything needed is kept.
    fn kept(&self, digest: &Digest, context: &FetchContext<'_>) -> Option<KeptTree> {
        let mut digest = digest.clone();
        for _ in 0..MAX_INDEX_DEPTH {
            let (kind, scope) = (context.purpose.kind(), context.scope.clone());
            let key = TreeKey { digest: digest.clone(), kind, scope };
            if let Some(tree) = self.store.tree(&key) {
                return Some(tree);
            }
            let bytes = self.store.document(&digest, &key.scope)?;
            let Ok(Document::Index(index)) = Document::parse(&bytes, None) else { return None };
            digest = Platform::choose(&index, &self.options.platform).ok()?.digest.clone();
        }
        None
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.options.limits.deadline
    }

    /// Tries the mirrors of an image in turn, then its registry; the last error is the registry's own.
    fn with_places<T>(
        &self,
        deadline: Instant,
        image: &Reference,
        mut attempt: impl AsyncFnMut(&Repository) -> Result<T, PullError>,
    ) -> Result<T, PullError> {
        let places = self.registry.places(image)?;
        self.run(deadline, image, async {
            let mut failed = None;
            for place in &places {
                match attempt(place).await {
                    Ok(answer) => return Ok(answer),
                    Err(error @ PullError::Disk { .. }) => return Err(error),
                    Err(error) => failed = Some(error),
                }
            }
            Err(failed.unwrap_or(PullError::Offline { reference: image.to_string() }))
        })
    }

    /// Runs something on the network, for as long as it may take.
    fn run<T>(
        &self,
        deadline: Instant,
        image: &Reference,
        future: impl Future<Output = Result<T, PullError>>,
    ) -> Result<T, PullError> {
        let limited = async { timeout_at(deadline.into(), future).await };
        self.runtime.block_on(limited).unwrap_or_else(|_| {
            Err(PullError::Timeout {
                registry: image.registry().to_owned(),
                reference: image.to_string(),
                what: "everything together".to_owned(),
                after: self.options.limits.deadline,
            })
        })
    }

    /// Makes the cache smaller if it has grown too large; whatever goes wrong there can wait.
    fn prune(&self) {
        let _ = self.options.cache.prune(self.options.cache_limit);
    }
}

fn local(path: &Path) -> Result<Tree, PullError> {
    path.metadata().map_err(PullError::disk("read", path))?;
    Ok(Tree {
        directory: path.to_owned(),
        digest: None,
        reference: None,
        labels: BTreeMap::new(),
        notes: Vec::new(),
        seen: SystemTime::now(),
        stale: None,
        _lock: None,
        _charge: None,
    })
}

fn image_tree(
    image: &Reference,
    digest: Digest,
    kept: KeptTree,
    seen: SystemTime,
    stale: Option<Stale>,
    allowance: &Allowance,
) -> Result<Tree, PullError> {
    let reference = image.with_digest(digest.clone());
    let tree = kept_tree(digest, kept, &reference.to_string(), allowance)?;
    Ok(Tree { reference: Some(reference), seen, stale, ..tree })
}

/// Returns a tree that is kept, and charges it to the namespace that uses it.
fn kept_tree(
    digest: Digest,
    kept: KeptTree,
    shown: &str,
    allowance: &Allowance,
) -> Result<Tree, PullError> {
    let charge = allowance.charge(shown, kept.record.bytes())?;
    Ok(Tree {
        directory: kept.contents,
        digest: Some(digest),
        reference: None,
        labels: kept.record.labels,
        notes: kept.record.notes,
        seen: SystemTime::now(),
        stale: None,
        _lock: Some(kept.lock),
        _charge: Some(Arc::new(charge)),
    })
}
