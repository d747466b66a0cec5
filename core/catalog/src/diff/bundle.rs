//! What changed in a bundle that both catalogs have.
//!
//! A published bundle should never change, so everything here is worth a second look.

use super::{Change, only};
use crate::{Bundle, Property};

/// The differences of a bundle.
#[derive(Debug)]
pub struct BundleDiff<'a> {
    /// The bundle's name.
    pub name: &'a str,
    /// Texts that differ, such as the image.
    pub texts: Vec<(TextField, Change<&'a str>)>,
    /// Properties that only the second catalog has.
    pub properties_added: Vec<Property<'a>>,
    /// Properties that only the first catalog has.
    pub properties_removed: Vec<Property<'a>>,
    /// Related images, by name and reference, that only the second catalog has.
    pub related_images_added: Vec<(&'a str, &'a str)>,
    /// Related images that only the first catalog has.
    pub related_images_removed: Vec<(&'a str, &'a str)>,
    /// The number of inlined manifests.
    pub object_count: Option<Change<u32>>,
    /// The number of `olm.csv.metadata` properties.
    pub metadata_count: Option<Change<u32>>,
    /// Why the bundle should no longer be used.
    pub deprecation: Option<Change<Option<&'a str>>>,
}

/// A text of a bundle that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextField {
    /// The image reference.
    Image,
    /// The version.
    Version,
    /// The release of the version.
    Release,
    /// The operator's name for people.
    DisplayName,
    /// Who provides the operator.
    Provider,
    /// The author's keywords.
    Keywords,
    /// The one-line text of a catalog card.
    Blurb,
}

impl TextField {
    /// Returns the word a reader sees.
    pub fn name(self) -> &'static str {
        match self {
            TextField::Image => "image",
            TextField::Version => "version",
            TextField::Release => "release",
            TextField::DisplayName => "display name",
            TextField::Provider => "provider",
            TextField::Keywords => "keywords",
            TextField::Blurb => "short description",
        }
    }
}

impl<'a> BundleDiff<'a> {
    /// Compares a bundle of two catalogs; `None` when its content is equal.
    pub(super) fn between(before: Bundle<'a>, after: Bundle<'a>) -> Option<Self> {
        let left = texts(before);
        let right = texts(after);
        let texts = left.into_iter().zip(right).filter_map(|((field, before), (_, after))| {
            Some((field, Change::between(before, after)?))
        });
        let (properties_removed, properties_added) =
            only(before.properties().collect(), after.properties().collect());
        let (related_images_removed, related_images_added) =
            only(before.related_images().collect(), after.related_images().collect());
        let diff = Self {
            name: before.name(),
            texts: texts.collect(),
            properties_added,
            properties_removed,
            related_images_added,
            related_images_removed,
            object_count: Change::between(before.object_count(), after.object_count()),
            metadata_count: Change::between(before.metadata_count(), after.metadata_count()),
            deprecation: Change::between(before.deprecation(), after.deprecation()),
        };
        (!diff.is_empty()).then_some(diff)
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty()
            && self.properties_added.is_empty()
            && self.properties_removed.is_empty()
            && self.related_images_added.is_empty()
            && self.related_images_removed.is_empty()
            && self.object_count.is_none()
            && self.metadata_count.is_none()
            && self.deprecation.is_none()
    }
}

fn texts(bundle: Bundle<'_>) -> [(TextField, &str); 7] {
    [
        (TextField::Image, bundle.image().unwrap_or_default()),
        (TextField::Version, bundle.version_text()),
        (TextField::Release, bundle.release().unwrap_or_default()),
        (TextField::DisplayName, bundle.display_name()),
        (TextField::Provider, bundle.provider()),
        (TextField::Keywords, bundle.keywords()),
        (TextField::Blurb, bundle.blurb()),
    ]
}
