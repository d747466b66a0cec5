//! Bundles that lie in images, pulled when they are asked for.
//!
//! What was pulled is known as long as somebody holds it; the cache keeps it for longer.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Weak},
};

use operon_lifecycle::{BundleKey, BundleState};
use operon_oci::Reference;
use operon_plan::BundleContents;

use super::{fetching::Fetching, origin::registry_host};
use crate::{
    Allowance, Fetcher, Location,
    contents::directory_contents,
    status::FetchFailure,
    workers::{FetchKey, HostOutcome, Task},
};

/// Of how many bundles it is remembered how their pull ended.
pub const MAX_REMEMBERED_BUNDLES: usize = 64;

/// Where the bundles of a catalog may come from.
#[derive(Debug)]
pub(super) enum Trust {
    /// Whoever wrote the catalog has this machine, so that it may name files on it.
    Everything {
        /// Where paths count from.
        directory: PathBuf,
    },
    /// A stranger's catalog must not say which files of this machine are read.
    Registries {
        /// The contents of the pull secrets.
        credentials: Vec<Vec<u8>>,
    },
}

/// The bundles that are being pulled, and how the last pull of each ended.
#[derive(Debug, Default)]
pub(super) struct Pulls {
    pulls: BTreeMap<BundleKey, Pull>,
}

#[derive(Debug, Default)]
struct Pull {
    task: Option<Task<Result<BundleContents, FetchFailure>>>,
    contents: Weak<BundleContents>,
    failure: Option<String>,
}

impl Pulls {
    /// Tells what is known of a bundle, and begins to pull it when nothing is. After a failure it is
    /// pulled again, and the failure is told until something else is known.
    pub(super) fn ask(
        &mut self,
        key: &BundleKey,
        trust: Trust,
        fetching: &Fetching,
    ) -> BundleState {
        if self.pulls.len() >= MAX_REMEMBERED_BUNDLES && !self.pulls.contains_key(key) {
            self.pulls.retain(|_, pull| pull.task.is_some());
        }
        let pull = self.pulls.entry(key.clone()).or_default();
        let mut has_news = false;
        if let Some(result) = pull.task.as_ref().and_then(Task::take) {
            pull.task = None;
            has_news = true;
            let broken =
                || Err(FetchFailure::open(&"reading it panicked; this is a bug in operon"));
            match result.unwrap_or_else(broken) {
                Ok(contents) => {
                    let contents = Arc::new(contents);
                    pull.contents = Arc::downgrade(&contents);
                    pull.failure = None;
                    return BundleState::Ready(contents);
                }
                Err(failure) => {
                    let of = format!("bundle {} of CatalogSource {}", key.name, key.source);
                    pull.failure = Some(fetching.report(&of, failure));
                }
            }
        }
        if let Some(contents) = pull.contents.upgrade() {
            return BundleState::Ready(contents);
        }
        if pull.task.is_none() && !has_news {
            let host = registry_host(&key.image);
            let counted = FetchKey { namespace: key.source.namespace.clone(), host: host.clone() };
            let fetcher = Arc::clone(&fetching.fetcher);
            let (name, image) = (key.name.clone(), key.image.clone());
            let allowance = fetching.allowance(&counted.namespace);
            let work = move || pull_bundle(&fetcher, &allowance, &name, &image, &trust);
            let refused = move || Err(FetchFailure::left_alone(&host));
            pull.task = Some(fetching.workers.begin(counted, work, refused));
        }
        match &pull.failure {
            Some(message) => BundleState::Failed {
                reason: "BundleUnpackFailed".to_owned(),
                message: message.clone(),
                is_retried: pull.task.is_some(),
            },
            None => BundleState::Pending {
                message: format!("bundle {}: pulling `{}`", key.name, key.image),
            },
        }
    }
}

fn pull_bundle(
    fetcher: &Fetcher,
    allowance: &Allowance,
    name: &str,
    image: &str,
    trust: &Trust,
) -> (Result<BundleContents, FetchFailure>, HostOutcome) {
    let location = match trust {
        Trust::Everything { directory } => Location::parse(image)
            .map(|location| (location.counted_from(directory), [].as_slice()))
            .map_err(|error| FetchFailure::open(&error)),
        Trust::Registries { credentials } => Reference::parse(image)
            .map(|reference| (Location::Image(reference), credentials.as_slice()))
            .map_err(|error| FetchFailure::open(&error)),
    };
    let (location, credentials) = match location {
        Ok(found) => found,
        Err(failure) => return (Err(failure), HostOutcome::NotAsked),
    };
    match fetcher.bundle_for(&location, credentials, allowance) {
        Ok(tree) => {
            let _slot = allowance.reading_slot();
            let contents = directory_contents(name, &tree.directory, fetcher.bundle_limits());
            (contents.map_err(|error| FetchFailure::open(&error)), HostOutcome::Answered)
        }
        Err(error) => (Err(FetchFailure::from(&error)), error.host_outcome()),
    }
}
