//! The contents of a bundle: from its document in a catalog, or from a directory.
//!
//! What a bundle may contain is not decided here: every object is handed on.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use operon_api::{ManifestSeverity, read_objects};
use operon_document::decode_base64;
use operon_object::{Object, Value};
use operon_plan::{BundleContents, ContentsError};

use crate::{BodyError, OpenedCatalog, OutsideLink, check_link, limits::BundleLimits};

/// The most files that a bundle directory may have: ten times the largest bundle known.
pub const MAX_BUNDLE_FILES: usize = 1_000;

/// The most bytes that the manifests of a bundle may have: ten times the largest bundle known.
pub const MAX_BUNDLE_BYTES: u64 = 64 << 20;

/// The property that holds an object of a bundle.
const OBJECT_PROPERTY: &str = "olm.bundle.object";

/// Where the manifests of a bundle directory lie.
const MANIFESTS: &str = "manifests";

/// Why the contents of a bundle cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The catalog does not have it.
    #[error("the catalog has no bundle {bundle}")]
    NotPublished {
        /// The bundle.
        bundle: String,
    },
    /// Its document cannot be read again.
    #[error("bundle {bundle}: {source}")]
    Document {
        /// The bundle.
        bundle: String,
        /// Why.
        source: BodyError,
    },
    /// Its manifests are in an image.
    #[error("bundle {bundle} lies in the image `{image}`, which has to be pulled first")]
    InAnImage {
        /// The bundle.
        bundle: String,
        /// The image.
        image: String,
    },
    /// It has neither manifests nor an image.
    #[error(
        "bundle {bundle} has no manifests: put them into the catalog as `olm.bundle.object`, or write the path of \
         a bundle directory (`./…`) as its image"
    )]
    Nothing {
        /// The bundle.
        bundle: String,
    },
    /// A manifest is not what it should be.
    #[error("bundle {bundle}: {place}: {reason}")]
    Malformed {
        /// The bundle.
        bundle: String,
        /// The file, or the property of the bundle's document.
        place: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// A file or a directory cannot be read.
    #[error("bundle {bundle}: cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// The bundle.
        bundle: String,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A link leads out of its directory.
    #[error("bundle {bundle}: {source}")]
    Outside {
        /// The bundle.
        bundle: String,
        /// The link.
        source: OutsideLink,
    },
    /// Its directory holds more than a bundle can have.
    #[error("bundle {bundle}: `{}` holds more than {limit}; is it a bundle?", path.display())]
    TooLarge {
        /// The bundle.
        bundle: String,
        /// The directory or file.
        path: PathBuf,
        /// What there may be at most.
        limit: String,
    },
    /// Its objects are no bundle.
    #[error("bundle {bundle}, read from {place}: {source}")]
    Contents {
        /// The bundle.
        bundle: String,
        /// Where they come from.
        place: String,
        /// Why.
        source: ContentsError,
    },
}

/// Tells whether the image of a catalog or a bundle is the path of a directory.
pub fn is_path(image: &str) -> bool {
    image.starts_with("./") || image.starts_with("../") || image.starts_with('/')
}

/// Reads the contents of a bundle: the directory that its image is the path of, from `base` on, or
/// else the objects in its document.
pub fn bundle_contents(
    catalog: &OpenedCatalog,
    name: &str,
    image: &str,
    base: &Path,
) -> Result<BundleContents, BundleError> {
    if is_path(image) {
        return directory_contents(name, &base.join(image), &BundleLimits::default());
    }
    together(name, read_document(catalog, name, image)?, "the catalog".to_owned())
}

/// Reads the contents of the bundle in a directory.
pub(crate) fn directory_contents(
    name: &str,
    directory: &Path,
    limits: &BundleLimits,
) -> Result<BundleContents, BundleError> {
    together(name, read_directory(name, directory, limits)?, format!("`{}`", directory.display()))
}

fn together(
    name: &str,
    objects: Vec<Object>,
    place: String,
) -> Result<BundleContents, BundleError> {
    BundleContents::new(name, objects).map_err(|source| BundleError::Contents {
        bundle: name.to_owned(),
        place,
        source,
    })
}

/// Finds the manifests of a bundle directory, in the order of their names.
pub(crate) fn manifest_files(name: &str, directory: &Path) -> Result<Vec<PathBuf>, BundleError> {
    let manifests = directory.join(MANIFESTS);
    let unreadable = |source| BundleError::Unreadable {
        bundle: name.to_owned(),
        path: manifests.clone(),
        source,
    };
    let stay = |path: &Path| {
        check_link(directory, path)
            .map_err(|source| BundleError::Outside { bundle: name.to_owned(), source })
    };
    stay(&manifests)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&manifests).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_hidden =
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let extension = path.extension().and_then(|extension| extension.to_str());
        if is_hidden || !matches!(extension, Some("yaml" | "yml" | "json")) || !path.is_file() {
            continue;
        }
        if path.is_symlink() {
            stay(&path)?;
        }
        if files.len() == MAX_BUNDLE_FILES {
            let limit = format!("{MAX_BUNDLE_FILES} files");
            return Err(BundleError::TooLarge { bundle: name.to_owned(), path: manifests, limit });
        }
        files.push(path);
    }
    files.sort();
    Ok(files)
}

fn read_directory(
    name: &str,
    directory: &Path,
    limits: &BundleLimits,
) -> Result<Vec<Object>, BundleError> {
    let too_large = |path: &Path, limit| BundleError::TooLarge {
        bundle: name.to_owned(),
        path: path.to_owned(),
        limit,
    };
    let mut objects = Vec::new();
    let mut room = limits.bytes;
    for path in manifest_files(name, directory)? {
        let mut text = Vec::new();
        let opened = File::open(&path);
        let most = room.min(limits.manifest_bytes);
        let read = opened.and_then(|file| file.take(most + 1).read_to_end(&mut text));
        let read = read.map_err(|source| BundleError::Unreadable {
            bundle: name.to_owned(),
            path: path.clone(),
            source,
        })? as u64;
        if read > limits.manifest_bytes {
            return Err(too_large(&path, format!("{} bytes", limits.manifest_bytes)));
        }
        room = room
            .checked_sub(read)
            .ok_or_else(|| too_large(directory, format!("{} bytes of manifests", limits.bytes)))?;
        objects.extend(read_manifest(name, &path.display().to_string(), &text)?);
    }
    Ok(objects)
}

fn read_document(
    catalog: &OpenedCatalog,
    name: &str,
    image: &str,
) -> Result<Vec<Object>, BundleError> {
    let bundle = || name.to_owned();
    let mut found = catalog.catalog().bundles_named(name);
    let Some(published) = found.next() else {
        return Err(BundleError::NotPublished { bundle: bundle() });
    };
    let document = catalog
        .document(published.place())
        .map_err(|source| BundleError::Document { bundle: bundle(), source })?;
    let document = Value::parse_json(document).map_err(|error| BundleError::Malformed {
        bundle: bundle(),
        place: "its document".to_owned(),
        reason: error.to_string(),
    })?;
    let mut objects = Vec::new();
    for (index, property) in document.get("properties").elements().iter().enumerate() {
        if property.get("type").str() != OBJECT_PROPERTY {
            continue;
        }
        let place = format!("property {} of its document", index + 1);
        let data = property.at(&["value", "data"]).str();
        let text = decode_base64(data.as_bytes()).map_err(|error| BundleError::Malformed {
            bundle: bundle(),
            place: place.clone(),
            reason: format!("`data` is no base64: {error}"),
        })?;
        objects.extend(read_manifest(name, &place, &text)?);
    }
    match (objects.is_empty(), image) {
        (false, _) => Ok(objects),
        (true, "") => Err(BundleError::Nothing { bundle: bundle() }),
        (true, image) => Err(BundleError::InAnImage { bundle: bundle(), image: image.to_owned() }),
    }
}

/// Reads the objects of one manifest; one that is broken breaks the bundle, because half an operator
/// is none.
fn read_manifest(name: &str, place: &str, text: &[u8]) -> Result<Vec<Object>, BundleError> {
    let read = read_objects(place, text);
    let is_error = |severity| severity == ManifestSeverity::Error;
    if let Some(error) = read.diagnostics.iter().find(|found| is_error(found.severity)) {
        let line = error.line.map_or_else(String::new, |line| format!(":{line}"));
        let field = if error.path.is_empty() { "" } else { &format!("`{}` ", error.path) };
        let help = if error.help.is_empty() { String::new() } else { format!("; {}", error.help) };
        return Err(BundleError::Malformed {
            bundle: name.to_owned(),
            place: format!("{place}{line}"),
            reason: format!("{field}{}{help}", error.message),
        });
    }
    Ok(read.objects.into_iter().map(|located| located.object).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_manifests_of_tenants_are_refused_by_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let manifests = directory.path().join(MANIFESTS);
        fs::create_dir(&manifests).expect("a directory");
        let limits = BundleLimits { bytes: 1_000, manifest_bytes: 600 };
        let read = || {
            let read = directory_contents("b.v1", directory.path(), &limits);
            read.expect_err("there is no ClusterServiceVersion").to_string()
        };
        let manifest = |name: &str, size: usize| {
            let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x }\n#";
            fs::write(manifests.join(name), format!("{text:x<size$}")).expect("a file");
        };
        manifest("a.yaml", 601);
        assert!(read().contains("a.yaml` holds more than 600 bytes"), "{}", read());
        manifest("a.yaml", 600);
        manifest("b.yaml", 401);
        assert!(read().contains("holds more than 1000 bytes of manifests"), "{}", read());
        manifest("b.yaml", 400);
        assert!(!read().contains("holds more than"), "{}", read());
    }
}
