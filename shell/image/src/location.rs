//! Where a catalog or a bundle is: one text, one meaning.
//!
//! The rules, first match wins:
//! 1. `scheme:` names the kind outright: `dir:`, `oci:`, `oci-archive:`, `docker-archive:`, `tar:`,
//!    `docker://`, `grpc://`, `configmap:`.
//! 2. A text that begins with `./`, `../` or `/`, or is `.` or `..`, is a path.
//! 3. A text that names something on the disk is a path, and so is one that ends like an archive.
//! 4. A single word is a path that is not there: nobody keeps catalogs at the top of Docker Hub, and people
//!    mistype the names of directories.
//! 5. Everything else is an image reference.
//!
//! A path that ends in `.tar`, `.tar.gz`, `.tgz` or `.tar.zst` is an archive of a directory. Nothing is
//! opened here, and nothing is fetched.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use operon_oci::{Digest, DigestError, Reference, ReferenceError};

/// The endings of plain archives.
const ARCHIVE_ENDINGS: [&str; 5] = [".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.zstd"];

/// Where a catalog or a bundle is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A directory or a file on the disk: `./catalog`.
    Path(PathBuf),
    /// An image layout: `oci:./layout:v1`.
    Layout {
        /// The directory that holds `oci-layout`.
        directory: PathBuf,
        /// Which of its images.
        image: Choice,
    },
    /// An image layout in a tar file: `oci-archive:catalog.tar:v1`.
    LayoutArchive {
        /// The tar file.
        file: PathBuf,
        /// Which of its images.
        image: Choice,
    },
    /// What `docker save` writes: `docker-archive:catalog.tar:quay.io/me/catalog:v1`.
    DockerArchive {
        /// The tar file.
        file: PathBuf,
        /// Which of its images.
        image: Choice,
    },
    /// A tar file of a directory: `catalog.tar.gz`.
    Archive(PathBuf),
    /// An image in a registry: `quay.io/me/catalog:v1`.
    Image(Reference),
    /// A registry that serves catalogs over gRPC: `grpc://localhost:50051`.
    Address(String),
    /// A manifest of a ConfigMap that holds a catalog of the older form: `configmap:catalog.yaml`.
    ConfigMap(PathBuf),
}

/// Which image of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The only one.
    Only,
    /// The one of this tag or name.
    Tag(String),
    /// The one of this digest.
    Digest(Digest),
}

/// Why a text is no location.
#[derive(Debug, thiserror::Error)]
pub enum LocationError {
    /// There is no text.
    #[error("a location is missing; {FORMS}")]
    Empty,
    /// Nothing stands behind the scheme.
    #[error("`{text}` names nothing behind `{scheme}`; {FORMS}")]
    NoPath {
        /// The text.
        text: String,
        /// What it begins with.
        scheme: &'static str,
    },
    /// The address has no port, or more than an address.
    #[error(
        "`{text}` is no address of a registry: write `grpc://HOST:PORT`, such as `grpc://localhost:50051`"
    )]
    Address {
        /// The text.
        text: String,
    },
    /// The scheme is not known.
    #[error("`{text}` begins with `{scheme}`, which is not known; {FORMS}")]
    UnknownScheme {
        /// The text.
        text: String,
        /// What it begins with.
        scheme: String,
    },
    /// A digest is malformed.
    #[error("`{text}`: {source}")]
    Digest {
        /// The text.
        text: String,
        /// What is wrong.
        source: DigestError,
    },
    /// There is no such file, and it is no image either.
    #[error("there is no file or directory `{text}`, and it is no image: {source}; {FORMS}")]
    Neither {
        /// The text.
        text: String,
        /// Why it is no image.
        source: ReferenceError,
    },
}

/// What a location may look like.
const FORMS: &str = "write a path (`./catalog`, `catalog.tar.gz`), an image (`quay.io/me/catalog:v1`), \
    `oci:DIRECTORY[:TAG]`, `oci-archive:FILE[:TAG]`, `docker-archive:FILE[:TAG]`, `grpc://HOST:PORT` or \
    `configmap:FILE`";

impl Location {
    /// Reads a location; the disk is asked only whether a text without scheme names something on it.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        Self::parse_with(text, |path| path.exists())
    }

    fn parse_with(text: &str, exists: impl Fn(&Path) -> bool) -> Result<Self, LocationError> {
        if text.trim().is_empty() {
            return Err(LocationError::Empty);
        }
        if let Some(location) = with_scheme(text) {
            return location;
        }
        let is_written_as_path = matches!(text, "." | "..")
            || ["./", "../", "/"].iter().any(|start| text.starts_with(start));
        let is_word = !text.contains(['/', ':', '@']) && Reference::parse(text).is_ok();
        if is_written_as_path || is_word || exists(Path::new(text)) || is_archive(text) {
            return Ok(path_or_archive(text));
        }
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(LocationError::UnknownScheme {
                text: text.to_owned(),
                scheme: format!("{scheme}://"),
            });
        }
        match Reference::parse(text) {
            Ok(reference) => Ok(Self::Image(reference)),
            Err(source) => Err(LocationError::Neither { text: text.to_owned(), source }),
        }
    }

    /// Returns the same place with its path counted from a directory, unless it counts from the root.
    #[must_use]
    pub fn counted_from(self, base: &Path) -> Self {
        let below = |path: PathBuf| base.join(path.strip_prefix(".").unwrap_or(&path));
        match self {
            Self::Path(path) => Self::Path(below(path)),
            Self::Layout { directory, image } => {
                Self::Layout { directory: below(directory), image }
            }
            Self::LayoutArchive { file, image } => Self::LayoutArchive { file: below(file), image },
            Self::DockerArchive { file, image } => Self::DockerArchive { file: below(file), image },
            Self::Archive(file) => Self::Archive(below(file)),
            Self::ConfigMap(file) => Self::ConfigMap(below(file)),
            elsewhere @ (Self::Image(_) | Self::Address(_)) => elsewhere,
        }
    }

    /// Returns the reference of an image in a registry.
    pub fn reference(&self) -> Option<&Reference> {
        match self {
            Self::Image(reference) => Some(reference),
            Self::Path(_)
            | Self::Layout { .. }
            | Self::LayoutArchive { .. }
            | Self::DockerArchive { .. }
            | Self::Archive(_)
            | Self::Address(_)
            | Self::ConfigMap(_) => None,
        }
    }
}

fn with_scheme(text: &str) -> Option<Result<Location, LocationError>> {
    type Make = fn(&str, &str) -> Result<Location, LocationError>;
    const SCHEMES: [(&str, Make); 8] = [
        ("dir:", |_, path| Ok(Location::Path(path.into()))),
        ("tar:", |_, path| Ok(Location::Archive(path.into()))),
        ("oci:", |text, rest| {
            let (directory, image) = choice(text, rest)?;
            Ok(Location::Layout { directory, image })
        }),
        ("oci-archive:", |text, rest| {
            let (file, image) = choice(text, rest)?;
            Ok(Location::LayoutArchive { file, image })
        }),
        ("docker-archive:", |text, rest| {
            let (file, image) = choice(text, rest)?;
            Ok(Location::DockerArchive { file, image })
        }),
        ("docker://", |text, rest| match Reference::parse(rest) {
            Ok(reference) => Ok(Location::Image(reference)),
            Err(source) => Err(LocationError::Neither { text: text.to_owned(), source }),
        }),
        ("grpc://", address),
        ("configmap:", |_, path| Ok(Location::ConfigMap(path.into()))),
    ];
    let (scheme, make) = SCHEMES.iter().find(|(scheme, _)| text.starts_with(scheme))?;
    let rest = &text[scheme.len()..];
    if rest.is_empty() {
        return Some(Err(LocationError::NoPath { text: text.to_owned(), scheme }));
    }
    Some(make(text, rest))
}

/// Cuts `PATH`, `PATH:TAG` and `PATH@DIGEST` apart; the first colon ends the path, as elsewhere.
fn choice(text: &str, rest: &str) -> Result<(PathBuf, Choice), LocationError> {
    if let Some((path, digest)) = rest.split_once('@')
        && digest.contains(':')
    {
        let digest = Digest::parse(digest)
            .map_err(|source| LocationError::Digest { text: text.to_owned(), source })?;
        return Ok((path.into(), Choice::Digest(digest)));
    }
    Ok(match rest.split_once(':') {
        Some((path, "")) => (path.into(), Choice::Only),
        Some((path, tag)) => (path.into(), Choice::Tag(tag.to_owned())),
        None => (rest.into(), Choice::Only),
    })
}

fn address(text: &str, rest: &str) -> Result<Location, LocationError> {
    let is_sound = rest
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        && !rest.contains(['/', '@', ' ']);
    if is_sound {
        Ok(Location::Address(rest.to_owned()))
    } else {
        Err(LocationError::Address { text: text.to_owned() })
    }
}

fn is_archive(text: &str) -> bool {
    ARCHIVE_ENDINGS.iter().any(|ending| text.ends_with(ending))
}

fn path_or_archive(text: &str) -> Location {
    if is_archive(text) && !Path::new(text).is_dir() {
        Location::Archive(text.into())
    } else {
        Location::Path(text.into())
    }
}

/// Shows the form that [`Location::parse`] reads back.
impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) | Self::Archive(path) => write!(formatter, "{}", path.display()),
            Self::Layout { directory, image } => {
                write!(formatter, "oci:{}{image}", directory.display())
            }
            Self::LayoutArchive { file, image } => {
                write!(formatter, "oci-archive:{}{image}", file.display())
            }
            Self::DockerArchive { file, image } => {
                write!(formatter, "docker-archive:{}{image}", file.display())
            }
            Self::Image(reference) => write!(formatter, "{reference}"),
            Self::Address(address) => write!(formatter, "grpc://{address}"),
            Self::ConfigMap(file) => write!(formatter, "configmap:{}", file.display()),
        }
    }
}

/// Shows what is appended to a path: nothing, `:TAG` or `@DIGEST`.
impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Only => Ok(()),
            Self::Tag(tag) => write!(formatter, ":{tag}"),
            Self::Digest(digest) => write!(formatter, "@{digest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says in a few words what a text means where only `here` is on the disk.
    fn meaning(text: &str) -> String {
        match Location::parse_with(text, |path| path == Path::new("here")) {
            Ok(location) => {
                let kind = format!("{location:?}");
                let end = kind.find(['(', ' ']).unwrap_or(kind.len());
                format!("{} {location}", &kind[..end])
            }
            Err(error) => {
                let text = error.to_string();
                text.split(';').next().unwrap_or_default().to_owned()
            }
        }
    }

    #[test]
    fn paths_count_from_a_directory_and_other_places_do_not() {
        for (text, expected) in [
            ("./catalog", "/up/catalog"),
            ("/srv/catalog", "/srv/catalog"),
            ("oci:./layout:v1", "oci:/up/layout:v1"),
            ("oci:../layout", "oci:/up/../layout"),
            ("oci:/srv/layout:v1", "oci:/srv/layout:v1"),
            ("oci-archive:a.tar:v1", "oci-archive:/up/a.tar:v1"),
            ("docker-archive:a.tar", "docker-archive:/up/a.tar"),
            ("a/b.tar.gz", "/up/a/b.tar.gz"),
            ("configmap:a.yaml", "configmap:/up/a.yaml"),
            ("quay.io/me/catalog:v1", "quay.io/me/catalog:v1"),
            ("grpc://localhost:50051", "grpc://localhost:50051"),
        ] {
            let location = Location::parse_with(text, |_| false).expect("a location");
            assert_eq!(location.counted_from(Path::new("/up")).to_string(), expected, "{text}");
        }
    }

    #[test]
    fn every_form_has_one_meaning() {
        let digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let claims = [
            ("./catalog", "Path ./catalog"),
            ("here", "Path here"),
            (".", "Path ."),
            ("/srv/catalog", "Path /srv/catalog"),
            ("dir:quay.io/a", "Path quay.io/a"),
            ("catalog.tar.zst", "Archive catalog.tar.zst"),
            ("./a.tgz", "Archive ./a.tgz"),
            ("there", "Path there"),
            ("docker://there", "Image docker.io/library/there:latest"),
            ("quay.io/me/catalog:v1", "Image quay.io/me/catalog:v1"),
            ("docker://quay.io/me/catalog", "Image quay.io/me/catalog:latest"),
            ("oci:layout", "Layout oci:layout"),
            ("oci:layout:v1", "Layout oci:layout:v1"),
            ("oci:/a/b:quay.io/c:v1", "Layout oci:/a/b:quay.io/c:v1"),
            ("oci-archive:a.tar:v1", "LayoutArchive oci-archive:a.tar:v1"),
            ("docker-archive:a.tar", "DockerArchive docker-archive:a.tar"),
            ("grpc://localhost:50051", "Address grpc://localhost:50051"),
            ("configmap:a.yaml", "ConfigMap configmap:a.yaml"),
            ("", "a location is missing"),
            ("oci:", "`oci:` names nothing behind `oci:`"),
            ("https://quay.io/a", "`https://quay.io/a` begins with `https://`, which is not known"),
        ];
        for (text, expected) in claims {
            assert_eq!(meaning(text), expected, "{text}");
        }
        let layout = format!("oci:layout@{digest}");
        assert_eq!(meaning(&layout), format!("Layout {layout}"));
        assert!(meaning("grpc://localhost").contains("no address of a registry"));
        assert!(meaning("oci:layout@sha256:12").contains("64 digits"));
        assert!(meaning("Quay.io/Me/Catalog").contains("there is no file or directory"));
    }
}
