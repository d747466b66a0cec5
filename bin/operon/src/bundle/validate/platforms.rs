//! What the images of bundles are made for, asked of their registries.
//!
//! An image that cannot be looked at is told as such; it does not stop the others.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use operon_bundle::{BundleFile, ImagePlatform, ImagePlatforms, platform_images, read_bundle};
use operon_image::{Fetcher, Images};
use operon_oci::Reference;

use crate::{catalog::render::parallel::on_threads, fetching::FetchOptions};

/// How many images of a bundle are asked for at once: enough to hide how far away registries are.
const QUESTIONS_AT_ONCE: usize = 8;

/// What an image is made for, or why that is not known.
type Answer = Result<BTreeSet<ImagePlatform>, String>;

/// Asks registries, for each image once.
pub(super) struct PlatformSurvey {
    images: Arc<Images>,
    /// Keeps the place where documents are kept meanwhile.
    _fetcher: Arc<Fetcher>,
    answers: Mutex<BTreeMap<String, Answer>>,
}

impl PlatformSurvey {
    pub(super) fn new(fetching: &FetchOptions) -> anyhow::Result<Self> {
        let fetcher = fetching.fetcher()?;
        Ok(Self { images: fetcher.images(&[])?, _fetcher: fetcher, answers: Mutex::default() })
    }

    /// Finds out what the images of a bundle are made for; a bundle that cannot be read has none.
    pub(super) fn of_bundle(&self, files: &[BundleFile]) -> ImagePlatforms {
        let Ok(source) = read_bundle(files).bundle else { return ImagePlatforms::new() };
        let images: Vec<&str> = platform_images(&source).into_iter().collect();
        let answers =
            on_threads(QUESTIONS_AT_ONCE, images.len(), |number| self.of_image(images[number]));
        images.iter().map(|image| (*image).to_owned()).zip(answers).collect()
    }

    fn of_image(&self, image: &str) -> Answer {
        let known = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known().get(image) {
            return answer.clone();
        }
        let answer = self.ask(image);
        known().insert(image.to_owned(), answer.clone());
        answer
    }

    fn ask(&self, image: &str) -> Answer {
        let reference = Reference::parse(image).map_err(|error| error.to_string())?;
        let platforms = self.images.platforms(&reference).map_err(|error| error.to_string())?;
        let named: BTreeSet<ImagePlatform> = platforms
            .into_iter()
            .filter(|platform| !platform.os.is_empty() && !platform.architecture.is_empty())
            .map(|platform| ImagePlatform { os: platform.os, architecture: platform.architecture })
            .collect();
        match named.is_empty() {
            true => Err("the image does not say it".to_owned()),
            false => Ok(named),
        }
    }
}
