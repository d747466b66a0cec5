//! The images that must be mirrored along with a bundle.

use std::collections::BTreeSet;

use crate::{BundleSource, RelatedImage, json::ObjectWriter};

/// Returns the images that the CSV lists, the bundle's own, and those its deployments run.
///
/// Upstream: what the CSV lists is kept even when it lists an image twice; only the images that
/// are added are not repeated. Entries of one image stay in the order of the CSV, where upstream's
/// sort leaves them in any order.
pub(super) fn related_images(source: &BundleSource, bundle_image: &str) -> Vec<RelatedImage> {
    let service_version = &source.service_version;
    let mut images = service_version.related_images.clone();
    let listed: BTreeSet<&str> =
        service_version.related_images.iter().map(|related| related.image.as_str()).collect();
    let own = Some(bundle_image).filter(|image| !image.is_empty());
    let operator = service_version.operator_images.iter().map(String::as_str);
    let added: BTreeSet<&str> = own.into_iter().chain(operator).collect();
    images.extend(
        added
            .difference(&listed)
            .map(|image| RelatedImage { name: String::new(), image: (*image).to_owned() }),
    );
    images.sort_by(|left, right| left.image.cmp(&right.image));
    images
}

pub(super) fn json(related: &RelatedImage) -> String {
    ObjectWriter::new().text("image", &related.image).text("name", &related.name).finish()
}
