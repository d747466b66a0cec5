//! The image of the catalog that belongs to a mirror.

use std::path::Path;

use operon_fbc::MemoryFile;
use operon_image::{Choice, CopyTarget, Images, Location, PullError, write_layout};
use operon_oci::{
    Reference,
    build::{BuiltImage, ImageSettings, LayerBuilder},
};

use super::destination::{Destination, shown};
use crate::{
    catalog::build::{CONFIGS_DIRECTORY, labels},
    fetching::FetchOptions,
    shipping::settings,
};

/// The name of a catalog that has none.
const NAMELESS: &str = "catalog";

/// The image of a catalog, and where it goes.
pub(super) struct CatalogImage {
    image: BuiltImage,
    target: CopyTarget,
    /// What the catalog is called in a cluster.
    pub(super) name: String,
}

impl CatalogImage {
    /// Builds the image of the files of a slice; its name is that of the catalog it was cut out of.
    pub(super) fn new(
        place: &str,
        files: &[MemoryFile],
        to: &Destination,
        fetching: &FetchOptions,
    ) -> anyhow::Result<Self> {
        let mut layer = LayerBuilder::new();
        for file in files {
            layer.file(&format!("{CONFIGS_DIRECTORY}/{}", file.path), file.content.as_slice())?;
        }
        let settings = ImageSettings { labels: labels(), ..settings(fetching) };
        let image = BuiltImage::new(&settings, vec![layer.build()?]);
        let source = source(place)?;
        let name = plain_name(source.repository().rsplit('/').next().unwrap_or_default());
        Ok(Self { image, target: to.target(&source)?, name })
    }

    /// Returns the digest of the image.
    pub(super) fn digest(&self) -> String {
        self.image.digest.to_string()
    }

    /// Returns where the image goes.
    pub(super) fn shown(&self) -> String {
        shown(&self.target)
    }

    /// Tells whether the image is there; an error says that nothing can be sent there.
    pub(super) fn is_there(&self, images: &Images) -> Result<bool, PullError> {
        match &self.target {
            CopyTarget::Registry(reference) => images.has(&self.image.digest, reference),
            CopyTarget::Layout { directory, .. } => {
                let digest = &self.image.digest;
                let blob = format!("blobs/{}/{}", digest.algorithm().name(), digest.hex());
                Ok(directory.join(blob).exists())
            }
        }
    }

    /// Pushes the image, or writes it into the layout.
    pub(super) fn send(&self, images: &Images) -> Result<(), PullError> {
        match &self.target {
            CopyTarget::Registry(reference) => images.push(&self.image, reference).map(|_| ()),
            CopyTarget::Layout { directory, tag } => write_layout(&self.image, directory, tag),
        }
    }
}

/// Returns a reference for the catalog: its own without the digest, or one made of the name of its file.
fn source(place: &str) -> anyhow::Result<Reference> {
    let path = match Location::parse(place)? {
        Location::Image(reference) => return bare(&reference),
        // In a mirror, images keep the names that they had elsewhere.
        Location::Layout { image: Choice::Tag(name), .. }
            if name.contains('/') && Reference::parse(&name).is_ok() =>
        {
            return bare(&Reference::parse(&name)?);
        }
        Location::Path(path) | Location::Archive(path) => path.canonicalize().unwrap_or(path),
        Location::Layout { directory, .. } => directory,
        Location::LayoutArchive { file, .. } | Location::DockerArchive { file, .. } => file,
        Location::Address(_) | Location::ConfigMap(_) => NAMELESS.into(),
    };
    let stem = path.file_name().map(Path::new).and_then(Path::file_stem);
    let name = plain_name(&stem.unwrap_or_default().to_string_lossy());
    Ok(Reference::parse(&format!("localhost/{name}:latest"))?)
}

fn bare(reference: &Reference) -> anyhow::Result<Reference> {
    Ok(reference.with_tag(reference.tag().unwrap_or("latest"))?)
}

/// Makes a name that repositories and Kubernetes take: small letters, digits and `-`.
fn plain_name(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    let name: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if name.is_empty() { NAMELESS.to_owned() } else { name.join("-") }
}

#[cfg(test)]
mod tests {
    use super::{plain_name, source};

    #[test]
    fn catalogs_keep_their_names() {
        for (place, expected) in [
            ("quay.io/me/catalog:v4", "quay.io/me/catalog:v4"),
            ("/srv/My Catalog", "localhost/my-catalog:latest"),
            ("/srv/catalog.tar.gz", "localhost/catalog-tar:latest"),
            ("oci:/srv/layout:v1", "localhost/layout:latest"),
            ("oci:/srv/layout:quay.io/me/catalog:v4", "quay.io/me/catalog:v4"),
            ("grpc://localhost:50051", "localhost/catalog:latest"),
        ] {
            assert_eq!(source(place).expect("a name").to_string(), expected);
        }
        assert_eq!(plain_name("__"), "catalog");
    }
}
