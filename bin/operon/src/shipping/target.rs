//! Where an image goes that was built here, as it is typed.
//!
//! A text without a scheme is always a reference: an image is never written into a plain directory.

use std::{cell::OnceCell, fmt, path::PathBuf, str::FromStr, sync::Arc};

use operon_image::{Choice, Images, Location, write_layout, write_layout_archive};
use operon_oci::{Digest, Reference, build::BuiltImage};

use crate::fetching::FetchOptions;

/// The tag that an image has in a layout where none is typed.
const DEFAULT_TAG: &str = "latest";

/// Where an image goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ImageTarget {
    Registry(Reference),
    Layout { directory: PathBuf, tag: String },
    Archive { file: PathBuf, tag: String },
}

impl FromStr for ImageTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const SCHEMES: [&str; 4] = ["oci:", "oci-archive:", "docker-archive:", "docker://"];
        let location = match text {
            _ if SCHEMES.iter().any(|scheme| text.starts_with(scheme)) => {
                Location::parse(text).map_err(|error| error.to_string())?
            }
            _ if ["./", "../", "/"].iter().any(|start| text.starts_with(start)) => {
                return Err(format!(
                    "`{text}` is a path; write `oci:{text}` for a layout or `oci-archive:{text}` for a file"
                ));
            }
            _ => Location::Image(Reference::parse(text).map_err(|error| error.to_string())?),
        };
        match location {
            Location::Image(reference) if reference.digest().is_some() => {
                Err(format!("`{text}` has a digest, which nobody can choose; write a tag alone"))
            }
            Location::Image(reference) => Ok(Self::Registry(reference)),
            Location::Layout { directory, image } => {
                Ok(Self::Layout { directory, tag: tag(image)? })
            }
            Location::LayoutArchive { file, image } => Ok(Self::Archive { file, tag: tag(image)? }),
            _ => Err(format!(
                "an image cannot be sent to `{text}`; write a reference, `oci:DIR[:TAG]` or `oci-archive:FILE[:TAG]`"
            )),
        }
    }
}

fn tag(choice: Choice) -> Result<String, String> {
    match choice {
        Choice::Only => Ok(DEFAULT_TAG.to_owned()),
        Choice::Tag(tag) => Ok(tag),
        Choice::Digest(digest) => {
            Err(format!("the digest `{digest}` cannot be chosen; write a tag"))
        }
    }
}

/// Shows the form that is typed.
impl fmt::Display for ImageTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(reference) => write!(formatter, "{reference}"),
            Self::Layout { directory, tag } => {
                write!(formatter, "oci:{}:{tag}", directory.display())
            }
            Self::Archive { file, tag } => {
                write!(formatter, "oci-archive:{}:{tag}", file.display())
            }
        }
    }
}

impl ImageTarget {
    /// Returns the word for what is done, as wide as the others.
    pub(super) fn verb(&self) -> &'static str {
        match self {
            Self::Registry(_) => "pushed",
            Self::Layout { .. } | Self::Archive { .. } => "wrote ",
        }
    }

    /// Returns the reference with the digest, for an image in a registry.
    pub(super) fn pinned(&self, digest: &Digest) -> Option<String> {
        match self {
            Self::Registry(reference) => Some(reference.with_digest(digest.clone()).to_string()),
            Self::Layout { .. } | Self::Archive { .. } => None,
        }
    }

    pub(super) fn shown(&self, digest: &Digest) -> String {
        self.pinned(digest).unwrap_or_else(|| self.to_string())
    }
}

/// Sends images; a registry is talked to only where one is named.
pub(super) struct Sender<'f> {
    fetching: &'f FetchOptions,
    images: OnceCell<Arc<Images>>,
}

impl<'f> Sender<'f> {
    pub(super) fn new(fetching: &'f FetchOptions) -> Self {
        Self { fetching, images: OnceCell::new() }
    }

    pub(super) fn send(&self, image: &BuiltImage, target: &ImageTarget) -> anyhow::Result<()> {
        match target {
            ImageTarget::Registry(reference) => {
                self.images()?.push(image, reference)?;
            }
            ImageTarget::Layout { directory, tag } => write_layout(image, directory, tag)?,
            ImageTarget::Archive { file, tag } => write_layout_archive(image, file, tag)?,
        }
        Ok(())
    }

    fn images(&self) -> anyhow::Result<&Images> {
        if self.images.get().is_none() {
            let images = self.fetching.fetcher()?.images(&[])?;
            return Ok(self.images.get_or_init(|| images));
        }
        Ok(self.images.get().expect("bug: it was just there"))
    }
}

#[cfg(test)]
mod tests {
    use super::ImageTarget;

    #[test]
    fn targets_are_typed_in_one_way() {
        let digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for (text, expected) in [
            ("quay.io/me/catalog:v1", Ok("quay.io/me/catalog:v1")),
            ("docker://quay.io/me/catalog", Ok("quay.io/me/catalog:latest")),
            ("oci:out", Ok("oci:out:latest")),
            ("oci:/a/b:v2", Ok("oci:/a/b:v2")),
            ("oci-archive:a.tar:v2", Ok("oci-archive:a.tar:v2")),
            ("./out", Err("is a path")),
            ("docker-archive:a.tar", Err("cannot be sent to")),
            ("Quay.io/Me", Err("capital letters")),
            (&format!("quay.io/me/catalog@{digest}"), Err("has a digest")),
            (&format!("oci:out@{digest}"), Err("write a tag")),
        ] {
            let parsed = text.parse::<ImageTarget>().map(|target| target.to_string());
            match (&parsed, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(error), Err(part)) => assert!(error.contains(part), "{text}: {error}"),
                _ => panic!("{text}: {parsed:?}"),
            }
        }
    }
}
