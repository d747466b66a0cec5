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

use crate::{
    Fetcher, Location,
    contents::directory_contents,
    crew::{Crew, Task},
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
    task: Option<Task<Result<BundleContents, String>>>,
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
        crew: &Crew,
        fetcher: &Arc<Fetcher>,
    ) -> BundleState {
        if self.pulls.len() >= MAX_REMEMBERED_BUNDLES && !self.pulls.contains_key(key) {
            self.pulls.retain(|_, pull| pull.task.is_some());
        }
        let pull = self.pulls.entry(key.clone()).or_default();
        let mut has_news = false;
        if let Some(result) = pull.task.as_ref().and_then(Task::take) {
            pull.task = None;
            has_news = true;
            let broken = || Err("reading it broke down; this is a defect of operon".to_owned());
            match result.unwrap_or_else(broken) {
                Ok(contents) => {
                    let contents = Arc::new(contents);
                    pull.contents = Arc::downgrade(&contents);
                    pull.failure = None;
                    return BundleState::Ready(contents);
                }
                Err(message) => pull.failure = Some(message),
            }
        }
        if let Some(contents) = pull.contents.upgrade() {
            return BundleState::Ready(contents);
        }
        if pull.task.is_none() && !has_news {
            let (fetcher, name, image) = (Arc::clone(fetcher), key.name.clone(), key.image.clone());
            pull.task = Some(crew.begin(move || pull_bundle(&fetcher, &name, &image, &trust)));
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
    name: &str,
    image: &str,
    trust: &Trust,
) -> Result<BundleContents, String> {
    let (location, credentials) = match trust {
        Trust::Everything { directory } => {
            let location = Location::parse(image).map_err(|error| error.to_string())?;
            (location.counted_from(directory), &Vec::new())
        }
        Trust::Registries { credentials } => {
            let reference = Reference::parse(image).map_err(|error| error.to_string())?;
            (Location::Image(reference), credentials)
        }
    };
    let tree = fetcher.bundle(&location, credentials).map_err(|error| error.to_string())?;
    directory_contents(name, &tree.directory).map_err(|error| error.to_string())
}
